internal import CInvivo
public import InvivoBase
internal import InvivoConfig
internal import InvivoLoop
internal import InvivoObjects
internal import InvivoTraits
internal import InvivoWiring

extension Engine {
    /// One transaction, from change set to report, of which the observers hear. Answers why it failed. By the thread that has the
    /// turn.
    func reload(_ set: ChangeSet) -> Failure? {
        let whole = attempt(set)
        guard let failure = whole.report.failure else {
            documents.keepOpened(set)
            announce(whole)
            return nil
        }
        let waiting = set.opened.filter(\.waits)
        guard !waiting.isEmpty else {
            documents.drop(set)
            announce(whole)
            return failure
        }
        // Without the documents that need not be good yet; each of those then takes effect as soon as it is.
        let rest = set.withoutWaiting()
        let attempt = attempt(rest, besides: failure)
        if let failure = attempt.report.failure {
            documents.drop(set)
            announce(attempt)
            return failure
        }
        documents.keepOpened(set)
        if !attempt.isNothing { announce(attempt) }
        for new in waiting {
            var alone = ChangeSet(cause: new.document.name)
            alone.documents = [(new.document, .file)]
            announce(self.attempt(alone))
        }
        return nil
    }

    /// What would be wrong with a change set, as far as that shows without making anything: nothing is changed or told.
    public func check(_ set: ChangeSet) -> [Failure] {
        do throws(Failure) {
            try documents.requireUnclosed(set)
            try turns.take()
        } catch { return error.all }
        defer { turns.end() }
        return prepareSettled(set).failure?.all ?? []
    }

    /// Several change sets as one transaction. When that fails each is tried alone, so that no set is lost through
    /// another's fault. Answers whether documents were dropped with sets that failed.
    func reload(joining sets: [ChangeSet]) -> Bool {
        guard var joined = sets.first else { return false }
        if sets.count > 1 {
            for later in sets.dropFirst() { joined.join(later) }
            let attempt = attempt(joined)
            if attempt.report.failure == nil {
                documents.keepOpened(joined)
                announce(attempt)
                return false
            }
        }
        var hasDropped = false
        for set in sets where reload(set) != nil && !set.opened.isEmpty { hasDropped = true }
        return hasDropped
    }

    /// Where it fails, its failure also says what was wrong before.
    private func attempt(_ set: ChangeSet, besides former: Failure? = nil) -> Attempt {
        let prepared = prepareSettled(set)
        return carryOut(prepared, besides: former)
    }

    /// Stage and plan. For a caller that waits, files that are open for writing, or change while they are read, are read again
    /// until they are whole; at most for the settle maximum.
    func prepareSettled(_ set: ChangeSet) -> PreparedReload {
        let prepared = prepare(set)
        guard prepared.failure != nil && set.heard.isEmpty && !prepared.files.read.isEmpty else { return prepared }
        let deadline = monotonicNow() + options.settleMaximum * 1_000_000
        var latest = prepared
        while latest.failure != nil && !documents.movedOn(latest.files.read).isEmpty {
            let pause = min(deadline, monotonicNow() + 2_000_000)
            let isClosing = container.monitor.locked {
                while !container.closing.isRequested && container.monitor.wait(until: pause) {}
                return container.closing.isRequested
            }
            if isClosing {
                latest.failure = Loading.abandoned
                break
            }
            guard monotonicNow() < deadline else { return prepare(set, heedingWriters: false) }
            latest = prepare(set)
        }
        return latest
    }

    /// Runs `body` as code of this runtime, which may not wait for reloads.
    private func asReload<Result>(_ body: () -> Result) -> Result {
        let thread = currentThread()
        let formerEngine = thread.pointee.engine
        thread.pointee.engine = Unmanaged.passUnretained(container).toOpaque()
        defer { thread.pointee.engine = formerEngine }
        return ContentQuoting.allowed(options.quotesContent, body)
    }

    /// Stage and plan. A file that is open for writing is left out where it is followed, and refused otherwise, unless it has been
    /// open for long.
    func prepare(_ set: ChangeSet, heedingWriters: Bool = true) -> PreparedReload {
        let open = documents.withoutClosed(set)
        let isNobodys = !set.heard.isEmpty && open.documents.isEmpty
        let set = targets.withoutFormer(documents.withOwed(documents.withEntries(open)))
        let prepared = PreparedReload(set, isNobodys: isNobodys)
        let stage = Stage(
            options: options, log: container.log, thread: set.heard.isEmpty ? loop.running?.threadNumber ?? 0 : 0,
            heedsWriters: heedingWriters && (set.heard.isEmpty || documents.isYoung(set)))
        targets.removeGone()
        turns.name(set.cause(besides: []))
        let limit = set.documents.isEmpty || options.loadTimeout == .max ? UInt64.max / 4 : options.loadTimeout
        Loading.within(limit) {
            asReload {
                do throws(Failure) {
                    let staged = try stage.run(set, &prepared.files, &prepared.clock)
                    prepared.clock.end(INVIVO_PHASE_STAGE)
                    guard let staged else { return }
                    container.monitor.locked { container.builds.beginNoting() }
                    var plan = try planner().plan(staged, &prepared.warnings)
                    // Assemblies that were active already.
                    if plan.isNothing && unsettled.isEmpty { return }
                    plan.tuned += unsettledTargets(besides: plan.tuned)
                    prepared.plan = plan
                    prepared.clock.end(INVIVO_PHASE_PLAN)
                } catch {
                    prepared.failure = error
                    if error.code == .timeout && error.place.file.isEmpty {
                        let names = set.documents.map(\.document.name).joined(separator: ", ")
                        prepared.failure = Failure(.timeout, error.message, at: Place(file: names))
                    }
                }
            }
        }
        return prepared
    }

    /// Returns a planner over the current generation. By the thread that has the turn.
    func planner() -> Planner {
        let graph = container.currentGraph()
        let live = LiveRuntime(container, graph, targets)
        return Planner(
            before: snapshot, graph: graph, names: container.names, observed: live, registrations: live, traits: traits,
            limits: Planner.Limits(
                allowsPendingTargets: options.allowsPendingTargets, maxEachEntries: options.maxEachEntries),
            documents: documents.open)
    }

    /// Objects that a failed commit could not bring back to what they were: they are tried again.
    private func unsettledTargets(besides tuned: [(id: UInt32, object: UInt64, layers: TargetLayers?)])
        -> [(id: UInt32, object: UInt64, layers: TargetLayers?)]
    {
        unanswered = []
        guard !unsettled.isEmpty else { return [] }
        let targets = targets.all
        let graph = container.currentGraph()
        return unsettled.sorted().flatMap { id in
            let layers = graph.configuration(id) as? TargetLayers
            let attached = (targets[id] ?? []).filter { layers == nil || layers?.type === $0.type }.map(\.object)
            let shared = snapshot.alias(id) == nil ? graph.cell(id) : nil
            let made = shared.map { cell in container.monitor.locked { cell.objects().map(\.object) } } ?? []
            return Set(attached + made).sorted().compactMap {
                object -> (id: UInt32, object: UInt64, layers: TargetLayers?)? in
                guard !tuned.contains(where: { $0.object == object }) else { return nil }
                // A change set that does not need a domain does not wait for it.
                guard !needsRestore(object) else {
                    unanswered.insert(id)
                    return nil
                }
                return (id, object, layers)
            }
        }
    }

    /// Whether the domain of an object has yet to undo what a failed commit did there.
    private func needsRestore(_ object: UInt64) -> Bool {
        guard ObjectTable.retain(object) else { return false }
        let lease = ObjectLease(owning: object)
        defer { withExtendedLifetime(lease) {} }
        guard let record = ObjectTable.record(object), let domain = Container.type(record).domain else { return false }
        return container.domains.needsRestore(domain)
    }

    /// Commit, by the same thread or another that took the turn over.
    func carryOut(_ prepared: PreparedReload, besides former: Failure? = nil) -> Attempt {
        let isNothing = prepared.plan == nil && prepared.failure == nil
        var changes: [Report.Change] = []
        var settings: NameTable<ConfigNode?> = [:]
        var stopFailures: [Failure] = []
        var referred: [String] = []
        var formerly: Formerly?
        // One reference to what is about to be changed.
        if var plan = prepared.plan.take() {
            asReload {
                do throws(Failure) {
                    let made = Formerly(plan, container)
                    try commit(&plan, &prepared.warnings)
                    formerly = made
                    prepared.clock.end(INVIVO_PHASE_COMMIT)
                    changes = plan.changes
                    for change in plan.settings { settings[change.path] = .some(change.node) }
                    if plan.stops {
                        stopFailures = container.lifecycle.stopFailures.gathering {
                            reclaimer.reclaim(.now, inCallback: false)
                            container.retiredObjects.waitForEnding(until: monotonicNow() + Reclaimer.patience)
                        }
                        referred = container.retiredObjects.takeReferred()
                    }
                } catch { prepared.failure = error }
                prepared.clock.note(INVIVO_PHASE_OUTAGE, plan.outage)
            }
        }
        if let failure = prepared.failure, let former {
            let others = former.all.filter { other in !failure.all.contains { $0.isSame(as: other) } }
            prepared.failure = Failure.gathered(failure.all + others)
        }
        if let failure = prepared.failure, failure.code != .closed, !prepared.set.late.isEmpty {
            container.monitor.locked { container.builds.tryAgain(prepared.set.late) }
        }
        for target in prepared.set.detached { targets.release(target) }
        let report = Report(
            generation: container.currentGraph().generation,
            cause: prepared.set.cause(besides: prepared.files.unchanged),
            failure: prepared.failure, stopFailure: Failure.gathered(stopFailures), changes: changes,
            phases: prepared.clock.finish(), warnings: prepared.warnings, settings: settings, formerly: formerly,
            referred: referred, stopGrace: container.retiredObjects.grace)
        return Attempt(prepared, report, isNothing: isNothing)
    }

    /// Log, counts and observers.
    func announce(_ attempt: Attempt) {
        documents.lookAgain(attempt.files.busy, attempt.set)
        documents.readAgain(attempt.files.unread)
        if let failure = attempt.report.failure, documents.putOff(attempt, failure) { return }
        documents.noteOwed(attempt.set, attempt.report.failure)
        if attempt.isNothing && (attempt.isNobodys || !attempt.files.busy.isEmpty) { return }
        guard !attempt.isNothing else {
            // Whatever was wrong with these documents is mended.
            announcer.tellMended()
            return
        }
        asReload { announcer.tell(attempt) }
    }
}
