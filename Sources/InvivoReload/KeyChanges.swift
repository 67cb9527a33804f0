public import InvivoBase
public import InvivoGraph

/// The definitions that a change set adds, replaces and removes.
public struct KeyChanges: Sendable {
    public internal(set) var definitions: [Definition] = []
    public internal(set) var removed: [(id: UInt32, key: String)] = []
    /// Keys among `removed` that the set had defined before. They need not be defined in the runtime.
    private(set) var withdrawn: Set<UInt32> = []
    /// New base values: key, property, value.
    public internal(set) var bases: [(id: UInt32, property: String, value: Value)] = []

    var isEmpty: Bool { definitions.isEmpty && removed.isEmpty && bases.isEmpty }

    /// Drops the definitions of keys that are removed later, with the definitions that are inline in them.
    mutating func withdraw(_ keys: [(id: UInt32, key: String)]) {
        guard !keys.isEmpty else { return }
        let ids = Set(keys.map(\.id))
        for definition in definitions where ids.contains(definition.id) { withdrawn.insert(definition.id) }
        dropInlines(of: keys.map(\.key))
        definitions.removeAll { ids.contains($0.id) }
        bases.removeAll { ids.contains($0.id) }
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
        withdraw(later.removed)
        replace(later.definitions)
        definitions += later.definitions
        removed += later.removed
        withdrawn.formUnion(later.withdrawn)
        bases += later.bases
    }
}
