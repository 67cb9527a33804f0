internal import CPlatform
internal import InvivoBase

/// One execution of rules. Functions without another statement are called with the monitor of `RuleThreads` held.
///
/// When it is done, the thread that ran it refers to no rule any more: a rule that is dropped then ends where it is dropped.
final class RuleRun: Sendable {
    private struct State {
        var checks: [any PlannedCall]
        /// The index of the rule that runs, or ran last; -1 before the first.
        var index = -1
        var isRunning = false
        var isDone = false
        var isGivenUp = false
        var faults: [RuleFault] = []
    }

    /// Nanoseconds within which all must answer.
    let limit: UInt64
    let deadline: UInt64
    /// Of the runtime that the rules cannot call.
    private let tag: UInt64
    private let monitor: Monitor
    private let state: Guarded<State>

    init(
        _ checks: [any PlannedCall], barredFrom tag: UInt64, limit: UInt64, until deadline: UInt64, _ monitor: Monitor
    ) {
        self.tag = tag
        self.limit = limit
        self.deadline = deadline
        self.monitor = monitor
        state = Guarded(State(checks: checks), by: monitor)
    }

    var isDone: Bool { state.held { $0.isDone } }
    var isGivenUp: Bool { state.held { $0.isGivenUp } }

    /// The rule that is running.
    var running: (any Named & AnyObject)? { state.held { $0.isRunning ? $0.checks[$0.index].function : nil } }

    /// Removes and returns the faults.
    func takeFaults() -> [RuleFault] {
        state.held { state in
            defer { state.faults = [] }
            return state.faults
        }
    }

    /// Ends the run before it has begun.
    func refuse(_ fault: RuleFault) {
        state.held { state in
            state.faults = [fault]
            state.isDone = true
        }
    }

    /// No thread waits for it any longer. `limit` is the time that has passed, or nil for a runtime that closes.
    func giveUp(_ limit: UInt64?) {
        state.held { state in
            state.isGivenUp = true
            state.faults.append(limit.map { .late(state.checks[max(0, state.index)], limit: $0) } ?? .closing)
        }
    }

    /// Runs all rules on the calling thread, until it is given up. Takes the monitor.
    func perform() {
        while let check = next() {
            let refusal = currentThread().barred(from: tag) { check.run() }
            state.locked { state in
                state.isRunning = false
                guard let refusal, !state.isGivenUp else { return }
                state.faults.append(.refused(check, at: refusal.at, refusal.failure))
            }
        }
    }

    /// Begins the next rule. Nil when all have run, or the run is given up. Takes the monitor.
    private func next() -> (any PlannedCall)? {
        state.locked { state in
            guard !state.isGivenUp else { return nil }
            state.index += 1
            guard state.index == state.checks.count else {
                state.isRunning = true
                return state.checks[state.index]
            }
            state.checks = []
            state.isDone = true
            monitor.broadcast()
            return nil
        }
    }
}
