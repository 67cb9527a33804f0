internal import HashTreeCollections

/// Sets of key ids. A copy shares what does not change; a set without elements takes no memory.
struct KeySets<Owner: Hashable & Sendable>: Sendable {
    private var sets: TreeDictionary<Owner, TreeSet<UInt32>> = [:]

    var isEmpty: Bool { sets.isEmpty }

    /// The set of `owner`, in no order.
    subscript(owner: Owner) -> TreeSet<UInt32> { sets[owner] ?? [] }

    /// All sets together.
    var all: Set<UInt32> { Set(sets.values.joined()) }

    mutating func insert(_ id: UInt32, into owner: Owner) { sets[owner, default: []].insert(id) }

    mutating func remove(_ id: UInt32, from owner: Owner) {
        guard var set = sets.removeValue(forKey: owner) else { return }
        set.remove(id)
        if !set.isEmpty { sets[owner] = set }
    }
}
