internal import CInvivo
internal import CPlatform
internal import InvivoBase
internal import InvivoLoop
internal import InvivoSpec
internal import InvivoTraits
internal import InvivoWiring

extension Engine {
    /// One transaction, from change set to report, of which the observers hear. By the thread that has the turn.
    func reload(_ set: ChangeSet) -> Report {
        let attempt = attempt(set)
        announce(attempt)
        return attempt.report
    }

    /// Several change sets as one transaction. When that fails each is tried alone, so that no set is lost through
    /// another's fault.
    func reload(joining sets: [ChangeSet]) {
        guard var joined = sets.first else { return }
        for later in sets.dropFirst() { joined.join(later) }
        let attempt = attempt(joined)
        guard sets.count > 1 && attempt.report.failure != nil else { return announce(attempt) }
        for set in sets { _ = reload(set) }
    }

    struct Attempt {
        let set: ChangeSet
        let report: Report
        let warnings: [(String, Place)]
        /// The same bytes came again: there is nothing to tell.
        let isNothing: Bool
    }

    private func attempt(_ set: ChangeSet) -> Attempt {
        let set = withOwedDocuments(set)
        var clock = PhaseClock(set)
        let thread = currentThread()
        let formerEngine = thread.pointee.engine
        thread.pointee.engine = Unmanaged.passUnretained(container).toOpaque()
        defer { thread.pointee.engine = formerEngine }
        var changes: [Report.Change] = []
        var failure: Failure?
        var warnings: [(String, Place)] = []
        var isNothing = false
        for gone in container.monitor.locked({ () -> [Target] in
            defer { goneTargets = [] }
            return goneTargets
        }) { targets[gone.id]?.removeAll { $0 === gone } }
        do throws(Failure) {
            let staged = try stage(set, &clock)
            clock.end(INVIVO_PHASE_STAGE)
            if let staged {
                var plan = try plan(staged, &warnings)
                clock.end(INVIVO_PHASE_PLAN)
                try commit(&plan, &warnings)
                clock.end(INVIVO_PHASE_COMMIT)
                changes = plan.changes
            } else {
                isNothing = true
            }
        } catch { failure = error }
        let report = Report(
            generation: container.currentGraph().generation, cause: set.cause, failure: failure, changes: changes,
            phases: clock.finish())
        return Attempt(set: set, report: report, warnings: warnings, isNothing: isNothing)
    }

    /// Log, counts and observers.
    private func announce(_ attempt: Attempt) {
        let report = attempt.report
        noteOwedDocuments(attempt.set, report.failure)
        guard !attempt.isNothing else {
            // Whatever was wrong with these documents is mended.
            container.monitor.locked { lastFailure = nil }
            return
        }
        let thread = currentThread()
        let formerEngine = thread.pointee.engine
        thread.pointee.engine = Unmanaged.passUnretained(container).toOpaque()
        defer { thread.pointee.engine = formerEngine }
        for (message, place) in attempt.warnings {
            container.log(.warning, Failure(.ok, message, at: place).text)
        }
        if let failure = report.failure {
            container.log(.error, failure.text, path: failure.path, [("reload", .string(report.cause))])
        } else {
            container.log(.info, report.text, [("reload", .string(report.cause))])
        }
        let observers = container.monitor.locked { () -> [Observer] in
            if let failure = report.failure {
                failures += 1
                lastFailure = failure
            } else {
                reloads += 1
                lastFailure = nil
            }
            return self.observers
        }
        for observer in observers {
            if let domain = observer.domain, !domain.isCurrent || domain.thread == 0 {
                container.post(to: domain) { observer.tell(report) }
            } else {
                observer.tell(report)
            }
        }
    }

    // MARK: owed documents

    /// A change of a file brings those files along that changed with one that was refused: nobody would tell of them again.
    private func withOwedDocuments(_ set: ChangeSet) -> ChangeSet {
        let hasFile = set.documents.contains { if case .file = $0.content { true } else { false } }
        guard hasFile else { return set }
        var whole = set
        for document in container.monitor.locked({ owed }) where !set.documents.contains(where: { $0.document === document }) {
            whole.documents.append((document, .file))
        }
        return whole
    }

    /// After a failure: the files that were not at fault themselves are owed. After a success none of the set's is.
    private func noteOwedDocuments(_ set: ChangeSet, _ failure: Failure?) {
        guard !set.documents.isEmpty else { return }
        let faulty = Set((failure?.all ?? []).map(\.place.file))
        container.monitor.locked {
            owed.removeAll { document in set.documents.contains { $0.document === document } }
            guard failure != nil, set.documents.count > 1 else { return }
            for (document, content) in set.documents {
                guard case .file = content, !faulty.contains(document.name), !faulty.contains(document.path ?? "") else { continue }
                owed.append(document)
            }
        }
    }

    // MARK: stage

    struct Staged {
        let set: ChangeSet
        var documents: [(document: Document, next: Document.State)] = []
    }

    /// Reads and parses what documents changed. Nil when the same bytes came again and nothing else is to be done.
    private func stage(_ set: ChangeSet, _ clock: inout PhaseClock) throws(Failure) -> Staged? {
        var staged = Staged(set: set)
        var failures: [Failure] = []
        for (document, content) in set.documents {
            do throws(Failure) {
                var next = Document.State()
                let bytes: [UInt8]
                switch content {
                case .none:
                    staged.documents.append((document, next))
                    continue
                case .bytes(let given):
                    bytes = given
                    guard bytes.count <= options.maxDocumentBytes else {
                        throw Failure(
                            .tooLarge, "the document has \(bytes.count) bytes, at most \(options.maxDocumentBytes) are allowed",
                            at: Place(file: document.name))
                    }
                    next.hash = ContentHash.of(bytes)
                case .file:
                    let read = try FileReader.read(document.path ?? "", limit: options.maxDocumentBytes)
                    bytes = read.bytes
                    next.hash = read.hash
                    clock.fileChanged(wall: read.modifiedNs)
                }
                if document.state.isOpen && next.hash == document.state.hash { continue }
                next.isOpen = true
                let parsed = try SpecReader.read(
                    bytes, file: document.name, format: SpecFormat.of(fileName: document.name),
                    limits: SpecLimits(bytes: options.maxDocumentBytes))
                for entry in try TraitDocument(parsed).entries {
                    next.traits[entry.target, default: []] += entry.traits
                    if next.places[entry.target] == nil { next.places[entry.target] = entry.targetPlace }
                }
                staged.documents.append((document, next))
            } catch { failures.append(error) }
        }
        if let failure = Failure.gathered(failures) { throw failure }
        let nothing =
            staged.documents.isEmpty && set.definitions.isEmpty && set.removed.isEmpty && set.bases.isEmpty
            && set.retuned.isEmpty && set.attached.isEmpty && set.detached.isEmpty
        return nothing ? nil : staged
    }
}

/// The time of each phase.
struct PhaseClock {
    private var phases = [UInt64](repeating: 0, count: Int(INVIVO_PHASE_COUNT))
    private var last: UInt64
    private var first: UInt64

    init(_ set: ChangeSet) {
        let now = monotonicNow()
        phases[Int(INVIVO_PHASE_DETECT)] = set.lastEvent &- set.firstEvent
        phases[Int(INVIVO_PHASE_SETTLE)] = now &- set.lastEvent
        first = set.firstEvent
        last = now
    }

    mutating func end(_ phase: Int) {
        let now = monotonicNow()
        phases[phase] += now &- last
        last = now
    }

    /// A file says when it was changed: an honest total counts from there, where the clocks allow it.
    mutating func fileChanged(wall: UInt64) {
        let now = monotonicNow()
        let wallNow = iv_wall_ns()
        guard wall <= wallNow, wallNow - wall < now else { return }
        let changed = now - (wallNow - wall)
        // A file that was there long before the event is not what the event was about.
        if changed < first && first - changed < 1_000_000_000 { first = changed }
    }

    mutating func finish() -> [UInt64] {
        phases[Int(INVIVO_PHASE_TOTAL)] = monotonicNow() &- first
        return phases
    }
}
