public import InvivoBase

/// One value of the configuration, with the place that says it. Immutable.
public struct ConfigNode: Sendable {
    public enum Content: Sendable {
        /// Neither a list nor a map. Null removes what lies under it; what is merged holds none.
        case value(Value)
        case list([ConfigNode])
        case map(ConfigMap)
    }

    public let content: Content
    public let place: Place

    public init(_ content: Content, at place: Place = Place()) {
        self.content = content
        self.place = place
    }

    /// A map of names that differ. What it has in common with `former`, places included, it shares.
    public init(names: [String], nodes: [ConfigNode], at place: Place, like former: ConfigNode? = nil) {
        let formerMap = former?.map
        let map = ConfigMap(names: names, nodes: nodes, like: formerMap)
        content = .map(formerMap.flatMap { $0.isIdentical(to: map) ? $0 : nil } ?? map)
        self.place = place
    }

    /// A value that no document says. Of a name that comes twice the later value is laid over the earlier.
    public init(_ value: Value, at place: Place = Place()) {
        switch value {
        case .list(let items):
            content = .list(items.map { ConfigNode($0, at: place) })
        case .map(let pairs):
            var names: [String] = []
            var nodes: [ConfigNode] = []
            var places: NameTable<Int> = [:]
            for pair in pairs {
                let node = ConfigNode(pair.value, at: place)
                if let known = places[pair.name] {
                    nodes[known] = nodes[known].and(node)
                } else {
                    places[pair.name] = names.count
                    names.append(pair.name)
                    nodes.append(node)
                }
            }
            content = .map(ConfigMap(names: names, nodes: nodes, like: nil))
        default: content = .value(value)
        }
        self.place = place
    }

    /// What both say, one after the other: maps merge, else the later one counts.
    private func and(_ later: ConfigNode) -> ConfigNode {
        guard let map, let said = later.map else { return later }
        var editor = ConfigMap.Editor(map)
        for (name, node) in said {
            if let place = map.place(of: name) {
                editor.replace(at: place, by: map.node(at: place).and(node))
            } else {
                editor.append(name, node)
            }
        }
        return ConfigNode(.map(editor.map), at: later.place)
    }

    /// Texts as texts, numbers as they were written.
    public var value: Value {
        switch content {
        case .value(let value): value
        case .list(let items): .list(items.map(\.value))
        case .map(let map): .map(map.map { ($0.name, $0.node.value) })
        }
    }

    public var map: ConfigMap? {
        if case .map(let map) = content { map } else { nil }
    }

    /// What a name leads to, if this is a map that has it.
    public subscript(name: String) -> ConfigNode? { map?[name] }

    /// What a path leads to below it.
    public func find(_ path: String) -> ConfigNode? {
        var node: ConfigNode? = self
        for name in ConfigPath.names(path) { node = node?[name] }
        return node
    }

    public var isNull: Bool {
        if case .value(.null) = content { true } else { false }
    }

    /// Nothing in it removes anything: laid over nothing it stays what it is.
    var isPlain: Bool {
        switch content {
        case .value(let value): !value.isNull
        case .list: true
        case .map(let map): map.isPlain
        }
    }

    /// Whether both say the same at the same place, down to what lies in them.
    func isIdentical(to other: ConfigNode) -> Bool {
        guard place == other.place else { return false }
        switch (content, other.content) {
        case (.value(let one), .value(let two)): return one.isSame(as: two)
        case (.map(let one), .map(let two)): return one.isIdentical(to: two)
        case (.list(let one), .list(let two)):
            return one.count == two.count && zip(one, two).allSatisfy { $0.isIdentical(to: $1) }
        default: return false
        }
    }
}
