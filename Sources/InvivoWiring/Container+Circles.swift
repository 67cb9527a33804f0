internal import CPlatform
internal import InvivoBase
internal import InvivoObjects

/// Objects that were injected into each other in a cycle hold each other by leases. They are marked. When a claim on one of them is
/// released and only the cycle claims its members, all of them end (`CycleSearch`).
extension Container {
    /// Marks an object as member of a circle. In its domain, by who makes it or injects into it.
    func markCircle(_ object: UInt64, _ record: Record) {
        // Whoever sees the mark sees the table of what was injected.
        _ = extra(record)
        ObjectTable.markCircle(object)
    }

    /// Whether something among an object's runtime arguments is in a circle, which may go on through the object: no definition
    /// says what that gets.
    func leadsBack(_ arguments: [Value], _ record: Record) -> Bool {
        var isGiven = false
        var found = false
        for value in arguments where value.holdsReference {
            value.forEachLease { lease in
                isGiven = true
                found = found || ObjectTable.isInCircle(lease.bits)
            }
        }
        if isGiven { extra(record).isGivenObjects = true }
        return found
    }

    /// How many objects of keys live that were made until then, by key. Plain prototypes and objects of programs do not say when
    /// they were made: all of them count.
    public func living(of keys: Set<UInt32>, until sequence: UInt64) -> [String: UInt64] {
        var counts: [UInt32: UInt64] = [:]
        for object in ObjectTable.all(of: tag) where ObjectTable.retain(object) {
            if let record = ObjectTable.record(object), record.pointee.key > 0, keys.contains(record.pointee.key - 1),
                iv_record_in_block(record) != 0 || iv_record_order(record) <= sequence
            {
                counts[record.pointee.key - 1, default: 0] += 1
            }
            _ = ObjectTable.release(object)
        }
        return monitor.locked {
            Dictionary(counts.map { (self.keys.name($0.key), $0.value) }, uniquingKeysWith: +)
        }
    }

    /// Marks every object of keys that a reload makes members of a circle, whoever holds it. What was given objects may be among
    /// those, and so may an object without a key that something was injected into: a method of another object made it.
    public func markCircles(of keys: Set<UInt32>) {
        for object in ObjectTable.all(of: tag) where ObjectTable.retain(object) {
            if let record = ObjectTable.record(object) {
                let key = record.pointee.key
                let extra = Self.knownExtra(of: record)
                if key > 0 && keys.contains(key - 1) || key == 0 && extra != nil || extra?.isGivenObjects == true {
                    markCircle(object, record)
                }
            }
            _ = ObjectTable.release(object)
        }
    }

    /// The object lost a claim, and others may go at any time: it is leased while it is looked at. Somebody who meanwhile
    /// takes this lease for a host's is followed by this look.
    static func lookForCircle(_ bits: UInt64) {
        guard ObjectTable.retain(bits), let record = ObjectTable.record(bits) else { return }
        let container = type(record).container
        // In a forked child the monitor may be held for ever: the memory is left alone.
        guard container.home.isHere else { return }
        let thread = currentThread()
        guard thread.pointee.locks == 0 else {
            return thread.afterUnlocking { container.endCircle(from: bits, record) }
        }
        container.endCircle(from: bits, record)
    }

    private func endCircle(from bits: UInt64, _ record: Record) {
        var lingers = false
        let ended = monitor.locked { () -> [Record] in
            let unclaimed = CycleSearch(from: bits, node).unclaimed
            let records = unclaimed.compactMap { ObjectTable.record($0.object) }
            lingers = retiredObjects.linger(records)
            if !lingers, !unclaimed.isEmpty, ObjectTable.endTogether(unclaimed) { return records }
            return ObjectTable.releaseUnseen(bits) ? [record] : []
        }
        if lingers { retiredObjects.end() }
        for record in ended.sorted(by: { iv_record_order($0) > iv_record_order($1) }) { Self.dispose(record) }
    }

    /// A marked object, with the leases on it. With the monitor held: each object is leased by the one that leads to it, whose
    /// injected references change with the monitor held.
    private func node(_ object: UInt64) -> CycleSearch.Node? {
        guard ObjectTable.isInCircle(object), let claims = ObjectTable.claims(object),
            let record = ObjectTable.record(object), Self.type(record).container === self
        else { return nil }
        var targets: [UInt64] = []
        InjectedReferences.forEach(of: record) { targets.append($0) }
        return CycleSearch.Node(leases: claims.leases, isHeld: claims.isHeld, targets: targets)
    }
}
