internal import CPlatform
public import InvivoBase

/// The objects that were injected into an object, with the objects that its lazies have resolved. They change with the monitor held.
public enum InjectedReferences {
    /// Calls `body` with each object, as often as `record` holds leases on it. With the monitor held; a lease or hold of the caller
    /// keeps the record.
    public static func forEach(of record: Record, _ body: (UInt64) -> Void) {
        if let edges = iv_record_edges(record, record.pointee.type.pointee.size) {
            for index in 0..<Int(iv_record_edge_count(record)) { body(edges[index]) }
        }
        guard let extra = ObjectExtra.known(of: record) else { return }
        extra.forEachInjectedValue { value in value.forEachLease { body($0.bits) } }
        guard extra.hasDeferred else { return }
        // One callable may be among the values several times.
        var claimed: [ObjectIdentifier: DeferredClaims] = [:]
        extra.forEachInjectedValue { value in
            value.forEachDeferred { if $0.isHeld(by: extra) { claimed[ObjectIdentifier($0)] = $0 } }
        }
        for claims in claimed.values { claims.forEachLease { body($0.bits) } }
    }

    /// The objects that end when the graph releases them, because only objects that end at the same time hold leases on
    /// them. Empty where no object is started. With the monitor held.
    static func endingTogether(_ objects: [UInt64]) -> [Record] {
        var records: [UInt64: Record] = [:]
        var leases: [UInt64: UInt64] = [:]
        var isNeeded = false
        for object in objects {
            guard let record = ObjectTable.record(object) else { continue }
            records[object] = record
            if ObjectExtra.known(of: record)?.life == .started { isNeeded = true }
        }
        guard isNeeded else { return [] }
        for object in records.keys { leases[object] = ObjectTable.leases(object) }
        for record in records.values {
            forEach(of: record) { object in if let count = leases[object] { leases[object] = count &- 1 } }
        }
        // An object that stays keeps the objects that were injected into it.
        var staying = leases.filter { $0.value != 0 }.map(\.key)
        while let object = staying.popLast() {
            guard let record = records.removeValue(forKey: object) else { continue }
            forEach(of: record) { if records[$0] != nil { staying.append($0) } }
        }
        return Array(records.values)
    }
}
