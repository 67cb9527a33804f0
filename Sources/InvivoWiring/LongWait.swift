internal import InvivoBase

/// A thread's wait for what others do. When it has taken 1 s, what is waited for is reported: in the log, and as the runtime's last
/// error until the wait is over. It must be ended.
struct LongWait {
    private var warnAt: UInt64 = 0
    private var reported: String?

    /// Under the container's monitor, which is left meanwhile: serves the calling thread's domain, or waits for the next change.
    /// `what` is asked without it.
    mutating func once(_ container: Container, for what: () -> String) {
        guard hasBecomeLong(container) else { return }
        container.monitor.unlock()
        report(container, what())
        container.monitor.lock()
    }

    /// The same for what a chain makes, which one of those who wait for it reports.
    mutating func once(_ container: Container, for name: @autoclosure () -> String, of maker: Build?) {
        guard hasBecomeLong(container), maker?.isReportedAsSlow != true else { return }
        maker?.isReportedAsSlow = true
        let name = name()
        container.monitor.unlock()
        report(container, "'\(name)', which another thread is creating")
        container.monitor.lock()
    }

    /// Not under the monitor.
    func end(_ container: Container) {
        if let reported { container.onLongWaitOver?(reported) }
    }

    /// Whether this wait has just become long.
    private mutating func hasBecomeLong(_ container: Container) -> Bool {
        if container.serveOwnDomain() { return false }
        if warnAt == 0 { warnAt = monotonicNow() + Container.longWait }
        guard warnAt != .max else {
            container.monitor.wait()
            return false
        }
        guard !container.monitor.wait(until: warnAt), monotonicNow() >= warnAt else { return false }
        warnAt = .max
        return true
    }

    private mutating func report(_ container: Container, _ what: String) {
        let message = "waited 1 s for \(what)"
        reported = message
        container.noteLongWait(message)
    }
}
