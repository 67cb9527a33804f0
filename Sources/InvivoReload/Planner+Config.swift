internal import CInvivo
internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoWiring

extension Planner {
    /// Works out the next configuration, if this plan changes it, and what that concerns.
    func planConfig(_ plan: inout Plan, _ failures: inout [Failure]) throws(Failure) {
        let set = plan.staged.set
        let said = plan.staged.documents.filter { $0.document.state.config != nil || $0.next.config != nil }
        guard !said.isEmpty || !set.configured.isEmpty else { return }
        var next = before.config
        plan.settings = try next.apply(
            documents: said.map { ($0.document.order, $0.next.config) }, settings: set.configured)
        plan.config = next
        for change in plan.settings { if let id = names.id(ofConfig: change.path) { plan.settingIDs.insert(id) } }
        try checkKinds(plan, &failures)
        for change in plan.settings where change.isLeaf {
            plan.changes.append(
                Report.Change(key: change.path, what: UInt32(INVIVO_CHANGED_CONFIGURED), property: ""))
        }
    }

    /// Checks that the changed values have the kinds as which the host reads them in views.
    private func checkKinds(_ plan: Plan, _ failures: inout [Failure]) throws(Failure) {
        let kinds = registrations.hostKinds
        guard !kinds.isEmpty else { return }
        var steps = LoadSteps()
        for change in plan.settings {
            try steps.step()
            guard let node = change.node, let id = names.id(ofConfig: change.path) else { continue }
            for kind in (kinds[id] ?? []).sorted(by: { $0.rawValue < $1.rawValue }) {
                do throws(Failure) { try node.require(kind, at: change.path) } catch { failures.append(error) }
            }
        }
    }

    /// Compiles the definitions that refer to changed paths again, because their constants have changed.
    func reconfigure(
        _ plan: inout Plan, _ changed: [UInt32: Definition?], _ compiler: inout RecipeCompiler
    ) throws(Failure) {
        var holders: Set<UInt32> = []
        for id in plan.settingIDs { holders.formUnion(before.links.dependents.holders(of: id)) }
        for holder in holders.sorted() where changed[holder] == nil {
            try Loading.check()
            guard let definition = next(holder, plan) else { continue }
            let former = graph.recipe(holder)
            guard let recipe = compiler.compile(definition, former: former?.id == holder ? former : nil) else {
                continue
            }
            plan.recipes[holder] = recipe
            plan.reconfigured.insert(holder)
        }
    }

    /// The entries that views read. Paths become ids here, when nothing is wrong any more: they are for ever.
    func planSettings(_ plan: inout Plan) throws(Failure) {
        for (count, change) in plan.settings.enumerated() {
            if count % 64 == 63 { try Loading.check() }
            let id = try names.intern(config: change.path)
            plan.editor.set(change.node.map { ConfigValue($0) }, at: id)
        }
    }
}
