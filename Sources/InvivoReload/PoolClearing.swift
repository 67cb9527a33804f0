internal import CInvivo
public import InvivoBase
public import InvivoWiring

/// A pool that forgets its entries as part of a reload.
final class PoolClearing: @unchecked Sendable {
    private let pool: Pool
    /// How many lived; written by the commit, read by who waited for it.
    private(set) var count: UInt64 = 0

    init(_ pool: Pool) { self.pool = pool }

    var change: Report.Change { Report.Change(key: pool.name, what: UInt32(INVIVO_CHANGED_CLEARED), property: "") }

    /// By the thread that has the turn, when nothing can fail any more.
    func carryOut() { count = pool.forgetAll() }
}

extension Engine {
    /// Has a pool forget all its entries, as a reload; how many lived.
    public func clear(_ pool: Pool) throws(Failure) -> UInt64 {
        let clearing = PoolClearing(pool)
        var set = ChangeSet(cause: "clear \(pool.name)")
        set.cleared = [clearing]
        try commit(set)
        return clearing.count
    }
}
