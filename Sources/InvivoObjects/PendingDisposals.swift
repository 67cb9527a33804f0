public import InvivoBase
internal import Synchronization

/// Objects that have ended and that their domain has not begun to dispose of. Close disposes of those that are left.
public final class PendingDisposals: Sendable {
    private struct State {
        /// The addresses of records.
        var records: Set<UInt> = []
        var isDetached = false
    }

    private let state = Mutex(State())

    public init() {}

    /// Adds an object whose domain is to dispose of it. False after close: the calling thread disposes of it.
    public func add(_ record: Record) -> Bool {
        let address = UInt(bitPattern: record)
        return state.withLock { state in
            guard !state.isDetached else { return false }
            state.records.insert(address)
            return true
        }
    }

    /// Whether the caller may dispose of it: close was not first.
    public func take(_ record: Record) -> Bool {
        let address = UInt(bitPattern: record)
        return state.withLock { $0.records.remove(address) != nil }
    }

    /// Calls `body` with each object. None is disposed of meanwhile; `body` must not dispose of any.
    public func forEach(_ body: (Record) -> Void) {
        state.withLock { $0.records.compactMap { Record(bitPattern: $0) }.forEach(body) }
    }

    /// Whether close is over: objects that are still leased are disposed of wherever their last lease is released.
    public var isDetached: Bool { state.withLock { $0.isDetached } }

    /// From now on nothing is left to domains.
    public func detach() { state.withLock { $0.isDetached = true } }

    public func takeAll() -> [Record] {
        let taken = state.withLock { state in
            defer { state.records = [] }
            return state.records
        }
        return taken.compactMap { Record(bitPattern: $0) }
    }
}
