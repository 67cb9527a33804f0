internal import CInvivo
internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoSpec
internal import InvivoWiring

extension Planner {
    /// Returns the next configuration, if the change set changes it, with the paths that differ.
    func planConfig(
        _ staged: Staged, _ definitions: DefinitionPlan, _ failures: inout [Failure]
    ) throws(Failure) -> ConfigPlan {
        if let restored = staged.restored {
            var layers = restored.config ?? before.config
            let secrets = nextSecrets(layers, staged.set, definitions)
            guard restored.config != nil || secrets != layers.secrets else { return ConfigPlan() }
            if secrets != layers.secrets { _ = try layers.apply(documents: [], settings: [], secrets: secrets) }
            return try plan(layers, layers.tree.changes(since: before.config.tree), &failures)
        }
        var next = before.config
        for (path, isSecret) in staged.set.secrets where !next.declare(secret: path, isSecret) {
            let near = suggestion(for: path, among: before.config.declaredSecrets.all.sorted())
            failures.append(
                Failure(.notFound, "no change set has declared '\(path)' as secret\(near)", path: "config.\(path)"))
        }
        let areSame =
            staged.set.secrets.isEmpty && staged.set.functions.settings.isEmpty && definitions.assemblies == nil
        let secrets = areSame ? next.secrets : nextSecrets(next, staged.set, definitions)
        let changed = staged.documents.filter { $0.document.state.config != nil || $0.next.config != nil }
        guard
            !changed.isEmpty || !staged.set.configured.isEmpty || staged.environment != nil
                || next.declaredSecrets != before.config.declaredSecrets || secrets != before.config.secrets
        else { return ConfigPlan() }
        // A file that is included at another place leaves its former one, which may be another file's now.
        var layers: [UInt64: ConfigNode?] = [:]
        for (document, _) in changed where document.state.config != nil { layers[document.state.order] = .some(nil) }
        for (_, next) in changed where next.config != nil { layers[next.order] = next.config }
        let changes = try next.apply(
            documents: layers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, environment: staged.environment,
            settings: staged.set.configured, secrets: secrets)
        return try plan(next, changes, &failures)
    }

    /// Returns all secret paths after the plan: those of change sets, of active assemblies, and of bindings of settings.
    private func nextSecrets(
        _ next: ConfigLayers, _ set: ChangeSet, _ definitions: DefinitionPlan
    ) -> SecretPaths {
        let changes = set.functions.settings
        let bindings = before.constraints.bindings
        let assemblies = definitions.assemblies?.secrets(since: before.assemblies) ?? ActiveAssemblies.SecretChanges()
        let former = before.config.declaredSecrets
        let ended =
            former.subtracting(next.declaredSecrets) + assemblies.ended
            + NameSet(changes.removed + changes.added.map(\.name)).flatMap { bindings[$0]?.secrets ?? [] }
        let begun = next.declaredSecrets.subtracting(former) + assemblies.begun + changes.added.flatMap(\.secrets)
        return before.config.secrets.revoking(ended).declaring(begun)
    }

    private func plan(
        _ next: ConfigLayers, _ changes: ConfigTree.Changes, _ failures: inout [Failure]
    ) throws(Failure) -> ConfigPlan {
        let ids = Set(changes.compactMap { names.id(ofConfig: $0.path) })
        try checkKinds(changes, &failures)
        if changes.contains(where: { $0.path == TraitSpec.profiles }) { failures += next.tree.profileFailures }
        return ConfigPlan(layers: next, changes: changes, changedIDs: ids)
    }

    func noteChanges(of wiring: NextWiring, _ changes: inout [Report.Change]) {
        for change in wiring.config.changes where change.isLeaf {
            changes.append(
                Report.Change(
                    key: change.path, what: INVIVO_CHANGED_CONFIGURED, at: change.node?.location ?? Location(),
                    from: change.node.map { wiring.origins.value(at: $0.location) } ?? .none))
        }
    }

    /// Checks that the changed values have the kinds as which the host reads them in views.
    private func checkKinds(_ changes: ConfigTree.Changes, _ failures: inout [Failure]) throws(Failure) {
        let kinds = registrations.hostKinds
        guard !kinds.isEmpty else { return }
        var steps = LoadSteps()
        for change in changes {
            try steps.step()
            guard let node = change.node, let id = names.id(ofConfig: change.path) else { continue }
            let wanted = kinds[id] ?? []
            for kind in wanted.sorted(by: { $0.rawValue < $1.rawValue }) {
                do throws(Failure) { try node.require(kind, wanted, at: change.path) } catch { failures.append(error) }
            }
        }
    }

    /// Compiles the definitions that refer to changed paths again, because their constants have changed.
    func reconfigure(
        _ compiled: inout Compiled, _ definitions: DefinitionPlan, _ config: ConfigPlan,
        _ compiler: inout RecipeCompiler
    ) throws(Failure) {
        var holders: Set<UInt32> = []
        for id in config.changedIDs { holders.formUnion(before.links.dependents.holders(of: id)) }
        for holder in holders.sorted() where definitions.changed[holder] == nil {
            try Loading.check()
            guard let definition = next(holder, definitions) else { continue }
            let former = graph.recipe(holder)
            guard let recipe = compiler.compile(definition, former: former?.id == holder ? former : nil) else {
                continue
            }
            compiled.recipes[holder] = recipe
            compiled.reconfigured.insert(holder)
        }
    }

    /// Sets the entries that views read. Paths get ids here, after all checks, because ids are never removed.
    func planSettings(_ config: ConfigPlan, _ set: ChangeSet, _ editor: inout GraphEditor) throws(Failure) {
        let tree = (config.layers ?? before.config).tree
        let secrets = config.layers.map { $0.secrets.changes(since: before.config.secrets, in: tree) } ?? []
        let redeclared = set.rebuilds.settings + secrets
        guard !config.changes.isEmpty || !redeclared.isEmpty else { return }
        let kinds = registrations.hostKinds
        func show(_ node: ConfigNode?, at path: String) throws(Failure) {
            let id = try names.intern(config: path)
            editor.set(node.map { ConfigValue($0, $0.value(for: kinds[id] ?? [])) }, at: id)
        }
        for (count, change) in config.changes.enumerated() {
            if count % 64 == 63 { try Loading.check() }
            try show(change.node, at: change.path)
        }
        for path in redeclared { try show(tree.find(path), at: path) }
    }
}
