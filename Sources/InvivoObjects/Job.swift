public import InvivoBase

/// Work for one domain. It runs at most once: a thread claims it, or it is withdrawn or dropped unrun.
public final class Job: Sendable {
    enum State {
        case waiting
        case claimed
        /// Run, dropped or withdrawn.
        case done(Failure?)
    }

    private struct Status {
        var state = State.waiting
        /// Whether a thread waits for the job.
        var isAwaited: Bool
        /// For a running job without a waiting thread: receives the rest of the work.
        var abandonment: Abandonment?
        /// Nil once it has begun.
        var body: (() throws(Failure) -> Void)?
        /// Called when it is dropped.
        var onDrop: (() -> Void)?
        /// 0 until a host receives it.
        var handle: UInt64 = 0
    }

    let domain: Domain
    let postedAt = monotonicNow()
    /// The build on whose behalf it runs.
    private let context: JobContext
    /// Left alone while its thread waits inside a build.
    let isPatient: Bool
    private let domains: DomainTable
    private let runtime: any JobRuntime
    private let status: Guarded<Status>

    init(
        _ domain: Domain, in domains: DomainTable, of runtime: any JobRuntime, isAwaited: Bool, isPatient: Bool = false,
        for context: JobContext, onDrop: (() -> Void)? = nil, body: @escaping () throws(Failure) -> Void
    ) {
        self.domain = domain
        self.domains = domains
        self.runtime = runtime
        self.context = context
        self.isPatient = isPatient
        status = .init(Status(isAwaited: isAwaited, body: body, onDrop: onDrop), by: domains.monitor)
    }

    /// The handle that a host receives. Called by the thread that posts the job.
    public func open() -> UInt64 {
        let known = status.locked { $0.handle }
        guard known == 0 else { return known }
        let handle = HandleTable.insert(self, kind: .job)
        status.locked { $0.handle = handle }
        domains.noteOpen(self, handle)
        return handle
    }

    func closeHandle() {
        let handle = status.locked { $0.handle }
        guard handle != 0 else { return }
        _ = HandleTable.remove(handle, .job)
        domains.noteClosed(handle)
    }

    // MARK: running

    /// Runs it on this thread. False when it was run, dropped or withdrawn before.
    public func run() -> Bool {
        // A build further up on this thread continues only when the job has returned.
        let beneath = runtime.beneath.flatMap { $0.chain === context.chain ? nil : $0 }
        let me = currentThread().identity
        // A job that runs inside another one does not change `runningThread`.
        let isWithin = domain.runningThread == me
        var body = domains.monitor.locked { () -> (() throws(Failure) -> Void)? in
            guard isWaiting else { return nil }
            domains.dequeue(self)
            if case .posted = domain.kind { domain.runningThread = me }
            if let beneath { domains.waits.suspend(beneath, me) }
            return status.held { status in
                status.state = .claimed
                defer { status.body = nil }
                return status.body
            }
        }
        guard body != nil else { return false }
        let failure = context.run { () -> Failure? in
            // Its references end here, in its domain, before the waiting thread continues.
            defer { body = nil }
            do throws(Failure) {
                try body?()
                return nil
            } catch { return error }
        }
        let abandonment = status.locked { status -> Abandonment? in
            status.state = .done(failure)
            return status.abandonment
        }
        // When no thread waits for the job any more, the job is the last user of its object.
        abandonment?.finishJob()
        domains.monitor.locked {
            if case .posted = domain.kind, !isWithin { domain.runningThread = 0 }
            if let beneath { domains.waits.resume(beneath.chain, me) }
            domains.noteOver(self)
        }
        closeHandle()
        return true
    }

    /// Called by the host: returns the job to the runtime without running it. If no thread waits for the job, only the
    /// log reports it.
    public func dropByHost() -> Bool {
        guard drop() else { return false }
        if !status.locked({ $0.isAwaited }) {
            domains.log(
                .warning,
                "the domain '\(domain.name)' dropped a job without a waiting thread: its work is not done")
        }
        return true
    }

    /// Gives it up unrun.
    @discardableResult
    func drop() -> Bool {
        typealias Rest = (body: (() throws(Failure) -> Void)?, onDrop: (() -> Void)?)
        var rest = domains.monitor.locked { () -> Rest? in
            guard withdraw(Failure(.host, "the domain '\(domain.name)' dropped its job")) else { return nil }
            domains.noteOver(self)
            return status.held { status -> Rest in
                defer { (status.body, status.onDrop) = (nil, nil) }
                return (status.body, status.onDrop)
            }
        }
        guard rest != nil else { return false }
        closeHandle()
        rest?.body = nil
        rest?.onDrop?()
        return true
    }

    // MARK: state, with the monitor held

    var isAwaited: Bool { status.held { $0.isAwaited } }
    var isWaiting: Bool { status.held { if case .waiting = $0.state { true } else { false } } }
    var isDone: Bool { status.held { if case .done = $0.state { true } else { false } } }
    /// Nil until it is done.
    var outcome: Failure?? { status.held { if case .done(let failure) = $0.state { .some(failure) } else { nil } } }

    /// Ends a waiting job with `failure`. False when it does not wait.
    func withdraw(_ failure: Failure) -> Bool {
        guard isWaiting else { return false }
        domains.dequeue(self)
        status.held { $0.state = .done(failure) }
        return true
    }

    /// No thread waits for it any more.
    func stopAwaiting() { status.held { $0.isAwaited = false } }

    /// Marks a running job whose domain finishes it without a waiting thread.
    func abandon(to abandonment: Abandonment) {
        abandonment.addJob()
        status.held { $0.abandonment = abandonment }
    }
}

extension Job {
    /// The fate of a job that its domain has not done in time.
    public enum Overdue {
        /// A job that has not begun is withdrawn. One that has begun is left to its domain, if there is an abandonment to receive
        /// the rest; the leases are kept until then.
        case withdrawn(Abandonment?, [ObjectLease] = [])
        /// The domain runs it at any later time, and the leases are kept until then.
        case left([ObjectLease], Abandonment)
    }

    /// A job's name in messages about waiting for it.
    public struct Label: Sendable {
        var name: String
        /// The consequence when no thread waits for it any longer.
        var whenLeft: String
        /// Whether the job runs on its own thread and in no domain.
        var hasOwnThread = false

        public init(name: String = "its job", whenLeft: String = "its effects are undone when it returns") {
            (self.name, self.whenLeft) = (name, whenLeft)
        }

        func awaited(in domain: Domain, hasBegun: Bool) -> String {
            if hasOwnThread { return name }
            return "the domain '\(domain.name)'"
                + (hasBegun
                    ? ", which has begun \(name) and has not finished it"
                    : ": its thread must poll the runtime (or run posted jobs)")
        }

        func unfinished(in domain: Domain, after time: String) -> String {
            (hasOwnThread
                ? "\(name) has not finished after \(time)"
                : "the domain '\(domain.name)' began \(name) and has not finished it after \(time)") + ": \(whenLeft)"
        }
    }
}
