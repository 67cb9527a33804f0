internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoSpec
internal import InvivoTraits
internal import InvivoWiring

/// Computes the next generation from the current one and a staged change set, without threads or files.
///
/// The result is the `Plan`; apart from ids and read paths, which are only added, it changes nothing. It holds no lock across a
/// step. It runs host code of two kinds, converters and definition processors, which cannot call the runtime.
struct Planner {
    let before: Snapshot
    /// The compiled definitions, blocks and layers of the current generation.
    let graph: Graph
    let names: KeyNames
    let observed: any Observed
    let registrations: any Registrations
    let traits: TraitTable
    let limits: Limits
    /// The open documents, in the order in which they were opened.
    let documents: [Document]

    /// The options of the runtime that a plan depends on.
    struct Limits {
        var allowsPendingTargets = false
        var maxEachEntries = 10_000
    }

    /// Returns the plan of a staged change set, or all errors at once.
    func plan(_ staged: Staged, _ warnings: inout [(String, Place)]) throws(Failure) -> Plan {
        var plan = Plan(staged: staged, editor: GraphEditor(graph))
        plan.lastNumber = before.lastNumber
        var failures: [Failure] = []
        let rebased = try planDefinitions(&plan, &failures)
        planProcessors(&plan, &failures)
        processDefinitions(&plan, rebased, &failures)
        try planConfig(&plan, &failures)
        try planEach(&plan, &failures)
        keepMoved(&plan)
        try compile(&plan, rebased, &failures)
        nameFindings(&failures, plan)
        validateTargets(plan, &failures)
        checkResets(plan, &failures)
        if !failures.isEmpty { try checkTraits(plan, &failures) }
        if let failure = Failure.gathered(failures) { throw failure }
        plan.misspelled = try misspelled(plan)
        warnings += plan.misspelled.map { ($0.text, $0.place) }
        try planCells(&plan, rebased)
        try planLayers(&plan, &warnings, &failures)
        if let failure = Failure.gathered(failures) { throw failure }
        try planAliases(&plan)
        try planSettings(&plan)
        plan.changes += staged.set.cleared.map(\.change)
        // A converter of the host may have taken long.
        try Loading.check()
        return plan
    }

    // MARK: definitions after the plan

    /// Returns the definition of a key after the plan, as described, or as it is overridden.
    func next(_ id: UInt32, _ plan: Plan) -> Definition? {
        let planned = plan.definitions
        guard let base = planned[id] ?? before.definitions[id] else { return nil }
        // Without the plan itself, which would be copied for it.
        return base.covered(by: plan.overrides[id] ?? before.overrides[id] ?? []) { name in
            names.id(of: name).flatMap { planned[$0] ?? before.definitions[$0] }
        }
    }

    /// Returns the same with everything that it inherits from its parents.
    func flatNext(_ id: UInt32, _ plan: Plan) -> Definition? {
        guard let definition = next(id, plan), definition.alias == nil else { return next(id, plan) }
        return plan.recipes[id]?.definition ?? plan.editor.recipe(id)?.definition ?? definition
    }

    /// Returns the type of a definition after the plan, its own or an inherited one.
    func typeNext(_ definition: Definition, _ plan: Plan) -> ObjectType? {
        var definition = definition
        var seen: Set<UInt32> = [definition.id]
        while definition.type == nil {
            guard let name = definition.body.parent, let id = names.id(of: name), let parent = next(id, plan),
                seen.insert(id).inserted
            else { return nil }
            definition = parent
        }
        return definition.type
    }

    func unknownKey(_ key: String, _ plan: Plan? = nil) -> Failure {
        let coming = plan?.definitions.values.compactMap { $0?.key } ?? []
        let known = Set(before.definitions.values.map(\.key) + coming).sorted()
        return Failure(.notFound, "no definition has the key '\(key)'\(suggestion(for: key, among: known))", path: key)
    }
}
