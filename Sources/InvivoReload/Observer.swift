public import InvivoBase
internal import InvivoObjects
internal import InvivoWiring

/// Is notified of reloads. `active` and `isOpen` are guarded by the container's monitor.
public final class Observer: @unchecked Sendable {
    public typealias Callback = @Sendable (Report) -> Void
    /// Called with false right before a commit becomes visible, with true right after.
    public typealias Publishing = @Sendable (Bool) -> Void
    private let callback: Callback?
    let publishing: Publishing?
    let domain: Domain?
    private let destroy: (@Sendable () -> Void)?
    /// Nil after close, which a call on another thread may overtake.
    private weak let announcer: Announcer?
    public private(set) var handleBits: UInt64 = 0
    var isOpen = true
    var active: [UInt64] = []

    init(
        _ announcer: Announcer, domain: Domain?, destroy: (@Sendable () -> Void)?, publishing: Publishing?,
        callback: Callback?
    ) {
        self.announcer = announcer
        self.domain = domain
        self.destroy = destroy
        self.publishing = publishing
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
        guard let callback else { return }
        call { callback(report) }
    }

    /// Calls the observer right before or after a commit becomes visible.
    func tell(published: Bool) {
        guard let publishing else { return }
        call { publishing(published) }
    }

    private func call(_ body: () -> Void) {
        guard let container = announcer?.container else { return }
        let me = currentThread().identity
        let begun = container.monitor.locked { () -> Bool in
            guard isOpen else { return false }
            active.append(me)
            return true
        }
        guard begun else { return }
        container.callback(body)
        container.monitor.locked {
            if let index = active.firstIndex(of: me) { active.remove(at: index) }
            container.monitor.broadcast()
        }
    }

    /// After it the callback is not called again; a call under way on another thread is awaited.
    public func close() throws(Failure) {
        guard let announcer else { throw Failure(.closed, "the runtime is closed") }
        let container = announcer.container
        let me = currentThread().identity
        let limit = deadline(announcer.commitTimeout)
        let isOver = container.monitor.locked { () -> Bool in
            isOpen = false
            return container.domains.wait(until: limit, for: "an observer's callback") {
                active.allSatisfy { $0 == me }
            }
        }
        guard isOver else {
            throw Failure(
                .timeout,
                "the observer's callback is still under way on another thread; it is not called again, and may be closed once more"
            )
        }
        announcer.remove(self)
        closeHandle()
    }
}
