internal import HashTreeCollections
internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoTraits
internal import InvivoWiring

// A plan is worked out part after part. Each part is finished before the next one begins, except that the compiler also adds
// definitions that are no longer blocked, or are blocked from now on.

/// The definitions after a plan, with the assemblies, decisions of documents, overrides and processors that they come from.
struct DefinitionPlan {
    /// Definitions that are new or differ from those before; nil = removed.
    var changed: IDTable<Definition?> = [:]
    /// Definitions with the same content as before, declared at another source location or in another order.
    var moved: IDTable<Definition> = [:]
    /// The decisions and overrides above the base definitions of these keys after the plan.
    var covers: [UInt32: Covers] = [:]
    /// Keys that the change set describes again.
    var described: IDSet = []
    /// The descriptions of definitions that processors replaced; nil = no processor changed it.
    var originals: [UInt32: Definition?] = [:]
    /// The assemblies that are active after the plan; nil if they stay.
    var assemblies: ActiveAssemblies?
    /// The names of the assemblies that are added, removed or replaced.
    var changedAssemblies: [String] = []
    /// All processors in their order; nil if they stay.
    var processors: [Processor]?
    /// The dependencies of each decorator's component; nil if they stay.
    var decoratorReaches: [ObjectIdentifier: Set<UInt32>]?
    /// The highest number in the order of declaration after the plan.
    var lastNumber: UInt64

    /// Whether a key is removed.
    func isRemoved(_ id: UInt32) -> Bool { if case .some(nil) = changed[id] { true } else { false } }

    /// The paths of the changed definitions for each entry.
    var patternPaths: Set<String> { Set(changed.values.flatMap { $0?.patternPaths ?? [] }) }

    /// Whether nothing differs from before. Moved definitions do not count.
    var isNothing: Bool { changed.isEmpty && covers.isEmpty && assemblies == nil && processors == nil }
}

/// The configuration after a plan.
struct ConfigPlan {
    /// Nil if it stays.
    var layers: ConfigLayers?
    var changes = ConfigTree.Changes()
    /// The ids of those changed paths to which something refers.
    var changedIDs: Set<UInt32> = []
}

/// The compiled definitions of a plan: of those that change, and of those that are bound to something else.
struct Compiled {
    var recipes: IDTable<Recipe> = [:]
    /// The references of definitions that are wrong.
    var needs: [UInt32: [UInt32]] = [:]
    /// The blocked definitions after the plan, with the names of their missing dependencies.
    var blocked: TreeDictionary<UInt32, [String]> = [:]
    /// Definitions that are compiled again only because a configuration value to which they refer has changed.
    var reconfigured: Set<UInt32> = []
    /// The references of the covered definitions that were checked.
    var covered: [UInt32: CoveredReferences.Found] = [:]
    /// Keys that do not change otherwise and become members of a cycle.
    var cyclic: Set<UInt32> = []
}

/// The finished parts of a plan that describe the next generation.
final class NextWiring {
    let staged: Staged
    let documents: DocumentsNext
    let definitions: DefinitionPlan
    let config: ConfigPlan
    let compiled: Compiled
    /// The rules after the plan; nil if they stay.
    let rules: RuleTable?
    /// The trait types after the plan; nil if they stay.
    let traitTypes: TraitTypes?
    /// The bindings of settings after the plan; nil if they stay.
    let bindings: BindingTable?
    let origins: Origins

    init(
        staged: Staged, documents: DocumentsNext, definitions: DefinitionPlan, config: ConfigPlan, compiled: Compiled,
        rules: RuleTable?, traitTypes: TraitTypes?, bindings: BindingTable?, origins: Origins
    ) {
        (self.staged, self.documents, self.definitions) = (staged, documents, definitions)
        (self.config, self.compiled) = (config, compiled)
        (self.rules, self.traitTypes, self.bindings) = (rules, traitTypes, bindings)
        self.origins = origins
    }

    var set: ChangeSet { staged.set }

    /// Whether typed settings are bound, removed or read again. `after`: the bindings after the plan.
    func changesSettings(_ after: BindingTable) -> Bool {
        bindings != nil || !after.isEmpty && config.changes.contains { !after.bindings(at: $0.path).isEmpty }
    }
}

/// A live object whose layers change, with the key under which it is tuned.
typealias Tuned = (id: UInt32, object: UInt64, layers: TargetLayers?)

/// The steps of a commit that change objects, before the next generation is stored.
struct CommitSteps {
    /// All slots that the next graph has and the former has not. Objects that are built in them end with a failed commit.
    var created: [Cell] = []
    /// Built shared instances that are rebuilt, and eager ones that are created, in declared order.
    var builds: [(id: UInt32, cell: Cell)] = []
    /// Kept instances into which something new is injected.
    var reinjected: [(id: UInt32, cell: Cell)] = []
    /// Tracked objects into which something new is injected. `isWhole`: everything that their definition, which is new, names.
    var followed: [(id: UInt32, objects: [TrackedObject], isWhole: Bool)] = []
    var tuned: [Tuned] = []
    /// Live objects of which a base value changes: object, property, value.
    var based: [(object: UInt64, property: Int, value: Value)] = []
    /// Kept instances, and tracked objects, that were bound to something else.
    var rebound: Set<UInt32> = []
    /// Keys of which something new is created.
    var rebuilt: IDSet = []

    /// The keys whose objects are injected again into the kept objects of `id`; nil = all that it follows.
    func changed(for id: UInt32) -> IDSet? { rebound.contains(id) ? nil : rebuilt }

    /// Whether they call the host: constructors, setters.
    var runHostCode: Bool {
        !builds.isEmpty || !reinjected.isEmpty || !followed.isEmpty || !tuned.isEmpty || !based.isEmpty
    }
}

/// The effects of storing the next generation on readers and caches.
struct StoreEffects {
    /// Slots that are replaced: their objects end with the former generation.
    var replaced: [Cell] = []
    /// Keys for which caches must ask again.
    var touched: IDSet = []
    /// Keys of objects that are not shared and are created with other values from now on.
    var reshaped: Set<UInt32> = []
    /// Keys with a new block.
    var retunedBlocks: Set<UInt32> = []
    /// Aliases without arguments, with the keys whose slots they share.
    var aliased: [(id: UInt32, target: UInt32)] = []

    /// Whether something that has a stop is replaced.
    var stop: Bool { replaced.contains { $0.type?.description.functions.areEnded == true } }
}

/// The effects of a plan while they are computed.
struct Effects {
    var editor: GraphEditor
    var steps = CommitSteps()
    var store = StoreEffects()
    var changes: [Report.Change] = []
}

/// The warnings about traits that a plan has found, by key.
struct LayerFindings {
    /// Keys whose layers were planned.
    var planned: NameSet = []
    /// Keys with warnings.
    var warned: NameSet = []
    /// The names that the traits of the planned keys refer to.
    var uses: [Name: Set<TraitUses.Use>] = [:]
    /// The numbers of traits that they inherit.
    var inherited: [Name: Int] = [:]
    /// Names without an effect that are most likely misspelled.
    var doubtful: [DoubtfulName] = []
    /// The planned keys that are there to be inherited, and that nothing inherits.
    var unread: [UnreadEntry] = []
    /// The movements in blocks where there are some, or were some.
    var moving: IDTable<[Int: RampRun]> = [:]
    /// See `TraitFacts.attached`, for the keys that were planned.
    var attached: [UInt32: TargetLayers?] = [:]
}

/// The work of a commit, planned and checked beforehand.
struct Plan {
    let wiring: NextWiring
    var editor: GraphEditor
    let steps: CommitSteps
    /// Objects that an earlier commit could not restore.
    var restored: [Tuned] = []
    let store: StoreEffects
    let changes: [Report.Change]
    let findings: LayerFindings
    /// Configuration paths that nothing reads and that resemble one that is read.
    let misspelled: [UnreadEntry]
    /// The rules to run before it is carried out.
    let checks: [RuleCheck]
    /// The changes of the dependencies that objects keep.
    let dependencies: KeptDependencies.Changes
    /// The changes that take effect when objects are created again.
    let restarts: PendingRestarts.Changes
    /// Kept objects that are set up again, and those that are refreshed after the commit.
    let kept: Owners.Concerned

    /// All live objects whose layers change.
    var tuned: [Tuned] { steps.tuned + restored }

    /// Whether nothing differs from before.
    var isNothing: Bool {
        let set = wiring.set
        return wiring.definitions.isNothing && wiring.config.layers == nil && wiring.rules == nil
            && wiring.traitTypes == nil && wiring.bindings == nil
            && wiring.staged.documents.isEmpty
            && set.targets.isEmpty && !set.rebuilds.contains(where: \.isOfInstances)
    }

    /// Whether the host is called before it is live: rules, constructors, setters, disposal.
    var runsHostCode: Bool {
        !checks.isEmpty || steps.runHostCode || !kept.isEmpty || !restored.isEmpty || !store.replaced.isEmpty
            || !wiring.set.rebuilds.pools.isEmpty
    }

    /// The objects to build. Definitions that lead to an exclusive one come last: the shorter its former object is stopped.
    var buildsInOrder: [(id: UInt32, cell: Cell)] {
        let builds = steps.builds
        guard builds.contains(where: { $0.cell.recipe.isExclusive }) else { return builds }
        let ids = Set(builds.map(\.id))
        var last: [UInt32: Bool] = [:]
        func isLast(_ id: UInt32) -> Bool {
            if let known = last[id] { return known }
            last[id] = false
            guard let recipe = editor.recipe(id) else { return false }
            let found =
                recipe.isExclusive && ids.contains(id)
                || recipe.references.edges.contains { !$0.edge.isDeferred && isLast($0.id) }
            last[id] = found
            return found
        }
        return builds.filter { !isLast($0.id) } + builds.filter { isLast($0.id) }
    }
}
