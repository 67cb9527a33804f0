public import InvivoBase

/// The time by which a job must be done. The job's body calls it last, while it can still undo its work.
public struct Deadline: Sendable {
    private enum State {
        case open
        /// The job had passed its own deadline in time: the waiting thread continues to wait.
        case kept
        /// No thread waits for the job any more.
        case abandoned
    }

    private let domain: String
    private let time: UInt64
    private let state: Guarded<State>?

    /// The deadline of work without a waiting thread.
    public static let none = Deadline()

    private init() { (domain, time, state) = ("", .max, nil) }

    /// `monitor` is the one on which the thread waits.
    init(_ domain: Domain, _ time: UInt64, _ monitor: Monitor) {
        self.domain = domain.name
        self.time = time
        state = .init(.open, by: monitor)
    }

    /// Fails when the deadline has passed or no thread waits any longer.
    public func callAsFunction() throws(Failure) {
        guard let state else { return }
        let isLate = state.locked { state -> Bool in
            if state == .kept { return false }
            guard state == .open, monotonicNow() <= time else { return true }
            state = .kept
            return false
        }
        guard isLate else { return }
        throw Failure(
            .timeout,
            "the domain '\(domain)' began its job in time and finished it after the deadline: its effects are undone")
    }

    /// With the monitor held: no thread waits any longer. False when the job has passed its deadline before.
    func abandon() -> Bool {
        guard let state else { return true }
        return state.held { state in
            guard state != .kept else { return false }
            state = .abandoned
            return true
        }
    }
}
