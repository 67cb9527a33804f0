public import InvivoBase
public import InvivoContexts
internal import InvivoObjects
internal import InvivoWiring

/// Is notified of changes of a key in one context and above it.
public final class ContextObserver: Sendable {
    private struct State {
        /// A change that no call has reported.
        var isPending = false
        /// A thread makes calls, or a job of the domain will.
        var isCalling = false
    }

    /// Called with the context and the id of the key.
    public typealias Callback = @Sendable (ContextHandle, UInt32) -> Void

    let context: ContextHandle
    let key: UInt32
    private let callback: Callback
    private let domain: Domain?
    private let destroy: (@Sendable () -> Void)?
    /// Nil after close, which a call on another thread may overtake.
    private weak let observers: ContextObservers?
    private let handle = OwnHandle(.observer)
    private let gate: CallGate
    private let state: Guarded<State>

    init(
        _ observers: ContextObservers, _ context: ContextHandle, _ key: UInt32, domain: Domain?,
        destroy: (@Sendable () -> Void)?, _ callback: @escaping Callback
    ) {
        (self.context, self.key) = (context, key)
        self.observers = observers
        self.domain = domain
        self.destroy = destroy
        self.callback = callback
        gate = CallGate(observers.container.monitor)
        state = Guarded(State(), by: observers.container.monitor)
    }

    deinit { if let destroy { ending(destroy) } }

    func open() -> UInt64 { handle.open(self) }
    func closeHandle() { handle.close() }

    /// Reports a change, on this thread or in its domain. A call that is under way on another thread is followed by another one there.
    func notify() {
        let isFirst = state.locked { state -> Bool in
            defer { (state.isPending, state.isCalling) = (true, true) }
            return !state.isCalling
        }
        guard isFirst, let container = observers?.container else { return }
        guard let domain else { return callWhilePending() }
        container.domains.post(to: domain, onDrop: { [weak self] in self?.state.locked { $0.isCalling = false } }) {
            self.callWhilePending()
        }
    }

    private func callWhilePending() {
        func next() -> Bool {
            state.locked { state in
                defer { state.isPending = false }
                state.isCalling = state.isPending
                return state.isPending
            }
        }
        while next(), let container = observers?.container {
            gate.call(container) { callback(context, key) }
        }
    }

    /// Ends further calls, without waiting for one under way.
    func silence() { gate.silence() }

    /// After it the callback is not called again; a call under way on another thread is awaited.
    public func close() throws(Failure) {
        guard let observers else { throw Failure(.closed, "the runtime is closed") }
        try gate.close(observers.container)
        observers.remove(self)
        closeHandle()
    }
}
