internal import InvivoBase
internal import InvivoObjects
internal import InvivoWiring

/// The turn to reload, which one thread at a time has, and the change sets that wait for the worker. Any thread may call.
///
/// Reloads take turns: one thread at a time has the turn, and only that thread uses state that is marked "of the turn".
final class Turns: Sendable {
    /// Work that the thread that detected a change leaves to the worker, with the turn.
    enum Handed {
        /// Committing it runs code of the host.
        case prepared(PreparedReload)
        /// It is live; observers are to be notified.
        case done(Attempt)
    }

    /// The work of one step of the worker, which has the turn for it.
    enum Work {
        case handed(Handed)
        case sets([ChangeSet])
    }

    private struct State {
        var isTaken = false
        var isOfClose = false
        /// The number of the turn, and the cause of the reload in it.
        var number: UInt64 = 0
        var cause = Cause()
        var pending: ArraySlice<ChangeSet> = []
        /// The number of pending sets, from the first, that failed together with others. Each has a turn of its own.
        var alone = 0
        /// The number of threads that wait for the turn, besides the worker, and whether the worker had the last one.
        var waiting = 0
        var wasOfWorker = false
        var handed: Handed?
        var worker: OwnThread?

        mutating func begin(byWorker: Bool = false) {
            (isTaken, wasOfWorker) = (true, byWorker)
            number += 1
            cause = Cause()
        }
    }

    private let container: Container
    /// The runtime's.
    private let name: String
    /// One step of the worker; false when the runtime closes.
    private let step: @Sendable () -> Bool
    private let state: Guarded<State>

    init(_ container: Container, name: String, step: @escaping @Sendable () -> Bool) {
        self.container = container
        self.name = name
        self.step = step
        state = Guarded(State(), by: container.monitor)
    }

    // MARK: the turn

    /// Fails in a callback, which a reload may be waiting for.
    func refuseInCallback() throws(Failure) {
        guard Container.isInCallback else { return }
        throw Failure(
            .wouldWait,
            "a reload cannot be waited for from inside a callback; submit the change set, which does not wait")
    }

    /// Waits for the turn, serving the calling thread's domain. Fails when one other reload has it for longer than the
    /// commit timeout. Refused inside callbacks.
    func take() throws(Failure) {
        try refuseInCallback()
        try container.monitor.locked { () throws(Failure) in
            state.held { $0.waiting += 1 }
            defer { state.held { $0.waiting -= 1 } }
            while let number = state.held({ $0.isTaken ? $0.number : nil }) {
                let isOver = container.domains.wait(
                    until: deadline(container.options.current.commitTimeout), for: text()
                ) {
                    state.held { !$0.isTaken || $0.number != number }
                }
                guard isOver else {
                    throw Failure(
                        .timeout, "\(text()), takes longer than commit_timeout_ms permits a change to wait for it")
                }
            }
            guard !container.isClosing else { throw Failure(.closed, "the runtime is closing") }
            state.held { $0.begin() }
        }
    }

    /// The reload that has the turn, if there is one, and the number of change sets that wait for the worker.
    var work: (running: String?, waiting: Int) {
        container.monitor.locked { (state.held { $0.isTaken } ? text() : nil, state.held { $0.pending.count }) }
    }

    /// Describes the reload that has the turn, for messages.
    private func text() -> String {
        let cause = state.held { $0.cause }
        let reload = cause.isEmpty ? "the reload that is under way" : "the reload of '\(cause.text)'"
        return reload + container.registry.reloadCall.text
    }

    /// Waits for the turn, for close. If a reload waits for a domain that takes no jobs, its jobs are withdrawn after `patience`.
    func takeToClose(until deadline: UInt64, patience: UInt64) throws(Failure) {
        let begun = monotonicNow()
        let isClosed = try container.monitor.locked { () throws(Failure) -> Bool in
            container.registry.closing.beginWaiting()
            state.held { $0.waiting += 1 }
            defer {
                state.held { $0.waiting -= 1 }
                container.registry.closing.endWaiting()
            }
            while state.held({ $0.isTaken }) {
                let now = monotonicNow()
                guard now < deadline else {
                    throw Failure(.busy, "a reload is still under way after 5 s; the runtime stays open")
                }
                if now - begun >= patience { container.domains.withdrawWaitingJobs() }
                container.domains.wait(until: min(deadline, now + 100_000_000)) { state.held { !$0.isTaken } }
            }
            if container.isClosing { return true }
            state.held { state in
                state.begin()
                state.isOfClose = true
            }
            return false
        }
        if isClosed { throw Failure(.closed, "the runtime is closing") }
    }

    /// Takes the turn if the worker runs and has nothing to do, and `isPossible`, which is called with the monitor held.
    func takeIfIdle(_ isPossible: () -> Bool) -> Bool {
        state.locked { state in
            guard !state.isTaken, state.pending.isEmpty, !container.isClosing, state.worker != nil, isPossible() else {
                return false
            }
            state.begin()
            return true
        }
    }

    /// Takes the turn if nothing has it.
    func takeIfFree() -> Bool {
        state.locked { state in
            guard !state.isTaken, !container.isClosing else { return false }
            state.begin()
            return true
        }
    }

    /// For callers that hold the monitor: whether close has the turn, or is over.
    var areOver: Bool { state.held { $0.isOfClose } || container.isClosing }

    /// Sets the cause of the reload in the turn, for messages.
    func name(_ cause: Cause) { state.locked { $0.cause = cause } }

    func end() {
        state.locked { state in
            (state.isTaken, state.isOfClose) = (false, false)
            container.builds.stopNoting()
            container.monitor.broadcast()
        }
    }

    // MARK: the worker

    /// Passes a change set to the worker. All change sets that wait there become one reload.
    func submit(_ set: ChangeSet) throws(Failure) {
        try state.locked { state throws(Failure) in
            guard !container.isClosing else { throw Failure(.closed, "the runtime is closing") }
            try startWorker(&state)
            state.pending.append(set)
            container.monitor.broadcast()
        }
    }

    /// Passes the turn and its remaining work to the worker.
    func hand(_ handed: Handed) {
        state.lockedUnchecked { state in
            state.handed = handed
            container.monitor.broadcast()
        }
    }

    /// Starts the worker, unless the runtime is closing.
    func startWorker() throws(Failure) {
        try state.locked { state throws(Failure) in if !container.isClosing { try startWorker(&state) } }
    }

    private func startWorker(_ state: inout State) throws(Failure) {
        guard state.worker == nil else { return }
        state.worker = try OwnThread("\(name.prefix(8))-reload") { [step] in while step() {} }
    }

    /// Leaves sets that failed together to later turns of the worker, before all others that wait: each is tried alone, and other
    /// threads have turns in between. By the worker.
    func tryAlone(_ sets: [ChangeSet]) {
        state.locked { state in
            state.pending = sets + state.pending
            state.alone += sets.count
        }
    }

    /// How long the worker leaves the turn to threads that wait for it, in nanoseconds: they have to wake up first.
    private static let courtesy: UInt64 = 10_000_000

    /// By the worker: waits for work and takes all of it, with the turn. Nil when the runtime closes.
    func takeWork() -> Work? {
        container.monitor.locked {
            let deadline = monotonicNow() + Self.courtesy
            while state.held({ $0.wasOfWorker && $0.waiting > 0 && !$0.isTaken && $0.handed == nil }),
                !container.isClosing, monotonicNow() < deadline
            {
                _ = container.monitor.wait(until: deadline)
            }
            // The runtime does not close while the turn is handed over.
            while true {
                let (isDue, isEmpty) = state.held {
                    ($0.handed != nil || !$0.pending.isEmpty && !$0.isTaken, $0.pending.isEmpty)
                }
                if isDue || container.isClosing { break }
                guard !isEmpty else {
                    container.monitor.wait()
                    continue
                }
                let number = state.held { $0.number }
                _ = container.domains.wait(until: .max, for: text()) {
                    state.held { $0.handed != nil || !$0.isTaken || $0.number != number } || container.isClosing
                }
            }
            return state.held { state in
                if let handed = state.handed.take() { return .handed(handed) }
                guard !container.isClosing else { return nil }
                state.begin(byWorker: true)
                if state.alone > 0 {
                    state.alone -= 1
                    return .sets([state.pending.removeFirst()])
                }
                defer { state.pending = [] }
                return .sets(Array(state.pending))
            }
        }
    }

    /// For close, by a caller that holds the monitor: what still waits, and the worker. Change sets hold callbacks of hosts, so they
    /// are released without the monitor.
    func takeAll() -> (worker: OwnThread?, pending: [ChangeSet]) {
        state.held { state in
            defer { (state.worker, state.pending, state.alone) = (nil, [], 0) }
            return (state.worker, Array(state.pending))
        }
    }
}
