public import InvivoBase

/// A component that replaces the objects of other components when they are created, or whose method returns the
/// replacement.
///
///     decorators:
///       logging: { component: app.logged }                              # every object; the component takes it as its argument
///       shells:  { component: app.maker, method: shell, type: Filter }  # the result of the method
public struct ManifestDecorator: Sendable {
    public let name: String
    /// The key of the component.
    public let component: String
    public let method: String?
    /// The only decorated key; nil stands for every key.
    public let key: String?
    /// The type of the decorated objects; nil stands for every type.
    public let type: String?
    /// The order: the lowest first; equal ones in the order of the manifest.
    public let priority: Int32
    public let location: Location
    /// Its key path in the manifest, "decorators.logging", for errors found later.
    public let path: String
}

extension ManifestChecker {
    mutating func decorators(of root: SpecNode) -> [ManifestDecorator] {
        guard let node = root.entries?["decorators"] else { return [] }
        let path = SpecPath().key("decorators")
        let entries = checker.map(node, "of names and decorators", path: path, hint: "write {} if there are none") ?? []
        return entries.compactMap { decorator($0, path: path) }
    }

    private mutating func decorator(_ entry: SpecEntry, path: SpecPath) -> ManifestDecorator? {
        guard checker.checkName(entry, "the name of a decorator", path: path) else { return nil }
        let path = path.key(entry.key)
        guard let map = checker.map(entry.value, "such as '{ component: app.logged }'", path: path) else { return nil }
        checker.refuseUnknownKeys(map, known: ["component", "method", "key", "type", "priority"], path: path)
        func text(_ key: String, _ what: String) -> String? {
            guard let text = map[key].flatMap({ checker.text($0, what, path: path.key(key)) }) else { return nil }
            return key == "component" || key == "key" ? String(text.drop { $0 == "$" }) : text
        }
        var priority: Int32 = 0
        if let node = map["priority"] {
            if case .integer(let number) = node.content, let number = Int32(exactly: number) {
                priority = number
            } else {
                checker.expected("a priority such as 10", node, path: path.key("priority"))
            }
        }
        let method = text("method", "the name of a method")
        let key = text("key", "a key")
        let type = text("type", "the name of a type")
        guard map["component"] != nil else {
            checker.fail(
                "the key 'component' is missing; it names the component that decorates", path: path,
                at: entry.keyLocation)
            return nil
        }
        guard let component = text("component", "the key of a component") else { return nil }
        return ManifestDecorator(
            name: entry.key, component: component, method: method, key: key, type: type, priority: priority,
            location: entry.keyLocation, path: path.text)
    }
}
