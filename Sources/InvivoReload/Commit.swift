internal import CInvivo
internal import CPlatform
internal import InvivoBase
internal import InvivoGraph
internal import InvivoObjects
internal import InvivoTraits
internal import InvivoWiring
internal import Synchronization

/// Carries out a plan: creates new instances, then changes objects in their domains. The next generation is stored
/// afterwards. Used by the thread that has the turn.
///
/// A job that its domain does not finish in time is abandoned, and may continue beside the commit's thread. State that
/// both use is therefore guarded.
final class Commit {
    struct State {
        var notes: [Report.Warning] = []
        /// Keys that they are about.
        var warned: NameSet = []
        var undos: [(domain: Domain?, undo: Undo)] = []
        /// Targets are retained until the end of the commit, and not by a job that another thread releases later.
        var leases: [ObjectLease] = []
        /// Keys of objects that still refuse the restore of an earlier commit.
        var refused: Set<UInt32> = []
        /// Whether the commit is over, and its new objects with it.
        var isOver = false
        /// Whether something could not be undone.
        var isStuck = false
    }

    /// The findings of a commit that succeeded.
    struct Findings {
        let warnings: [Report.Warning]
        /// Keys that the warnings are about.
        let warned: NameSet
        /// Keys of objects that still refuse the restore of an earlier commit.
        let refused: Set<UInt32>
    }

    let container: Container
    let timeout: UInt64
    let former: Graph
    let build: Build
    let progress: Build.Commit
    let outage: Outage
    let state: Guarded<State>
    /// The domains that have been notified, if there are any.
    private(set) var visits: DomainVisits?
    /// Nil in a runtime without objects that commits set up or call.
    let setups: SetupSteps?

    init(_ container: Container, timeout: UInt64, from former: Graph, to next: Graph) {
        self.container = container
        self.timeout = timeout
        self.former = former
        progress = Build.Commit(replacing: former)
        build = Build(reloading: container, graph: next, commit: progress)
        outage = Outage(container, timeout: timeout)
        if container.life.owners.areUsed {
            let visits = DomainVisits(container, timeout: timeout)
            self.visits = visits
            setups = SetupSteps(container, build, visits, timeout: timeout)
        } else {
            setups = nil
        }
        state = Guarded(State(), by: container.monitor)
    }

    /// Ends the outage. Returns the time without exclusive objects, in nanoseconds.
    func endOutage() -> UInt64 { outage.end() }

    /// Calls `refresh` and `finalize` of kept objects, once the next generation is visible. Returns the errors as warnings.
    func callKept(_ plan: Plan) -> [Report.Warning] {
        defer { visits?.leave() }
        return setups?.callKept(plan.kept.refreshed) ?? []
    }

    /// Before the first work in a domain.
    private func enter(_ domain: Domain) throws(Failure) {
        guard domain.notices != nil else { return }
        let visits = visits ?? DomainVisits(container, timeout: timeout)
        self.visits = visits
        try visits.enter(domain, progress.abandonment)
    }

    /// Runs the steps of a plan. A failure undoes all of them; `restores` receives the objects that could not be restored.
    func run(_ plan: Plan, _ restores: PendingRestores) throws(Failure) -> Findings {
        let (former, next) = (former, build.graph)
        do throws(Failure) {
            progress.beforeExclusive = {
                [container, outage, abandonment = progress.abandonment] (id) throws(Failure) in
                guard !abandonment.isBegun else {
                    throw Failure(.timeout, "the change set has failed meanwhile", path: container.keyName(id))
                }
                try outage.begin(id, former, next)
            }
            // Objects that only the cycle still holds are found, too.
            if !plan.wiring.compiled.cyclic.isEmpty {
                ObjectCycles.markAll(of: plan.wiring.compiled.cyclic, owner: container.tag)
            }
            try createInstances(plan)
            try build.startCommit()
            try visitDomains(plan, restores)
            // Objects that were built for kept objects alone.
            try build.startCommit()
            try setups?.run(plan.kept)
            // The children of these objects.
            try build.startCommit()
        } catch {
            throw rollBack(error, plan, restores)
        }
        progress.beforeExclusive = nil
        build.settleCommit()
        let done = state.locked { state in
            defer { state = State() }
            return state
        }
        let retyped = container.monitor.locked { progress.retyped }
        setups?.end()
        let warnings = retyped.sorted { $0.key < $1.key }.map { (id, types) in
            let key = container.keyName(id)
            return Report.Warning(
                .retyped,
                "\(key): its type changes from '\(types.former)' to '\(types.next)'; the new object has no former object",
                at: next.recipe(id)?.definition.location ?? Location())
        }
        // The leases are released, and the steps, which refer to this commit, without the monitor.
        withExtendedLifetime(done) {}
        return Findings(warnings: done.notes + warnings, warned: done.warned, refused: done.refused)
    }

    // MARK: new instances

    private func createInstances(_ plan: Plan) throws(Failure) {
        // Shared types first: a slow constructor must not stop a domain's thread.
        let ordered =
            plan.buildsInOrder.filter { $0.cell.type?.domain == nil }
            + plan.buildsInOrder.filter { $0.cell.type?.domain != nil } + coldForKept(plan)
        for (id, cell) in ordered {
            let container = container
            let build = build
            let body: () throws(Failure) -> Void = { () throws(Failure) in
                let formerCall = container.registry.reloadCall.note(.creating(id))
                defer { container.registry.reloadCall.note(formerCall) }
                let object = try container.building(build) { () throws(Failure) -> UInt64 in try container.resolve(id) }
                _ = ObjectTable.release(object)
            }
            if let domain = cell.type?.domain {
                try enter(domain)
                let overdue = Job.Overdue.withdrawn(progress.abandonment)
                try container.domains.run(in: domain, timeout: timeout, overdue: overdue) {
                    _ throws(Failure) in
                    try body()
                }
            } else {
                try body()
            }
        }
    }

    /// Returns the cold shared objects that will be injected into kept objects. They are built and started before that.
    private func coldForKept(_ plan: Plan) -> [(id: UInt32, cell: Cell)] {
        let graph = build.graph
        var keys: Set<UInt32> = []
        for id in plan.steps.reinjected.map(\.0) + plan.steps.followed.map(\.0) {
            if let recipe = graph.recipe(id) {
                keys.formUnion(recipe.injectedKeys.subtracting(recipe.references.kept))
            }
        }
        return keys.sorted().compactMap { id in
            guard let cell = graph.cell(id), let recipe = graph.recipe(id), recipe.type?.isBlockOnly == false,
                [.singleton, .lazySingleton, .weakSingleton].contains(recipe.scope), !recipe.isAbstract,
                recipe.waits.isEmpty, container.monitor.locked({ !cell.isHeld() })
            else { return nil }
            return (id, cell)
        }
    }

    // MARK: notes

    private func keep(_ lease: ObjectLease) { state.locked { $0.leases.append(lease) } }

    private func note(_ outcome: Tuning.Outcome, _ id: UInt32, _ key: String) {
        let warning = outcome.warning(of: id, key, in: [former, build.graph], container.names)
        add(warning, of: id, key, isRefused: outcome.isRefused)
    }

    private func add(_ warning: Report.Warning, of id: UInt32, _ key: String, isRefused: Bool) {
        state.locked { state in
            if isRefused { state.refused.insert(id) }
            state.notes.append(warning)
            state.warned.insert(key)
        }
    }

    // MARK: injections

    /// A kept object that is injected again.
    private struct Receiver {
        let id: UInt32
        let object: UInt64
        let arguments: [Value]
        let scopeInstances: [ScopeInstance]
        /// Whether the plan concerns it; otherwise an earlier commit could not restore it, and an error is a warning.
        let isAffected: Bool
        /// Whether its layers are set afterwards.
        let isTuned: Bool
    }

    /// Injects again into a kept object. If the undo fails, `restores` receives the object.
    private func inject(
        _ one: Receiver, _ recipe: Recipe, _ former: Recipe, _ changed: IDSet?, keeping kept: Set<UInt32>,
        _ undo: inout Undo, _ restores: PendingRestores, isUnrestored: Bool
    ) throws(Failure) {
        func noteTraits() {
            if let record = ObjectTable.record(one.object), Tuning.isUnrestored(record) { restores.add([one.id]) }
        }
        let again = Reinjection(
            of: one.object, one.arguments, by: recipe, after: former, changed: isUnrestored ? nil : changed,
            keeping: kept, repeatsAll: isUnrestored, in: container)
        if one.isTuned, let record = ObjectTable.record(one.object) { Tuning.awaitChange(of: record, &undo) }
        do throws(Failure) {
            try again?.run(in: build, of: one.scopeInstances) { step in
                undo.add { () throws(Failure) in
                    do throws(Failure) { try step() } catch {
                        restores.add(one.object, one.id)
                        noteTraits()
                        throw error.named(recipe.key, recipe.definition.location)
                    }
                }
            }
            if isUnrestored { restores.noteRestored(one.object) }
        } catch {
            noteTraits()
            guard !one.isAffected else { throw error }
            let text = "\(recipe.key): its former injections still cannot be put back: \(error.message)"
            state.locked { state in
                state.notes.append(Report.Warning(.unrestored, text, at: recipe.definition.location))
                state.warned.insert(recipe.key)
            }
        }
    }

    // MARK: domains

    private typealias Step = (inout Undo) throws(Failure) -> Void
    /// The steps in one domain, with the keys of their objects.
    private typealias Group = (domain: Domain?, steps: [(id: UInt32, run: Step)])

    /// The number of the step that a domain runs; another thread may read it.
    private final class Position: Sendable {
        let number = Atomic(-1)
    }

    /// Groups all steps by domain, one job each, in the order in which domains first come up.
    private func visitDomains(_ plan: Plan, _ restores: PendingRestores) throws(Failure) {
        var groups: [Group] = []
        func add(_ domain: Domain?, _ id: UInt32, _ step: @escaping Step) {
            if let index = groups.firstIndex(where: { $0.domain === domain }) {
                groups[index].steps.append((id, step))
            } else {
                groups.append((domain, [(id, step)]))
            }
        }
        let container = container
        var again = InjectedAgain(plan.steps, restores, former: former, next: build.graph, container.monitor)
        let tuned = again.isEmpty ? [] : Set(plan.steps.tuned.map(\.object))
        for (id, cell, isAffected) in again.reinjected {
            guard let recipe = build.graph.recipe(id), let former = former.recipe(id) else { continue }
            let changed = plan.steps.changed(for: id)
            for (object, arguments, instance) in container.monitor.locked({ cell.inOrder() }) {
                let isUnrestored = again.isUnrestored(object)
                again.note(object)
                guard again.concerns(object, isAffected: isAffected),
                    let lease = container.retiredObjects.leaseForChange(object)
                else { continue }
                keep(lease)
                guard let record = ObjectTable.record(object) else { continue }
                let one = Receiver(
                    id: id, object: object, arguments: arguments, scopeInstances: instance.map { [$0] } ?? [],
                    isAffected: isAffected, isTuned: tuned.contains(object))
                add(domain(of: record), id) { [self] undo throws(Failure) in
                    try inject(
                        one, recipe, former, changed,
                        keeping: recipe.references.kept.union(former.references.kept), &undo, restores,
                        isUnrestored: isUnrestored)
                }
            }
        }
        for (id, objects, isWhole, isAffected) in again.followed {
            guard let recipe = build.graph.recipe(id), let former = former.recipe(id) else { continue }
            let changed = isWhole ? nil : plan.steps.changed(for: id)
            let scopes = container.registry.scopes.scopes(
                of: recipe, changed: isAffected ? changed : nil, in: build.graph)
            for tracked in objects {
                guard again.concerns(tracked.object, isAffected: isAffected) else {
                    again.note(tracked.object)
                    continue
                }
                guard let injection = try tracked.injection(by: recipe, scopes: scopes, container.monitor) else {
                    continue
                }
                let object = try tracked.lease(for: recipe)
                guard object != 0 else { continue }
                let isUnrestored = again.isUnrestored(object)
                again.note(object)
                keep(ObjectLease(owning: object))
                // An object of another type does not follow this definition until the definition has its type again.
                guard let record = ObjectTable.record(object), let type = recipe.type,
                    ObjectType.of(record).description.isKind(of: type.name)
                else { continue }
                let one = Receiver(
                    id: id, object: object, arguments: injection.arguments, scopeInstances: injection.scopeInstances,
                    isAffected: isAffected, isTuned: tuned.contains(object))
                add(domain(of: record), id) { [self] undo throws(Failure) in
                    try inject(
                        one, recipe, former, changed, keeping: isWhole ? [] : recipe.references.kept, &undo, restores,
                        isUnrestored: isUnrestored)
                }
            }
        }
        again.forgetOthers()
        var bases: [UInt64: [Tuning.Base]] = [:]
        for (object, index, value) in plan.steps.based { bases[object, default: []].append((index, value)) }
        let attached = Set(plan.wiring.set.targets.attached.map(\.object))
        for (position, (id, object, layers)) in plan.tuned.enumerated() {
            let isRestored = position >= plan.steps.tuned.count
            // A target may be about to end: it is leased during the change, or skipped.
            guard let lease = container.retiredObjects.leaseForChange(object) else { continue }
            keep(lease)
            let bases = bases[object] ?? []
            guard let record = ObjectTable.record(object), needsTuning(record, layers) || !bases.isEmpty else {
                continue
            }
            if ObjectType.of(record).description.functions.finalize != nil {
                setups?.noteTuned(lease)
            }
            let (key, isNew) = (container.keyName(id), attached.contains(object))
            add(domain(of: record), id) { [self] undo throws(Failure) in
                guard !isRestored else { return restore(record, id, key, layers, &undo) }
                let outcomes = try Tuning.change(record, key: key, to: layers, bases: bases, isNew: isNew, undo: &undo)
                for outcome in outcomes { note(outcome, id, key) }
                if layers?.moves == true { Tuning.onMoving?(container, record, id) }
            }
        }
        try visit(groups)
    }

    /// Puts the traits of an object back, which an earlier commit could not do. An error is a warning.
    private func restore(_ record: Record, _ id: UInt32, _ key: String, _ layers: TargetLayers?, _ undo: inout Undo) {
        var own = Undo()
        defer { undo.add(own) }
        do throws(Failure) {
            for outcome in try Tuning.change(record, key: key, to: layers, undo: &own) { note(outcome, id, key) }
            if layers?.moves == true { Tuning.onMoving?(container, record, id) }
        } catch {
            _ = own.run()
            add(error.unrestored(of: key, in: [former, build.graph], container.names), of: id, key, isRefused: true)
        }
    }

    private func visit(_ groups: [Group]) throws(Failure) {
        for (domain, steps) in groups {
            let position = Position()
            let visit: (Deadline?) throws(Failure) -> Void = { [self] deadline throws(Failure) in
                var undo = Undo()
                do throws(Failure) {
                    for (number, step) in steps.enumerated() {
                        position.number.store(number, ordering: .relaxed)
                        try step.run(&undo)
                    }
                    // In the same job, so that other code of the domain never sees a change that comes too late.
                    try deadline?()
                } catch {
                    var failure = error
                    failure.others += notUndone(undo.run())
                    throw failure
                }
                state.lockedUnchecked { $0.undos.append((domain, undo)) }
            }
            let quotes = ContentQuoting.isAllowed
            let body: (Deadline?) throws(Failure) -> Void = { [container, build] deadline throws(Failure) in
                try container.detached(over: build) { () -> Result<Void, Failure> in
                    ContentQuoting.allowed(quotes) { Result { () throws(Failure) in try visit(deadline) } }
                }.get()
            }
            if let domain {
                try enter(domain)
                let overdue = Job.Overdue.withdrawn(progress.abandonment)
                do throws(Failure) {
                    try container.domains.run(in: domain, timeout: timeout, overdue: overdue, body)
                } catch {
                    let number = position.number.load(ordering: .relaxed)
                    guard error.code == .timeout, error.path.isEmpty, number >= 0 else { throw error }
                    var failure = error
                    failure.path = container.keyName(steps[number].id)
                    throw failure
                }
            } else {
                try body(nil)
            }
        }
    }

    private func domain(of record: Record) -> Domain? { ObjectType.of(record).domain }

    /// Objects that have no layers and get none are not visited.
    private func needsTuning(_ record: Record, _ layers: TargetLayers?) -> Bool {
        if let layers, !layers.live.isEmpty || !layers.above.isEmpty { return true }
        return ObjectExtra.known(of: record)?.tuning != nil
    }
}
