internal import InvivoBase
internal import InvivoWiring

/// The handles and memory that a runtime gives to hosts and takes back when it closes. Any thread may call.
final class HostHandles: Sendable {
    private struct State {
        /// The change sets that hosts are writing.
        var changes: Set<UInt64> = []
        /// The address of the token to which other languages attach, or 0.
        var token: UInt = 0
    }

    private let container: Container
    private let state: Guarded<State>

    init(_ container: Container) {
        self.container = container
        state = Guarded(State(), by: container.monitor)
    }

    func add(changes: UInt64) throws(Failure) {
        try state.locked { state throws(Failure) in
            guard !container.isClosing else { throw Failure(.closed, "the runtime is closing") }
            state.changes.insert(changes)
        }
    }

    func remove(changes: UInt64) { state.locked { _ = $0.changes.remove(changes) } }

    /// Returns the token, which `create` allocates at the first request.
    func token(_ create: () -> UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        let address = state.locked { state -> UInt in
            if state.token == 0 { state.token = UInt(bitPattern: create()) }
            return state.token
        }
        return UnsafeMutableRawPointer(bitPattern: address)!
    }

    /// For close.
    func closeChanges() {
        let former = state.locked { state in
            defer { state.changes = [] }
            return state.changes
        }
        for changes in former { HandleTable.remove(changes, .changes) }
    }

    /// For close.
    func freeToken() {
        let address = state.locked { state in
            defer { state.token = 0 }
            return state.token
        }
        UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
    }
}
