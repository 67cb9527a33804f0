internal import CInvivo
internal import CPlatform
internal import InvivoBase
internal import InvivoGraph
internal import InvivoObjects
internal import InvivoTraits
internal import InvivoWiring

extension Engine {
    /// Carries a plan out: new instances, then changes in the objects' domains, then one store. Any failure takes
    /// everything back, and the generation stays.
    func commit(_ plan: inout Plan, _ warnings: inout [(String, Place)]) throws(Failure) {
        let former = container.currentGraph()
        showAliases(&plan)
        let next = plan.editor.finish(generation: former.generation + 1, keys: container.keys)
        for cell in plan.created { cell.generation = next.generation }
        let state = Build.Commit()
        let chain = Build(container, graph: next, isReload: true, commit: state)
        let work = Work(engine: self, former: former, chain: chain, commit: state)
        let outage = Outage(self)
        do throws(Failure) {
            state.beforeExclusive = { [container, abandonment = state.abandonment] (id) throws(Failure) in
                guard !abandonment.isBegun else {
                    throw Failure(.timeout, "the change set has failed meanwhile", path: container.keyName(id))
                }
                try outage.begin(id, former, next)
            }
            // What was made before is found too when only the circle still holds it.
            if !plan.circled.isEmpty { container.markCircles(of: plan.circled) }
            try build(plan, work)
            try chain.startAll()
            try visitDomains(plan, work)
            // What objects that are kept got of their own.
            try chain.startAll()
        } catch {
            var failure = error
            failure.others += work.undoAll()
            // A domain still works on what this commit made: nobody else touches that before it returns.
            let isAbandoned = state.abandonment.isBegun
            if isAbandoned || work.isStuck { unsettled.formUnion(plan.tuned.map(\.id)) }
            if isAbandoned { chain.releaseBuilds(in: former) }
            failure.others += chain.stopStarted(isApart: isAbandoned)
            let cells = plan.created
            container.monitor.locked { work.isOver = true }
            state.abandonment.whenOver { [self] in
                chain.abandonCommit()
                dropNew(cells)
                work.leases = []
            }
            failure.others += outage.takeBack()
            plan.outage = outage.end()
            throw failure
        }
        work.leases = []
        state.beforeExclusive = nil
        chain.settleCommit()
        warnings += work.notes
        plan.warned.formUnion(work.warned)
        unsettled = work.refused.union(unanswered)
        // The steps refer to the work that holds them.
        work.undos = []
        publish(plan, next)
        plan.outage = outage.end()
    }

    /// Aliases without arguments share the slots of their targets.
    private func showAliases(_ plan: inout Plan) {
        for (id, target) in plan.aliased {
            let cell = plan.editor.cell(target)
            // Readers that look only under this name find the objects there, whenever they are created.
            container.monitor.locked { _ = cell?.raw }
            plan.editor.set(cell, at: id)
        }
    }

    // MARK: new instances

    private func build(_ plan: Plan, _ work: Work) throws(Failure) {
        // Shared types first: a slow constructor must not stop a domain's thread.
        let ordered =
            plan.buildsInOrder.filter { $0.cell.type?.domain == nil }
            + plan.buildsInOrder.filter { $0.cell.type?.domain != nil } + coldForKept(plan, work.chain.graph)
        for (id, cell) in ordered {
            let container = container
            let chain = work.chain
            let body: () throws(Failure) -> Void = { () throws(Failure) in
                let formerCall = container.noteReloadCall(.creating(id))
                defer { container.noteReloadCall(formerCall) }
                let object = try container.building(chain) { () throws(Failure) -> UInt64 in try container.resolve(id) }
                _ = ObjectTable.release(object)
            }
            if let domain = cell.type?.domain {
                let overdue = Job.Overdue.withdrawn(work.commit.abandonment)
                try container.domains.run(in: domain, timeout: options.commitTimeout, overdue: overdue) {
                    _ throws(Failure) in
                    try body()
                }
            } else {
                try body()
            }
        }
    }

    /// Builds and starts shared objects that are cold and will be injected into objects that are kept, before they are.
    private func coldForKept(_ plan: Plan, _ graph: Graph) -> [(id: UInt32, cell: Cell)] {
        var keys: Set<UInt32> = []
        for id in plan.reinjected.map(\.0) + plan.followed.map(\.0) {
            if let recipe = graph.recipe(id) { keys.formUnion(recipe.injectedKeys) }
        }
        return keys.sorted().compactMap { id in
            guard let cell = graph.cell(id), let recipe = graph.recipe(id), recipe.type?.isBlockOnly == false,
                [.singleton, .lazySingleton, .weakSingleton].contains(recipe.scope), !recipe.isAbstract,
                recipe.waits.isEmpty, container.monitor.locked({ !cell.isHeld() })
            else { return nil }
            return (id, cell)
        }
    }

    /// Disposes of what a failed commit made, last first.
    private func dropNew(_ created: [Cell]) {
        let made = container.monitor.locked { created.flatMap { $0.heldObjects() } }
        for (_, object) in made.sorted(by: { $0.sequence > $1.sequence }) { ObjectTable.dropHold(object) }
    }

    // MARK: domains

    /// What one commit does in domains, and how it is undone. Undo steps of a domain run in that domain.
    private final class Work: @unchecked Sendable {
        let engine: Engine
        let former: Graph
        let chain: Build
        let commit: Build.Commit
        var notes: [(String, Place)] = []
        /// Keys that they are about.
        var warned: NameSet = []
        var undos: [(domain: Domain?, undo: Undo)] = []
        /// Targets are kept until the commit is over, and no longer: not by a job that another thread lets go of later.
        var leases: [ObjectLease] = []
        /// Keys of objects that still refuse what an earlier commit could not undo.
        var refused: Set<UInt32> = []
        /// Whether the commit is over, and with it what its chain has made. Guarded by the monitor.
        var isOver = false
        /// Whether something could not be undone.
        private(set) var isStuck = false

        init(engine: Engine, former: Graph, chain: Build, commit: Build.Commit) {
            self.engine = engine
            self.former = former
            self.chain = chain
            self.commit = commit
        }

        func undoAll() -> [Failure] {
            var failures: [Failure] = []
            while let (domain, undo) = undos.popLast() {
                nonisolated(unsafe) var undo = undo
                nonisolated(unsafe) var found: [Failure] = []
                let container = engine.container
                if let domain {
                    do throws(Failure) {
                        let timeout = engine.options.commitTimeout
                        let overdue = Job.Overdue.left(leases, commit.abandonment)
                        try container.domains.run(in: domain, timeout: timeout, overdue: overdue) {
                            [self] _ throws(Failure) in
                            found = container.apart(over: visible) { undo.run() }
                        }
                        failures += found
                    } catch { failures.append(error) }
                } else {
                    failures += container.apart(over: visible) { undo.run() }
                }
            }
            return notUndone(failures)
        }

        /// What steps back may see of what the commit made: nothing while a domain still works on that, or when all is over.
        private var visible: Build? {
            let isOver = engine.container.monitor.locked { () -> Bool in self.isOver }
            return isOver || commit.abandonment.isBegun ? nil : chain
        }

        func notUndone(_ failures: [Failure]) -> [Failure] {
            if !failures.isEmpty { isStuck = true }
            return failures.map { failure in
                var told = failure
                told.message = "could not be undone: \(failure.message)"
                return told
            }
        }
    }

    private typealias Step = (inout Undo) throws(Failure) -> Void

    /// Groups all steps by domain, one job each, in the order in which domains first come up.
    private func visitDomains(_ plan: Plan, _ work: Work) throws(Failure) {
        var groups: [(domain: Domain?, steps: [Step])] = []
        func add(_ domain: Domain?, _ step: @escaping Step) {
            if let index = groups.firstIndex(where: { $0.domain === domain }) {
                groups[index].steps.append(step)
            } else {
                groups.append((domain, [step]))
            }
        }
        let container = container
        for (id, cell) in plan.reinjected {
            guard let recipe = work.chain.graph.recipe(id), let former = work.former.recipe(id) else { continue }
            let changed = plan.rebound.contains(id) ? nil : plan.remade
            for (object, arguments, instance) in container.monitor.locked({ cell.inOrder() }) {
                guard let lease = container.retiredObjects.leaseForChange(object) else { continue }
                work.leases.append(lease)
                guard let record = ObjectTable.record(object) else { continue }
                add(domain(of: record)) { undo throws(Failure) in
                    let again = Reinjection(
                        of: object, arguments, by: recipe, after: former, changed: changed, in: container)
                    try again?.run(in: work.chain, of: instance.map { [$0] } ?? []) { undo.add($0) }
                }
            }
        }
        for (id, objects, changed) in plan.followed {
            guard let recipe = work.chain.graph.recipe(id), let former = work.former.recipe(id) else { continue }
            let scopes = container.scopes(of: recipe, changed: changed, in: work.chain.graph)
            for tracked in objects {
                guard let injection = try container.injection(of: tracked, by: recipe, scopes: scopes) else { continue }
                let object = try container.lease(tracked, recipe)
                guard object != 0 else { continue }
                work.leases.append(ObjectLease(owning: object))
                // One of another type is not what this definition makes, and follows again when that has its type.
                guard let record = ObjectTable.record(object), let type = recipe.type,
                    Container.type(record).description.isKind(of: type.name)
                else { continue }
                add(domain(of: record)) { undo throws(Failure) in
                    let again = Reinjection(
                        of: object, injection.arguments, by: recipe, after: former, changed: changed, in: container)
                    try again?.run(in: work.chain, of: injection.scopeInstances) { undo.add($0) }
                }
            }
        }
        var bases: [UInt64: [Tuning.Base]] = [:]
        for (object, index, value) in plan.based { bases[object, default: []].append((index, value)) }
        for (id, object, layers) in plan.tuned {
            // A target may be on its way out: it is kept while it is worked on, or left alone.
            guard let lease = container.retiredObjects.leaseForChange(object) else { continue }
            work.leases.append(lease)
            let bases = bases[object] ?? []
            guard let record = ObjectTable.record(object), needsTuning(record, layers) || !bases.isEmpty else {
                continue
            }
            let key = container.keyName(id)
            add(domain(of: record)) { undo throws(Failure) in
                for outcome in try Tuning.change(record, key: key, to: layers, bases: bases, undo: &undo) {
                    if case .refused = outcome.what { work.refused.insert(id) }
                    work.notes.append(("\(key).\(outcome.text)", outcome.place))
                    work.warned.insert(key)
                }
            }
        }
        for (domain, steps) in groups {
            let visit: (Deadline?) throws(Failure) -> Void = { deadline throws(Failure) in
                var undo = Undo()
                do throws(Failure) {
                    for step in steps { try step(&undo) }
                    // In the same job: nobody in the domain sees what comes too late.
                    try deadline?()
                } catch {
                    var failure = error
                    failure.others += work.notUndone(undo.run())
                    throw failure
                }
                work.undos.append((domain, undo))
            }
            let body: (Deadline?) throws(Failure) -> Void = { deadline throws(Failure) in
                try container.apart(over: work.chain) { () -> Result<Void, Failure> in
                    Result { () throws(Failure) in try visit(deadline) }
                }.get()
            }
            if let domain {
                let overdue = Job.Overdue.withdrawn(work.commit.abandonment)
                try container.domains.run(in: domain, timeout: options.commitTimeout, overdue: overdue, body)
            } else {
                try body(nil)
            }
        }
    }

    private func domain(of record: Record) -> Domain? { Container.type(record).domain }

    /// Objects that have no layers and get none are not visited.
    private func needsTuning(_ record: Record, _ layers: TargetLayers?) -> Bool {
        if let layers, !layers.live.isEmpty { return true }
        return Container.knownExtra(of: record)?.tuning != nil
    }

    // MARK: the store

    private func publish(_ plan: Plan, _ next: Graph) {
        let set = plan.staged.set
        for clearing in set.cleared { clearing.carryOut() }
        snapshot.apply(plan, former: container.currentGraph(), next: next, container.names)
        container.activate(plan.changedAssemblies.map { ($0, snapshot.assemblies[$0]?.description) })
        if !plan.definitions.isEmpty { noteAwaitedTypes() }
        for (document, state) in plan.staged.documents { document.state = state }
        documents.keepNamed(plan.staged.documents.map(\.document))
        targets.change(attached: set.attached, detached: set.detached)
        var touched = plan.touched
        touched.formUnion(holders(of: plan.reshaped))
        for id in touched { touched.formUnion(snapshot.links.allAliases(of: id)) }
        let changesObjects =
            !touched.isEmpty || !plan.definitions.isEmpty || !plan.overrides.isEmpty || !plan.replaced.isEmpty
        var late: [UInt32: LateBuild] = [:]
        announcer.publishing(changesObjects) {
            late = container.monitor.locked { () -> [UInt32: LateBuild] in
                // Before, so that nobody takes the new graph for one of the old version; and after, so that what was asked of
                // the old graph in between is not kept for the new version.
                for id in touched { container.keys.bumpVersion(id) }
                let former = container.publish(next)
                for id in touched { container.keys.bumpVersion(id) }
                container.retiredObjects.noteRetired(plan.replaced)
                for cell in plan.replaced {
                    cell.markRetired()
                    next.cell(cell.id)?.adoptTracked(of: cell)
                }
                reclaimer.retire(former, plan.replaced, remembered: container.forgetLate(of: touched))
                container.forgetBuilt(plan.replaced)
                container.monitor.broadcast()
                return container.builds.endNoting(former, next)
            }
        }
        if !late.isEmpty { container.onLateBuild?(late) }
    }

    /// The keys of what is made again and again, and of what is made with it each time.
    private func holders(of ids: Set<UInt32>) -> Set<UInt32> {
        guard !ids.isEmpty else { return [] }
        var found = ids
        var queue = Array(ids)
        let graph = container.currentGraph()
        while let id = queue.popLast() {
            for (holder, edge) in snapshot.links.dependents[id] where edge != .late {
                guard graph.recipe(holder)?.scope.isShared == false, found.insert(holder).inserted else { continue }
                queue.append(holder)
            }
        }
        return found
    }
}
