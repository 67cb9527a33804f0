public import InvivoBase
internal import Synchronization

/// Objects that have ended and that their domain has not begun to dispose of. Close disposes of those that are left.
public final class PendingDisposals: Sendable {
    private let records: Guarded<Set<Record>>
    /// Changes with the monitor held.
    private let detached = Atomic(false)

    /// `monitor` is the runtime's.
    public init(_ monitor: Monitor) { records = .init([], by: monitor) }

    /// Adds an object whose domain is to dispose of it. False after close: the calling thread disposes of it.
    public func add(_ record: Record) -> Bool {
        records.lockedUnchecked { records in
            guard !isDetached else { return false }
            records.insert(record)
            return true
        }
    }

    /// Removes a record. Returns true if the caller may dispose of it: close did not take it first.
    public func take(_ record: Record) -> Bool { records.lockedUnchecked { $0.remove(record) != nil } }

    /// Calls `body` with each object. With the monitor held, so that none is disposed of meanwhile.
    public func forEach(_ body: (Record) -> Void) { records.held { $0 }.forEach(body) }

    /// Whether close has ended: objects that are still leased are disposed of by the thread that releases their last
    /// lease. Takes no lock.
    public var isDetached: Bool { detached.load(ordering: .acquiring) }

    /// Leaves no further disposals to domains.
    public func detach() { records.locked { _ in detached.store(true, ordering: .releasing) } }

    public func takeAll() -> Set<Record> {
        records.locked { records in
            defer { records = [] }
            return records
        }
    }
}
