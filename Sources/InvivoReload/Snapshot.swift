internal import HashTreeCollections
internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph

/// The description of one generation: a value.
///
/// The states of documents are kept with the documents, and packed definitions in the slots of the graph.
///
/// Immutable. A plan reads a snapshot and describes the next one, which `applying` returns: it shares what does not change.
final class Snapshot: Sendable {
    /// The configuration: the content of all documents and the runtime settings, merged.
    let config: ConfigLayers
    /// The documents with content. Their states are kept with them.
    let documents: DocumentIndex
    /// The base definition of each key, as processors left it.
    let definitions: DefinitionTable
    /// The definitions that processors replaced, as they were described.
    let originals: TreeDictionary<UInt32, Definition>
    let assemblies: ActiveAssemblies
    /// The decisions of documents and the overrides above the base definitions.
    let covers: CoverTable
    /// All processors in order.
    let processors: [Processor]
    /// The dependencies of each decorator's component, which it does not decorate.
    let decoratorReaches: [ObjectIdentifier: Set<UInt32>]
    let constraints: Constraints
    /// The blocked definitions, with the names of their missing dependencies.
    let blocked: TreeDictionary<UInt32, [String]>
    let traits: TraitFacts
    /// The former objects and values that objects keep.
    let kept: KeptDependencies
    /// The changes that wait for objects to be created again.
    let restarts: PendingRestarts
    /// The highest number in the order of declaration.
    let lastNumber: UInt64
    /// The reverse references of all of the above.
    let links: Links

    init(
        config: ConfigLayers = ConfigLayers(), documents: DocumentIndex = DocumentIndex(),
        definitions: DefinitionTable = DefinitionTable(),
        originals: TreeDictionary<UInt32, Definition> = [:], assemblies: ActiveAssemblies = ActiveAssemblies(),
        covers: CoverTable = CoverTable(), processors: [Processor] = [],
        decoratorReaches: [ObjectIdentifier: Set<UInt32>] = [:], constraints: Constraints = Constraints(),
        blocked: TreeDictionary<UInt32, [String]> = [:],
        traits: TraitFacts = TraitFacts(),
        kept: KeptDependencies = KeptDependencies(), restarts: PendingRestarts = PendingRestarts(),
        lastNumber: UInt64 = 0,
        links: Links = Links()
    ) {
        self.config = config
        self.documents = documents
        self.definitions = definitions
        self.originals = originals
        self.assemblies = assemblies
        self.covers = covers
        self.processors = processors
        self.decoratorReaches = decoratorReaches
        self.constraints = constraints
        self.blocked = blocked
        self.traits = traits
        self.kept = kept
        self.restarts = restarts
        self.lastNumber = lastNumber
        self.links = links
    }
}

extension Snapshot {
    var rules: RuleTable { constraints.rules }

    /// Returns the key that `id` is an alias of, or nil.
    func alias(_ id: UInt32) -> String? { Self.alias(id, definitions, covers) }

    /// Returns the definition of a key with its decision and overrides, without parts that it inherits from other keys.
    func inForce(_ id: UInt32) -> Definition? {
        guard let base = definitions[id], !covers.isEmpty, let above = covers[id] else { return definitions[id] }
        return above.wired(base) { _ in nil }
    }

    private static func alias(
        _ id: UInt32, _ definitions: DefinitionTable, _ covers: CoverTable
    ) -> String? {
        guard !covers.isEmpty, let above = covers[id] else { return definitions.alias(id) }
        return definitions[id].flatMap { above.alias(over: $0) }
    }

    // MARK: the next snapshot

    /// Returns the snapshot after a plan. `former` and `next` are the graphs before and after it.
    func applying(
        _ wiring: NextWiring, _ findings: LayerFindings, _ kept: KeptDependencies.Changes,
        _ restarts: PendingRestarts.Changes, former: Graph, next: Graph, _ names: KeyNames
    ) -> Snapshot {
        let plan = wiring.definitions
        var (definitions, covers, links) = (definitions, covers, links)
        for (id, changed) in plan.changed {
            if let owner = definitions[id]?.body.owner.flatMap(names.id(of:)) { links.inlines.remove(id, from: owner) }
            if changed == nil { links.forget(id, former.recipe(id)) }
            links.replacePattern(id, definitions[id], changed)
            if let owner = changed?.body.owner.flatMap(names.id(of:)) { links.inlines.insert(id, into: owner) }
        }
        for (id, definition) in plan.moved where definitions[id] != nil && plan.changed[id] == nil {
            definitions[id] = definition
        }
        let changed = IDSet(plan.changed.keys).union(plan.covers.keys)
        for id in changed {
            Self.forEachParent(id, definitions, covers, names) { links.children.remove(id, from: $0) }
            if let target = Self.alias(id, definitions, covers).flatMap(names.id(of:)) {
                links.aliases.remove(id, from: target)
            }
        }
        let coveredBefore = covers
        definitions.take(plan.changed, in: next) { id in (plan.covers[id] ?? coveredBefore[id])?.isEmpty == false }
        covers.take(plan.covers, wiring.compiled.covered)
        for id in changed {
            Self.forEachParent(id, definitions, covers, names) { links.children.insert(id, into: $0) }
            if let target = Self.alias(id, definitions, covers).flatMap(names.id(of:)) {
                links.aliases.insert(id, into: target)
            }
        }
        let restarts = self.restarts.applying(restarts, next)
        // An object whose definition waits has other references than the definition.
        for id in self.restarts.waiting {
            links.forget(id, former.recipe(id))
            links.forget(id, former.cell(id)?.recipe)
            if wiring.compiled.recipes[id] == nil, let recipe = next.recipe(id) { links.note(id, recipe) }
        }
        for (id, recipe) in wiring.compiled.recipes {
            links.forget(id, former.recipe(id))
            links.note(id, recipe)
        }
        for id in restarts.waiting { if let own = next.cell(id)?.recipe { links.note(id, own) } }
        var originals = originals
        for (id, original) in plan.originals { originals[id] = original }
        return Snapshot(
            config: wiring.config.layers ?? config, documents: documents.applying(wiring.staged.documents),
            definitions: definitions, originals: originals,
            assemblies: plan.assemblies ?? assemblies, covers: covers, processors: plan.processors ?? processors,
            decoratorReaches: plan.decoratorReaches ?? decoratorReaches,
            constraints: Constraints(
                rules: wiring.rules ?? rules, bindings: wiring.bindings ?? constraints.bindings),
            blocked: wiring.compiled.blocked,
            traits: traits.applying(wiring, findings),
            kept: self.kept.applying(kept, next.generation) { ObjectTable.record($0) != nil },
            restarts: restarts, lastNumber: plan.lastNumber, links: links)
    }

    /// Returns the snapshot with the type of a key's targets.
    func declaring(_ type: ObjectType, of id: UInt32) -> Snapshot {
        var traits = traits
        traits.targetTypes[id] = type
        return Snapshot(
            config: config, documents: documents, definitions: definitions, originals: originals,
            assemblies: assemblies,
            covers: covers, processors: processors, decoratorReaches: decoratorReaches, constraints: constraints,
            blocked: blocked,
            traits: traits, kept: kept, restarts: restarts, lastNumber: lastNumber,
            links: links)
    }

    /// Visits the parents of a key and of its overrides. An override of a removed key has no parent.
    private static func forEachParent(
        _ id: UInt32, _ definitions: DefinitionTable, _ covers: CoverTable,
        _ names: KeyNames, _ visit: (UInt32) -> Void
    ) {
        if let parent = definitions.parent(id).flatMap(names.id(of:)) { visit(parent) }
        guard !covers.isEmpty, let above = covers[id], definitions[id] != nil else { return }
        for override in above.overrides {
            if let parent = override.definition.body.parent.flatMap(names.id(of:)) { visit(parent) }
        }
    }
}
