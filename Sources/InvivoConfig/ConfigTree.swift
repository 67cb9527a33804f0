public import InvivoBase

/// The whole configuration of one generation: all layers merged into one map.
public struct ConfigTree: Sendable {
    public let root: ConfigNode

    public init() { root = ConfigNode(.map(.empty)) }
    public init(root: ConfigNode) { self.root = root }

    public func find(_ path: String) -> ConfigNode? { root.find(path) }

    /// All paths that have a value, parents before children.
    public var paths: [String] {
        var found: [String] = []
        func visit(_ node: ConfigNode, _ path: String) {
            for (name, inner) in node.map ?? .empty where !ConfigPath.isNameless(name) {
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
        /// The new node; nil if the value was removed.
        public let node: ConfigNode?
        /// Whether the change has no changed path below it.
        public let isLeaf: Bool
    }

    /// The paths whose value differs, parents before children.
    public struct Changes: Sendable, RandomAccessCollection {
        public fileprivate(set) var elements: [Change] = []
        /// The maps whose names are in another order, or have new names between them. A map of another order is equal to the former one.
        public fileprivate(set) var reordered: [String] = []

        public init() {}

        public var startIndex: Int { elements.startIndex }
        public var endIndex: Int { elements.endIndex }
        public subscript(index: Int) -> Change { elements[index] }
    }

    /// Returns all paths whose value differs from `former`. Shared subtrees are skipped.
    public func changes(since former: ConfigTree) throws(Failure) -> Changes {
        var comparison = Comparison()
        try comparison.compare(former.root, root, "")
        var changes = Changes()
        (changes.elements, changes.reordered) = (comparison.found, comparison.reordered)
        return changes
    }

    private struct Comparison {
        var found: [Change] = []
        var reordered: [String] = []
        private var steps = LoadSteps()

        mutating func compare(_ old: ConfigNode?, _ new: ConfigNode?, _ path: String) throws(Failure) {
            try steps.step()
            let position = found.count
            found.append(Change(path: path, node: new, isLeaf: true))
            guard try differ(old, new, path) else {
                found.removeLast()
                return
            }
            found[position] = Change(path: path, node: new, isLeaf: position == found.count - 1)
        }

        /// Returns whether the values differ, after recording the differences below them.
        private mutating func differ(_ old: ConfigNode?, _ new: ConfigNode?, _ path: String) throws(Failure) -> Bool {
            let (before, after) = (old?.map, new?.map)
            guard before != nil || after != nil else {
                guard let old, let new else { return old != nil || new != nil }
                return !old.isSame(as: new)
            }
            var differs = before == nil || after == nil
            let difference = try ConfigMap.difference(before, after, &steps)
            if !difference.keepsOrder { reordered.append(path) }
            for (name, old, new) in difference.entries {
                if case .value? = old?.content, case .value? = new?.content, let old, let new, old.isSame(as: new) {
                    continue
                }
                // An entry that no path can name is part of the value of its map.
                if ConfigPath.isNameless(name) {
                    guard let old, let new, old.isSame(as: new) else {
                        differs = true
                        continue
                    }
                } else {
                    let count = found.count
                    try compare(old, new, path.isEmpty ? name : "\(path).\(name)")
                    if found.count > count { differs = true }
                }
            }
            return differs
        }
    }
}
