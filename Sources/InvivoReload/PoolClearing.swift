internal import CInvivo
internal import InvivoBase
internal import InvivoPools

/// The removal of all entries of a pool as part of a reload.
final class PoolClearing: @unchecked Sendable {
    private let pool: Pool
    /// How many had a living object. Written by the commit, read after it.
    private(set) var count: UInt64 = 0

    init(_ pool: Pool) { self.pool = pool }

    var change: Report.Change { Report.Change(key: pool.name, what: UInt32(INVIVO_CHANGED_CLEARED), property: "") }

    /// On the thread that has the turn, when the commit can no longer fail.
    func carryOut() { count = pool.removeAll() }
}
