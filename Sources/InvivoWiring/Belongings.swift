internal import InvivoBase

/// The effects and children of an object that its setup has registered. Any thread may call.
final class Belongings: Sendable {
    typealias Undo = @Sendable () throws(Failure) -> Void

    /// An object that belongs to another one.
    struct Child: Sendable {
        let key: UInt32?
        let type: UInt64
        let arguments: [Value]
        let lease: ObjectLease
        /// On the object that its definition created; a decorator may have replaced it.
        let own: ObjectLease

        /// Whether a new child takes the place of this one.
        func isFormer(_ key: UInt32?, _ type: UInt64, _ arguments: [Value]) -> Bool {
            guard self.key == key else { return false }
            return key == nil ? self.type == type : ArgumentsKey(self.arguments) == ArgumentsKey(arguments)
        }

        /// The references of the owner: to the child, and to its arguments.
        var references: Value { .list([.object(lease)] + (own === lease ? [] : [.object(own)]) + arguments) }

        /// Whether a value has the references to this child.
        func isIn(_ value: Value) -> Bool {
            guard case .list(let items) = value, case .object(let lease)? = items.first else { return false }
            return lease === self.lease
        }
    }

    enum Entry {
        case undo(Undo)
        case child(Child)
    }

    private struct State {
        var entries: [Entry] = []
        /// The children of the former setup, until the commit is over.
        var former: [Child] = []
        var isSetUp = false
        /// Whether a setup or teardown runs.
        var isBusy = false
        /// Whether the object was to end meanwhile.
        var isEndWanted = false
    }

    private let state: Guarded<State>

    /// `monitor` is the runtime's.
    init(_ monitor: Monitor) { state = Guarded(State(), by: monitor) }

    func add(_ undo: @escaping Undo) { state.locked { $0.entries.append(.undo(undo)) } }

    func add(_ child: Child) { state.locked { $0.entries.append(.child(child)) } }

    /// For callers that hold the monitor: the children of the present setup.
    var heldChildren: [Child] {
        state.held { state in state.entries.compactMap { if case .child(let child) = $0 { child } else { nil } } }
    }

    /// Removes and returns the entry that was added last.
    func popEntry() -> Entry? { state.locked { $0.entries.popLast() } }

    /// Begins a setup or teardown. Returns false while another one runs, maybe on a thread that nothing waits for any more.
    func begin() -> Bool {
        state.locked { state in
            guard !state.isBusy else { return false }
            (state.isBusy, state.isEndWanted) = (true, false)
            return true
        }
    }

    var isBusy: Bool { state.locked { $0.isBusy } }

    /// Ends it. Returns whether the object was to end meanwhile, and must be torn down by the caller.
    func finish() -> Bool {
        state.locked { state in
            state.isBusy = false
            return state.isEndWanted
        }
    }

    /// The setup that runs tears the object down when it returns.
    func wantEnd() { state.locked { $0.isEndWanted = true } }

    func noteSetUp() { state.locked { $0.isSetUp = true } }

    /// Returns whether the object was set up.
    func endSetUp() -> Bool {
        state.locked { state in
            defer { state.isSetUp = false }
            return state.isSetUp
        }
    }

    // MARK: former children

    /// Keeps a child until `dropFormer`, before those that were kept already.
    func keepFormer(_ child: Child) { state.locked { $0.former.insert(child, at: 0) } }

    /// Returns the former child that a new one replaces. The next child like it replaces another one.
    func former(_ key: UInt32?, _ type: UInt64, _ arguments: [Value]) -> Child? {
        state.locked { state in
            guard let index = state.former.firstIndex(where: { $0.isFormer(key, type, arguments) }) else { return nil }
            let child = state.former.remove(at: index)
            state.former.append(child)
            return child
        }
    }

    /// The former children end: the new setup has succeeded, or the commit is over.
    func dropFormer() {
        while let child = state.locked({ $0.former.popLast() }) { withExtendedLifetime(child) {} }
    }
}
