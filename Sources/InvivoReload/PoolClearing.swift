internal import CInvivo
internal import InvivoBase
internal import InvivoPools
internal import Synchronization

/// The removal of all entries of a pool as part of a reload.
final class PoolClearing: Sendable {
    private let pool: Pool
    private let removed = Atomic<UInt64>(0)

    init(_ pool: Pool) { self.pool = pool }

    /// The number of entries with a living object, after the commit.
    var count: UInt64 { removed.load(ordering: .acquiring) }

    var change: Report.Change { Report.Change(key: pool.name, what: INVIVO_CHANGED_CLEARED) }

    /// On the thread that has the turn, when the commit can no longer fail.
    func carryOut() { removed.store(pool.removeAll(), ordering: .releasing) }
}
