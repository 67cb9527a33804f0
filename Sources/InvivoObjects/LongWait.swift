internal import InvivoBase

/// A thread's wait for other threads. After 1 s the wait is reported: in the log, and as the runtime's last error until it is over.
/// It must be ended.
public struct LongWait {
    /// The time after which a wait is reported, in nanoseconds.
    static let limit: UInt64 = 1_000_000_000

    private var warnAt: UInt64 = 0
    private var reported: String?

    public init() {}

    /// Serves the calling thread's domain, or waits for the next change. Called with the monitor held, which is
    /// released meanwhile. `object` describes the awaited object; it is called without the monitor.
    public mutating func once(_ domains: DomainTable, for object: () -> String) {
        guard hasBecomeLong(domains) else { return }
        domains.monitor.unlock()
        report(domains, object())
        domains.monitor.lock()
    }

    /// Begins a wait for an object that a build creates. Only one of the threads that wait for a build reports it.
    public mutating func once(
        _ domains: DomainTable, for name: @autoclosure () -> String, of builder: (any WaitingBuild)?
    ) {
        guard hasBecomeLong(domains), builder?.isReportedAsSlow != true else { return }
        builder?.isReportedAsSlow = true
        let name = name()
        domains.monitor.unlock()
        report(domains, "'\(name)', which another thread is creating")
        domains.monitor.lock()
    }

    /// Called without the monitor.
    public func end(_ domains: DomainTable) {
        if let reported { domains.events.longWaitIsOver?(reported) }
    }

    /// Whether this wait has just become long.
    private mutating func hasBecomeLong(_ domains: DomainTable) -> Bool {
        if domains.serve() { return false }
        if warnAt == 0 { warnAt = monotonicNow() + Self.limit }
        guard warnAt != .max else {
            domains.monitor.wait()
            return false
        }
        guard !domains.monitor.wait(until: warnAt), monotonicNow() >= warnAt else { return false }
        warnAt = .max
        return true
    }

    private mutating func report(_ domains: DomainTable, _ object: String) {
        let message = "waited 1 s for \(object)"
        reported = message
        domains.reportLongWait(message)
    }
}
