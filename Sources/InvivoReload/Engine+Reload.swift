internal import CInvivo
internal import CPlatform
internal import InvivoBase
internal import InvivoLoop
internal import InvivoSpec
internal import InvivoTraits
internal import InvivoWiring

extension Engine {
    /// One transaction, from change set to report. By the thread that has the turn.
    func reload(_ set: ChangeSet) -> Report {
        var clock = PhaseClock(set)
        let thread = currentThread()
        let formerEngine = thread.pointee.engine
        thread.pointee.engine = Unmanaged.passUnretained(container).toOpaque()
        var changes: [Report.Change] = []
        var failure: Failure?
        var warnings: [(String, Place)] = []
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
                thread.pointee.engine = formerEngine
                return Report(
                    generation: container.currentGraph().generation, cause: set.cause, failure: nil, changes: [],
                    phases: clock.finish())
            }
        } catch { failure = error }
        let report = Report(
            generation: container.currentGraph().generation, cause: set.cause, failure: failure, changes: changes,
            phases: clock.finish())
        for (message, place) in warnings {
            container.log(.warning, Failure(.ok, message, at: place).text)
        }
        if let failure {
            container.log(.error, failure.text, path: failure.path, [("reload", .string(set.cause))])
        } else {
            container.log(.info, report.text, [("reload", .string(set.cause))])
        }
        let observers = container.monitor.locked { () -> [Observer] in
            if let failure {
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
        thread.pointee.engine = formerEngine
        return report
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
