public import InvivoBase

/// Threads that run one job each, so that a call into the host which does not return delays others only until its time limit.
public final class JobThreads: Sendable {
    private let domains: DomainTable
    private let name: String
    private let running: Guarded<[(thread: OwnThread, job: Job)]>

    /// `name` is the runtime's.
    public init(_ domains: DomainTable, name: String) {
        self.domains = domains
        self.name = name
        running = .init([], by: domains.monitor)
    }

    /// Runs `body` on a thread of its own, and waits for it as `DomainTable.run` waits for a domain.
    public func run(
        timeout: UInt64, overdue: Job.Overdue, label: Job.Label,
        _ body: @escaping (_ deadline: Deadline) throws(Failure) -> Void
    ) throws(Failure) {
        joinFinished()
        let domain = Domain(
            name: "",
            kind: .posted(anyThread: false) { [self] job throws(Failure) in
                let thread = try OwnThread("\(name.prefix(8))-life") { _ = job.run() }
                running.locked { $0.append((thread, job)) }
            })
        // No existing thread: a waiting thread must not run the job.
        domain.fixedThread = .max
        defer { joinFinished() }
        var label = label
        label.hasOwnThread = true
        try domains.run(in: domain, timeout: timeout, overdue: overdue, failsLate: false, label: label, body)
    }

    /// Joins the threads whose job is done.
    public func joinFinished() {
        let finished = running.locked { running -> [OwnThread] in
            defer { running.removeAll { $0.job.isDone } }
            return running.filter { $0.job.isDone }.map(\.thread)
        }
        for thread in finished { thread.join() }
    }
}
