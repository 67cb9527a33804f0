internal import InvivoBase

/// A thread's wait for other threads. After 1 s the wait is reported: in the log, and as the runtime's last error until it is over.
/// It must be ended.
public struct LongWait {
    /// The time after which a wait is reported, in nanoseconds.
    static let limit: UInt64 = 1_000_000_000

    /// The time of the report, in monotonic nanoseconds; `.max` after it, and 0 before the first wait.
    private(set) var dueAt: UInt64
    private var reported: String?

    public init() { dueAt = 0 }

    /// A wait that began at this time.
    init(since begun: UInt64) { dueAt = begun + Self.limit }

    /// Serves the calling thread's domain, or waits for the next change. Called with the monitor held, which is
    /// released meanwhile. `object` describes the awaited object; it is called without the monitor.
    public mutating func once(_ domains: DomainTable, for object: () -> String) {
        guard hasBecomeLong(domains) else { return }
        domains.monitor.unlock()
        report(domains, object())
        domains.monitor.lock()
    }

    /// The same for an object that a build creates. Only one of the threads that wait for its chain of builds reports it.
    public mutating func once(
        _ domains: DomainTable, for name: @autoclosure () -> String, of maker: BuildChain?
    ) {
        guard hasBecomeLong(domains) else { return }
        guard maker?.reportAsSlow() != false else {
            dueAt = .max
            return
        }
        let name = name()
        domains.monitor.unlock()
        report(domains, "'\(name)', which another thread is creating")
        domains.monitor.lock()
    }

    /// Ends the wait. The report is withdrawn when the calling thread holds no monitor.
    public func end(_ domains: DomainTable) {
        guard let reported else { return }
        currentThread().afterUnlocking { domains.events.longWaitIsOver?(reported) }
    }

    /// Whether this wait has just become long.
    private mutating func hasBecomeLong(_ domains: DomainTable) -> Bool {
        if domains.serve() { return false }
        if dueAt == 0 { dueAt = monotonicNow() + Self.limit }
        guard dueAt != .max else {
            domains.monitor.wait()
            return false
        }
        return !domains.monitor.wait(until: dueAt) && monotonicNow() >= dueAt
    }

    /// Called without the monitor.
    mutating func report(_ domains: DomainTable, _ object: String) {
        dueAt = .max
        let message = "waited 1 s for \(object)"
        reported = message
        domains.reportLongWait(message)
    }
}
