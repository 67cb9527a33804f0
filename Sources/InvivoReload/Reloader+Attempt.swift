internal import CInvivo
internal import InvivoBase
internal import InvivoConfig
internal import InvivoTraits
internal import InvivoWiring

extension Reloader {
    /// Runs one reload, from change set to report, and notifies the observers. Returns its failure. By the thread that
    /// has the turn.
    ///
    /// `isAnswered`: a call waits for it and returns its failure.
    func reload(_ set: ChangeSet, isAnswered: Bool = false) -> Failure? {
        let whole = attempt(set, isAnswered: isAnswered)
        guard let failure = whole.report.failure else {
            documents.keepOpened(set.documents)
            announce(whole)
            return nil
        }
        let waiting = set.documents.opened.filter { $0.waits || isBlocked($0, failure) }
        guard !waiting.isEmpty else {
            documents.drop(set.documents)
            announce(whole)
            return failure
        }
        // Without the documents that may be invalid for now. Each of them takes effect as soon as it is valid.
        let rest = set.without(waiting)
        let attempt = attempt(rest, isAnswered: isAnswered, besides: failure)
        if let failure = attempt.report.failure {
            documents.drop(set.documents)
            announce(attempt)
            return failure
        }
        documents.keepOpened(set.documents)
        // The numbers of a set without a rest are those of its first document.
        var numbers = attempt.isNothing ? set.numbers : ReloadNumbers()
        if !attempt.isNothing { announce(attempt) }
        for new in waiting {
            var alone = ChangeSet(Cause(.file, new.document.name))
            alone.documents.set(.file(.asked), of: new.document)
            alone.numbers = numbers.take()
            announcer.phases.begin(&alone)
            announce(self.attempt(alone))
        }
        return nil
    }

    /// Checks a change set: plans it and returns the errors. Changes and reports nothing.
    func check(_ set: ChangeSet) -> [Failure] {
        do throws(Failure) {
            try documents.requireUnclosed(set.documents)
            try turns.take()
        } catch { return error.all }
        defer {
            documents.followIncluded()
            turns.end()
        }
        let prepared = prepareSettled(set)
        guard let given = prepared.given, let failure = prepared.failure else { return prepared.failure?.all ?? [] }
        return prepareAlone(given, failure).failure?.all ?? []
    }

    /// Plans a change set without building anything. Files whose bytes were refused before take no part.
    func examine(_ set: ChangeSet) -> Examination {
        do throws(Failure) { try turns.take() } catch { return Examination(failures: error.all) }
        defer { turns.end() }
        let prepared = prepare(set, retrying: .none)
        guard case .planned(let plan) = prepared.outcome else {
            return Examination(failures: prepared.failure?.all ?? [], warnings: prepared.warnings)
        }
        let secrets = plan.editor.secrets
        let reader = WiringFactsReader(container: container, secrets: secrets)
        var nodes: [WiringFacts.Node] = []
        for (id, definition) in plan.wiring.definitions.changed where definition != nil {
            guard let recipe = plan.editor.recipe(id) else { continue }
            var node = reader.facts(of: id, recipe)
            // A plain alias has the compiled definition of its target.
            if recipe.id != id, let location = definition?.location { node.location = location }
            node.show(plan.wiring.definitions.covers[id])
            nodes.append(node)
        }
        let doubtful = plan.findings.doubtful.filter { $0.isCertain && !$0.isReported(plan.misspelled) }
        var found = Examination(
            failures: plan.misspelled.map(\.failure) + doubtful.map(\.failure), warnings: prepared.warnings)
        guard found.failures.isEmpty else { return found }
        var facts = WiringFacts(
            generation: container.currentGraph().generation, nodes: nodes, secrets: secrets, schema: schemaFacts(plan))
        do throws(Failure) {
            facts.unread = try UnreadSearch(planner(), plan.wiring).unread() + plan.findings.unread
        } catch {
            found.failures = error.all
            return found
        }
        found.facts = facts
        return found
    }

    /// Reads the documents of a change set, with the files that they lead to. Returns all errors of their form.
    func checkForm(_ given: ChangeSet) -> [Failure] {
        do throws(Failure) { try turns.take() } catch { return error.all }
        defer { turns.end() }
        var set = given
        set.documents = documents.withEntries(set.documents)
        let prepared = PreparedReload(set, given: set, concernsNoOpenDocument: false)
        let stage = documents.stage(for: set, heedingWriters: false, generations.snapshot)
        var failures: [Failure] = []
        Loading.within(min(container.options.current.loadTimeout, UInt64.max / 4)) {
            asReload(hasSecrets: set.declaresSecrets) {
                do throws(Failure) {
                    failures = try stage.run(set, &prepared.files, &prepared.clock).failure?.all ?? []
                } catch {
                    failures = error.all
                }
            }
        }
        return failures
    }

    /// Runs several change sets as one transaction. If that fails, each is tried alone in a turn of its own, so that no set is lost
    /// through the fault of another. So are all if one of them is not combined with others. Returns whether documents were dropped with
    /// a set that failed.
    func reload(joining sets: [ChangeSet]) -> Bool {
        guard var joined = sets.first else { return false }
        guard sets.count > 1 else { return reload(joined) != nil && !joined.documents.opened.isEmpty }
        if !sets.contains(where: \.isAlone) {
            for later in sets.dropFirst() { joined.join(later) }
            let attempt = attempt(joined)
            if attempt.report.failure == nil {
                documents.keepOpened(joined.documents)
                announce(attempt)
                return false
            }
        }
        turns.tryAlone(sets)
        return false
    }

    /// If it fails, its failure includes the `former` one.
    private func attempt(_ set: ChangeSet, isAnswered: Bool = false, besides former: Failure? = nil) -> Attempt {
        let prepared = prepareSettled(set)
        prepared.isAnswered = isAnswered
        return finish(prepared, besides: former)
    }

    /// Carries a prepared reload out. If it fails with files whose bytes were refused before, the rest is tried alone.
    func finish(_ prepared: PreparedReload, besides former: Failure? = nil) -> Attempt {
        let attempt = carryOut(prepared, besides: former)
        guard let given = prepared.given, let failure = attempt.report.failure, failure.code != .closed else {
            return attempt
        }
        if attempt.report.hasOutage { documents.forgetRefused(prepared.set.documents.refused) }
        // Those that were refused before are tried without those at fault.
        let (tried, faults) = (prepared.set.documents.refused, failure.filesAtFault)
        documents.noteRefused(tried, failure)
        let innocent = tried.filter { faults[$0.name] == nil }
        if !innocent.isEmpty && innocent.count < tried.count {
            let some = prepareAlone(given, failure, with: innocent)
            some.isAnswered = prepared.isAnswered
            let attempt = carryOut(some, besides: former)
            if attempt.report.failure == nil { return attempt }
        }
        let rest = prepareAlone(given, failure)
        rest.isAnswered = prepared.isAnswered
        return carryOut(rest, besides: former)
    }

    /// Stage and plan without the files whose bytes were refused before, other than `innocent`: they make the set fail, as `failure`
    /// says.
    private func prepareAlone(
        _ set: ChangeSet, _ failure: Failure, with innocent: [Document] = []
    ) -> PreparedReload {
        let rest = prepareSettled(set, retrying: .only(innocent))
        guard rest.failure == nil else { return rest }
        rest.refused = failure
        rest.warnings += failure.all.map {
            Report.Warning(.refused, "still refused: \($0.message)", at: $0.location)
        }
        return rest
    }

    /// Stage and plan. For a caller that waits, files that are open for writing, or change while they are read, are read again
    /// until they are whole; at most for the settle maximum.
    func prepareSettled(_ set: ChangeSet, retrying: Retried = .all) -> PreparedReload {
        let prepared = prepare(set, retrying: retrying)
        guard prepared.failure != nil && set.documents.withEvents.isEmpty && !prepared.files.read.isEmpty else {
            return prepared
        }
        let deadline = monotonicNow() + container.options.current.settleMaximum * 1_000_000
        var latest = prepared
        while latest.failure != nil && !documents.movedOn(latest.files.read).isEmpty {
            let pause = min(deadline, monotonicNow() + 2_000_000)
            let isClosing = container.monitor.locked {
                while !container.registry.closing.isRequested && container.monitor.wait(until: pause) {}
                return container.registry.closing.isRequested
            }
            if isClosing {
                latest.outcome = .failed(Loading.abandoned)
                break
            }
            guard monotonicNow() < deadline else { return prepare(set, heedingWriters: false, retrying: retrying) }
            latest = prepare(set, retrying: retrying)
        }
        return latest
    }

    /// Runs `body` as code of this runtime, which may not wait for reloads. While there are secrets, errors of the form of documents quote
    /// no text.
    private func asReload<Result>(hasSecrets: Bool = false, _ body: () -> Result) -> Result {
        let thread = currentThread()
        let formerEngine = thread.pointee.engine
        thread.pointee.engine = Unmanaged.passUnretained(container).toOpaque()
        defer { thread.pointee.engine = formerEngine }
        return Pins.outside(container.core) {
            ContentQuoting.allowedForAll(options.quotesContent) { ContentQuoting.allowedForForm(!hasSecrets, body) }
        }
    }

    /// Runs `body` without quoting values in errors, if the content of a file may be one of them.
    func withoutFileContent<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        try ContentQuoting.allowed(ContentQuoting.isAllowed && !documents.included.hasValues, body)
    }

    /// Stage and plan, and the rules of the plan.
    func prepare(_ set: ChangeSet, heedingWriters: Bool = true, retrying: Retried = .all) -> PreparedReload {
        let prepared = plan(set, heedingWriters: heedingWriters, retrying: retrying)
        beginRules(prepared)
        finishRules(prepared)
        return prepared
    }

    /// Stage and plan. A file that is open for writing is left out where it is followed, and refused otherwise, unless it has been
    /// open for long. `retrying`: the files whose bytes were refused before that take part.
    func plan(_ given: ChangeSet, heedingWriters: Bool = true, retrying: Retried = .all) -> PreparedReload {
        let open = documents.withoutClosed(given.documents)
        let concernsNoOpenDocument = !given.documents.withEvents.isEmpty && open.contents.isEmpty
        var set = given
        set.documents = documents.withEntries(open)
        if !concernsNoOpenDocument && set.restoredGeneration == nil {
            set.documents = documents.adding(
                retrying, to: set.documents, addsTypes: !set.functions.traits.added.isEmpty)
        }
        set.targets = targets.current(set.targets)
        let prepared = PreparedReload(set, given: given, concernsNoOpenDocument: concernsNoOpenDocument)
        if let failure = set.staleness(in: container.currentGraph().generation) {
            prepared.outcome = .failed(failure)
            return prepared
        }
        let stage = documents.stage(
            for: set, heedingWriters: heedingWriters, generations.snapshot)
        let hasSecrets = !generations.snapshot.config.secrets.isEmpty || set.declaresSecrets
        targets.removeGone()
        turns.name(set.cause(besides: []))
        if let first = set.cause.parts.first, first.kind == .manifest { manifest.withLock { $0 = first.name } }
        let current = container.options.current
        let limit = set.documents.contents.isEmpty ? UInt64.max / 4 : min(current.loadTimeout, UInt64.max / 4)
        Loading.within(limit) {
            asReload(hasSecrets: hasSecrets) {
                do throws(Failure) {
                    let result =
                        set.restoredGeneration != nil
                        ? Stage.Result(staged: try generations.stage(set, current.specLimits), failure: nil)
                        : try stage.run(set, &prepared.files, &prepared.clock)
                    prepared.clock.end(INVIVO_PHASE_STAGE)
                    if let failure = result.failure {
                        throw Failure.gathered([failure] + traitFailures(result.staged, besides: failure)) ?? failure
                    }
                    guard let staged = result.staged else { return }
                    container.monitor.locked { container.builds.beginNoting() }
                    var plan = try withoutFileContent { () throws(Failure) in
                        try planner().plan(staged, &prepared.warnings)
                    }
                    // Nothing changes: for example, the assemblies are active already.
                    if plan.isNothing && restores.isEmpty && plan.kept.isEmpty { return }
                    plan.restored = restores.objects(
                        besides: plan.steps.tuned, of: container.currentGraph(), generations.snapshot)
                    prepared.outcome = .planned(plan)
                    prepared.clock.end(INVIVO_PHASE_PLAN)
                } catch {
                    guard error.code == .timeout && error.location.file.isEmpty else {
                        return prepared.outcome = .failed(error)
                    }
                    prepared.outcome = .failed(set.documents.tookTooLong(error))
                }
            }
        }
        if case .planned = prepared.outcome {
            announcer.phases.notify(
                .planned, of: prepared.set.numbers, prepared.set.cause(besides: prepared.files.unchanged).text)
        }
        return prepared
    }

    /// Returns a planner over the current generation. By the thread that has the turn.
    func planner() -> Planner {
        let graph = container.currentGraph()
        let live = LiveRuntime(container, graph, targets, moving: ramps.blocks)
        let calls = PlanCalls(rules, container.registry.reloadCall)
        return Planner(
            before: generations.snapshot, graph: graph, names: container.names, observed: live, registrations: live,
            declare: { (type, values, spec) throws(Failure) in try calls.declare(type, values, spec) },
            call: { (functions) throws(Failure) in try calls.run(functions) },
            limits: Planner.Limits(
                allowsPendingTargets: options.allowsPendingTargets,
                maxEachEntries: container.options.current.maxEachEntries,
                maxDocumentNodes: container.options.current.maxDocumentNodes,
                environmentPrefix: options.environmentPrefix),
            manifest: manifest.withLock { $0 })
    }

    /// Commits a prepared reload, on the same thread or on another that took the turn over. The failure includes the `former` one.
    func carryOut(_ prepared: PreparedReload, besides former: Failure? = nil) -> Attempt {
        var failure = prepared.failure
        var isNothing = false
        var done = Done()
        switch prepared.takeOutcome() {
        case .nothing: isNothing = true
        case .failed: break
        case .planned(let plan):
            asReload {
                do throws(Failure) {
                    done = try withoutFileContent { () throws(Failure) in try commit(plan, prepared) }
                } catch { failure = error }
            }
        }
        if let found = failure, let former {
            let others = former.all.filter { other in !found.all.contains { $0.isSame(as: other) } }
            failure = Failure.gathered(found.all + others)
        }
        let overtaken = prepared.set.rebuilds.overtaken
        if let failure, failure.code != .closed, !overtaken.isEmpty {
            container.monitor.locked { container.builds.tryAgain(overtaken) }
        }
        for target in prepared.set.targets.detached { targets.release(target) }
        let report = Report(
            generation: container.currentGraph().generation,
            causes: prepared.set.cause(besides: prepared.files.unchanged),
            failure: failure, stopFailure: Failure.gathered(done.stopFailures), changes: done.changes,
            phases: prepared.clock.finish(), warnings: prepared.warnings, settings: done.settings,
            untrackedObjects: done.untrackedObjects, referred: done.referred,
            stopGrace: container.options.current.stopGrace)
        return Attempt(prepared, report, done.changed, isNothing: isNothing)
    }

    /// The facts of a successful commit for its report.
    private struct Done {
        var changes: [Report.Change] = []
        var changed = ChangedObjects()
        var settings: NameTable<ConfigNode?> = [:]
        var stopFailures: [Failure] = []
        var referred: [String] = []
        var untrackedObjects: UntrackedObjects?
    }

    /// Carries a plan out, then stores the next generation. Any failure undoes everything, and the generation stays.
    private func commit(_ planned: consuming Plan, _ prepared: PreparedReload) throws(Failure) -> Done {
        var plan = consume planned
        let untrackedObjects = UntrackedObjects(plan.store.replaced, container)
        let former = container.currentGraph()
        showAliases(&plan)
        let next = plan.editor.finish(generation: former.generation + 1, keys: container.keys)
        for cell in plan.steps.created { cell.generation = next.generation }
        let commit = Commit(container, timeout: container.options.current.commitTimeout, from: former, to: next)
        defer { prepared.clock.note(INVIVO_PHASE_OUTAGE, commit.endOutage()) }
        let documents = plan.wiring.staged.documents
        // Before objects are changed, so that their errors name the lines that caused them.
        for (_, state) in documents { state.traits.adoptLocations() }
        let findings: Commit.Findings
        do throws(Failure) { findings = try commit.run(plan, restores) } catch {
            for (document, _) in documents { document.state.traits.adoptLocations() }
            throw error.withoutSecrets(in: [former, next], container.names)
        }
        prepared.warnings += findings.warnings
        restores.keep(findings.refused)
        var layers = plan.findings
        layers.warned.formUnion(findings.warned)
        let subjects = announcer.observers.subjects(ofCommit: next.generation)
        let changed = ChangedObjects(
            plan, former, next, container, types: subjects.types, objects: subjects.objects)
        generations.publish(plan, layers, next, ramps.holdBegin)
        ramps.moveBlocks()
        announcer.phases.notify(
            .committed, of: prepared.set.numbers, prepared.set.cause(besides: prepared.files.unchanged).text)
        prepared.warnings += commit.callKept(plan)
        if !plan.wiring.definitions.changed.isEmpty { updateAwaitedTypes() }
        if plan.wiring.staged.restored != nil {
            for document in self.documents.noteRestored(documents.map(\.document)) {
                prepared.warnings.append(
                    Report.Warning(.diverged, Self.divergence, at: Location(file: document.name)))
            }
        }
        prepared.clock.end(INVIVO_PHASE_COMMIT)
        var done = Done(changes: plan.changes, changed: changed, untrackedObjects: untrackedObjects)
        for change in plan.wiring.config.changes { done.settings[change.path] = .some(change.node) }
        if plan.store.stop {
            done.stopFailures = container.life.stopFailures.gathering {
                reclaimer.reclaim(.now, inCallback: false)
                container.retiredObjects.waitForEnding(until: monotonicNow() + Reclaimer.patience)
            }
            done.referred = container.retiredObjects.takeReferred()
        }
        return done
    }

    /// The warning about a file whose bytes a rollback has refused.
    private static let divergence =
        "the rollback has brought former content back, and the file has other bytes: they are not tried again. Save what "
        + "shall be live, or retry the source. A restarted process reads the file as it is"

    /// Whether a document that the set opens is refused only because of unknown trait types: it is then blocked.
    private func isBlocked(_ document: NewDocument, _ failure: Failure) -> Bool {
        document.document.path != nil && failure.filesAtFault[document.document.name] == true
    }

    /// Aliases without arguments share the slots of their targets.
    private func showAliases(_ plan: inout Plan) {
        for (id, target) in plan.store.aliased {
            let cell = plan.editor.cell(target)
            // Readers that look only under this name find the objects there, whenever they are created.
            container.monitor.locked { _ = cell?.raw }
            plan.editor.set(cell, at: id)
        }
    }

    /// Reports a transaction: to the log, the counts and the observers.
    func announce(_ attempt: Attempt) {
        let (numbers, cause) = (attempt.set.numbers, attempt.report.cause)
        let goesOn = attempt.isNothing && !attempt.files.busy.isEmpty
        if goesOn { documents.putOff(numbers, attempt.files.busy) }
        documents.lookAgain(attempt.files.busy, since: attempt.set.events.lowerBound)
        documents.readAgain(attempt.files.unread)
        if let failure = attempt.report.failure, documents.putOff(attempt, failure) { return }
        documents.noteRefused(attempt)
        documents.followIncluded()
        if let failure = attempt.report.failure {
            announcer.phases.notify(.refused, of: numbers, cause, failure)
        } else if attempt.isNothing && !goesOn {
            announcer.phases.notify(.unchanged, of: numbers, cause)
        }
        if attempt.isNothing && attempt.concernsNoOpenDocument || goesOn { return }
        guard !attempt.isNothing else {
            // An earlier error of these documents does not hold any more.
            announcer.noteResolved()
            return
        }
        asReload { announcer.notify(attempt) }
    }
}
