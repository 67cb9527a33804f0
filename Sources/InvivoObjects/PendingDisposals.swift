public import InvivoBase
internal import Synchronization

/// Objects that have ended and that their domain has not begun to dispose of. Close disposes of those that are left.
public final class PendingDisposals: Sendable {
    /// Their handles.
    private let objects: Guarded<Set<UInt64>>
    /// Changes with the monitor held.
    private let detached = Atomic(false)

    /// `monitor` is the runtime's.
    public init(_ monitor: Monitor) { objects = .init([], by: monitor) }

    /// Adds an object whose domain is to dispose of it. False after close: the calling thread disposes of it.
    public func add(_ record: Record) -> Bool {
        let object = ObjectTable.handle(record)
        return objects.locked { objects in
            guard !isDetached else { return false }
            objects.insert(object)
            return true
        }
    }

    /// Removes a record. Returns true if the caller may dispose of it: close did not take it first.
    public func take(_ record: Record) -> Bool {
        let object = ObjectTable.handle(record)
        return objects.locked { $0.remove(object) != nil }
    }

    /// Calls `body` with each object. With the monitor held, so that none is disposed of meanwhile.
    public func forEach(_ body: (Record) -> Void) {
        for object in objects.held({ $0 }) { if let record = ObjectTable.record(object) { body(record) } }
    }

    /// Whether close has ended: objects that are still leased are disposed of by the thread that releases their last
    /// lease. Takes no lock.
    public var isDetached: Bool { detached.load(ordering: .acquiring) }

    /// Leaves no further disposals to domains.
    public func detach() { objects.locked { _ in detached.store(true, ordering: .releasing) } }

    public func takeAll() -> [Record] {
        let all = objects.locked { objects in
            defer { objects = [] }
            return objects
        }
        return all.compactMap(ObjectTable.record)
    }
}
