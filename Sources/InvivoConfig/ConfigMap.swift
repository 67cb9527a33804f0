internal import HashTreeCollections
internal import InvivoBase

/// An immutable ordered map from unique names to nodes. A copy with one changed node shares all but 64 nodes with the original.
public final class ConfigMap: RandomAccessCollection, Sendable {
    typealias Leaf = ContiguousArray<ConfigNode>

    /// The names of a map, shared by maps that have the same names in the same order.
    fileprivate final class Names: Sendable {
        private static let longestLinearSearch = 16

        let leaves: [ContiguousArray<String>]
        let count: Int
        /// The index of each name; nil for short maps, which are searched linearly.
        private let indices: TreeDictionary<Name, UInt32>?

        private init(leaves: [ContiguousArray<String>], count: Int, indices: TreeDictionary<Name, UInt32>?) {
            self.leaves = leaves
            self.count = count
            self.indices = indices
        }

        convenience init(_ names: [String]) {
            self.init(leaves: leavesOf(names), count: names.count, indices: Self.indices(names))
        }

        private static func indices(_ names: [String]) -> TreeDictionary<Name, UInt32>? {
            guard names.count > longestLinearSearch else { return nil }
            var indices: TreeDictionary<Name, UInt32> = [:]
            for (index, name) in names.enumerated() { indices[Name(name)] = UInt32(index) }
            return indices
        }

        subscript(index: Int) -> String { leaves[index / leafSize][index % leafSize] }

        func index(of name: String) -> Int? {
            if let indices { return indices[Name(name)].map(Int.init) }
            return leaves.first?.firstIndex { $0.isSameName(as: name) }
        }

        func appending(_ name: String) -> Names {
            var leaves = leaves
            if count % leafSize == 0 { leaves.append([]) }
            leaves[count / leafSize].append(name)
            guard count >= Self.longestLinearSearch else {
                return Names(leaves: leaves, count: count + 1, indices: nil)
            }
            var indices = indices ?? Self.indices(leaves.flatMap(\.self)) ?? [:]
            indices[Name(name)] = UInt32(count)
            return Names(leaves: leaves, count: count + 1, indices: indices)
        }

        /// Returns whether `other` begins with these names, in this order.
        func isPrefix(of other: Names) -> Bool {
            if self === other { return true }
            guard count <= other.count else { return false }
            for (leaf, others) in zip(leaves, other.leaves) {
                for (name, other) in zip(leaf, others) where !name.isSameName(as: other) { return false }
            }
            return true
        }
    }

    fileprivate let names: Names
    fileprivate let leaves: [Leaf]
    /// Whether the map contains no null. Merging such a map over nothing yields the map itself.
    let isPlain: Bool

    fileprivate init(_ names: Names, _ leaves: [Leaf], isPlain: Bool) {
        self.names = names
        self.leaves = leaves
        self.isPlain = isPlain
    }

    static let empty = ConfigMap(Names([]), [], isPlain: true)

    /// Creates a map of unique names. Leaves that are identical in `former`, source locations included, are shared with it.
    convenience init(names: [String], nodes: [ConfigNode], like former: ConfigMap?) {
        let isKnown = former.map { $0.count == names.count && $0.names.elements(are: names) } ?? false
        var leaves = leavesOf(nodes)
        if let former {
            for (index, old) in former.leaves.enumerated()
            where index < leaves.count && areIdentical(old, leaves[index]) {
                leaves[index] = old
            }
        }
        self.init(
            isKnown ? former!.names : Names(names), leaves, isPlain: nodes.allSatisfy(\.isPlain))
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { names.count }

    public subscript(index: Int) -> (name: String, node: ConfigNode) { (names[index], node(at: index)) }

    func node(at index: Int) -> ConfigNode { leaves[index / leafSize][index % leafSize] }

    public func index(of name: String) -> Int? { names.index(of: name) }

    public subscript(name: String) -> ConfigNode? { names.index(of: name).map(node(at:)) }

    /// Returns whether both share their names and all their leaves.
    func isIdentical(to other: ConfigMap) -> Bool {
        if self === other { return true }
        return names === other.names && leaves.count == other.leaves.count
            && zip(leaves, other.leaves).allSatisfy { haveSameStorage($0, $1) }
    }

    // MARK: editing

    /// A copy that is being edited.
    struct Editor {
        private var names: Names
        private var leaves: [Leaf]
        private var isPlain: Bool
        private(set) var isChanged = false

        init(_ map: ConfigMap) {
            names = map.names
            leaves = map.leaves
            isPlain = map.isPlain
        }

        mutating func replace(at index: Int, by node: ConfigNode) {
            leaves[index / leafSize][index % leafSize] = node
            note(node)
        }

        mutating func append(_ name: String, _ node: ConfigNode) {
            names = names.appending(name)
            if leaves.isEmpty || leaves[leaves.count - 1].count == leafSize { leaves.append([]) }
            leaves[leaves.count - 1].append(node)
            note(node)
        }

        private mutating func note(_ node: ConfigNode) {
            isPlain = isPlain && node.isPlain
            isChanged = true
        }

        /// The edited map without the entries at some indices.
        func map(without removed: Set<Int>) -> ConfigMap {
            let map = ConfigMap(names, leaves, isPlain: isPlain)
            guard !removed.isEmpty else { return map }
            let kept = map.indices.filter { !removed.contains($0) }
            return ConfigMap(names: kept.map { names[$0] }, nodes: kept.map(map.node(at:)), like: map)
        }

        var map: ConfigMap { map(without: []) }
    }

    // MARK: comparing

    /// The differences between two maps.
    struct Difference {
        /// Changed and added entries in the order of the new map, then removed entries in the order of the old one.
        var entries: [(name: String, old: ConfigNode?, new: ConfigNode?)] = []
        /// Whether the names of the new map that the old one has are in the same order, and come before all others.
        var keepsOrder = true
    }

    static func difference(_ old: ConfigMap?, _ new: ConfigMap?, _ steps: inout LoadSteps) throws(Failure) -> Difference
    {
        var found = Difference()
        let (old, new) = (old ?? .empty, new ?? .empty)
        if old.isIdentical(to: new) { return found }
        if old.names.isPrefix(of: new.names) {
            for (index, leaf) in new.leaves.enumerated() {
                let former = index < old.leaves.count ? old.leaves[index] : []
                guard !haveSameStorage(leaf, former) else { continue }
                for (offset, node) in leaf.enumerated() {
                    try steps.step()
                    let before = offset < former.count ? former[offset] : nil
                    guard before?.isIdentical(to: node) != true else { continue }
                    found.entries.append((new.names[index * leafSize + offset], before, node))
                }
            }
            return found
        }
        var last = -1
        for (name, node) in new {
            try steps.step()
            let index = old.index(of: name)
            if let index, index < last { found.keepsOrder = false }
            last = index ?? old.count
            let before = index.map(old.node(at:))
            if before?.isIdentical(to: node) != true { found.entries.append((name, before, node)) }
        }
        for (name, node) in old where new.index(of: name) == nil {
            try steps.step()
            found.entries.append((name, node, nil))
        }
        return found
    }
}

extension ConfigMap.Names {
    fileprivate func elements(are others: [String]) -> Bool {
        var index = 0
        for leaf in leaves {
            for name in leaf {
                guard name.isSameName(as: others[index]) else { return false }
                index += 1
            }
        }
        return true
    }
}

private let leafSize = 64

private func leavesOf<Element>(_ elements: [Element]) -> [ContiguousArray<Element>] {
    stride(from: 0, to: elements.count, by: leafSize).map {
        ContiguousArray(elements[$0..<min($0 + leafSize, elements.count)])
    }
}

/// Returns whether both arrays share their storage, without comparing elements.
private func haveSameStorage(_ one: ConfigMap.Leaf, _ other: ConfigMap.Leaf) -> Bool {
    one.count == other.count
        && one.withUnsafeBufferPointer { a in other.withUnsafeBufferPointer { a.baseAddress == $0.baseAddress } }
}

private func areIdentical(_ one: ConfigMap.Leaf, _ other: ConfigMap.Leaf) -> Bool {
    one.count == other.count && zip(one, other).allSatisfy { $0.isIdentical(to: $1) }
}
