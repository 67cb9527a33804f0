internal import InvivoBase
internal import InvivoTraits
internal import InvivoWiring
internal import Synchronization

/// Runs reloads: each takes its turn, is staged, planned, carried out and reported. Any thread may call.
final class Reloader: Sendable {
    let container: Container
    let options: FixedOptions
    let turns: Turns
    let documents: Documents
    let targets: Targets
    let generations: GenerationStore
    let reclaimer: Reclaimer
    let announcer: Announcer
    let restores: PendingRestores
    let ramps: Ramps
    let rules: RuleThreads
    private let awaitedTypes: AwaitedTypes
    /// The file of the application's manifest, from the first change set that it causes.
    let manifest = Mutex("")

    init(
        _ container: Container, _ options: FixedOptions, _ turns: Turns, _ documents: Documents, _ targets: Targets,
        _ generations: GenerationStore, _ reclaimer: Reclaimer, _ announcer: Announcer, _ restores: PendingRestores,
        _ ramps: Ramps
    ) {
        self.container = container
        self.options = options
        self.turns = turns
        self.documents = documents
        self.targets = targets
        self.generations = generations
        self.reclaimer = reclaimer
        self.announcer = announcer
        self.restores = restores
        self.ramps = ramps
        rules = RuleThreads(container, name: options.name)
        awaitedTypes = AwaitedTypes(container)
    }

    /// Runs a change set on this thread and waits until it is done. If it depends on the current state, `fill` completes it in its
    /// turn. `done` is called in the same turn after success.
    func commit(
        _ set: ChangeSet, adding fill: (inout ChangeSet) throws(Failure) -> Void = { _ in }, then done: () -> Void = {}
    ) throws(Failure) {
        try turns.refuseInCallback()
        var set = set
        announcer.phases.begin(&set)
        do throws(Failure) { try run(&set, fill, done) } catch {
            documents.giveUp(set.documents)
            throw error
        }
    }

    private func run(
        _ set: inout ChangeSet, _ fill: (inout ChangeSet) throws(Failure) -> Void, _ done: () -> Void
    ) throws(Failure) {
        do throws(Failure) {
            if !set.documents.entries.isEmpty { try documents.follow(set.documents) }
            try turns.take()
            do throws(Failure) { try fill(&set) } catch {
                turns.end()
                throw error
            }
        } catch {
            announcer.phases.notify(.refused, of: set.numbers, set.cause(besides: []).text, error)
            throw error
        }
        let failure = reload(set, isAnswered: true)
        if failure == nil { done() }
        ramps.stepIfDue()
        turns.end()
        reclaimer.reclaim()
        if let failure { throw failure }
        // The worker is started before the first change of the followed files.
        guard set.documents.hasFile || set.documents.opened.contains(where: { $0.document.path != nil }) else { return }
        do throws(Failure) {
            try turns.startWorker()
        } catch { announcer.noteThreadFailure(error) }
    }

    /// Hands a change set to the worker. Sets that wait there become one reload.
    func submit(_ set: ChangeSet) throws(Failure) {
        var set = set
        announcer.phases.begin(&set)
        do throws(Failure) {
            try documents.follow(set.documents)
            try turns.submit(set)
        } catch {
            documents.giveUp(set.documents)
            announcer.phases.notify(.refused, of: set.numbers, set.cause(besides: []).text, error)
            throw error
        }
    }

    /// Submits a change set that no call waits for. A failure to submit it is logged.
    func submitUnasked(_ set: ChangeSet) {
        do throws(Failure) { try submit(set) } catch { announcer.noteThreadFailure(error) }
    }

    /// On the loop thread: takes in the files of one burst.
    func filesChanged(_ set: ChangeSet, areSmall: Bool) {
        if areSmall && attemptHere(set) { return }
        submitUnasked(set)
    }

    /// Stages and plans a small change on the loop thread, and commits it there if no code of the host has to run: it is live before
    /// another thread could have been woken. The worker takes the turn over for the rest. Returns false if another thread has the turn.
    private func attemptHere(_ set: ChangeSet) -> Bool {
        // Planning may run converters and functions of trait types, properties and settings, which may be code of the host.
        guard
            turns.takeIfIdle({ [generations] in
                let snapshot = generations.snapshot
                return !container.registry.converters.hasHosts && !container.registry.typesAreVerifiedByHost
                    && snapshot.traits.types.isEmpty && !snapshot.constraints.bindings.callsHost
            })
        else { return false }
        let prepared = plan(set)
        beginRules(prepared)
        let isDone = !prepared.runsHostCode && (prepared.failure == nil || prepared.given == nil)
        turns.hand(isDone ? .done(carryOut(prepared)) : .prepared(prepared))
        return true
    }

    /// One step of the worker: waits for work, takes all of it, runs it. Returns false when the runtime closes.
    func workerStep() -> Bool {
        var hasDropped = false
        switch turns.takeWork() {
        case nil: return false
        case .sets(let sets): hasDropped = reload(joining: sets)
        case .handed(.prepared(let prepared)):
            finishRules(prepared)
            announce(finish(prepared))
        case .handed(.done(let attempt)): announce(attempt)
        }
        ramps.stepIfDue()
        turns.end()
        reclaimer.reclaim()
        if hasDropped { documents.endIdleFollowing() }
        return true
    }

    // MARK: types

    /// A type was registered: definitions that wait for it are planned again, in a reload of their own.
    func typeIsThere(_ name: String) {
        if awaitedTypes.contains(name) { lookForTypes(name) }
    }

    private func lookForTypes(_ name: String) {
        var set = ChangeSet(Cause(.type, name))
        set.rebuilds = [.blockedOnTypes]
        // A runtime that closes has no need of it.
        submitUnasked(set)
    }

    /// After a commit that changed definitions. A type may have been registered while the commit was planned.
    func updateAwaitedTypes() {
        let names = awaitedTypes.update(from: generations.snapshot)
        guard let known = names.sorted().first(where: { container.has($0) }) else { return }
        lookForTypes(known)
    }
}
