internal import InvivoBase
internal import InvivoObjects
internal import InvivoWiring

/// The calls of one observer: after `close` there are none. Any thread.
final class CallGate: Sendable {
    private struct State {
        var isOpen = true
        /// The threads that call it.
        var active: [UInt64] = []
    }

    private let state: Guarded<State>

    /// `monitor` is that of the runtime.
    init(_ monitor: Monitor) { state = Guarded(State(), by: monitor) }

    /// For callers that hold the monitor.
    var isOpen: Bool { state.held(\.isOpen) }

    /// Runs `body` as a callback of the runtime, unless it is closed.
    func call(_ container: Container, _ body: () -> Void) {
        let me = currentThread().identity
        let begun = state.locked { state -> Bool in
            guard state.isOpen else { return false }
            state.active.append(me)
            return true
        }
        guard begun else { return }
        container.callback(body)
        state.locked { state in
            if let index = state.active.firstIndex(of: me) { state.active.remove(at: index) }
            container.monitor.broadcast()
        }
    }

    /// Ends further calls, without waiting for one under way.
    func silence() { state.locked { $0.isOpen = false } }

    /// Ends further calls, and waits for those under way on other threads.
    func close(_ container: Container) throws(Failure) {
        let me = currentThread().identity
        let limit = deadline(container.options.current.commitTimeout)
        let isOver = container.monitor.locked { () -> Bool in
            state.held { $0.isOpen = false }
            return container.domains.wait(until: limit, for: "an observer's callback") {
                state.held { $0.active.allSatisfy { $0 == me } }
            }
        }
        guard isOver else {
            throw Failure(
                .timeout,
                "the observer's callback is still under way on another thread; it is not called again, and may be closed once more"
            )
        }
    }
}
