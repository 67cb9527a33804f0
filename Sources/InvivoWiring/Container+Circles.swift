internal import CPlatform
public import InvivoBase

/// Objects that were injected into each other in a circle hold each other by leases. When a claim on one of them goes,
/// and nothing but the circle claims its members, all of them end: trial deletion over the injected references of the
/// marked objects. Exact, because every lease that an injection holds is listed in its holder.
extension Container {
    private struct Node {
        let record: Record
        let leases: UInt64
        let isHeld: Bool
        let targets: [UInt64]
        var inner: UInt64 = 0
        var isLive = false
    }

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
                let extra = iv_load_pointer(iv_record_extra(record))
                    .map { Unmanaged<ObjectExtra>.fromOpaque($0).takeUnretainedValue() }
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
            let garbage = unclaimed(from: bits)
            lingers = linger(garbage.map(\.value.record))
            if !lingers, !garbage.isEmpty, end(garbage) { return garbage.map(\.value.record) }
            return ObjectTable.releaseUnseen(bits) ? [record] : []
        }
        if lingers { endRetired() }
        for record in ended.sorted(by: { iv_record_order($0) > iv_record_order($1) }) { Self.dispose(record) }
    }

    /// Under the monitor: what `start` leads to and nothing else claims. The caller's lease on it does not count.
    private func unclaimed(from start: UInt64) -> [(key: UInt64, value: Node)] {
        var nodes = reachable(from: start)
        nodes[start]?.inner += 1
        for (object, node) in nodes where node.leases > node.inner || node.isHeld { live(object, &nodes) }
        return nodes.filter { !$0.value.isLive }
    }

    /// Under the monitor: ends all of them, or none when somebody took a lease meanwhile; its release looks again.
    private func end(_ objects: [(key: UInt64, value: Node)]) -> Bool {
        var tried: [UInt64] = []
        for (object, node) in objects where ObjectTable.beginTrial(object, leases: node.leases) { tried.append(object) }
        var ended: [UInt64] = []
        if tried.count == objects.count, tried.allSatisfy({ ObjectTable.isOnTrial($0) }) {
            for object in tried where ObjectTable.end(object) { ended.append(object) }
        }
        if ended.count == objects.count { return true }
        for object in tried { ObjectTable.acquit(object) }
        return false
    }

    /// Under the monitor: the marked objects that injected references lead to, with how many of their leases those are. The
    /// caller has a lease on `start`; each of the others is leased by one before it, whose table changes under the monitor.
    private func reachable(from start: UInt64) -> [UInt64: Node] {
        var nodes: [UInt64: Node] = [:]
        var queue = [start]
        while let object = queue.popLast() {
            guard nodes[object] == nil, ObjectTable.isInCircle(object), let claims = ObjectTable.claims(object),
                let record = ObjectTable.record(object), Self.type(record).container === self
            else { continue }
            var targets: [UInt64] = []
            Self.forEachInjected(record) { targets.append($0) }
            nodes[object] = Node(record: record, leases: claims.leases, isHeld: claims.isHeld, targets: targets)
            queue += targets
        }
        for node in nodes.values { for target in node.targets { nodes[target]?.inner += 1 } }
        return nodes
    }

    /// Under the monitor: the objects that a record's injected references lead to, each as often as it holds leases on it, what
    /// its lazies have resolved included.
    /// The record's own lease or hold keeps it.
    public static func forEachInjected(_ record: Record, _ body: (UInt64) -> Void) {
        if let edges = iv_record_edges(record, record.pointee.type.pointee.size) {
            for index in 0..<Int(iv_record_edge_count(record)) { body(edges[index]) }
        }
        guard let pointer = iv_load_pointer(iv_record_extra(record)) else { return }
        let extra = Unmanaged<ObjectExtra>.fromOpaque(pointer).takeUnretainedValue()
        extra.forEachInjectedValue { value in value.forEachLease { body($0.bits) } }
        guard extra.hasLate else { return }
        // One callable may be among the values several times.
        var lates: [ObjectIdentifier: LateClaims] = [:]
        extra.forEachInjectedValue { value in
            value.forEachLate { if $0.isHeld(by: extra) { lates[ObjectIdentifier($0)] = $0 } }
        }
        for claims in lates.values { claims.forEachLease { body($0.bits) } }
    }

    private func live(_ start: UInt64, _ nodes: inout [UInt64: Node]) {
        var queue = [start]
        while let object = queue.popLast() {
            guard let node = nodes[object], !node.isLive else { continue }
            nodes[object]?.isLive = true
            queue += node.targets
        }
    }
}
