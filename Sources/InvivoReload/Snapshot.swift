internal import HashTreeCollections
internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoWiring

/// The description of one generation: a value.
///
/// The states of documents are still kept with the documents, and packed definitions in the slots of the graph.
///
/// A plan reads a snapshot and describes the next one; `Snapshot.apply` carries that out. Only the reload that has the turn
/// replaces the engine's snapshot.
struct Snapshot: Sendable {
    /// The configuration: the content of all documents and the runtime settings, merged.
    var config = ConfigLayers()
    /// The base definition of each key, as processors left it.
    var definitions = DefinitionTable()
    /// The definitions that processors replaced, as they were described.
    var originals: TreeDictionary<UInt32, Definition> = [:]
    var assemblies = ActiveAssemblies()
    /// The overrides of each key. The last one is in force.
    var overrides: TreeDictionary<UInt32, [Override]> = [:]
    /// All processors in order.
    var processors: [Processor] = []
    /// The dependencies of each decorator's component, which it does not decorate.
    var decoratorReaches: [ObjectIdentifier: Set<UInt32>] = [:]
    /// The blocked definitions, with the names of their missing dependencies.
    var blocked: TreeDictionary<UInt32, [String]> = [:]
    /// The types of targets that were declared or attached, by key.
    var targetTypes: TreeDictionary<UInt32, ObjectType> = [:]
    /// The keys with warnings about their traits. A document that names one plans it again, so that each report has them.
    var warned: NameSet = []
    /// The highest number in the order of declaration.
    var lastNumber: UInt64 = 0
    /// The reverse references of all of the above.
    var links = Links()
}

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
    /// The definitions that are patterns for the entries of a map or list.
    var patterns: TreeSet<UInt32> = []
    /// Type -> the definitions with a type query for it.
    var typeQueries = KeySets<String>()
    /// Key that is not defined -> the definitions that are blocked on it.
    var blockedOn = KeySets<String>()
    /// Key that is not defined -> the definitions with an optional reference to it.
    var optionalReferences = KeySets<String>()
    /// Object -> the keys whose constant it is.
    var constantKeys = KeySets<UInt64>()

    /// Returns every other name of a key, aliases of aliases included.
    func allAliases(of id: UInt32) -> Set<UInt32> {
        var found: Set<UInt32> = []
        var queue = [id]
        while let next = queue.popLast() {
            for alias in aliases[next] where found.insert(alias).inserted { queue.append(alias) }
        }
        return found
    }
}

extension Snapshot {
    /// Returns the key that `id` is an alias of, or nil.
    func alias(_ id: UInt32) -> String? {
        guard let above = overrides[id]?.last else { return definitions.alias(id) }
        return definitions[id] == nil ? nil : above.definition.alias
    }

    // MARK: the next snapshot

    /// Notes which keys have warnings about their traits.
    mutating func note(_ findings: LayerFindings) {
        for key in findings.planned { warned.remove(key) }
        warned.formUnion(findings.warned)
    }

    /// Takes in the wiring of a plan. `former` and `next` are the graphs before and after it.
    mutating func apply(_ wiring: NextWiring, former: Graph, next: Graph, _ names: KeyNames) {
        let plan = wiring.definitions
        for (id, changed) in plan.changed {
            if let owner = definitions[id]?.body.owner.flatMap(names.id(of:)) { links.inlines.remove(id, from: owner) }
            if changed == nil { links.forget(id, former.recipe(id)) }
            if changed?.body.each == nil { links.patterns.remove(id) } else { links.patterns.insert(id) }
            if let owner = changed?.body.owner.flatMap(names.id(of:)) { links.inlines.insert(id, into: owner) }
        }
        for (id, definition) in plan.moved where definitions[id] != nil && plan.changed[id] == nil {
            definitions[id] = definition
        }
        if let active = plan.assemblies { assemblies = active }
        for (id, original) in plan.originals { originals[id] = original }
        if let planned = plan.processors { processors = planned }
        if let reaches = plan.decoratorReaches { decoratorReaches = reaches }
        if let planned = wiring.config.layers { config = planned }
        blocked = wiring.compiled.blocked
        lastNumber = plan.lastNumber
        let changed = Set(plan.changed.keys).union(plan.overrides.keys)
        for id in changed { unlinkNames(id, names) }
        definitions.take(plan.changed, in: next) { id in (plan.overrides[id] ?? overrides[id])?.isEmpty == false }
        for (id, stack) in plan.overrides { overrides[id] = stack.isEmpty ? nil : stack }
        for id in changed { linkNames(id, names) }
        for (id, recipe) in wiring.compiled.recipes {
            links.forget(id, former.recipe(id))
            links.note(id, recipe)
        }
        // A key that once had a target may be named by documents while it has none.
        for target in wiring.set.attached where targetTypes[target.id] == nil {
            targetTypes[target.id] = target.type
        }
    }

    private mutating func unlinkNames(_ id: UInt32, _ names: KeyNames) {
        for parent in parents(id, names) { links.children.remove(id, from: parent) }
        if let target = alias(id).flatMap(names.id(of:)) { links.aliases.remove(id, from: target) }
    }

    private mutating func linkNames(_ id: UInt32, _ names: KeyNames) {
        for parent in parents(id, names) { links.children.insert(id, into: parent) }
        if let target = alias(id).flatMap(names.id(of:)) { links.aliases.insert(id, into: target) }
    }

    /// Returns the parents of a key and of its overrides. An override of a removed key has no parent.
    private func parents(_ id: UInt32, _ names: KeyNames) -> [UInt32] {
        var parents = [definitions.parent(id)]
        if let above = overrides[id], definitions[id] != nil { parents += above.map(\.definition.body.parent) }
        return parents.compactMap { $0.flatMap(names.id(of:)) }
    }
}

extension Links {
    /// Adds the references of a compiled definition.
    fileprivate mutating func note(_ id: UInt32, _ recipe: Recipe) {
        for (target, edge) in recipe.edges { dependents.set(edge, of: id, to: target) }
        for name in recipe.wishes { typeQueries.insert(id, into: name) }
        for name in recipe.awaits { blockedOn.insert(id, into: name) }
        for name in recipe.missing { optionalReferences.insert(id, into: name) }
        if recipe.constantObject != 0 { constantKeys.insert(id, into: recipe.constantObject) }
    }

    /// Removes the references of the compiled definition that a key had. An alias without arguments has its target's, which stay.
    fileprivate mutating func forget(_ id: UInt32, _ recipe: Recipe?) {
        guard let recipe, recipe.id == id else { return }
        for (target, _) in recipe.edges { dependents.remove(id, from: target) }
        for name in recipe.wishes { typeQueries.remove(id, from: name) }
        for name in recipe.awaits { blockedOn.remove(id, from: name) }
        for name in recipe.missing { optionalReferences.remove(id, from: name) }
        if recipe.constantObject != 0 { constantKeys.remove(id, from: recipe.constantObject) }
    }
}
