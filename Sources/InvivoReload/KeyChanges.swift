public import InvivoBase
public import InvivoGraph

/// The definitions that a change set adds, replaces and removes.
public struct KeyChanges: Sendable {
    /// The removal of a definition.
    public struct Removal: Sendable {
        public let id: UInt32
        let key: String
        /// The set had defined the key before, so it need not be defined in the runtime.
        var isWithdrawn = false

        public init(_ id: UInt32, _ key: String) {
            self.id = id
            self.key = key
        }
    }

    public internal(set) var definitions: [Definition] = []
    public internal(set) var removed: [Removal] = []
    /// New base values: key, property, value.
    public internal(set) var bases: [(id: UInt32, property: String, value: Value)] = []

    var isEmpty: Bool { definitions.isEmpty && removed.isEmpty && bases.isEmpty }

    /// Adds removals. Drops the definitions of their keys in this set, with the definitions that are inline in them.
    mutating func remove(_ removals: [Removal]) {
        guard !removals.isEmpty else { return }
        let ids = Set(removals.map(\.id))
        let withdrawn = Set(definitions.lazy.map(\.id).filter(ids.contains))
        dropInlines(of: removals.map(\.key))
        definitions.removeAll { ids.contains($0.id) }
        bases.removeAll { ids.contains($0.id) }
        removed += removals.map { removal in
            var removal = removal
            if withdrawn.contains(removal.id) { removal.isWithdrawn = true }
            return removal
        }
    }

    /// Drops the changes of keys that are defined again later, with the definitions that are inline in them.
    private mutating func replace(_ later: [Definition]) {
        guard !later.isEmpty else { return }
        let ids = Set(later.map(\.id))
        dropInlines(of: later.map(\.key))
        definitions.removeAll { ids.contains($0.id) }
        removed.removeAll { ids.contains($0.id) }
        bases.removeAll { ids.contains($0.id) }
    }

    /// Drops definitions that are inline in the holders, at any depth.
    private mutating func dropInlines(of holders: [String]) {
        var names = NameSet(holders)
        var count = -1
        while count != definitions.count {
            count = definitions.count
            definitions.removeAll { definition in
                guard let owner = definition.body.owner, names.contains(owner) else { return false }
                names.insert(definition.key)
                return true
            }
        }
    }

    /// Adds later changes. Where both change the same key, the later one wins.
    mutating func join(_ later: KeyChanges) {
        remove(later.removed)
        replace(later.definitions)
        definitions += later.definitions
        bases += later.bases
    }
}
