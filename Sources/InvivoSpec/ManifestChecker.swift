internal import InvivoBase

/// Reads the parts of a manifest out of its tree.
struct ManifestChecker {
    var checker = DocumentChecker()
    /// The depth of nested components.
    private var depth = 0

    init() {}

    mutating func parts(
        of root: SpecNode
    ) -> (modules: [ManifestModule], components: [ManifestComponent], specs: [ManifestSpec]) {
        let known = [
            "modules", "assemblies", "config", "settings", "components", "decorators", "secrets", "specs", "contexts",
        ]
        let path = SpecPath()
        let what =
            "with the keys 'modules', 'assemblies', 'config', 'settings', 'components', 'decorators', 'secrets', 'specs' and 'contexts'"
        guard let map = checker.map(root, what, path: path) else { return ([], [], []) }
        checker.refuseUnknownKeys(map, known: known, path: path)
        return (
            map["modules"].map { modules($0, path: path.key("modules")) } ?? [],
            map["components"].map { components($0, path: path.key("components")) } ?? [],
            map["specs"].map { specs($0, path: path.key("specs")) } ?? []
        )
    }

    private mutating func modules(_ node: SpecNode, path: SpecPath) -> [ManifestModule] {
        let entries = checker.map(node, "of module names and paths", path: path, hint: "write {} if there are none")
        return (entries ?? []).compactMap { entry in
            guard checker.checkName(entry, "the name of a module", path: path),
                let file = checker.text(entry.value, "the path of a module", path: path.key(entry.key))
            else { return nil }
            return ManifestModule(
                name: entry.key, nameLocation: entry.keyLocation, modulePath: file, location: entry.value.location)
        }
    }

    private mutating func specs(_ node: SpecNode, path: SpecPath) -> [ManifestSpec] {
        let items = checker.list(node, "of paths", path: path, hint: "write [] if there are none") ?? []
        return items.enumerated().compactMap { index, item in spec(item, path: path.item(index)) }
    }

    /// A path, or a map with a path and the policy for errors.
    private mutating func spec(_ item: SpecNode, path: SpecPath) -> ManifestSpec? {
        let what = "the path of a spec"
        guard let map = item.entries else {
            return checker.text(item, "\(what), or a map such as '{ file: tuning.yaml, keep_going: true }'", path: path)
                .map {
                    ManifestSpec(specPath: $0, keepsGoing: false, location: item.location)
                }
        }
        checker.refuseUnknownKeys(map, known: ["file", "keep_going"], path: path)
        var keepsGoing = false
        if let node = map["keep_going"] {
            if case .bool(let flag) = node.content {
                keepsGoing = flag
            } else {
                checker.expected("true or false", node, path: path.key("keep_going"))
            }
        }
        guard let node = map["file"] else {
            checker.fail("the key 'file' is missing; it has \(what)", path: path, at: item.location)
            return nil
        }
        return checker.text(node, what, path: path.key("file")).map {
            ManifestSpec(specPath: $0, keepsGoing: keepsGoing, location: node.location)
        }
    }

    /// The paths under `secrets:`.
    mutating func secrets(of root: SpecNode) -> [ManifestSecret] {
        guard let node = root["secrets"] else { return [] }
        let path = SpecPath().key("secrets")
        let items = checker.list(node, "of paths of the configuration", path: path, hint: "write [] if there are none")
        return (items ?? []).enumerated().compactMap { index, item in
            let path = path.item(index)
            guard let name = checker.text(item, "a path of the configuration, such as db.password", path: path) else {
                return nil
            }
            let names = name.split(separator: ".", omittingEmptySubsequences: false)
            guard !names.contains("") else {
                checker.fail(
                    "\(quoted(name)) is not a path of the configuration; expected names joined by dots, such as db.password",
                    path: path, at: item.location)
                return nil
            }
            return ManifestSecret(name: name, location: item.location, path: path.text)
        }
    }

    private mutating func components(_ node: SpecNode, path: SpecPath) -> [ManifestComponent] {
        let entries = checker.map(node, "of keys and components", path: path, hint: "write {} if there are none")
        return (entries ?? []).compactMap { component($0, path: path) }
    }

    private mutating func component(_ entry: SpecEntry, path: SpecPath) -> ManifestComponent? {
        guard checker.checkName(entry, "the key of a component", path: path) else { return nil }
        if entry.key.hasPrefix("config.") {
            checker.fail(
                "the assembly name 'config' is taken: '$\(entry.key)' is a value of the configuration",
                path: path.key(entry.key), at: entry.keyLocation)
        }
        if entry.key.hasPrefix("context.") {
            checker.fail(
                "the assembly name 'context' is taken: '$\(entry.key)' is a value of a context",
                path: path.key(entry.key),
                at: entry.keyLocation)
        }
        return content(entry, path: path.key(entry.key))
    }

    /// Reads an inline component.
    mutating func standing(_ node: SpecNode, path: SpecPath, at location: Location) -> [ManifestComponent] {
        depth += 1
        defer { depth -= 1 }
        guard depth <= 32 else {
            checker.fail("components stand in each other too deeply", path: path, at: location)
            return []
        }
        return content(SpecEntry(key: "", keyLocation: location, value: node), path: path).map { [$0] } ?? []
    }

    /// The content of a component, without its key.
    private mutating func content(_ entry: SpecEntry, path: SpecPath) -> ManifestComponent? {
        guard let map = checker.map(entry.value, "such as '{ type: Oscillator }'", path: path) else { return nil }
        checker.refuseUnknownKeys(
            map, known: ["type", "scope", "properties", "init"] + ManifestMaking.keys + ManifestLife.keys, path: path)
        let making = making(map, path: path)
        let (scope, scopeName): (ManifestScope?, String?) =
            map["scope"].map { self.scope($0, path: path.key("scope")) } ?? (
                making.needsNoType ? nil : .lazySingleton, nil
            )
        let properties = map["properties"].map { self.properties($0, path: path.key("properties")) } ?? []
        let initializer = map["init"].map { self.initializer($0, path: path.key("init")) } ?? []
        guard let typeNode = map["type"] else {
            if making.needsNoType {
                return ManifestComponent(
                    key: entry.key, keyLocation: entry.keyLocation, type: nil, typeLocation: entry.keyLocation,
                    scope: scope,
                    scopeName: scopeName,
                    scopeLocation: map["scope"]?.location ?? entry.keyLocation, properties: properties,
                    initializer: initializer,
                    making: making, life: ManifestLife(map, &checker, path), location: entry.value.location,
                    path: path.text)
            }
            if !map.contains(where: { nearestName(to: $0.key, among: ["type"]) != nil }) {
                checker.fail(
                    "the key 'type' is missing; it names the component's type", path: path, at: entry.keyLocation)
            }
            return nil
        }
        guard let type = checker.text(typeNode, "the name of a type", path: path.key("type")) else { return nil }
        return ManifestComponent(
            key: entry.key, keyLocation: entry.keyLocation, type: type, typeLocation: typeNode.location, scope: scope,
            scopeName: scopeName,
            scopeLocation: map["scope"]?.location ?? entry.keyLocation, properties: properties,
            initializer: initializer,
            making: making, life: ManifestLife(map, &checker, path), location: entry.value.location, path: path.text)
    }

    /// Starting the manifest checks whether a host scope is registered.
    private mutating func scope(_ node: SpecNode, path: SpecPath) -> (ManifestScope, String?) {
        switch checker.scope(node, path: path) {
        case .standard(let scope)?: (scope, nil)
        case .context(let kind)?: (.context, kind)
        case .host(let name)?: (.lazySingleton, name)
        case nil: (.lazySingleton, nil)
        }
    }

    private mutating func properties(_ node: SpecNode, path: SpecPath) -> [ManifestInjection] {
        let entries = checker.map(node, "of properties and values", path: path, hint: "write {} if there are none")
        return (entries ?? []).map { injection($0, path: path) }
    }

    private mutating func initializer(_ node: SpecNode, path: SpecPath) -> [ManifestInjection] {
        switch node.content {
        case .map(let entries): return entries.map { injection($0, path: path) }
        case .list(let items): return injections(items, path: path)
        default:
            checker.expected(
                "a map of parameters and values, or a list of values", node, path: path,
                hint: "leave 'init' out if there are none")
            return []
        }
    }

    private mutating func injection(_ entry: SpecEntry, path: SpecPath) -> ManifestInjection {
        _ = checker.checkName(entry, "a name", path: path)
        let path = path.key(entry.key)
        return ManifestInjection(
            name: entry.key, value: value(entry.value, path: path), nameLocation: entry.keyLocation,
            location: entry.value.location, path: path.text)
    }

    mutating func injections(_ items: [SpecNode], path: SpecPath) -> [ManifestInjection] {
        items.enumerated().map { index, item in
            let path = path.item(index)
            return ManifestInjection(
                name: nil, value: value(item, path: path), nameLocation: item.location, location: item.location,
                path: path.text)
        }
    }

    mutating func value(_ node: SpecNode, path: SpecPath) -> ManifestValue {
        switch node.content {
        case .text(let text) where text.hasPrefix("$$"):
            return .value(SpecNode(.text(String(text.dropFirst())), at: node.location))
        case .text(let text) where text.hasPrefix("$"):
            if text.utf8.count == 1 {
                checker.fail("expected a key after '$'; write '$$' for a dollar sign", path: path, at: node.location)
            }
            if text.hasPrefix("$config.") {
                return .form(ManifestForm(kind: .config, name: String(text.dropFirst("$config.".utf8.count))))
            }
            if text.hasPrefix("$context.") || text.hasPrefix("$context(") {
                return .form(contextValue(text, path: path, at: node.location))
            }
            if text == "$entry-name" { return .form(ManifestForm(kind: .entryName)) }
            if text == "$entry" { return .form(ManifestForm(kind: .entry)) }
            if text.hasPrefix("$entry.") {
                return .form(ManifestForm(kind: .entry, name: String(text.dropFirst("$entry.".utf8.count))))
            }
            return .reference(String(text.dropFirst()))
        case .list(let items):
            let values = injections(items, path: path)
            return plain(values).map { .value(SpecNode(.list($0), at: node.location)) } ?? .list(values)
        case .map(let written):
            if let form = form(written, path: path, at: node.location) { return .form(form) }
            let entries = written.map { entry in
                guard entry.key.hasPrefix("$$") else { return entry }
                return SpecEntry(key: String(entry.key.dropFirst()), keyLocation: entry.keyLocation, value: entry.value)
            }
            let values = entries.map { injection($0, path: path) }
            guard let nodes = plain(values) else { return .map(values) }
            let unescaped = zip(entries, nodes).map { SpecEntry(key: $0.key, keyLocation: $0.keyLocation, value: $1) }
            return .value(SpecNode(.map(unescaped), at: node.location))
        default: return .value(node)
        }
    }

    /// The values as nodes, if none of them is or holds a reference.
    private func plain(_ values: [ManifestInjection]) -> [SpecNode]? {
        var nodes: [SpecNode] = []
        for case .value(let node) in values.lazy.map(\.value) { nodes.append(node) }
        return nodes.count == values.count ? nodes : nil
    }
}
