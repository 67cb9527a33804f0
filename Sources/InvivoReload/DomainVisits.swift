internal import InvivoBase
internal import InvivoObjects
internal import InvivoWiring

/// Notifies domains of the begin and the end of a commit's work in them. Used by the thread of the commit.
final class DomainVisits: Sendable {
    private let container: Container
    private let timeout: UInt64
    /// Also noted by jobs that a domain begins too late.
    private let entered: Guarded<[Domain]>

    init(_ container: Container, timeout: UInt64) {
        self.container = container
        self.timeout = timeout
        entered = Guarded([], by: container.monitor)
    }

    /// Before the first work in a domain.
    func enter(_ domain: Domain, _ abandonment: Abandonment) throws(Failure) {
        guard let notices = domain.notices, !entered.locked({ $0.contains { $0 === domain } }) else { return }
        try container.domains.run(in: domain, timeout: timeout, overdue: .withdrawn(abandonment)) {
            [container, entered] (deadline) throws(Failure) in
            container.callback(notices.begin)
            do throws(Failure) { try deadline() } catch {
                container.callback(notices.end)
                throw error
            }
            entered.locked { $0.append(domain) }
        }
    }

    /// When the commit, or its undo, is over. A domain that still works on something is notified after that.
    func leave() {
        let domains = entered.locked { entered in
            defer { entered = [] }
            return entered
        }
        for domain in domains {
            guard let notices = domain.notices else { continue }
            if domain.isCurrent {
                container.detached { notices.end() }
            } else {
                container.domains.post(to: domain) { notices.end() }
            }
        }
    }
}
