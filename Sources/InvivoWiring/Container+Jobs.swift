public import InvivoBase

/// Until when a job must be done.
public struct Deadline: Sendable {
    fileprivate let domain: String
    fileprivate let time: UInt64
    fileprivate let fate: Fate?

    /// What becomes of a job that a thread waits for. Guarded by the container's monitor.
    fileprivate final class Fate: @unchecked Sendable {
        let monitor: Monitor
        /// It has passed its deadline well: who waits for it goes on doing so.
        var isKept = false
        /// Nobody waits for it any more.
        var isAbandoned = false

        init(_ monitor: Monitor) { self.monitor = monitor }
    }

    /// Of work that nobody else waits for.
    static let none = Deadline(domain: "", time: .max, fate: nil)

    /// Fails when it has passed, or nobody waits any longer.
    public func callAsFunction() throws(Failure) {
        guard let fate else { return }
        let isLate = fate.monitor.locked { () -> Bool in
            if fate.isKept { return false }
            guard !fate.isAbandoned, monotonicNow() <= time else { return true }
            fate.isKept = true
            return false
        }
        guard isLate else { return }
        throw Failure(
            .timeout,
            "the domain '\(domain)' began its job in time and finished it after the deadline: what it did is undone")
    }
}

/// What a commit leaves to jobs that domains have begun and do not finish: nothing of theirs may be touched before.
/// Guarded by the container's monitor.
public final class Abandonment: @unchecked Sendable {
    fileprivate var jobs = 0
    fileprivate var rest: (() -> Void)?
    fileprivate var isBegun = false

    public init() {}
}

extension Container {
    /// What becomes of a job that its domain has not done in time.
    public enum Overdue {
        /// One not begun is withdrawn. One begun is left to its domain, where there is somebody to take the rest; these
        /// are kept until then.
        case withdrawn(Abandonment?, [ObjectLease] = [])
        /// It is done whenever the domain takes it, and these are kept until then; one begun is left as above.
        case left([ObjectLease], Abandonment)
    }

    /// Whether a job was left to its domain.
    public func isAbandoned(_ abandonment: Abandonment) -> Bool { monitor.locked { abandonment.isBegun } }

    /// Runs `rest` when all jobs that were left to their domains are over: at once, or by the last of them.
    public func whenOver(_ abandonment: Abandonment, _ rest: @escaping () -> Void) {
        let isOver = monitor.locked { () -> Bool in
            if abandonment.jobs > 0 { abandonment.rest = rest }
            return abandonment.jobs == 0
        }
        if isOver { rest() }
    }

    /// By the job, when it is over.
    func end(_ abandonment: Abandonment) {
        let rest = monitor.locked { () -> (() -> Void)? in
            abandonment.jobs -= 1
            guard abandonment.jobs == 0 else { return nil }
            defer { abandonment.rest = nil }
            return abandonment.rest
        }
        rest?()
    }

    /// How messages name a job that is waited for.
    public struct Work {
        var name: String
        /// What happens to a job that nobody waits for any longer.
        var whenLeft: String
        /// It runs on a thread of its own and in no domain.
        var isApart = false

        public init(name: String = "its job", whenLeft: String = "what it does is undone when it returns") {
            (self.name, self.whenLeft) = (name, whenLeft)
        }

        fileprivate func awaited(in domain: Domain, hasBegun: Bool) -> String {
            if isApart { return name }
            return "the domain '\(domain.name)'"
                + (hasBegun
                    ? ", which has begun \(name) and has not finished it"
                    : ": its thread must poll the runtime (or run posted jobs)")
        }

        fileprivate func unfinished(in domain: Domain, after time: String) -> String {
            (isApart
                ? "\(name) has not finished after \(time)"
                : "the domain '\(domain.name)' began \(name) and has not finished it after \(time)") + ": \(whenLeft)"
        }
    }

    /// Runs `body` where the objects of `domain` may be touched, and waits for it. On the domain's own thread at once;
    /// elsewhere as a job, for at most `timeout` nanoseconds (the greatest number: as long as it takes). While it waits, the
    /// calling thread serves its own domain.
    ///
    /// A body that can undo its work where it is calls `deadline` last, and does so when that throws. Without `failsLate` it
    /// throws only when nobody waits any more: the caller itself says what it means to be late. `work` names the job in messages.
    public func run(
        in domain: Domain, timeout: UInt64, overdue: Overdue = .withdrawn(nil), failsLate: Bool = true,
        work: Work = Work(),
        _ body: @escaping (_ deadline: Deadline) throws(Failure) -> Void
    ) throws(Failure) {
        let chain = currentChain
        if domain.isCurrent {
            if case .posted(anyThread: true, _) = domain.kind, domain.isHere == nil {
                // Host code takes its own lock once for the whole job.
            } else {
                let result = inside(chain) { () -> Failure? in
                    do throws(Failure) {
                        try body(.none)
                        return nil
                    } catch { return error }
                }
                if let result { throw result }
                return
            }
        }
        let begun = monotonicNow()
        let fate = Deadline.Fate(monitor)
        let limit = InvivoBase.deadline(timeout, after: begun)
        var deadline = Deadline(domain: domain.name, time: failsLate ? limit : .max, fate: fate)
        // What is left is done at any time.
        if case .left = overdue { deadline = .none }
        // Nobody can tell whether the calling code is where the job would have to be run.
        let isBlind = domain.isBlind
        let takenBy = isBlind && timeout == .max ? begun + Self.patienceWithBlindDomains : limit
        // A short limit is for what has not begun: host code is given its time.
        let doneBy = max(limit, begun + Self.patienceWithBegunJobs)
        let job = Job(domain, self, chain: chain) { [deadline] () throws(Failure) in
            try body(deadline)
            try deadline()
        }
        log(.trace, "a job for the domain '\(domain.name)', which is waited for")
        monitor.locked { awaitedJobs.append(job) }
        var isLeft = false
        defer {
            monitor.locked { awaitedJobs.removeAll { $0 === job } }
            if !isLeft { job.closeHandle() }
        }
        try post(job)
        var warnAt = begun + Self.longWait
        monitor.lock()
        while true {
            if case .done(let failure) = job.state {
                monitor.unlock()
                if let failure { throw failure }
                return
            }
            if serveOwnDomain() { continue }
            let isWaiting = if case .waiting = job.state { true } else { false }
            let now = monotonicNow()
            if now >= warnAt {
                warnAt = .max
                monitor.unlock()
                noteLongWait("waited 1 s for \(work.awaited(in: domain, hasBegun: !isWaiting))")
                monitor.lock()
                continue
            }
            let until = isWaiting ? takenBy : doneBy
            guard now >= until else {
                _ = monitor.wait(until: min(until, warnAt))
                continue
            }
            var failure = Failure(
                .timeout,
                "the domain '\(domain.name)' did not take its job in time; its thread must poll the runtime "
                    + "(or run posted jobs)"
                    + (isBlind ? ". It may be the one that waits here: let the domain report that by is_current" : ""))
            switch (overdue, isWaiting) {
            case (.withdrawn, true):
                job.state = .done(failure)
                domain.take(job)
            case (.withdrawn(let abandonment?, let leases), false) where !fate.isKept:
                fate.isAbandoned = true
                leave(job, to: abandonment)
                if !leases.isEmpty { restoring[ObjectIdentifier(job)] = (domain, leases) }
                isLeft = true
                failure.message = work.unfinished(in: domain, after: Lifecycle.milliseconds(now - begun))
            case (.withdrawn, false):
                // It has done its work, or there is nobody to take the rest.
                monitor.wait()
                continue
            case (.left(let leases, let abandonment), _):
                job.isAwaited = false
                unawaitedJobs += 1
                restoring[ObjectIdentifier(job)] = (domain, leases)
                if !isWaiting { leave(job, to: abandonment) }
                isLeft = true
                failure.message =
                    "the domain '\(domain.name)' did not do its job in time: its objects are restored when it does"
            }
            monitor.unlock()
            throw failure
        }
    }

    /// Runs `body` on a thread of its own, and waits for it as for a domain: what does not end holds up nobody for longer
    /// than its limit.
    func runApart(
        timeout: UInt64, overdue: Overdue, work: Work,
        _ body: @escaping (_ deadline: Deadline) throws(Failure) -> Void
    ) throws(Failure) {
        joinLeftThreads()
        let domain = Domain(
            name: "",
            kind: .posted(anyThread: false) { [name] job throws(Failure) in
                let thread = try OwnThread("\(name.prefix(8))-life") { _ = job.run() }
                self.monitor.locked { self.leftThreads.append((thread, job)) }
            })
        // No thread that there is now: nobody who waits may run its job.
        domain.fixedThread = .max
        defer { joinLeftThreads() }
        var work = work
        work.isApart = true
        try run(in: domain, timeout: timeout, overdue: overdue, failsLate: false, work: work, body)
    }

    /// Joins threads whose job is over.
    public func joinLeftThreads() {
        let over = monitor.locked { () -> [OwnThread] in
            func isOver(_ job: Job) -> Bool { if case .done = job.state { true } else { false } }
            defer { leftThreads.removeAll { isOver($0.job) } }
            return leftThreads.filter { isOver($0.job) }.map(\.thread)
        }
        for thread in over { thread.join() }
    }

    /// Under the monitor: nobody waits any more for a job that has begun.
    private func leave(_ job: Job, to abandonment: Abandonment) {
        abandonment.isBegun = true
        abandonment.jobs += 1
        job.abandonment = abandonment
        leftJobs[ObjectIdentifier(job)] = job.domain
    }

    /// Whether a domain has yet to undo something: its objects need that first.
    public func needsRestore(_ domain: Domain) -> Bool {
        monitor.locked {
            leftJobs.values.contains { $0 === domain } || restoring.values.contains { $0.domain === domain }
        }
    }

    /// How long something is waited for before that is reported, in nanoseconds.
    static let longWait: UInt64 = 1_000_000_000

    /// How long a job that has begun is awaited at least.
    private static let patienceWithBegunJobs: UInt64 = 5_000_000_000

    /// Something has been waited for longer than `longWait`: it is logged, and is the runtime's last error. Not under the
    /// monitor.
    public func noteLongWait(_ message: String) {
        log(.warning, message)
        onLongWait?(Failure(.timeout, message))
    }

    /// Waits with the monitor held until `condition` holds, at most until `deadline`, serving the calling thread's domain
    /// meanwhile; after 1 s what is waited for is reported. False when the deadline has passed.
    public func wait(until deadline: UInt64, for what: @autoclosure () -> String, _ condition: () -> Bool) -> Bool {
        let warnAt = monotonicNow() + Self.longWait
        wait(until: min(deadline, warnAt), condition)
        if condition() { return true }
        guard deadline > warnAt else { return false }
        let what = what()
        monitor.unlock()
        noteLongWait("waited 1 s for \(what)")
        monitor.lock()
        wait(until: deadline, condition)
        return condition()
    }

    /// How long a posted domain that cannot say where the calling code is has to take a job that somebody waits for without
    /// a limit of his own: it may be his own thread that would have to run it.
    private static let patienceWithBlindDomains: UInt64 = 5_000_000_000

    /// Queues or posts a job without waiting for it.
    public func post(_ job: Job) throws(Failure) {
        switch job.domain.kind {
        case .thread:
            let isOver = monitor.locked { () -> Bool in
                guard !isDetached else { return true }
                job.domain.queue.append(job)
                job.domain.raise()
                monitor.broadcast()
                return false
            }
            guard !isOver else {
                _ = job.drop()
                return
            }
            onWaitingJob?(job.domain)
        case .posted(_, let post):
            if job.domain.isHere != nil {
                // Before anybody can run it, which closes the handle.
                _ = job.open()
                monitor.locked {
                    job.domain.queue.append(job)
                    monitor.broadcast()
                }
            }
            let refused = inside(currentChain) { () -> Failure? in
                do throws(Failure) {
                    try post(job)
                    return nil
                } catch { return error }
            }
            if let refused {
                _ = job.drop()
                throw refused
            }
        }
    }

    /// Posts work that nobody waits for.
    public func post(
        to domain: Domain, isPatient: Bool = false, onDrop: (() -> Void)? = nil, _ body: @escaping () -> Void
    ) {
        monitor.locked { unawaitedJobs += 1 }
        let job = Job(domain, self, chain: nil) { () throws(Failure) in body() }
        job.isAwaited = false
        job.isPatient = isPatient
        job.onDrop = onDrop
        log(.trace, "a job for the domain '\(domain.name)', which nobody waits for")
        do throws(Failure) { try post(job) } catch {
            log(.error, "work for the domain '\(domain.name)' was refused: \(error.text)")
        }
    }

    /// With the monitor held: runs one job of the calling thread's domain, if one waits (the monitor is released
    /// meanwhile). True when it ran one.
    func serveOwnDomain() -> Bool {
        for domain in domains where !domain.queue.isEmpty && domain.isServedByWaiting {
            // What must not come between the steps of a build waits until that is over.
            let isBuilding = isBuildingHere
            guard let job = domain.queue.first(where: { !isBuilding || !$0.isPatient }) else { continue }
            domain.take(job)
            monitor.unlock()
            _ = job.run()
            monitor.lock()
            return true
        }
        return false
    }

    /// Runs what waits for the calling thread; waits up to `timeout` nanoseconds for the first. How many ran.
    public func poll(timeout: UInt64) -> Int {
        let deadline = timeout == .max ? UInt64.max : monotonicNow() + timeout
        var ran = 0
        monitor.lock()
        defer { monitor.unlock() }
        while true {
            if serveOwnDomain() {
                ran += 1
                continue
            }
            if ran > 0 || timeout == 0 || isClosing { return ran }
            if !monitor.wait(until: deadline) && monotonicNow() >= deadline { return ran }
        }
    }

    /// Waits with the monitor held until `condition` holds, serving the calling thread's domain meanwhile.
    public func wait(until condition: () -> Bool) {
        while !condition() {
            if serveOwnDomain() { continue }
            if condition() { return }
            monitor.wait()
        }
    }

    /// The same, at most until `deadline` (monotonic nanoseconds).
    public func wait(until deadline: UInt64, _ condition: () -> Bool) {
        while !condition(), monotonicNow() < deadline {
            if !serveOwnDomain() && !condition() { _ = monitor.wait(until: deadline) }
        }
    }

    /// Under the monitor, at close: what waits for a domain that does not take its jobs fails.
    public func withdrawWaitingJobs() {
        for job in awaitedJobs {
            guard case .waiting = job.state else { continue }
            job.domain.take(job)
            job.state = .done(
                Failure(
                    .closed,
                    "the domain '\(job.domain.name)' did not take its job, and the runtime is being closed: it was withdrawn"
                ))
        }
        monitor.broadcast()
    }

    /// At close: waits until no job is left that nobody waits for, at most `timeout` nanoseconds; what its domain has not
    /// taken by then is run here. Jobs in the hands of a host's loop are awaited no longer either.
    public func finishJobs(timeout: UInt64) {
        let deadline = monotonicNow() + timeout
        monitor.lock()
        defer { monitor.unlock() }
        while unawaitedJobs > 0 {
            if serveOwnDomain() { continue }
            guard monotonicNow() >= deadline else {
                _ = monitor.wait(until: deadline)
                continue
            }
            guard let domain = domains.first(where: { !$0.queue.isEmpty }) else { return }
            let job = domain.queue.removeFirst()
            monitor.unlock()
            log(
                .warning,
                "the domain '\(domain.name)' took no job before close; its objects are disposed of on the closing thread"
            )
            _ = job.run()
            monitor.lock()
        }
    }

    /// How many jobs wait, and since when the oldest does. Under the monitor.
    public func waitingJobs() -> (count: Int, since: UInt64) {
        var count = 0
        var oldest = UInt64.max
        for domain in domains {
            count += domain.queue.count
            if let first = domain.queue.first { oldest = min(oldest, first.postedAt) }
        }
        return (count, count == 0 ? 0 : oldest)
    }

    /// The descriptor that is readable while jobs wait for the default domain.
    public func descriptor() throws(Failure) -> Int32 {
        try monitor.locked { () throws(Failure) -> Int32 in
            guard case .thread = defaultDomain.kind else {
                throw Failure(
                    .unsupported,
                    "nothing waits for a poll: confined objects live in the domain '\(defaultDomain.name)'")
            }
            return try defaultDomain.descriptor()
        }
    }
}
