internal import HashTreeCollections
internal import InvivoBase
internal import InvivoGraph

/// The references between definitions, against their direction. Derived from definitions and compiled definitions.
struct Links: Sendable {
    /// Key or configuration path -> the definitions that refer to it or were bound to it, and how they follow a change.
    var dependents = Dependents()
    /// Parent -> the definitions that inherit from it.
    var children = KeySets<UInt32>()
    /// Key -> its aliases.
    var aliases = KeySets<UInt32>()
    /// Definition -> the inline definitions in it, and the definitions of a pattern's entries.
    var inlines = KeySets<UInt32>()
    /// Configuration path -> the definitions that are patterns for its entries, or would be if it had some.
    private(set) var patterns = KeySets<String>()
    /// The definitions whose objects keep former dependencies.
    var keepers: TreeSet<UInt32> = []
    /// Key -> the definitions whose objects own what they receive of it.
    var owners = KeySets<UInt32>()
    /// Type -> the definitions with a type query for it.
    var typeQueries = KeySets<String>()
    /// Key that is not defined -> the definitions that are blocked on it.
    var blockedOn = KeySets<String>()
    /// Key that is not defined -> the definitions with an optional reference to it.
    var optionalReferences = KeySets<String>()
    /// Key in documents -> the definitions that declare it as the key whose traits apply to their objects.
    var specKeys = KeySets<String>()
    /// Object -> the keys whose constant it is.
    var constantKeys = KeySets<UInt64>()

    /// Returns every other name of a key, aliases of aliases included.
    func allAliases(of id: UInt32) -> Set<UInt32> {
        guard !aliases[id].isEmpty else { return [] }
        var found: Set<UInt32> = []
        var queue = [id]
        while let next = queue.popLast() {
            for alias in aliases[next] where found.insert(alias).inserted { queue.append(alias) }
        }
        return found
    }

    /// Replaces a definition among the patterns; one that is nil, or is for no entries, is no pattern.
    mutating func replacePattern(_ id: UInt32, _ former: Definition?, _ next: Definition?) {
        if let former {
            for path in former.patternPaths { patterns.remove(id, from: path) }
        }
        if let next {
            for path in next.patternPaths { patterns.insert(id, into: path) }
        }
    }

    /// Adds the references of a compiled definition.
    mutating func note(_ id: UInt32, _ recipe: Recipe) {
        for (target, edge) in recipe.references.edges { dependents.set(edge, of: id, to: target) }
        if recipe.references.keep { keepers.insert(id) }
        if recipe.references.owns { for target in recipe.references.owned { owners.insert(id, into: target) } }
        for name in recipe.references.typeQueries { typeQueries.insert(id, into: name) }
        for name in recipe.references.awaitedKeys { blockedOn.insert(id, into: name) }
        for name in recipe.references.undefinedKeys { optionalReferences.insert(id, into: name) }
        if let declared = recipe.definition.body.specKey { specKeys.insert(id, into: declared) }
        if recipe.constantObject != 0 { constantKeys.insert(id, into: recipe.constantObject) }
    }

    /// Removes the references of the compiled definition that a key had. An alias without arguments has its target's, which stay.
    mutating func forget(_ id: UInt32, _ recipe: Recipe?) {
        guard let recipe, recipe.id == id else { return }
        for (target, _) in recipe.references.edges { dependents.remove(id, from: target) }
        if recipe.references.keep { keepers.remove(id) }
        if recipe.references.owns { for target in recipe.references.owned { owners.remove(id, from: target) } }
        for name in recipe.references.typeQueries { typeQueries.remove(id, from: name) }
        for name in recipe.references.awaitedKeys { blockedOn.remove(id, from: name) }
        for name in recipe.references.undefinedKeys { optionalReferences.remove(id, from: name) }
        if let declared = recipe.definition.body.specKey { specKeys.remove(id, from: declared) }
        if recipe.constantObject != 0 { constantKeys.remove(id, from: recipe.constantObject) }
    }
}
