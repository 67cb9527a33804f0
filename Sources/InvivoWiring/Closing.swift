internal import InvivoBase
internal import Synchronization

/// Whether a runtime closes. Changed with the monitor of the runtime held.
public final class Closing: Sendable {
    private struct State {
        var hasBegun = false
        /// Calls of close that wait for a reload.
        var waiting = 0
    }
    private let state: Guarded<State>
    private let requested = Atomic<Bool>(false)

    /// `monitor` is the runtime's.
    init(_ monitor: Monitor) { state = .init(State(), by: monitor) }

    /// Whether new builds, jobs and reloads are refused. With the monitor held.
    public var hasBegun: Bool { state.held { $0.hasBegun } }

    /// Whether a close has begun or waits for a reload. Loading in that reload is abandoned. Takes no lock.
    public var isRequested: Bool { requested.load(ordering: .acquiring) }

    func begin() { change { $0.hasBegun = true } }

    /// A call of close waits for a reload until `endWaiting`.
    public func beginWaiting() { change { $0.waiting += 1 } }
    public func endWaiting() { change { $0.waiting -= 1 } }

    private func change(_ body: (inout State) -> Void) {
        state.held { state in
            body(&state)
            requested.store(state.hasBegun || state.waiting > 0, ordering: .releasing)
        }
    }

    /// Refuses a registration after the begin of the close.
    func refuse() throws(Failure) {
        guard !hasBegun else { throw Failure(.closed, "the runtime is closing") }
    }
}
