public import InvivoBase

/// A method that is called while a component is created: `stop`, or `play: [60, $synth.input]`.
public struct ManifestCall: Sendable {
    public let method: String
    public let arguments: [ManifestInjection]
    public let location: Location
}

/// A runtime argument that a component takes: `note`, or `{ name: note, kind: int32, optional: true }`.
public struct ManifestParameter: Sendable {
    public let name: String
    /// The name of the kind in value.h; nil stands for any.
    public let kind: String?
    public let isOptional: Bool
    public let type: String?
    /// The value of an argument that is left out.
    public let defaultValue: SpecNode?
    public let location: Location
}

/// One option of a choice: `{ when: saw, use: $synth.saw }`, `{ kind: Source, use: … }`, `{ exactly: Wave, use: … }`,
/// `{ otherwise: $synth.sine }`, or `named`.
public struct ManifestOption: Sendable {
    public enum When: Sendable {
        case equal(SpecNode)
        case kind(String)
        case exactly(String)
        case named
        case otherwise
    }
    public let when: When
    public let use: ManifestInjection?
}

/// The keys of a component except its type, scope, initializer and properties. Mirrors `components.KEY` of a manifest.
public struct ManifestMaking: Sendable {
    public var parent: String?
    public var alias: String?
    public var isAbstract = false
    public var isNullable = false
    public var rank: Int32 = 0
    public var isHiddenByClass = false
    public var isHiddenByInterface = false
    public var parameters: [ManifestParameter] = []
    public var methods: [ManifestCall] = []
    public var before: [ManifestCall] = []
    public var after: [ManifestCall] = []
    public var afterAll: [ManifestCall] = []
    /// The object whose method creates the component, and the call of this method.
    public var maker: (owner: ManifestInjection, call: ManifestCall)?
    public var chooser: ManifestInjection?
    public var options: [ManifestOption] = []
    /// A path of the configuration. The component is defined once for each entry of the map or list there.
    public var each: String?

    static let keys = [
        "parent", "alias", "abstract", "nullable", "rank", "hidden", "parameters", "methods", "before", "after",
        "after-all", "maker", "choose", "options", "each",
    ]

    /// Whether the object is determined without a type.
    var needsNoType: Bool { parent != nil || alias != nil || chooser != nil }
}

extension ManifestChecker {
    mutating func making(_ map: [SpecEntry], path: SpecPath) -> ManifestMaking {
        var making = ManifestMaking()
        making.parent = key("parent", map, path)
        making.alias = key("alias", map, path)
        making.each = map["each"].flatMap { checker.text($0, "a path of the configuration", path: path.key("each")) }
        making.isAbstract = flag("abstract", map, path)
        making.isNullable = flag("nullable", map, path)
        if let node = map["rank"] {
            if case .integer(let rank) = node.content, let rank = Int32(exactly: rank) {
                making.rank = rank
            } else {
                checker.expected("a rank such as 10", node, path: path.key("rank"))
            }
        }
        if let node = map["hidden"] {
            switch node.content {
            case .bool(let isHidden): (making.isHiddenByClass, making.isHiddenByInterface) = (isHidden, isHidden)
            case .text("class"): making.isHiddenByClass = true
            case .text("interface"): making.isHiddenByInterface = true
            default: checker.expected("true, false, 'class' or 'interface'", node, path: path.key("hidden"))
            }
        }
        making.parameters = parameters(map["parameters"], path: path.key("parameters"))
        making.methods = calls(map["methods"], path: path.key("methods"))
        making.before = calls(map["before"], path: path.key("before"))
        making.after = calls(map["after"], path: path.key("after"))
        making.afterAll = calls(map["after-all"], path: path.key("after-all"))
        if let node = map["maker"] { making.maker = maker(node, path: path.key("maker")) }
        if let node = map["choose"] { making.chooser = one(node, path: path.key("choose")) }
        if let node = map["options"] {
            let path = path.key("options")
            let items = checker.list(node, "of options", path: path) ?? []
            making.options = items.enumerated().compactMap { option($1, path: path.item($0)) }
            if making.chooser == nil {
                checker.fail("options need 'choose', a value such as $config.wave", path: path, at: node.location)
            }
        } else if let node = map["choose"] {
            checker.fail("a choice needs 'options'", path: path.key("choose"), at: node.location)
        }
        return making
    }

    /// A key, with or without `$`.
    private mutating func key(_ name: String, _ map: [SpecEntry], _ path: SpecPath) -> String? {
        guard let node = map[name], let text = checker.text(node, "a key", path: path.key(name)) else { return nil }
        return text.hasPrefix("$") ? String(text.dropFirst()) : text
    }

    private mutating func one(_ node: SpecNode, path: SpecPath) -> ManifestInjection {
        ManifestInjection(
            name: nil, value: value(node, path: path), nameLocation: node.location, location: node.location,
            path: path.text)
    }

    private mutating func calls(_ node: SpecNode?, path: SpecPath) -> [ManifestCall] {
        guard let node else { return [] }
        let items = checker.list(node, "of methods", path: path, hint: "leave it out if there are none") ?? []
        return items.enumerated().compactMap { call($1, path: path.item($0)) }
    }

    private mutating func call(_ node: SpecNode, path: SpecPath) -> ManifestCall? {
        if let name = node.text, !name.isEmpty {
            return ManifestCall(method: name, arguments: [], location: node.location)
        }
        guard let entries = node.entries, let first = entries.first, entries.count == 1,
            checker.checkName(first, "the name of a method", path: path)
        else {
            checker.expected("the name of a method, or one with its arguments such as 'play: [60]'", node, path: path)
            return nil
        }
        let path = path.key(first.key)
        let items = checker.list(first.value, "of arguments", path: path, hint: "write [] if there are none") ?? []
        return ManifestCall(method: first.key, arguments: injections(items, path: path), location: node.location)
    }

    private mutating func parameters(_ node: SpecNode?, path: SpecPath) -> [ManifestParameter] {
        guard let node else { return [] }
        let items = checker.list(node, "of runtime arguments", path: path) ?? []
        var names: Set<String> = []
        func noteName(_ name: String, _ location: Location, _ path: SpecPath) {
            if !names.insert(name).inserted {
                checker.fail("two runtime arguments are named '\(name)'", path: path, at: location)
            }
        }
        return items.enumerated().compactMap { index, item in
            let path = path.item(index)
            if let name = item.text, !name.isEmpty {
                noteName(name, item.location, path)
                return ManifestParameter(
                    name: name, kind: nil, isOptional: false, type: nil, defaultValue: nil, location: item.location)
            }
            let what = "a name, or a map such as '{ name: note, kind: int32 }'"
            guard let map = checker.map(item, what, path: path) else { return nil }
            checker.refuseUnknownKeys(map, known: ["name", "kind", "optional", "type", "default"], path: path)
            guard let node = map["name"], let name = checker.text(node, "a name", path: path.key("name")) else {
                if map["name"] == nil { checker.fail("the key 'name' is missing", path: path, at: item.location) }
                return nil
            }
            noteName(name, node.location, path.key("name"))
            return ManifestParameter(
                name: name,
                kind: map["kind"].flatMap { checker.text($0, "the name of a kind", path: path.key("kind")) },
                isOptional: flag("optional", map, path),
                type: map["type"].flatMap { checker.text($0, "the name of a type", path: path.key("type")) },
                defaultValue: map["default"],
                location: item.location)
        }
    }

    private mutating func maker(
        _ node: SpecNode, path: SpecPath
    ) -> (owner: ManifestInjection, call: ManifestCall)? {
        guard let map = checker.map(node, "such as '{ of: $synth.factory, method: make }'", path: path) else {
            return nil
        }
        checker.refuseUnknownKeys(map, known: ["of", "method", "arguments"], path: path)
        guard let owner = map["of"], let method = map["method"],
            let name = checker.text(method, "the name of a method", path: path.key("method"))
        else {
            if map["of"] == nil || map["method"] == nil {
                checker.fail("a maker needs 'of', an object, and 'method'", path: path, at: node.location)
            }
            return nil
        }
        let inner = path.key("arguments")
        let items = map["arguments"].flatMap { checker.list($0, "of arguments", path: inner) } ?? []
        return (
            one(owner, path: path.key("of")),
            ManifestCall(method: name, arguments: injections(items, path: inner), location: method.location)
        )
    }

    private mutating func option(_ node: SpecNode, path: SpecPath) -> ManifestOption? {
        if node.text == "named" { return ManifestOption(when: .named, use: nil) }
        let what = "an option such as '{ when: saw, use: $synth.saw }', '{ otherwise: $synth.sine }' or 'named'"
        guard let map = checker.map(node, what, path: path) else { return nil }
        checker.refuseUnknownKeys(map, known: ["when", "kind", "exactly", "otherwise", "use"], path: path)
        if let use = map["otherwise"] {
            return ManifestOption(when: .otherwise, use: one(use, path: path.key("otherwise")))
        }
        guard let use = map["use"] else {
            checker.fail("the key 'use' is missing; it says what the choice then is", path: path, at: node.location)
            return nil
        }
        let chosen = one(use, path: path.key("use"))
        if let value = map["when"] { return ManifestOption(when: .equal(value), use: chosen) }
        if let type = map["kind"].flatMap({ checker.text($0, "the name of a type", path: path.key("kind")) }) {
            return ManifestOption(when: .kind(type), use: chosen)
        }
        if let type = map["exactly"].flatMap({ checker.text($0, "the name of a type", path: path.key("exactly")) }) {
            return ManifestOption(when: .exactly(type), use: chosen)
        }
        checker.expected(what, node, path: path)
        return nil
    }
}
