internal import InvivoBase
internal import InvivoObjects
internal import InvivoWiring

/// Reports reloads: to the observers and the log, with counts and the last error.
///
/// Any thread may call. Observers are called without the monitor.
final class Announcer: Sendable {
    private struct State {
        var lastFailure: Failure?
        /// The messages that were logged, so as not to repeat them.
        var logged = LoggedReloads()
        var history = ReportHistory()
        var reloads: UInt64 = 0
        var failures: UInt64 = 0
    }

    let observers: Observers
    var phases: PhaseObservers { observers.phases }
    private let container: Container
    private let state: Guarded<State>

    init(_ container: Container) {
        self.container = container
        observers = Observers(container)
        state = Guarded(State(), by: container.monitor)
    }

    // MARK: reloads

    /// Logs and counts a reload, and notifies the observers.
    func notify(_ attempt: Attempt) {
        let report = attempt.report
        let (warnings, isRepeated) = state.locked { $0.logged.news(of: attempt) }
        for warning in warnings { container.log(.warning, warning.text) }
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
        state.locked { state in
            if report.failure != nil { state.failures += 1 } else { state.reloads += 1 }
            state.lastFailure = report.failure ?? attempt.refused
            state.history.append(entry)
        }
        observers.notify(report, attempt.changed)
    }

    /// For close. Drops the kept reports, too.
    func close() {
        state.locked { $0.history = ReportHistory() }
        observers.close()
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
