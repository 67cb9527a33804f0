internal import CPlatform
internal import InvivoBase
internal import InvivoGraph
internal import InvivoObjects

/// Objects that were injected into each other in a cycle hold each other by leases. They are marked. When a claim on one of them is
/// released and only the cycle claims its members, all of them end (`CycleSearch`).
public enum ObjectCycles {
    /// Marks an object as member of a cycle. Called in its domain, by the code that creates it or injects into it.
    static func mark(_ object: UInt64, _ record: Record) {
        // A thread that sees the mark sees the table of injected values.
        _ = ObjectExtra.of(record)
        ObjectTable.markCycle(object)
    }

    /// Whether an object among the runtime arguments is in a cycle, which may go on through the new object: no definition declares
    /// what that receives.
    static func leadsBack(_ arguments: [Value], _ record: Record) -> Bool {
        var isGiven = false
        var found = false
        for value in arguments where value.holdsReference {
            value.forEachLease { lease in
                isGiven = true
                found = found || ObjectTable.isInCycle(lease.bits)
            }
        }
        if isGiven { ObjectExtra.of(record).isGivenObjects = true }
        return found
    }

    /// Marks every object of the keys that a reload makes members of a cycle, independent of its holders. Objects that were created with
    /// objects as arguments may be among them. So may an object without a key that something was injected into: a method of another
    /// object returned it.
    public static func markAll(of keys: Set<UInt32>, owner tag: UInt64) {
        for object in ObjectTable.all(of: tag) where ObjectTable.retain(object) {
            if let record = ObjectTable.record(object) {
                let key = record.pointee.key
                let extra = ObjectExtra.known(of: record)
                if key > 0 && keys.contains(key - 1) || key == 0 && extra != nil || extra?.isGivenObjects == true {
                    mark(object, record)
                }
            }
            _ = ObjectTable.release(object)
        }
    }

    /// Called when an object has lost a claim. Others may be released at any time, so the search leases the object. If
    /// a search on another thread mistakes this lease for a host's, this search comes after that one.
    static func search(from bits: UInt64) {
        guard ObjectTable.retain(bits), let record = ObjectTable.record(bits) else { return }
        let container = ObjectType.of(record).container
        // In a forked child the monitor may be held for ever: the memory is left alone.
        guard container.home.isHere else { return }
        let thread = currentThread()
        guard thread.pointee.locks == 0 else {
            return thread.afterUnlocking { end(from: bits, record, container.retiredObjects) }
        }
        end(from: bits, record, container.retiredObjects)
    }

    private static func end(from bits: UInt64, _ record: Record, _ retired: RetiredObjects) {
        let owner = ObjectType.of(record).owner
        var lingers = false
        let ended = retired.monitor.locked { () -> [Record] in
            let unclaimed = CycleSearch(from: bits) { node($0, of: owner) }.unclaimed
            let records = unclaimed.compactMap { ObjectTable.record($0.object) }
            lingers = retired.linger(records)
            if !lingers, !unclaimed.isEmpty, ObjectTable.endTogether(unclaimed) { return records }
            return ObjectTable.releaseUnseen(bits) ? [record] : []
        }
        if lingers { retired.end() }
        for record in ended.sorted(by: { iv_record_order($0) > iv_record_order($1) }) { Disposal.dispose(record) }
    }

    /// A marked object of a runtime, with the leases on it. With the monitor held: each object is leased by the one that leads to it,
    /// whose injected references change with the monitor held.
    private static func node(_ object: UInt64, of owner: AnyObject) -> CycleSearch.Node? {
        guard ObjectTable.isInCycle(object), let claims = ObjectTable.claims(object),
            let record = ObjectTable.record(object), ObjectType.of(record).owner === owner
        else { return nil }
        var targets: [UInt64] = []
        InjectedReferences.forEach(of: record) { targets.append($0) }
        return CycleSearch.Node(leases: claims.leases, isHeld: claims.isHeld, targets: targets)
    }
}
