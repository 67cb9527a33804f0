public import InvivoBase
public import InvivoContexts
internal import InvivoGraph

/// The contexts of objects, which these hold.
public enum AttachedContext {
    /// Attaches a context to an object, in place of its former one.
    public static func attach(_ context: ContextHandle, to object: UInt64, in container: Container) throws(Failure) {
        let lease = try ObjectLease.retaining(object)
        guard let record = ObjectTable.record(lease.bits), ObjectType.of(record).container === container else {
            throw Failure(.handle, "the object belongs to another runtime than the context")
        }
        guard try Contexts.runtime(of: context) == container.handle else {
            throw Failure(.handle, "the context belongs to another runtime than the object")
        }
        replace(with: try HeldContext(context), of: record)
    }

    /// Detaches the context of an object, if it has one.
    public static func detach(from object: UInt64) throws(Failure) {
        let lease = try ObjectLease.retaining(object)
        guard let record = ObjectTable.record(lease.bits) else { return }
        guard ObjectType.of(record).container.home.isHere else { throw .forked() }
        replace(with: nil, of: record)
    }

    private static func replace(with next: HeldContext?, of record: Record) {
        let former = ObjectType.of(record).container.monitor.locked { () -> HeldContext? in
            let extra = ObjectExtra.of(record)
            defer { extra.contexts.attached = next }
            return extra.contexts.attached
        }
        withExtendedLifetime(former) {}
    }

    /// The nearest open context of an object: its own, or that of the objects in which it stands. Runs host code.
    public static func nearest(to object: UInt64) throws(Failure) -> ContextHandle? {
        var seen: Set<UInt64> = []
        var next: ObjectLease? = try ObjectLease.retaining(object)
        while let lease = next {
            guard let record = ObjectTable.record(lease.bits) else { return nil }
            let type = ObjectType.of(record)
            guard type.container.home.isHere else { throw .forked() }
            guard seen.insert(lease.bits).inserted else {
                throw Failure(.cycle, "the object of type '\(type.name)' stands in itself, by its parents")
            }
            if let own = own(of: record), own.core != nil { return own }
            let around = try parent(of: record, type)
            // An object that does not stand in another one is where it was created.
            if around == nil {
                return ObjectExtra.known(of: record)?.contexts.home.flatMap { $0.core == nil ? nil : $0 }
            }
            next = around
        }
        return nil
    }

    private static func own(of record: Record) -> ContextHandle? {
        ObjectType.of(record).container.monitor.locked { ObjectExtra.known(of: record)?.contexts.attached?.context }
    }

    private static func parent(of record: Record, _ type: ObjectType) throws(Failure) -> ObjectLease? {
        guard let function = type.description.functions.parent else { return nil }
        let thread = record.pointee.thread
        if thread != 0, thread != currentThread().identity, let domain = type.domain,
            !(thread == domain.thread && domain.isCurrent)
        {
            throw Failure(
                .domain,
                "the parent of an object of the confined type '\(type.name)' is found in its domain '\(domain.name)' only"
            )
        }
        var object: UInt64 = 0
        try type.container.callback { () -> Swift.Result<Void, Failure> in
            do throws(Failure) {
                object = try type.description.parent(of: record.pointee.instance, function)
                return .success(())
            } catch { return .failure(error) }
        }.get()
        return object == 0 ? nil : ObjectLease(owning: object)
    }
}
