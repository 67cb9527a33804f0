internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoSpec
internal import InvivoTraits
internal import InvivoWiring

/// The description of the current generation, and the store that replaces it.
///
/// Any thread may read it. Only the thread that has the turn replaces it. Steps of moving blocks publish the same generation again
/// meanwhile, except while the next one is being published.
final class GenerationStore: Sendable {
    private let container: Container
    private let documents: Documents
    private let targets: Targets
    private let reclaimer: Reclaimer
    private let announcer: Announcer
    let history: History
    private let state = Guarded(Snapshot(), by: Monitor())
    private let steps: Guarded<Steps>

    private struct Steps {
        /// The keys whose blocks have moved since the generation was published.
        var keys: Set<UInt32> = []
        /// The next generation is being published.
        var areHeld = false
    }

    init(
        _ container: Container, _ documents: Documents, _ targets: Targets, _ reclaimer: Reclaimer,
        _ announcer: Announcer
    ) {
        self.history = History(container.options, container.monitor)
        self.container = container
        steps = Guarded(Steps(), by: container.monitor)
        self.documents = documents
        self.targets = targets
        self.reclaimer = reclaimer
        self.announcer = announcer
    }

    var snapshot: Snapshot { state.locked { $0 } }

    /// Declares the type of the targets of a key. Part of the next generation.
    func declare(_ type: ObjectType, of id: UInt32) { replace { $0.declaring(type, of: id) } }

    /// Stores the next description. The former one is released without the lock, because it may end user data of the host, whose
    /// destroy functions may read this one.
    private func replace(by next: (Snapshot) -> Snapshot) {
        let former = state.locked { state in
            let former = state
            state = next(former)
            return former
        }
        withExtendedLifetime(former) {}
    }

    /// For close: gives up the description and the history, which the caller releases without a lock.
    func take() -> (Snapshot, [FormerContent]) {
        let snapshot = state.locked { state in
            defer { state = Snapshot() }
            return state
        }
        return (snapshot, history.takeAll())
    }

    /// Returns the content that a rollback brings back; nil for another set. By the thread that has the turn.
    func stage(_ set: ChangeSet, _ limits: SpecLimits) throws(Failure) -> Staged? {
        guard let number = set.restoredGeneration else { return nil }
        var rest = set
        rest.rebuilds.removeAll { if case .content = $0 { true } else { false } }
        guard rest.changesOnlyDocuments && rest.documents.isEmpty else {
            throw Failure(
                .argument,
                "a change set with a rollback changes nothing else: commit the other changes before or after it")
        }
        let content = try history.content(of: number)
        var states: [(document: Document, next: Document.State)] = []
        // Of the same generation as the documents.
        let current = snapshot.config.environment
        let environment = content.config?.environment ?? current
        // Values first: other documents have their content.
        let changed = content.documents.filter { document, former in
            !former.isSame(as: document.state)
                || current.differs(from: environment, in: document.state.traits.variables)
        }
        for (document, former) in changed.filter({ $0.document.role == .value })
            + changed.filter({ $0.document.role != .value })
        {
            let state = try former.state(of: document, limits, environment) { reference throws(Failure) in
                let path = try documents.included.path(of: reference, in: document)
                let file = documents.included.file(path, .value)
                return states.first { $0.document === file }?.next ?? file.state
            }
            states.append((document, state))
        }
        return Staged(set, states, restoring: content)
    }

    // MARK: the store

    /// Sets the first copy of the environment, with the values that it gives to paths. Before the runtime is open. Returns the
    /// first graph.
    func begin(_ first: ConfigLayers.NewEnvironment) throws(Failure) -> Graph {
        var layers = ConfigLayers()
        let changes = try layers.apply(documents: [], environment: first, settings: [])
        replace { [layers] _ in Snapshot(config: layers) }
        let graph = container.currentGraph()
        guard !changes.isEmpty else { return graph }
        var editor = GraphEditor(graph)
        for change in changes {
            editor.set(
                change.node.map { ConfigValue($0, $0.value) }, at: try container.names.intern(config: change.path))
        }
        return editor.finish(generation: graph.generation, keys: container.keys)
    }

    /// Stores the generation of a plan whose steps were carried out. By the thread that has the turn. `begin` is called with the
    /// monitor held, when the generation is visible, with the movements in blocks.
    func publish(
        _ plan: Plan, _ findings: LayerFindings, _ next: Graph, _ begin: (IDTable<[Int: RampRun]>) -> Void
    ) {
        container.monitor.locked { steps.held { $0.areHeld = true } }
        let (wiring, effects) = (plan.wiring, plan.store)
        let set = wiring.set
        for clearing in set.rebuilds.pools { clearing.carryOut() }
        let (former, names) = (container.currentGraph(), container.names)
        // What the former description alone has ends without the lock, when the commit is over: see `replace`.
        let (before, snapshot, replaced) = state.locked { state in
            let before = state
            state = before.applying(
                wiring, findings, plan.dependencies, plan.restarts, former: former, next: next, names)
            return (before, state, before.replacedContent(by: wiring))
        }
        let (shown, moving) = catchUp(next, plan.editor.former, findings.moving, snapshot)
        let dropped = history.note(
            next.generation, cause: set.cause(besides: []), isSettings: set.changesOnlySettings, replaced)
        container.registry.assemblies.activate(
            wiring.definitions.changedAssemblies.map { ($0, snapshot.assemblies[$0]?.description) })
        documents.keep(wiring.staged.documents)
        targets.change(attached: set.targets.attached, detached: set.targets.detached)
        var touched = effects.touched
        touched.formUnion(holders(of: effects.reshaped, snapshot))
        for id in touched { touched.formUnion(snapshot.links.allAliases(of: id)) }
        let changesKept =
            !touched.isEmpty || !wiring.definitions.changed.isEmpty || !wiring.definitions.covers.isEmpty
            || !effects.replaced.isEmpty || wiring.changesSettings(snapshot.constraints.bindings)
        var overtaken: [UInt32: OvertakenBuild] = [:]
        announcer.observers.publishing(changesKept) {
            overtaken = container.monitor.locked { () -> [UInt32: OvertakenBuild] in
                // Incremented before, so that no cache stores an object of the new graph under the old version.
                // Incremented after, so that none stores an object of the old graph under the new version.
                for id in touched { container.keys.bumpVersion(id) }
                // The graph of the plan was never current then, and its builds may still use it.
                if shown !== next { next.showAll() }
                let former = container.current.publish(shown, to: container.core)
                steps.held { $0 = Steps() }
                begin(moving)
                for id in touched { container.keys.bumpVersion(id) }
                container.retiredObjects.noteRetired(effects.replaced)
                for cell in effects.replaced {
                    cell.markRetired()
                    next.cell(cell.id)?.adoptTracked(of: cell)
                }
                reclaimer.retire(former, effects.replaced, remembered: container.deferred.forget(touched))
                if shown !== next { reclaimer.retire(next) }
                // Only one of these exists at a time: a read in a former generation asks for the newest.
                for cell in effects.replaced where cell.isExclusive { cell.hide() }
                container.builds.forget(effects.replaced, in: next)
                container.monitor.broadcast()
                return container.builds.endNoting(former, next)
            }
        }
        if !overtaken.isEmpty { container.builds.report(overtaken) }
        // Their definitions may end user data of the host, which happens when the commit is over.
        withExtendedLifetime((before, dropped)) {}
    }

    // MARK: steps

    /// For callers that hold the monitor: the graph to which a step may be added; nil while the next generation is being published.
    var heldBasis: Graph? { steps.held(\.areHeld) ? nil : container.current.held }

    /// Publishes the current generation with other blocks, those of `keys`, unless `basis` is not current any more, or `body`, which
    /// is called with the monitor held, refuses it. Without the turn. Returns whether it is visible.
    func publishStep(_ next: Graph?, over basis: Graph, _ keys: [UInt32], _ body: () -> Bool) -> Bool {
        // Caches keep no blocks.
        let isVisible = container.monitor.locked {
            guard heldBasis === basis, body() else { return false }
            guard let next else { return true }
            steps.held { $0.keys.formUnion(keys) }
            reclaimer.retire(container.current.publish(next, to: container.core))
            return true
        }
        if isVisible, next != nil { reclaimer.reclaim(.unhurried, inCallback: true) }
        return isVisible
    }

    /// Returns the graph to publish for a plan, with the movements in blocks. Blocks have moved since the plan was made from
    /// `planned`: they have the values of this moment, and movements that the plan changes begin there. No step is made meanwhile.
    private func catchUp(
        _ next: Graph, _ planned: Graph, _ moving: IDTable<[Int: RampRun]>, _ snapshot: Snapshot
    ) -> (Graph, IDTable<[Int: RampRun]>) {
        let current = container.currentGraph()
        guard current !== planned else { return (next, moving) }
        var moving = moving
        next.come(after: current)
        var editor = GraphEditor(next)
        for id in container.monitor.locked({ steps.held(\.keys) }) {
            guard let newest = current.block(id), let former = planned.block(id), newest !== former,
                var block = next.block(id)
            else { continue }
            let layers = (next.configuration(id) as? TargetLayers, planned.configuration(id) as? TargetLayers)
            // A plan that changes layers keeps a block with the same bytes.
            if block === former, layers.0 === layers.1 {
                block = newest
            } else if let type = next.recipe(id)?.type, type === planned.recipe(id)?.type, block.size == newest.size {
                var runs = moving[id] ?? [:]
                block = TargetLayers.followed(
                    block, by: newest, of: type, layers.0, after: layers.1, &runs)
                if moving[id] != nil || !runs.isEmpty { moving[id] = runs }
            }
            editor.set(block, at: id)
            for alias in snapshot.links.allAliases(of: id) { editor.set(block, at: alias) }
        }
        return (editor.finish(generation: next.generation, keys: container.keys), moving)
    }

    /// Returns the keys of these objects, which are not shared, and of the objects that are created together with them.
    private func holders(of ids: Set<UInt32>, _ snapshot: Snapshot) -> Set<UInt32> {
        guard !ids.isEmpty else { return [] }
        var found = ids
        var queue = Array(ids)
        let graph = container.currentGraph()
        while let id = queue.popLast() {
            for (holder, edge) in snapshot.links.dependents[id] where !edge.isDeferred {
                guard graph.recipe(holder)?.scope.isShared == false, found.insert(holder).inserted else { continue }
                queue.append(holder)
            }
        }
        return found
    }
}
