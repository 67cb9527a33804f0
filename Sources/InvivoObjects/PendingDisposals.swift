public import InvivoBase
internal import Synchronization

/// Objects that have ended and that their domain has not begun to dispose of, by their handles. Close disposes of those that are
/// left.
public final class PendingDisposals: Sendable {
    private let objects: Guarded<Set<UInt64>>
    /// Changes with the monitor held.
    private let detached = Atomic(false)

    /// `monitor` is the runtime's.
    public init(_ monitor: Monitor) { objects = .init([], by: monitor) }

    /// Adds an object whose domain is to dispose of it. False after close: the calling thread disposes of it.
    public func add(_ object: UInt64) -> Bool {
        objects.locked { objects in
            guard !isDetached else { return false }
            objects.insert(object)
            return true
        }
    }

    /// Removes an object. Returns whether the caller disposes of it; false if close was first.
    public func take(_ object: UInt64) -> Bool { objects.locked { $0.remove(object) != nil } }

    /// Calls `body` with each object. With the monitor held, so that none is disposed of meanwhile.
    public func forEach(_ body: (UInt64) -> Void) { objects.held { $0 }.forEach(body) }

    /// Whether close is over: objects that are still leased are disposed of by the thread that releases their last lease.
    /// Takes no lock.
    public var isDetached: Bool { detached.load(ordering: .acquiring) }

    /// Leaves no further disposals to domains.
    public func detach() { objects.locked { _ in detached.store(true, ordering: .releasing) } }

    public func takeAll() -> Set<UInt64> {
        objects.locked { objects in
            defer { objects = [] }
            return objects
        }
    }
}
