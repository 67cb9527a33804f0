internal import CPlatform
internal import InvivoBase
internal import InvivoGraph

/// The values that were injected into an object: held as long as it lives.
extension InjectedReferences {
    /// Holds the objects that an initializer received: in the record, if it has space for them.
    static func hold(_ injected: [Value], _ record: Record) {
        guard ObjectType.plainLeases(injected) > 0,
            let edges = iv_record_edges(record, record.pointee.type.pointee.size)
        else { return keep(injected, record) }
        for (position, value) in injected.enumerated() {
            guard case .object(let lease) = value, ObjectTable.retain(lease.bits) else {
                for former in 0..<position { _ = ObjectTable.release(edges[former]) }
                return keep(injected, record)
            }
            edges[position] = lease.bits
        }
        iv_record_set_edge_count(record, UInt32(injected.count))
    }

    private static func keep(_ injected: [Value], _ record: Record) {
        let extra = ObjectExtra.of(record)
        extra.injected = injected
        guard injected.contains(where: \.holdsDeferred) else { return }
        monitor(of: record).locked { for value in injected { DeferredTable.exchange(nil, for: value, of: extra) } }
    }

    /// Keeps the value that a step injected; a failed reload that injected another one puts it back.
    static func remember(_ value: Value?, _ name: String, _ record: Record) {
        guard value != nil || ObjectExtra.known(of: record) != nil else { return }
        let extra = ObjectExtra.of(record)
        let former = monitor(of: record).locked { () -> Value? in
            defer { extra.injectedProperties[name] = value }
            // The former value may be a list whose holder is notified of candidates.
            if extra.candidates[name] != nil { extra.candidates[name] = nil }
            DeferredTable.exchange(extra.injectedProperties[name], for: value, of: extra)
            return extra.injectedProperties[name]
        }
        // Released only now that nothing points to it.
        withExtendedLifetime(former) {}
    }

    /// Releases the value that a step injected before: it injects a constant now.
    static func forget(_ name: String, _ record: Record) {
        guard let extra = ObjectExtra.known(of: record) else { return }
        let former = monitor(of: record).locked { () -> Value? in
            let former = extra.injectedProperties.removeValue(forKey: name)
            if extra.candidates[name] != nil { extra.candidates[name] = nil }
            DeferredTable.exchange(former, for: nil, of: extra)
            return former
        }
        withExtendedLifetime(former) {}
    }

    private static func monitor(of record: Record) -> Monitor { ObjectType.of(record).container.monitor }
}
