public import InvivoBase

/// One value of the configuration with its source location. Immutable.
public struct ConfigNode: Sendable {
    public enum Content: Sendable {
        /// Neither a list nor a map. Null removes the value of lower layers; a merged tree contains no null.
        case value(Value)
        case list([ConfigNode])
        case map(ConfigMap)
    }

    public let content: Content
    public let location: Location
    /// The line and column of its key, in the same file; 0 without a key.
    private var keyLine: UInt32 = 0, keyColumn: UInt32 = 0
    /// The part that environment variables have in the value; nil if they have none.
    public let variables: VariableText?

    public init(_ content: Content, at location: Location = Location(), variables: VariableText? = nil) {
        self.content = content
        self.location = location
        self.variables = variables
    }

    /// Creates a map of unique names. Parts that are identical in `former`, source locations included, are shared with it.
    public init(names: [String], nodes: [ConfigNode], at location: Location, like former: ConfigNode? = nil) {
        let formerMap = former?.map
        let map = ConfigMap(names: names, nodes: nodes, like: formerMap)
        content = .map(formerMap.flatMap { $0.isIdentical(to: map) ? $0 : nil } ?? map)
        self.location = location
        variables = nil
    }

    /// Creates a node from a value without a document. If a map contains a name twice, the second value is merged over the first.
    public init(_ value: Value, at location: Location = Location()) {
        switch value {
        case .list(let items):
            content = .list(items.map { ConfigNode($0, at: location) })
        case .map(let pairs):
            var names: [String] = []
            var nodes: [ConfigNode] = []
            var indices: NameTable<Int> = [:]
            for pair in pairs {
                let node = ConfigNode(pair.value, at: location)
                if let known = indices[pair.name] {
                    nodes[known] = nodes[known].merged(with: node)
                } else {
                    indices[pair.name] = names.count
                    names.append(pair.name)
                    nodes.append(node)
                }
            }
            content = .map(ConfigMap(names: names, nodes: nodes, like: nil))
        default: content = .value(value)
        }
        self.location = location
        variables = nil
    }

    /// The source location of its key; that of the value if there is none.
    public var keyLocation: Location {
        keyLine == 0 ? location : Location(file: location.file, line: keyLine, column: keyColumn)
    }

    /// Returns the node of an entry whose key is at a location in the same file.
    public func under(keyAt location: Location) -> ConfigNode {
        var node = self
        (node.keyLine, node.keyColumn) = (location.line, location.column)
        return node
    }

    /// Merges two maps; for all other content the later node wins.
    private func merged(with later: ConfigNode) -> ConfigNode {
        guard let map, let laterMap = later.map else { return later }
        var editor = ConfigMap.Editor(map)
        for (name, node) in laterMap {
            if let index = map.index(of: name) {
                editor.replace(at: index, by: map.node(at: index).merged(with: node))
            } else {
                editor.append(name, node)
            }
        }
        return ConfigNode(.map(editor.map), at: later.location)
    }

    /// The value without source locations.
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

    /// The node with a name, if this is a map that contains it.
    public subscript(name: String) -> ConfigNode? { map?[name] }

    /// The node at a path below this one.
    public func find(_ path: String) -> ConfigNode? {
        var node: ConfigNode? = self
        for name in ConfigPath.names(path) { node = node?[name] }
        return node
    }

    public var isNull: Bool {
        if case .value(.null) = content { true } else { false }
    }

    /// Whether the node contains no null outside of lists.
    var isPlain: Bool {
        switch content {
        case .value(let value): !value.isNull
        case .list: true
        case .map(let map): map.isPlain
        }
    }

    /// Returns whether both have the same content and source locations. Maps are compared by storage.
    func isIdentical(to other: ConfigNode) -> Bool {
        guard location == other.location, (keyLine, keyColumn) == (other.keyLine, other.keyColumn),
            hasSameVariables(as: other)
        else { return false }
        switch (content, other.content) {
        case (.value(let one), .value(let two)): return one.isSame(as: two)
        case (.map(let one), .map(let two)): return one.isIdentical(to: two)
        case (.list(let one), .list(let two)):
            return one.count == two.count && zip(one, two).allSatisfy { $0.isIdentical(to: $1) }
        default: return false
        }
    }

    /// Returns whether every receiver reads the same from both, wherever they are written: the values are the same, and so are the strings
    /// of environment variables, which a receiver of strings gets.
    func isSame(as other: ConfigNode) -> Bool {
        if case .value(let one) = content, case .value(let two) = other.content {
            return one.isSame(as: two) && hasSameStrings(as: other)
        }
        return value.isSame(as: other.value) && hasSameStrings(as: other)
    }

    /// For a node with the same value.
    private func hasSameStrings(as other: ConfigNode) -> Bool {
        switch (content, other.content) {
        case (.value, .value):
            guard let text = variables?.text, let others = other.variables?.text else { return true }
            return text.isSameName(as: others)
        case (.list(let one), .list(let two)): return zip(one, two).allSatisfy { $0.hasSameStrings(as: $1) }
        case (.map(let one), .map(let two)):
            return one.allSatisfy { name, node in two[name].map { node.hasSameStrings(as: $0) } ?? true }
        default: return true
        }
    }

    private func hasSameVariables(as other: ConfigNode) -> Bool {
        guard let variables, let others = other.variables else { return variables == nil && other.variables == nil }
        return variables.isSame(as: others)
    }

    /// The part that environment variables have in the node, or in the first of its parts with one.
    public var anyVariables: VariableText? {
        if let variables { return variables }
        switch content {
        case .value: return nil
        case .list(let items): return items.lazy.compactMap(\.anyVariables).first
        case .map(let map): return map.lazy.compactMap { $0.node.anyVariables }.first
        }
    }

    /// The source location, or that of the first part with one: the maps around the value of an environment variable have none.
    public var firstLocation: Location {
        guard location.file.isEmpty, let map else { return location }
        return map.lazy.map { $0.node.firstLocation }.first { !$0.file.isEmpty } ?? location
    }

    /// Whether the value, or a part of it, is secret.
    public var hasSecret: Bool {
        if let variables { return variables.isSecret }
        return switch content {
        case .value: false
        case .list(let items): items.contains(where: \.hasSecret)
        case .map(let map): map.contains { $0.node.hasSecret }
        }
    }

    /// Returns a failure about the value, without the values of environment variables, of files, and of secrets.
    public func masked(_ failure: Failure, expected: String) -> Failure {
        anyVariables?.masking(failure, expected: expected) ?? failure
    }
}
