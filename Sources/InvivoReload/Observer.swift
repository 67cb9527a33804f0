public import InvivoBase
internal import InvivoObjects
internal import InvivoWiring
internal import Synchronization

/// Is notified of reloads.
public final class Observer: Sendable {
    private struct State {
        /// The calls that are to be made, in their order.
        var waiting: [@Sendable (Observer) -> Void] = []
        /// Whether a thread makes them.
        var isCalling = false
    }

    public typealias Callback = @Sendable (Report) -> Void
    /// Called with false right before a commit becomes visible, with true right after.
    public typealias Publishing = @Sendable (Bool) -> Void
    /// Called once, with the generation or the error of the first reload.
    public typealias Ready = @Sendable (UInt64, Failure?) -> Void
    /// Called for each phase of a reload, and for the end of each former generation.
    public typealias Phases = @Sendable (Progress) -> Void

    public struct Callbacks: Sendable {
        let reloaded: Callback?
        let publishing: Publishing?
        let ready: Ready?
        let progress: Phases?

        public init(
            reloaded: Callback?, publishing: Publishing? = nil, ready: Ready? = nil, progress: Phases? = nil
        ) {
            (self.reloaded, self.publishing, self.ready, self.progress) = (reloaded, publishing, ready, progress)
        }
    }

    let subject: Subject
    let identity: ObserverTable.Identity?
    let callbacks: Callbacks
    let domain: Domain?
    private let destroy: (@Sendable () -> Void)?
    /// Nil after close, which a call on another thread may overtake.
    private weak let observers: Observers?
    private let handle = OwnHandle(.observer)
    private let gate: CallGate
    private let state: Guarded<State>
    private let first = Atomic<UInt64>(0)
    private let position = Atomic<UInt64>(0)

    init(
        _ observers: Observers, of subject: Subject, _ identity: ObserverTable.Identity?, domain: Domain?,
        destroy: (@Sendable () -> Void)?, _ callbacks: Callbacks
    ) {
        (self.subject, self.identity) = (subject, identity)
        self.observers = observers
        self.domain = domain
        self.destroy = destroy
        self.callbacks = callbacks
        gate = CallGate(observers.container.monitor)
        state = Guarded(State(), by: observers.container.monitor)
    }

    deinit { if let destroy { ending(destroy) } }

    public var handleBits: UInt64 { handle.bits }

    func open() -> UInt64 { handle.open(self) }

    /// The number in the order of subscription.
    var number: UInt64 { position.load(ordering: .acquiring) }

    /// Whether it has not been closed. For callers that hold the monitor.
    var isOpen: Bool { gate.isOpen }

    /// The generation that was current when it was added, or became current just then: it is notified of the commits of later ones.
    public var since: UInt64 { first.load(ordering: .acquiring) }

    /// When it is added.
    func begin(_ number: UInt64, since generation: UInt64) {
        position.store(number, ordering: .releasing)
        first.store(generation, ordering: .releasing)
    }

    /// Adds a call, which `callWaiting` makes.
    func enqueue(_ call: @escaping @Sendable (Observer) -> Void) { state.locked { $0.waiting.append(call) } }

    /// Makes the calls that wait, in their order.
    func callWaiting() {
        func next(isFirst: Bool) -> (@Sendable (Observer) -> Void)? {
            state.locked { state in
                // The thread that makes calls makes those that were added meanwhile, too.
                if isFirst && state.isCalling { return nil }
                state.isCalling = !state.waiting.isEmpty
                return state.isCalling ? state.waiting.removeFirst() : nil
            }
        }
        guard let first = next(isFirst: true) else { return }
        first(self)
        while let call = next(isFirst: false) { call(self) }
    }

    func closeHandle() { handle.close() }

    /// Calls it, unless it was closed.
    func notify(_ report: Report) {
        guard let callback = callbacks.reloaded else { return }
        call { callback(report) }
    }

    /// Calls the observer right before or after a commit becomes visible.
    func notify(published: Bool) {
        guard let publishing = callbacks.publishing else { return }
        call { publishing(published) }
    }

    /// Calls the observer for the first reload.
    func notifyReady(_ generation: UInt64, _ failure: Failure?) {
        guard let ready = callbacks.ready else { return }
        call { ready(generation, failure) }
    }

    /// Calls the observer for a phase of a reload.
    func notify(_ progress: Progress) {
        guard let callback = callbacks.progress else { return }
        call { callback(progress) }
    }

    private func call(_ body: () -> Void) {
        guard let container = observers?.container else { return }
        gate.call(container, body)
    }

    /// Ends further calls, without waiting for one under way.
    func silence() {
        gate.silence()
        state.locked { $0.waiting = [] }
    }

    /// After it the callback is not called again; a call under way on another thread is awaited.
    public func close() throws(Failure) {
        guard let observers else { throw Failure(.closed, "the runtime is closed") }
        try gate.close(observers.container)
        observers.remove(self)
        closeHandle()
    }
}
