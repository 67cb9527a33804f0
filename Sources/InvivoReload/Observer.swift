public import InvivoBase
internal import InvivoWiring

/// Hears of reloads. `active` and `isOpen` are guarded by the container's monitor.
public final class Observer: @unchecked Sendable {
    public typealias Callback = @Sendable (Report) -> Void
    let callback: Callback
    let domain: Domain?
    private let destroy: (@Sendable () -> Void)?
    /// Nil after close, which a call on another thread may overtake.
    private weak let runtime: Engine?
    public private(set) var handleBits: UInt64 = 0
    var isOpen = true
    var active: [UInt64] = []

    init(engine: Engine, domain: Domain?, destroy: (@Sendable () -> Void)?, callback: @escaping Callback) {
        runtime = engine
        self.domain = domain
        self.destroy = destroy
        self.callback = callback
    }

    deinit { if let destroy { ending(destroy) } }

    func open() -> UInt64 {
        if handleBits == 0 { handleBits = HandleTable.insert(self, kind: .observer) }
        return handleBits
    }

    func closeHandle() {
        if handleBits != 0 { _ = HandleTable.remove(handleBits, .observer) }
    }

    /// Calls it, unless it was closed.
    func tell(_ report: Report) {
        guard let container = runtime?.container else { return }
        let me = currentThread().identity
        let begun = container.monitor.locked { () -> Bool in
            guard isOpen else { return false }
            active.append(me)
            return true
        }
        guard begun else { return }
        container.callback { callback(report) }
        container.monitor.locked {
            if let index = active.firstIndex(of: me) { active.remove(at: index) }
            container.monitor.broadcast()
        }
    }

    /// After it the callback is not called again; a call under way on another thread is awaited.
    public func close() throws(Failure) {
        let engine = try Engine.ofCall(runtime)
        let container = engine.container
        let me = currentThread().identity
        container.monitor.locked {
            isOpen = false
            container.wait { active.allSatisfy { $0 == me } }
        }
        engine.forget(self)
        closeHandle()
    }
}
