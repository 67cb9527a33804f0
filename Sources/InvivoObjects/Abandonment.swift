internal import InvivoBase

/// Work that a commit leaves to unfinished jobs of domains. The objects of these jobs must not be touched before the
/// last job returns. Any thread may use it.
public final class Abandonment: Sendable {
    private struct State {
        var jobs = 0
        var isBegun = false
        var rest: (@Sendable () -> Void)?
    }

    private let state = Guarded(State(), by: Monitor())

    public init() {}

    /// Whether a job was left to its domain.
    public var isBegun: Bool { state.locked { $0.isBegun } }

    /// Runs `rest` when all jobs that were left to their domains have returned: at once, or on the thread of the last one.
    public func whenOver(_ rest: @escaping @Sendable () -> Void) {
        let isOver = state.locked { state -> Bool in
            if state.jobs > 0 { state.rest = rest }
            return state.jobs == 0
        }
        if isOver { rest() }
    }

    func addJob() {
        state.locked { state in
            state.isBegun = true
            state.jobs += 1
        }
    }

    /// Called by a job that was left to its domain, when it has returned.
    func finishJob() {
        let rest = state.locked { state -> (@Sendable () -> Void)? in
            state.jobs -= 1
            guard state.jobs == 0 else { return nil }
            defer { state.rest = nil }
            return state.rest
        }
        rest?()
    }
}
