internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoSpec
internal import InvivoTraits
internal import InvivoWiring

/// Computes the next generation from the current one and a staged change set, without threads or files.
///
/// The result is the `Plan`; apart from ids and read paths, which are only added, it changes nothing. It holds no lock across a
/// step. It runs converters, definition processors, and the functions of trait types, properties and settings. Such host code cannot
/// call the runtime. Rules run after the plan, with the values that it has collected for them.
struct Planner {
    private let inputs: Inputs

    var before: Snapshot { inputs.before }
    /// The compiled definitions, blocks and layers of the current generation.
    var graph: Graph { inputs.graph }
    var names: KeyNames { inputs.names }
    var observed: any Observed { inputs.observed }
    var registrations: any Registrations { inputs.registrations }
    /// Calls the functions of trait types.
    var declare: TraitTable.Declare { inputs.declare }
    /// Calls functions of the host, and returns their faults.
    var call: Call { inputs.call }
    var limits: Limits { inputs.limits }
    /// The file of the application's manifest; "" without one.
    var manifest: String { inputs.manifest }

    typealias Call = ([any PlannedCall]) throws(Failure) -> [RuleFault]

    /// The options of the runtime that a plan depends on.
    struct Limits {
        var allowsPendingTargets = false
        var maxEachEntries = 10_000
        var maxDocumentNodes = Int.max
        var environmentPrefix: String?
    }

    /// One object: steps of a plan that are types of their own have copies of the planner.
    private final class Inputs {
        let before: Snapshot
        let graph: Graph
        let names: KeyNames
        let observed: any Observed
        let registrations: any Registrations
        let declare: TraitTable.Declare
        let call: Call
        let limits: Limits
        let manifest: String

        init(
            _ before: Snapshot, _ graph: Graph, _ names: KeyNames, _ observed: any Observed,
            _ registrations: any Registrations, _ declare: @escaping TraitTable.Declare, _ call: @escaping Call,
            _ limits: Limits, _ manifest: String
        ) {
            (self.before, self.graph, self.names) = (before, graph, names)
            (self.observed, self.registrations) = (observed, registrations)
            (self.declare, self.call) = (declare, call)
            (self.limits, self.manifest) = (limits, manifest)
        }
    }

    init(
        before: Snapshot, graph: Graph, names: KeyNames, observed: any Observed, registrations: any Registrations,
        declare: @escaping TraitTable.Declare, call: @escaping Call, limits: Limits, manifest: String
    ) {
        inputs = Inputs(before, graph, names, observed, registrations, declare, call, limits, manifest)
    }

    /// Returns the plan of a staged change set, or all errors at once.
    func plan(_ staged: Staged, _ warnings: inout [Report.Warning]) throws(Failure) -> Plan {
        let set = staged.set
        let documents = DocumentsNext(staged, before.documents)
        var failures: [Failure] = []
        var definitions = DefinitionPlan(lastNumber: before.lastNumber)
        var rebased = try planDefinitions(&definitions, staged, documents, &failures)
        planProcessors(&definitions, set.functions.processors, &failures)
        processDefinitions(&definitions, &rebased, &failures)
        let config = try planConfig(staged, definitions, &failures)
        try PatternExpansion(before, names, config, mostEntries: limits.maxEachEntries).plan(&definitions, &failures)
        try finishWiring(&definitions, documents, &failures, &warnings)
        checkBases(set, definitions, &failures)
        keepMoved(&definitions)
        var effects = Effects(editor: GraphEditor(graph))
        if let layers = config.layers { effects.editor.secrets = layers.secrets }
        let compiled = try compile(&definitions, config, set.functions.processors.added, &effects.editor, &failures)
        if failures.isEmpty {
            failures += try failuresBelowOverrides(definitions, config, set.functions.processors.added)
        }
        let rules = planRules(set.functions.rules, &failures)
        let traitTypes = planTraitTypes(set.functions.traits, &failures)
        let bindings = planBindings(set.functions.settings, &failures)
        let wiring = NextWiring(
            staged: staged, documents: documents, definitions: definitions, config: config, compiled: compiled,
            rules: rules,
            traitTypes: traitTypes, bindings: bindings,
            origins: Origins(
                documents, isRollback: staged.restored != nil, manifest: manifest,
                environmentPrefix: limits.environmentPrefix))
        nameFindings(&failures, wiring)
        validateTargets(wiring, &failures)
        checkResets(wiring, &failures)
        let sections = try readSections(wiring, &failures)
        if !failures.isEmpty { try checkTraits(wiring, &failures) }
        if let failure = Failure.gathered(failures) { throw failure }
        for path in staged.documents.flatMap(\.next.traits.conditions) + definitions.patternPaths {
            _ = registrations.noteRead(path)
        }
        let unread = UnreadSearch(self, wiring)
        let misspelled = try unread.misspelled()
        let secrets = try unread.misspelledSecrets()
        warnings += (misspelled + secrets.map(\.entry)).map { Report.Warning(.unread, $0.text, at: $0.location) }
        warnings += try misspelledInputs(wiring, besides: misspelled)
        noteChanges(of: wiring, &effects.changes)
        var restarts: PendingRestarts.Changes = [:]
        let dependencies = try planCells(wiring, rebased, &effects, &restarts, &failures, &warnings)
        let findings = try planLayers(wiring, rebased, &effects, &restarts, &warnings, &failures)
        if let failure = Failure.gathered(failures) { throw failure }
        warnings += findings.doubtful.filter { !$0.isReported(misspelled) }.map(\.warning)
        try planAliases(wiring, &effects)
        let kept = try KeptObjects(observed: observed, graph: graph, links: before.links).concerned(by: effects, wiring)
        try planSettings(config, set, &effects.editor)
        try planBound(sections, wiring, &effects.editor)
        effects.changes += set.rebuilds.pools.map(\.change)
        let checks = try ruleChecks(wiring, effects)
        // A converter of the host may have taken long.
        try Loading.check()
        return Plan(
            wiring: wiring, editor: effects.editor, steps: effects.steps, store: effects.store,
            changes: effects.changes, findings: findings,
            misspelled: misspelled + secrets.filter(\.isCertain).map(\.entry), checks: checks,
            dependencies: dependencies, restarts: restarts, kept: kept)
    }

    // MARK: definitions after the plan

    /// Returns the definition of a key after the plan, as described, or as it is overridden.
    func next(_ id: UInt32, _ definitions: DefinitionPlan) -> Definition? {
        let planned = definitions.changed
        guard let base = planned[id] ?? before.definitions[id] else { return nil }
        guard let covers = covers(id, definitions) else { return base }
        // Without all of them, which would be copied for it.
        return covers.wired(base) { name in
            names.id(of: name).flatMap { id in
                (planned[id] ?? before.definitions[id])?.wired(by: self.covers(id, definitions)?.wiring)
            }
        }
    }

    /// Whether something lies above a base definition.
    func hasCovers(_ definitions: DefinitionPlan) -> Bool { !before.covers.isEmpty || !definitions.covers.isEmpty }

    /// Returns what lies above the base definition of a key after the plan; nil if nothing does.
    func covers(_ id: UInt32, _ definitions: DefinitionPlan) -> Covers? {
        guard hasCovers(definitions), let covers = definitions.covers[id] ?? before.covers[id] else { return nil }
        return covers.isEmpty ? nil : covers
    }

    /// Returns the origin of the definition of a key after the plan; none if it is removed.
    func origin(of definition: Definition?, _ definitions: DefinitionPlan, _ origins: Origins) -> Report.Origin {
        guard let definition else { return .none }
        return origins.definition(definition, covers(definition.id, definitions))
    }

    /// Returns the same with everything that it inherits from its parents.
    func flatNext(_ id: UInt32, _ definitions: DefinitionPlan, _ compiled: Compiled? = nil) -> Definition? {
        guard let definition = next(id, definitions), definition.alias == nil else { return next(id, definitions) }
        return (compiled?.recipes[id] ?? graph.recipe(id))?.definition ?? definition
    }

    /// Returns the type of a definition after the plan, its own or an inherited one.
    func typeNext(_ definition: Definition, _ definitions: DefinitionPlan) -> ObjectType? {
        guard definition.type == nil else { return definition.type }
        var definition = definition
        var seen: Set<UInt32> = [definition.id]
        while definition.type == nil {
            guard let name = definition.body.parent, let id = names.id(of: name), let parent = next(id, definitions),
                seen.insert(id).inserted
            else { return nil }
            definition = parent
        }
        return definition.type
    }

    func unknownKey(_ key: String, _ definitions: DefinitionPlan? = nil) -> Failure {
        let coming = definitions?.changed.values.compactMap { $0?.key } ?? []
        let known = Set(before.definitions.values.map(\.key) + coming).sorted()
        return Failure(
            .notFound, "no definition has the key '\(key)'\(suggestion(nearestKey(to: key, among: known)))", path: key)
    }
}
