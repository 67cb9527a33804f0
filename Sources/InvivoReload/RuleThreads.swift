internal import InvivoBase
internal import InvivoWiring

/// Runs rules, and the pure functions of trait types, properties and settings, on a thread of the runtime, which is started for the
/// first of them. One that does not return in time is given up with its thread, and another thread runs the next ones. Any thread may
/// use it.
final class RuleThreads: Sendable {
    private struct State {
        var current: RuleThread?
        /// Threads in rules that were given up.
        var givenUp: [RuleThread] = []
    }

    /// The runtime's.
    private let name: String
    private let tag: UInt64
    private let options: LiveOptions
    private let closing: Closing
    /// Not the runtime's, which every commit signals.
    private let monitor = Monitor()
    private let state: Guarded<State>

    init(_ container: Container, name: String) {
        self.name = name
        tag = container.tag
        options = container.options
        closing = container.registry.closing
        state = Guarded(State(), by: monitor)
    }

    /// The time by which functions that begin now must have answered.
    var deadline: UInt64 { InvivoBase.deadline(limit) }

    /// In nanoseconds.
    var limit: UInt64 { options.current.ruleTimeout }

    /// Begins to run rules. By the thread that has the turn, which then waits for them. Fails if no thread can be started.
    func start(_ checks: [any PlannedCall], until deadline: UInt64? = nil) throws(Failure) -> RuleRun {
        joinEnded()
        let run = RuleRun(
            checks, barredFrom: tag, limit: options.current.ruleTimeout, until: deadline ?? self.deadline, monitor)
        try state.locked { state throws(Failure) in
            let running = state.givenUp.compactMap(\.running)
            if let check = checks.first(where: { check in running.contains { $0 === check.function } }) {
                return run.refuse(.stillRunning(check))
            }
            if state.current == nil {
                state.current = try RuleThread("\(name.prefix(10))-rule", monitor)
            }
            state.current?.begin(run)
        }
        return run
    }

    /// Waits until the rules have run, at most until the limit, and while the runtime stays open. Returns the faults.
    func wait(for run: RuleRun) -> [RuleFault] {
        monitor.locked {
            while !run.isDone {
                let now = monotonicNow()
                guard now < run.deadline, !closing.isRequested else {
                    run.giveUp(now < run.deadline ? nil : run.limit)
                    state.held { state in
                        if let thread = state.current.take() { state.givenUp.append(thread) }
                    }
                    break
                }
                // Close does not signal this monitor.
                _ = monitor.wait(until: min(run.deadline, now + 20_000_000))
            }
            return run.takeFaults()
        }
    }

    /// Joins the threads whose rule has returned.
    private func joinEnded() {
        let ended = state.locked { state -> [RuleThread] in
            defer { state.givenUp.removeAll { $0.hasEnded } }
            return state.givenUp.filter { $0.hasEnded }
        }
        for thread in ended { thread.join() }
    }

    /// Ends the threads, for close. Returns the names of the rules that have not returned by the deadline: their threads
    /// end when they return.
    func stop(until deadline: UInt64) -> [String] {
        let current = state.locked { state -> RuleThread? in
            state.current?.stop()
            defer { state.current = nil }
            return state.current
        }
        current?.join()
        monitor.locked {
            while state.held({ $0.givenUp.contains { !$0.hasEnded } }), monotonicNow() < deadline {
                _ = monitor.wait(until: deadline)
            }
        }
        let left = state.locked { state -> [String] in
            let left = state.givenUp.filter { !$0.hasEnded }
            for thread in left { thread.detach() }
            state.givenUp.removeAll { thread in left.contains { $0 === thread } }
            return left.compactMap { $0.running?.name }
        }
        joinEnded()
        return left
    }
}

/// A thread that runs rules, one run after another. Functions without another statement are called with the monitor held.
private final class RuleThread: Sendable {
    private struct State {
        var thread: OwnThread?
        /// To be performed. The next one may come before the thread has left the former one.
        var next: RuleRun?
        var current: RuleRun?
        var isStopping = false
        var hasEnded = false
        var isDetached = false
    }

    private let monitor: Monitor
    private let state: Guarded<State>

    /// Starts it.
    init(_ name: String, _ monitor: Monitor) throws(Failure) {
        self.monitor = monitor
        state = Guarded(State(), by: monitor)
        let thread = try OwnThread(name) { [self] in
            asCallback { while step() {} }
            let isDetached = state.locked { state -> Bool in
                state.hasEnded = true
                monitor.broadcast()
                return state.isDetached
            }
            if isDetached { OwnThread.endDetached() }
        }
        state.held { $0.thread = thread }
    }

    var hasEnded: Bool { state.held { $0.hasEnded } }

    /// The rule that it is in.
    var running: (any Named & AnyObject)? { state.held { $0.current }?.running }

    func begin(_ run: RuleRun) {
        state.held { $0.next = run }
        monitor.broadcast()
    }

    func stop() {
        state.held { $0.isStopping = true }
        monitor.broadcast()
    }

    /// Gives up the join. It has not ended.
    func detach() {
        let thread = state.held { state -> OwnThread? in
            state.isDetached = true
            return state.thread
        }
        thread?.detach()
    }

    /// Takes the monitor.
    func join() { state.locked { $0.thread }?.join() }

    /// Waits for a run and performs it. Takes the monitor. Returns false when the thread is to end.
    private func step() -> Bool {
        let run = monitor.locked { () -> RuleRun? in
            while state.held({ $0.next == nil && !$0.isStopping }) { monitor.wait() }
            return state.held { state in
                state.current = state.next.take()
                return state.current
            }
        }
        guard let run else { return false }
        run.perform()
        // The rules may end with the run, without the monitor: their destroy functions are the host's.
        return monitor.locked { () -> Bool in
            state.held { $0.current = nil }
            return !run.isGivenUp
        }
    }
}
