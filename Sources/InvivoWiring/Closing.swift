internal import InvivoBase

/// Whether a runtime closes. Read and changed with the monitor of the runtime held.
public final class Closing: Sendable {
    private struct State {
        var hasBegun = false
        /// Calls of close that wait for a reload.
        var waiting = 0
    }
    private let state: Guarded<State>

    /// `monitor` is the runtime's.
    init(_ monitor: Monitor) { state = .init(State(), by: monitor) }

    /// Whether new builds, jobs and reloads are refused.
    public var hasBegun: Bool { state.held { $0.hasBegun } }

    /// Whether a close has begun or waits for a reload. Loading in that reload is abandoned.
    public var isRequested: Bool { state.held { $0.hasBegun || $0.waiting > 0 } }

    func begin() { state.held { $0.hasBegun = true } }

    /// A call of close waits for a reload until `endWaiting`.
    public func beginWaiting() { state.held { $0.waiting += 1 } }
    public func endWaiting() { state.held { $0.waiting -= 1 } }

    /// Refuses a registration after the begin of the close.
    func refuse() throws(Failure) {
        guard !hasBegun else { throw Failure(.closed, "the runtime is closing") }
    }
}
