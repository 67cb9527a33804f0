public import InvivoBase

/// One value of the configuration, with the place that says it. Immutable.
public struct ConfigNode: Sendable {
    public enum Content: Sendable {
        /// Neither a list nor a map. Null removes what lies under it; what is merged holds none.
        case value(Value)
        case list([ConfigNode])
        case map([(name: String, node: ConfigNode)])
    }

    public let content: Content
    public let place: Place
    /// Of a large map, where its names are. Maps of the same names in the same order share it.
    fileprivate let index: NameIndex?
    /// Nothing in it removes anything, and no name comes twice: laid over nothing it stays what it is.
    fileprivate let isPlain: Bool

    /// What a map of many names is searched by.
    fileprivate final class NameIndex: Sendable {
        let places: NameTable<Int>

        init(_ pairs: [(name: String, node: ConfigNode)]) {
            places = NameTable(pairs.enumerated().lazy.map { ($0.element.name, $0.offset) })
        }
    }

    private static let comparedOneByOne = 16

    private static func index(_ content: Content) -> NameIndex? {
        guard case .map(let pairs) = content, pairs.count > comparedOneByOne else { return nil }
        return NameIndex(pairs)
    }

    public init(_ content: Content, at place: Place = Place()) {
        self.content = content
        self.place = place
        index = Self.index(content)
        isPlain =
            switch content {
            case .value(.null): false
            case .value, .list: true
            case .map(let pairs): pairs.allSatisfy(\.node.isPlain)
            }
    }

    /// A map with other nodes under the names of another one.
    fileprivate init(_ pairs: [(name: String, node: ConfigNode)], namedAs other: ConfigNode?, at place: Place) {
        content = .map(pairs)
        self.place = place
        index = other?.index
        isPlain = pairs.allSatisfy(\.node.isPlain)
    }

    /// A value that no document says.
    public init(_ value: Value, at place: Place = Place()) {
        switch value {
        case .list(let items): content = .list(items.map { ConfigNode($0, at: place) })
        case .map(let pairs): content = .map(pairs.map { ($0.name, ConfigNode($0.value, at: place)) })
        default: content = .value(value)
        }
        self.place = place
        index = Self.index(content)
        // A host's map may have a name twice.
        isPlain =
            switch value {
            case .null, .map: false
            default: true
            }
    }

    /// Texts as texts, numbers as they were written.
    public var value: Value {
        switch content {
        case .value(let value): value
        case .list(let items): .list(items.map(\.value))
        case .map(let pairs): .map(pairs.map { ($0.name, $0.node.value) })
        }
    }

    public var pairs: [(name: String, node: ConfigNode)]? {
        if case .map(let pairs) = content { pairs } else { nil }
    }

    /// What a name leads to, if this is a map that has it.
    public subscript(name: String) -> ConfigNode? {
        guard let pairs else { return nil }
        return offset(of: name).map { pairs[$0].node }
    }

    /// Where a name stands among the pairs.
    fileprivate func offset(of name: String) -> Int? {
        if let index { return index.places[name] }
        return pairs?.firstIndex { $0.name.isSameName(as: name) }
    }

    /// Whether both are the same null, number or text.
    fileprivate func isSameScalar(as other: ConfigNode) -> Bool {
        if case .value(let one) = content, case .value(let two) = other.content { one.isSame(as: two) } else { false }
    }

    public var isNull: Bool {
        if case .value(.null) = content { true } else { false }
    }
}

/// The whole configuration of one generation: one map, merged from what was said, the last word last.
public struct ConfigTree: Sendable {
    public private(set) var root: ConfigNode
    /// Where null was said of a path. Something may have been said of it again.
    public private(set) var nulls: [String: Place] = [:]

    public init() { root = Self.empty }
    public init(root: ConfigNode) { self.root = root }

    private static var empty: ConfigNode { ConfigNode(ConfigNode.Content.map([])) }

    /// Lays what is said over what was said before: maps merge, lists and scalars are replaced, null removes.
    public mutating func lay(_ said: ConfigNode) throws(Failure) {
        var merge = Merge()
        root = try merge.merged(root, said) ?? Self.empty
        if !merge.nulls.isEmpty { nulls.merge(merge.nulls) { $1 } }
    }

    /// The same for what is said of one path.
    public mutating func lay(_ said: ConfigNode, at path: String) throws(Failure) {
        var node = said
        for name in ConfigPath.names(path).reversed() {
            node = ConfigNode(ConfigNode.Content.map([(name: name, node: node)]), at: said.place)
        }
        try lay(node)
    }

    private struct Merge {
        private var steps = LoadSteps()
        private var names: [String] = []
        var nulls: [String: Place] = [:]

        mutating func merged(_ earlier: ConfigNode?, _ later: ConfigNode) throws(Failure) -> ConfigNode? {
            try steps.step()
            guard case .map(let said) = later.content else {
                if later.isNull { nulls[names.joined(separator: ".")] = later.place }
                return later.isNull ? nil : later
            }
            var pairs = earlier?.pairs ?? []
            if pairs.isEmpty && later.isPlain { return later }
            var added: NameTable<Int> = [:]
            var removed: Set<Int> = []
            for (name, node) in said {
                names.append(name)
                defer { names.removeLast() }
                if let offset = earlier?.offset(of: name) ?? added[name] {
                    let former = removed.contains(offset) ? nil : pairs[offset].node
                    if let left = try merged(former, node) {
                        pairs[offset] = (name, left)
                        removed.remove(offset)
                    } else {
                        removed.insert(offset)
                    }
                } else if let left = try merged(nil, node) {
                    added[name] = pairs.count
                    pairs.append((name, left))
                }
            }
            if added.isEmpty && removed.isEmpty { return ConfigNode(pairs, namedAs: earlier, at: later.place) }
            let left = removed.isEmpty ? pairs : pairs.indices.filter { !removed.contains($0) }.map { pairs[$0] }
            return ConfigNode(ConfigNode.Content.map(left), at: later.place)
        }
    }

    public func find(_ path: String) -> ConfigNode? {
        var node: ConfigNode? = root
        for name in ConfigPath.names(path) { node = node?[name] }
        return node
    }

    /// Every path at which there is something, the outer before the inner.
    public var paths: [String] {
        var found: [String] = []
        func visit(_ node: ConfigNode, _ path: String) {
            for (name, inner) in node.pairs ?? [] where !name.contains(".") && !name.isEmpty {
                let path = path.isEmpty ? name : "\(path).\(name)"
                found.append(path)
                visit(inner, path)
            }
        }
        visit(root, "")
        return found
    }

    public struct Change: Sendable {
        public let path: String
        /// Nil: nothing is there any more.
        public let node: ConfigNode?
        /// Nothing that changed lies below it.
        public let isLeaf: Bool
    }

    /// Every path whose value is another one than in `former`, the outer before the inner.
    public func changes(since former: ConfigTree) throws(Failure) -> [Change] {
        var found: [Change] = []
        var steps = LoadSteps()
        try Self.compare(former.root, root, "", &found, &steps)
        return found
    }

    private static func compare(
        _ old: ConfigNode?, _ new: ConfigNode?, _ path: String, _ found: inout [Change], _ steps: inout LoadSteps
    ) throws(Failure) {
        try steps.step()
        guard let place = try place(of: old, new, path, &found, &steps) else { return }
        found[place] = Change(path: path, node: new, isLeaf: place == found.count - 1)
    }

    /// Where the change of this path stands among those found, its inner ones after it; nil when nothing changed.
    private static func place(
        of old: ConfigNode?, _ new: ConfigNode?, _ path: String, _ found: inout [Change], _ steps: inout LoadSteps
    ) throws(Failure) -> Int? {
        let place = found.count
        found.append(Change(path: path, node: new, isLeaf: true))
        let before = old?.pairs
        let after = new?.pairs
        let haveSameNames = old?.index != nil && old?.index === new?.index
        var hasNameless = false
        for (offset, (name, node)) in (after ?? []).enumerated() {
            let former = haveSameNames ? before?[offset].node : old?[name]
            // What no path leads to is part of the map around it.
            if name.contains(".") || name.isEmpty {
                hasNameless = hasNameless || former?.value.isSame(as: node.value) != true
            } else if former?.isSameScalar(as: node) == true {
                try steps.step()
            } else {
                try compare(former, node, path.isEmpty ? name : "\(path).\(name)", &found, &steps)
            }
        }
        for (name, node) in before ?? [] where !haveSameNames && new?.offset(of: name) == nil {
            if name.contains(".") || name.isEmpty {
                hasNameless = true
            } else {
                try compare(node, nil, path.isEmpty ? name : "\(path).\(name)", &found, &steps)
            }
        }
        if found.count > place + 1 || hasNameless { return place }
        let isSame =
            before != nil && after != nil || before == nil && after == nil && Self.areSame(old, new)
        guard isSame else { return place }
        found.removeLast()
        return nil
    }

    private static func areSame(_ old: ConfigNode?, _ new: ConfigNode?) -> Bool {
        guard let old, let new else { return old == nil && new == nil }
        return old.value.isSame(as: new.value)
    }
}

/// Paths of the configuration: names joined by dots.
public enum ConfigPath {
    /// As deep as values lie in each other.
    public static let deepest = 64

    /// Whole, without the slash that it may begin with.
    public static func whole(_ path: String) -> String { path.hasPrefix("/") ? String(path.dropFirst()) : path }

    public static func names(_ path: String) -> [String] {
        path.isEmpty
            ? []
            : path.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { String($0) ?? "" }
    }

    /// Checks a whole path of the host's; "" is everything.
    public static func checked(_ path: String) throws(Failure) -> String {
        let path = whole(path)
        let names = names(path)
        guard !names.contains("") else {
            throw Failure(.argument, "'\(path)' is no path of the configuration: names joined by dots")
        }
        guard names.count <= deepest else {
            throw Failure(
                .tooLarge,
                "a path of the configuration leads through at most \(deepest) names, not \(names.count): '\(path.prefix(40))...'"
            )
        }
        return path
    }

    /// Where a definition looks for a path, in this order: its own scopes from the inside out, those of the assembly that it
    /// comes from, then what is global.
    public static func candidates(_ path: String, for definition: Definition) -> [String] {
        if path.hasPrefix("/") { return [whole(path)] }
        var found: [String] = []
        for key in [definition.key] + (definition.body.origin.map { [$0] } ?? []) {
            var scope = key[...]
            while let dot = scope.lastIndex(of: ".") {
                scope = scope[..<dot]
                let candidate = "\(scope).\(path)"
                if !found.contains(candidate) { found.append(candidate) }
            }
        }
        // A key of no assembly looks from the top.
        if found.isEmpty { found.append(path) }
        return found + ["global.\(path)"]
    }
}
