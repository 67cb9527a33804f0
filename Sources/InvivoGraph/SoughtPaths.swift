internal import InvivoBase
public import InvivoConfig

/// The paths of the configuration that were ever looked up. `Dependents` knows which of them still have readers.
public struct SoughtPaths: Sendable {
    private var ids: Set<UInt32> = []
    /// In the order in which they were added; the first `held` are in the trie.
    private var order: [UInt32] = []
    private var held = 0
    private var trie = PathTrie()
    /// The paths that hosts read, and those of types without a definition.
    public private(set) var others: Set<UInt32> = []

    public init() {}

    public var isEmpty: Bool { order.isEmpty }

    /// Notes a path that a definition requests.
    public mutating func note(_ id: UInt32) {
        if id != .max, ids.insert(id).inserted { order.append(id) }
    }

    /// Notes a path that a reader other than a definition requests.
    public mutating func noteOther(_ id: UInt32) {
        note(id)
        others.insert(id)
    }

    /// All paths, by their bytes. Built at the first request.
    public mutating func paths(_ path: (UInt32) -> String) -> PathTrie {
        for id in order[held...] { trie.insert(path(id), id) }
        held = order.count
        return trie
    }
}
