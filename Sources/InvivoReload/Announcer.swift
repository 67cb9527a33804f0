internal import InvivoBase
internal import InvivoObjects
internal import InvivoWiring

/// Reports reloads: to the observers and the log, with counts and the last error.
///
/// Any thread may call. Observers are called without the monitor.
final class Announcer: Sendable {
    private struct State {
        var observers = ObserverTable()
        /// The thread that is making a commit visible, or that resumes the caches; 0 if none is.
        var publisher: UInt64 = 0
        /// Whether the caches of resolved objects are empty and store nothing, because pins keep former generations.
        var isWithoutCaches = false
        var lastFailure: Failure?
        /// The messages that were logged, so as not to repeat them.
        var logged = LoggedReloads()
        var history = ReportHistory()
        /// The generation or the error of the first reload.
        var first: (generation: UInt64, failure: Failure?)?
        var reloads: UInt64 = 0
        var failures: UInt64 = 0
    }

    let container: Container
    /// How long closing an observer waits for its callback, in nanoseconds.
    let commitTimeout: UInt64
    private let state: Guarded<State>

    init(_ container: Container, commitTimeout: UInt64) {
        self.container = container
        self.commitTimeout = commitTimeout
        state = Guarded(State(), by: container.monitor)
    }

    // MARK: observers

    /// Adds an observer, or returns the known one with this identity. One that keeps resolved objects waits for a commit that is becoming
    /// visible: it has called the others.
    func add(
        _ identity: ObserverTable.Identity?, keepsObjects: Bool, _ make: () -> Observer
    ) throws(Failure) -> (observer: Observer, isNew: Bool) {
        let me = currentThread().identity
        let (observer, isNew, ended) = try container.monitor.locked {
            () throws(Failure) -> (Observer, Bool, [Observer]) in
            if keepsObjects {
                container.domains.wait { state.held { $0.publisher == 0 || $0.publisher == me } }
            }
            guard !container.isClosing else { throw Failure(.closed, "the runtime is closing") }
            if let known = state.held({ $0.observers.same(as: identity) }) { return (known, false, []) }
            let observer = make()
            let generation = container.current.held.generation
            let ended = state.held { state in
                observer.begin(state.observers.add(observer), since: generation)
                return state.observers.takeEnded()
            }
            _ = observer.open()
            return (observer, true, ended)
        }
        for observer in ended {
            observer.silence()
            observer.closeHandle()
        }
        if isNew, keepsObjects, state.locked({ $0.isWithoutCaches }) { observer.tell(published: false) }
        return (observer, isNew)
    }

    func remove(_ observer: Observer) { state.locked { $0.observers.remove(observer) } }

    /// Whether there are observers of types, and of objects.
    var subjects: (types: Bool, objects: Bool) {
        state.locked { ($0.observers.observeTypes, $0.observers.observeObjects) }
    }

    /// For close. Drops the kept reports, too.
    func closeObservers() {
        let observers = state.locked { state in
            defer { state.history = ReportHistory() }
            return state.observers.removeAll()
        }
        for observer in observers {
            observer.silence()
            observer.closeHandle()
        }
    }

    /// Runs `body`, which makes a commit visible, between the calls of the observers that keep resolved objects.
    /// `changesObjects` is false if they need no call. While pins keep former generations, the caches stay empty: a cache does
    /// not know in which pin its caller is.
    func publishing(_ changesObjects: Bool, _ body: () -> Void) {
        guard changesObjects else { return body() }
        let (caches, wereEmpty) = beginPublishing()
        if !wereEmpty { for cache in caches { cache.tell(published: false) } }
        body()
        endPublishing(caches)
    }

    /// The caches store objects again if no pin keeps a former generation any more. On the loop thread.
    func resumeCaches() {
        guard state.locked({ $0.isWithoutCaches }) else { return }
        let (caches, wereEmpty) = beginPublishing()
        endPublishing(wereEmpty ? caches : [])
    }

    private func beginPublishing() -> (caches: [Observer], wereEmpty: Bool) {
        let me = currentThread().identity
        return container.monitor.locked {
            // Another thread only calls observers meanwhile.
            while state.held({ $0.publisher != 0 }) { container.monitor.wait() }
            return state.held { state in
                state.publisher = me
                return (state.observers.caches, state.isWithoutCaches)
            }
        }
    }

    private func endPublishing(_ caches: [Observer]) {
        // A pin that begins from here on is one of the current generation.
        let isWithout = !caches.isEmpty && Pins.areSomeOld(container.core)
        state.locked { $0.isWithoutCaches = isWithout }
        if !isWithout { for cache in caches { cache.tell(published: true) } }
        state.locked { state in
            state.publisher = 0
            container.monitor.broadcast()
        }
    }

    // MARK: reloads

    /// Logs and counts a reload, and notifies the observers.
    func tell(_ attempt: Attempt) {
        let report = attempt.report
        let (warnings, isRepeated) = state.locked { $0.logged.news(of: attempt) }
        for (message, location) in warnings { container.log(.warning, Failure(.ok, message, at: location).text) }
        let fields = [("reload", Value.string(report.cause))]
        if let failure = report.failure {
            let isExpected = isRepeated || failure.code == .closed && !attempt.isAnswered
            let level: Log.Level = isExpected ? .debug : attempt.isAnswered ? .info : .error
            container.log(level, report.text, path: failure.path, fields)
        } else {
            container.log(.info, report.text, fields)
        }
        container.log(.debug, "\(report.cause): \(report.phaseText)")
        let entry = ReportHistory.Entry(report)
        let observers = state.locked { state in
            if report.failure != nil { state.failures += 1 } else { state.reloads += 1 }
            state.lastFailure = report.failure ?? attempt.refused
            state.history.append(entry)
            if state.first == nil { state.first = (report.generation, report.failure) }
            return (state.observers.takeUnready(), state.observers.concerned(by: report, attempt.changed))
        }
        for observer in observers.0 { call(observer) { $0.tellReady(report.generation, report.failure) } }
        for (observer, report) in observers.1 { call(observer) { $0.tell(report) } }
    }

    private func call(_ observer: Observer, _ body: @escaping @Sendable (Observer) -> Void) {
        if let domain = observer.domain, !domain.isCurrent || domain.thread == 0 {
            container.domains.post(to: domain) { body(observer) }
        } else {
            let former = container.registry.reloadCall.note(.observer)
            body(observer)
            container.registry.reloadCall.note(former)
        }
    }

    /// An observer that was added after the first reload hears of that one soon.
    func tellIfReady(_ observer: Observer, on loop: LoopThread) throws(Failure) {
        guard let first = state.locked({ state in state.first.flatMap { state.observers.takeUnready(observer) ? $0 : nil } })
        else { return }
        if let domain = observer.domain {
            container.domains.post(to: domain) { observer.tellReady(first.generation, first.failure) }
        } else {
            _ = try loop.start().post { observer.tellReady(first.generation, first.failure) }
        }
    }

    /// Notes that a reload found documents in their former state: their errors are resolved.
    func noteResolved() {
        state.locked { state in
            state.lastFailure = nil
            state.logged.refused = nil
        }
    }

    /// The numbers of reloads that succeeded and that failed.
    var counts: (reloads: UInt64, failures: UInt64) { state.locked { ($0.reloads, $0.failures) } }

    /// The reports of the last reloads, the oldest first.
    var reports: [Report] { state.locked { $0.history.reports } }

    // MARK: errors without a caller

    var lastFailure: Failure? { state.locked { $0.lastFailure } }

    /// Logs and keeps an error for which there is no caller.
    func note(_ failure: Failure) {
        container.log(.error, failure.text, path: failure.path)
        keep(failure)
    }

    /// Logs and keeps a failure that is not an error of the program, as a warning.
    func noteWarning(_ failure: Failure) {
        container.log(.warning, failure.text)
        keep(failure)
    }

    /// An error that was logged already.
    func keep(_ failure: Failure) { state.locked { $0.lastFailure = failure } }

    /// The error with this message does not hold any more.
    func forget(_ message: String) {
        state.locked { state in if state.lastFailure?.message == message { state.lastFailure = nil } }
    }

    /// Reports that a thread of the runtime could not be started, because no caller can receive the error.
    func noteThreadFailure(_ failure: Failure) {
        guard failure.code != .closed else { return container.log(.debug, failure.text) }
        note(
            Failure(
                failure.code,
                "a thread of the runtime cannot be started: until then changes of files are not taken in, and replaced objects "
                    + "end later", cause: failure))
    }
}
