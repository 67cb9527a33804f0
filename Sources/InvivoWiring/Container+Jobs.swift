public import InvivoBase

/// Until when a job must be done.
public struct Deadline: Sendable {
    let domain: String
    let time: UInt64

    /// Of work that nobody else waits for.
    static let none = Deadline(domain: "", time: .max)

    /// Fails when it has passed.
    public func callAsFunction() throws(Failure) {
        guard monotonicNow() > time else { return }
        throw Failure(
            .timeout,
            "the domain '\(domain)' began its job in time and finished it after the deadline: what it did is undone")
    }
}

extension Container {
    /// Runs `body` where the objects of `domain` may be touched, and waits for it. On the domain's own thread at once;
    /// elsewhere as a job, for at most `timeout` nanoseconds (0 = as long as it takes): a job not begun by then is
    /// withdrawn, one begun is awaited and fails. While it waits, the calling thread serves its own domain.
    ///
    /// A body that can undo its work where it is calls `deadline` last, and does so when that throws.
    public func run(
        in domain: Domain, timeout: UInt64 = 0, _ body: @escaping (_ deadline: Deadline) throws(Failure) -> Void
    ) throws(Failure) {
        let chain = currentChain
        if domain.isCurrent {
            if case .posted(anyThread: true, _) = domain.kind, domain.isHere == nil {
                // Host code takes its own lock once for the whole job.
            } else {
                let result = inside(chain: chain) { () -> Failure? in
                    do throws(Failure) {
                        try body(.none)
                        return nil
                    } catch { return error }
                }
                if let result { throw result }
                return
            }
        }
        let deadline = timeout == 0 ? Deadline.none : Deadline(domain: domain.name, time: monotonicNow() + timeout)
        // Nobody can tell whether the calling code is where the job would have to be run.
        let isBlind = timeout == 0 && domain.isBlind
        let takenBy = isBlind ? monotonicNow() + Self.patienceWithBlindDomains : deadline.time
        let job = Job(domain, self, chain: chain) { () throws(Failure) in
            try body(deadline)
            try deadline()
        }
        log(.trace, "a job for the domain '\(domain.name)', which is waited for")
        monitor.locked { awaitedJobs.append(job) }
        defer {
            monitor.locked { awaitedJobs.removeAll { $0 === job } }
            job.closeHandle()
        }
        try post(job)
        var warnAt = monotonicNow() + 1_000_000_000
        monitor.lock()
        while true {
            switch job.state {
            case .done(let failure):
                monitor.unlock()
                if let failure { throw failure }
                return
            case .waiting, .claimed:
                if serveOwnDomain() { continue }
                if monotonicNow() >= warnAt, case .waiting = job.state {
                    warnAt = .max
                    monitor.unlock()
                    log(
                        .warning,
                        "a reload has waited 1 s for the domain '\(domain.name)': its thread must poll the runtime (or run posted jobs)"
                    )
                    monitor.lock()
                    continue
                }
                let isWaiting = if case .waiting = job.state { true } else { false }
                let limit = isWaiting ? takenBy : deadline.time
                guard monitor.wait(until: min(limit, warnAt)) || monotonicNow() < limit else {
                    if case .waiting = job.state {
                        let failure = Failure(
                            .timeout,
                            "the domain '\(domain.name)' did not take its job in time; its thread must poll the runtime "
                                + "(or run posted jobs)"
                                + (isBlind
                                    ? ". It may be the one that waits here: let the domain say so by is_current, or set a "
                                        + "commit timeout" : ""))
                        job.state = .done(failure)
                        domain.take(job)
                        monitor.unlock()
                        throw failure
                    }
                    monitor.wait()
                    continue
                }
            }
        }
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
            let refused = inside(chain: currentChain) { () -> Failure? in
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
