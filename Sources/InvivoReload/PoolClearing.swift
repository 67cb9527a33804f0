internal import CInvivo
public import InvivoBase
public import InvivoPools

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

extension Engine {
    /// Removes all entries of a pool, as a reload, and returns how many had a living object.
    public func clear(_ pool: Pool) throws(Failure) -> UInt64 {
        let clearing = PoolClearing(pool)
        var set = ChangeSet(cause: "clear \(pool.name)")
        set.cleared = [clearing]
        try commit(set)
        return clearing.count
    }
}
