public import InvivoBase

/// The domains of a runtime, and their jobs.
///
/// Guarded by the runtime's monitor, on which threads wait for jobs. A thread that waits serves its own domain meanwhile. No lock is
/// held while host code runs.
public final class DomainTable: Sendable {
    private enum Phase {
        case open
        /// Domains are not added any more, and polls do not wait.
        case closing
        /// After close: jobs are dropped.
        case detached
    }

    /// The state of a job after the thread that waited for it has given up.
    private struct OverdueJob {
        let domain: Domain
        /// Leases kept for undo steps.
        var leases: [ObjectLease] = []
        /// Whether the domain had begun it.
        var isLeft = false
    }

    private struct State {
        /// Set once, by the runtime that owns the table and outlives its jobs.
        unowned var runtime: (any JobRuntime)?
        var events = Events()
        var phase = Phase.open
        /// One element for each domain.
        var queues: [JobQueue]
        var defaultDomain: Domain
        /// Jobs that hosts have handles of.
        var open: [UInt64: Job] = [:]
        /// Jobs that a thread waits for.
        var awaited: [Job] = []
        /// The number of jobs that no thread waits for and that are not over.
        var unawaited = 0
        /// The jobs that no thread waits for any more.
        var overdue: [ObjectIdentifier: OverdueJob] = [:]

        func queue(of domain: Domain) -> JobQueue? { queues.first { $0.domain === domain } }

        /// Changes the entry of a job that no thread waits for any more.
        mutating func note(_ job: Job, _ change: (inout OverdueJob) -> Void) {
            change(&overdue[ObjectIdentifier(job), default: OverdueJob(domain: job.domain)])
        }
    }

    public let monitor: Monitor
    public let waits: Waits
    let log: Log
    private let patience: Job.Patience
    private let state: Guarded<State>

    public init(
        defaultDomain: Domain, monitor: Monitor, waits: Waits, log: Log, patience: Job.Patience = Job.Patience()
    ) {
        self.monitor = monitor
        self.waits = waits
        self.log = log
        self.patience = patience
        state = .init(State(queues: [JobQueue(defaultDomain)], defaultDomain: defaultDomain), by: monitor)
    }

    /// Connects the table with its runtime; called once, before the first job.
    public func connect(to runtime: any JobRuntime) { state.locked { $0.runtime = runtime } }

    public var events: Events {
        get { state.locked { $0.events } }
        set { state.locked { $0.events = newValue } }
    }

    // MARK: domains

    /// The domain of confined types that name none.
    public var defaultDomain: Domain { state.locked { $0.defaultDomain } }
    public var all: [Domain] { state.locked { $0.queues.map(\.domain) } }

    public func add(_ domain: Domain, asDefault: Bool = false) throws(Failure) {
        try state.locked { state throws(Failure) in
            guard case .open = state.phase else { throw Failure(.closed, "the runtime is closing") }
            state.queues.append(JobQueue(domain))
            if asDefault { state.defaultDomain = domain }
        }
    }

    /// The domain of a handle, if it is one of this runtime's.
    public func domain(_ bits: UInt64) throws(Failure) -> Domain {
        let found = try HandleTable.require(bits, .domain, as: Domain.self)
        guard state.locked({ $0.queue(of: found) != nil }) else {
            throw Failure(.handle, "the domain '\(found.name)' belongs to another runtime")
        }
        return found
    }

    /// The descriptor that is readable while jobs wait for the default domain.
    public func descriptor() throws(Failure) -> Int32 {
        try state.locked { state throws(Failure) -> Int32 in
            guard case .thread = state.defaultDomain.kind, let queue = state.queue(of: state.defaultDomain) else {
                throw Failure(
                    .unsupported,
                    "no job waits for a poll: confined objects belong to the domain '\(state.defaultDomain.name)'")
            }
            return try queue.descriptor()
        }
    }

    // MARK: posting

    /// Posts work that no thread waits for. `onDrop` is called when it is given up unrun.
    public func post(
        to domain: Domain, isPatient: Bool = false, onDrop: (() -> Void)? = nil, _ body: @escaping () -> Void
    ) {
        let runtime = state.locked { state in
            state.unawaited += 1
            return state.runtime
        }
        guard let runtime else { return }
        let job = Job(
            domain, in: self, of: runtime, isAwaited: false, isPatient: isPatient, for: runtime.outsideBuilds,
            onDrop: onDrop
        ) {
            () throws(Failure) in body()
        }
        log(.trace, "a job for the domain '\(domain.name)', without a waiting thread")
        do throws(Failure) { try post(job, runtime) } catch {
            log(.error, "work for the domain '\(domain.name)' was refused: \(error.text)")
        }
    }

    /// Queues a job, or hands it to the host.
    private func post(_ job: Job, _ runtime: any JobRuntime) throws(Failure) {
        switch job.domain.kind {
        case .thread:
            guard enqueue(job) else {
                job.drop()
                return
            }
            events.jobWaits?(job.domain)
        case .posted(_, let post):
            if job.domain.isHere != nil {
                // Before any thread can run it, which closes the handle.
                _ = job.open()
                _ = enqueue(job, evenAfterClose: true)
            }
            do throws(Failure) {
                try runtime.insideBuild.run { () throws(Failure) in try post(job) }
            } catch {
                job.drop()
                throw error
            }
        }
    }

    /// False after close.
    private func enqueue(_ job: Job, evenAfterClose: Bool = false) -> Bool {
        state.locked { state in
            if case .detached = state.phase, !evenAfterClose { return false }
            state.queue(of: job.domain)?.append(job)
            monitor.broadcast()
            return true
        }
    }

    // MARK: by jobs

    func noteOpen(_ job: Job, _ handle: UInt64) { state.locked { $0.open[handle] = job } }
    func noteClosed(_ handle: UInt64) { _ = state.locked { $0.open.removeValue(forKey: handle) } }

    /// With the monitor held: a job waits no longer.
    func dequeue(_ job: Job) { state.held { $0.queue(of: job.domain)?.remove(job) } }

    /// With the monitor held: a job has been run or dropped.
    func noteOver(_ job: Job) {
        state.held { state in
            if !job.isAwaited { state.unawaited -= 1 }
            state.overdue[ObjectIdentifier(job)] = nil
        }
        monitor.broadcast()
    }

    // MARK: running and waiting

    /// Runs `body` where the objects of `domain` may be touched, and waits for it. On the domain's own thread it runs at once;
    /// elsewhere as a job, for at most `timeout` nanoseconds (`.max`: without limit). While it waits, the calling thread serves its
    /// own domain.
    ///
    /// A body that can undo its work calls `deadline` last, and undoes its work when that throws. Without `failsLate`, the deadline
    /// fails only when no thread waits any more: the caller itself reports overtaking.
    public func run(
        in domain: Domain, timeout: UInt64, overdue: Job.Overdue = .withdrawn(nil), failsLate: Bool = true,
        label: Job.Label = Job.Label(),
        _ body: @escaping (_ deadline: Deadline) throws(Failure) -> Void
    ) throws(Failure) {
        guard let runtime = state.locked({ $0.runtime }) else { return }
        let context = runtime.insideBuild
        if domain.isCurrent {
            if domain.runsWherePosted {
                // Host code takes its own lock once for the whole job.
            } else {
                return try context.run { () throws(Failure) in try body(.none) }
            }
        }
        let begun = monotonicNow()
        let limit = InvivoBase.deadline(timeout, after: begun)
        let deadline = Deadline(domain, failsLate ? limit : .max, monitor)
        var passed = deadline
        // A job that is left is done at any time.
        if case .left = overdue { passed = .none }
        let job = Job(domain, in: self, of: runtime, isAwaited: true, for: context) { [passed] () throws(Failure) in
            try body(passed)
            try passed()
        }
        log(.trace, "a job for the domain '\(domain.name)', which is waited for")
        state.locked { $0.awaited.append(job) }
        var isLeft = false
        defer {
            state.locked { $0.awaited.removeAll { $0 === job } }
            if !isLeft { job.closeHandle() }
        }
        try post(job, runtime)
        let failure: Failure?
        (failure, isLeft) = wait(
            for: job, Job.Limits(begun, limit, domain, isUnlimited: timeout == .max, patience), overdue, deadline, label
        )
        if let failure { throw failure }
    }

    /// Waits for a job until it is done, or overdue. Returns its failure, and whether it was left to its domain.
    private func wait(
        for job: Job, _ limits: Job.Limits, _ overdue: Job.Overdue, _ deadline: Deadline, _ label: Job.Label
    ) -> (failure: Failure?, isLeft: Bool) {
        let domain = job.domain
        var long = LongWait(since: limits.begun)
        monitor.lock()
        defer {
            monitor.unlock()
            long.end(self)
        }
        while true {
            if let failure = job.outcome { return (failure, false) }
            if serve() { continue }
            let isWaiting = job.isWaiting
            let now = monotonicNow()
            if now >= long.dueAt {
                monitor.unlock()
                long.report(self, label.awaited(in: domain, hasBegun: !isWaiting))
                monitor.lock()
                continue
            }
            let until = isWaiting ? limits.takenBy : limits.doneBy
            guard now >= until else {
                _ = monitor.wait(until: min(until, long.dueAt))
                continue
            }
            switch (overdue, isWaiting) {
            case (.withdrawn, true):
                let failure = Failure(
                    .timeout,
                    "the domain '\(domain.name)' did not take its job in time; its thread must poll the runtime "
                        + "(or run posted jobs)"
                        + (domain.isBlind
                            ? ". It may be the one that waits here: let the domain report that by is_current" : ""))
                _ = job.withdraw(failure)
                return (failure, false)
            case (.withdrawn(let abandonment, let leases), false):
                guard let abandonment, deadline.abandon() else {
                    // The job has done its work, or nothing receives the rest.
                    monitor.wait()
                    continue
                }
                abandon(job, to: abandonment)
                if !leases.isEmpty { state.held { $0.note(job) { $0.leases = leases } } }
                let message = label.unfinished(in: domain, after: milliseconds(now - limits.begun))
                return (Failure(.timeout, message), true)
            case (.left(let leases, let abandonment), _):
                job.stopAwaiting()
                state.held { state in
                    state.unawaited += 1
                    state.note(job) { $0.leases = leases }
                }
                if !isWaiting { abandon(job, to: abandonment) }
                let message =
                    "the domain '\(domain.name)' did not do its job in time: its objects are restored when it does"
                return (Failure(.timeout, message), true)
            }
        }
    }

    private func abandon(_ job: Job, to abandonment: Abandonment) {
        job.abandon(to: abandonment)
        state.held { $0.note(job) { $0.isLeft = true } }
    }

    /// Runs one job of the calling thread's domain, if one waits. Called with the monitor held, which is released meanwhile. True when
    /// it ran one.
    func serve() -> Bool {
        let job = state.held { state -> Job? in
            for queue in state.queues where !queue.isEmpty && queue.domain.isServedByWaiting {
                // A patient job does not run between the steps of a build.
                let isBuilding = state.runtime?.isBuildingHere == true
                guard let job = queue.first(where: { !isBuilding || !$0.isPatient }) else { continue }
                queue.remove(job)
                return job
            }
            return nil
        }
        guard let job else { return false }
        monitor.unlock()
        _ = job.run()
        monitor.lock()
        return true
    }

    /// Runs the jobs that wait for the calling thread; waits up to `timeout` nanoseconds for the first. Returns how many it ran.
    public func poll(timeout: UInt64) -> Int {
        let deadline = deadline(timeout)
        var ran = 0
        monitor.lock()
        defer { monitor.unlock() }
        while true {
            if serve() {
                ran += 1
                continue
            }
            let isOpen = state.held { if case .open = $0.phase { true } else { false } }
            if ran > 0 || timeout == 0 || !isOpen { return ran }
            if !monitor.wait(until: deadline) && monotonicNow() >= deadline { return ran }
        }
    }

    /// Waits with the monitor held until `condition` holds, serving the calling thread's domain meanwhile.
    public func wait(until condition: () -> Bool) {
        while !condition() {
            if serve() { continue }
            if condition() { return }
            monitor.wait()
        }
    }

    /// The same, at most until `deadline` (monotonic nanoseconds).
    public func wait(until deadline: UInt64, _ condition: () -> Bool) {
        while !condition(), monotonicNow() < deadline {
            if !serve() && !condition() { _ = monitor.wait(until: deadline) }
        }
    }

    /// As above, and reports the wait after 1 s. `object` describes the awaited object. False after the deadline.
    public func wait(
        until deadline: UInt64, for object: @autoclosure () -> String, _ condition: () -> Bool
    ) -> Bool {
        var long = LongWait(since: monotonicNow())
        wait(until: min(deadline, long.dueAt), condition)
        if condition() { return true }
        guard deadline > long.dueAt else { return false }
        let object = object()
        monitor.unlock()
        long.report(self, object)
        monitor.lock()
        defer { long.end(self) }
        wait(until: deadline, condition)
        return condition()
    }

    /// Reports a wait of more than 1 s: it is logged, and is the runtime's last error. Called without the monitor.
    func reportLongWait(_ message: String) {
        log(.warning, message)
        events.longWait?(Failure(.timeout, message))
    }

    // MARK: facts

    /// Whether a domain has work to undo before its objects may be used.
    public func needsRestore(_ domain: Domain) -> Bool {
        state.locked { state in state.overdue.values.contains { $0.domain === domain } }
    }

    /// With the monitor held: the leases kept for undo steps that domains have not done in time.
    public var restoringLeases: [ObjectLease] { state.held { $0.overdue.values.flatMap(\.leases) } }

    /// With the monitor held: the domains that have begun a job which no thread waits for any more.
    public var domainsWithLeftJobs: [Domain] { state.held { $0.overdue.values.filter(\.isLeft).map(\.domain) } }

    /// With the monitor held: whether jobs that no thread waits for are not over.
    public var hasUnawaitedJobs: Bool { state.held { $0.unawaited > 0 } }

    /// With the monitor held: how many jobs wait, and since when the oldest does.
    public var waitingJobs: (count: Int, since: UInt64) {
        state.held { state in
            let count = state.queues.reduce(0) { $0 + $1.count }
            return (count, count == 0 ? 0 : state.queues.compactMap(\.first?.postedAt).min() ?? 0)
        }
    }

    // MARK: close

    /// With the monitor held: domains are not added any more, and polls do not wait.
    public func close() { state.held { $0.phase = .closing } }

    /// With the monitor held, at close: a job that waits for a domain which does not take its jobs fails.
    public func withdrawWaitingJobs() {
        for job in state.held({ $0.awaited }) {
            _ = job.withdraw(
                Failure(
                    .closed,
                    "the domain '\(job.domain.name)' did not take its job, and the runtime is being closed: it was withdrawn"
                ))
        }
        monitor.broadcast()
    }

    /// At close: waits until the jobs that no thread waits for are over, at most `timeout` nanoseconds. Jobs that their domain has not
    /// taken by then are run here; jobs that a host's loop has are not waited for.
    public func finishJobs(timeout: UInt64) {
        let deadline = monotonicNow() + timeout
        monitor.lock()
        defer { monitor.unlock() }
        while hasUnawaitedJobs {
            if serve() { continue }
            guard monotonicNow() >= deadline else {
                _ = monitor.wait(until: deadline)
                continue
            }
            let left = state.held { state -> Job? in
                guard let queue = state.queues.first(where: { !$0.isEmpty }), let job = queue.first else { return nil }
                queue.remove(job)
                return job
            }
            guard let left else { return }
            monitor.unlock()
            log(
                .warning,
                "the domain '\(left.domain.name)' took no job before close; its objects are disposed of on the closing thread"
            )
            _ = left.run()
            monitor.lock()
        }
    }

    /// After close: drops the jobs that no thread took, and all later ones.
    public func detach() {
        let jobs = state.locked { state -> [Job] in
            state.phase = .detached
            return state.open.values.sorted { $0.postedAt < $1.postedAt } + state.queues.flatMap { $0.removeAll() }
        }
        for job in jobs { job.drop() }
    }

    /// After close, when nothing uses the domains any more.
    public func forget() {
        let former = state.locked { state -> [JobQueue] in
            defer { state.queues = [] }
            return state.queues
        }
        withExtendedLifetime(former) {}
    }
}
