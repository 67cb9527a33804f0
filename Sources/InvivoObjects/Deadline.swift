public import InvivoBase
internal import Synchronization

/// The time by which a job must be done. The job's body calls it last, while it can still undo its work.
public struct Deadline: Sendable {
    private enum State {
        case open
        /// The job has passed its deadline in time: the thread that waits goes on waiting.
        case kept
        /// No thread waits for the job any more.
        case abandoned
    }

    private final class Fate: Sendable { let state = Mutex(State.open) }

    private let domain: String
    private let time: UInt64
    private let fate: Fate?

    /// Of work that no other thread waits for.
    public static let none = Deadline()

    private init() { (domain, time, fate) = ("", .max, nil) }

    init(_ domain: Domain, _ time: UInt64) {
        self.domain = domain.name
        self.time = time
        fate = Fate()
    }

    /// Fails when the deadline has passed or no thread waits any longer.
    public func callAsFunction() throws(Failure) {
        guard let fate else { return }
        let isLate = fate.state.withLock { state -> Bool in
            if state == .kept { return false }
            guard state == .open, monotonicNow() <= time else { return true }
            state = .kept
            return false
        }
        guard isLate else { return }
        throw Failure(
            .timeout,
            "the domain '\(domain)' began its job in time and finished it after the deadline: what it did is undone")
    }

    /// No thread waits any longer. False when the job has passed its deadline before.
    func abandon() -> Bool {
        guard let fate else { return true }
        return fate.state.withLock { state in
            guard state != .kept else { return false }
            state = .abandoned
            return true
        }
    }
}
