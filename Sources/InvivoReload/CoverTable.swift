internal import HashTreeCollections
internal import InvivoGraph

/// The decisions of documents and the overrides above the base definitions of keys. A value: a copy shares what does not change.
struct CoverTable: Sendable {
    private(set) var all: TreeDictionary<UInt32, Covers> = [:]
    /// The keys with overrides.
    private(set) var overridden: TreeSet<UInt32> = []
    /// Of the definitions below.
    private(set) var references = CoveredReferences()

    var isEmpty: Bool { all.isEmpty }

    subscript(id: UInt32) -> Covers? { all[id] }

    /// Sets what lies above keys after a plan, with the references of the definitions below that were checked.
    mutating func take(_ covers: [UInt32: Covers], _ found: [UInt32: CoveredReferences.Found]) {
        for (id, own) in covers {
            all[id] = own.isEmpty ? nil : own
            if own.overrides.isEmpty { overridden.remove(id) } else { overridden.insert(id) }
            if own.isEmpty { references.remove(id) }
        }
        for (id, found) in found where all[id] != nil { references.set(found, of: id) }
    }
}

/// The references of definitions that decisions and overrides cover. Such a definition comes into force when what lies above it ends, so each
/// change that concerns it checks it. A value.
struct CoveredReferences: Sendable {
    /// Covered key -> the keys and paths that its definitions refer to.
    private var references: TreeDictionary<UInt32, [UInt32]> = [:]
    /// The reverse.
    private var holders = KeySets<UInt32>()
    /// The covered keys that every change may concern: with lookups by type, choices, and the like.
    private var open: TreeSet<UInt32> = []

    /// What a change has to know about the definitions that are covered at one key. Nil if every change may concern them.
    typealias Found = [UInt32]?

    /// Returns the references of covered definitions.
    static func found(_ layers: [(definition: Definition, recipe: Recipe)]) -> Found {
        var ids: [UInt32] = []
        for (definition, recipe) in layers {
            let references = recipe.references
            guard definition.alias == nil, definition.body.choice == nil, definition.body.scopeName == nil,
                references.typeQueries.isEmpty, references.undefinedKeys.isEmpty, references.awaitedKeys.isEmpty,
                recipe.waits.isEmpty
            else { return nil }
            ids += references.edges.map(\.id)
        }
        return ids
    }

    /// Returns the covered keys whose definitions a change of `ids` concerns.
    func concerned(by ids: some Sequence<UInt32>) -> TreeSet<UInt32> {
        var found = open
        guard !holders.isEmpty else { return found }
        for id in ids { found.formUnion(holders[id]) }
        return found
    }

    mutating func set(_ found: Found, of id: UInt32) {
        remove(id)
        guard let found else {
            open.insert(id)
            return
        }
        references[id] = found
        for reference in found { holders.insert(id, into: reference) }
    }

    mutating func remove(_ id: UInt32) {
        open.remove(id)
        for reference in references.removeValue(forKey: id) ?? [] { holders.remove(id, from: reference) }
    }
}
