public import CInvivo
internal import InvivoBase
internal import InvivoDescribe
internal import InvivoGraph
internal import InvivoReload
internal import InvivoTraits
internal import InvivoWiring

// object.h: live instances of types of any language.

/// An object for the length of a call: a lease of its own, so that nothing can end it meanwhile.
struct HeldObject: ~Copyable {
    let record: Record
    private let bits: UInt64

    /// `isRead`: the call is allowed in a forked child on objects of its parent.
    init(_ object: invivo_object, isRead: Bool = false) throws(Failure) {
        guard ObjectTable.retain(object.bits) else {
            throw ObjectTable.isExhausted(object.bits) ? .exhausted() : .badHandle(object.bits, .object)
        }
        // A lease is held, so there is a record.
        let record = ObjectTable.record(object.bits).unsafelyUnwrapped
        do throws(Failure) { try Failure.refuseInRule(of: ObjectType.of(record).container.tag) } catch {
            _ = ObjectTable.release(object.bits)
            throw error
        }
        guard isRead || ObjectType.of(record).container.home.isHere else {
            _ = ObjectTable.release(object.bits)
            throw Failure.parents(.object)
        }
        self.record = record
        bits = object.bits
    }

    deinit { _ = ObjectTable.release(bits) }

    var type: ObjectType { ObjectType.of(record) }

    /// The instance, if the calling thread may touch it.
    func instance() throws(Failure) -> UnsafeMutableRawPointer? {
        let thread = record.pointee.thread
        if thread != 0, thread != currentThread().identity, let domain = type.domain,
            !type.container.pendingDisposals.isDetached
        {
            let isDomains = thread == domain.thread
            guard isDomains && domain.isCurrent else {
                throw Failure(
                    .domain,
                    "an object of the confined type '\(type.name)' belongs to "
                        + (isDomains ? "the domain '\(domain.name)'" : "the thread that made it")
                        + " and cannot be touched on this thread")
            }
        }
        return record.pointee.instance
    }

    var keyID: UInt32? { record.pointee.key == 0 ? nil : record.pointee.key - 1 }
}

@c @implementation
public func invivo_object_retain(_ object: invivo_object) -> invivo_status {
    if ObjectTable.retain(object.bits) { return 0 }
    return (ObjectTable.isExhausted(object.bits) ? Status.tooLarge : Status.handle).rawValue
}

@c @implementation
public func invivo_object_release(_ object: invivo_object) -> invivo_status {
    ObjectTable.release(object.bits) ? 0 : staleRelease()
}

@inline(never)
private func staleRelease() -> invivo_status { Status.handle.rawValue }

@c @implementation
public func invivo_object_get(
    _ object: invivo_object, _ property: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_null()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let held = try HeldObject(object)
        let property = try held.type.description.property(named: try text(property, "property")).property
        if property.isInBlock {
            guard let id = held.keyID, let block = held.type.container.visibleGraph.block(id) else {
                throw Failure(.notReady, "'\(property.name)' lives in a block, and this object has none")
            }
            out.pointee = property.read(block.bytes).owned()
            return
        }
        guard let instance = try held.instance() else { throw Failure(.notReady, "the object has no instance") }
        out.pointee = try property.get(instance).owned()
    }
}

@c @implementation
public func invivo_object_set(
    _ object: invivo_object, _ property: UnsafePointer<CChar>!, _ value: UnsafePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let held = try HeldObject(object)
        let property = try held.type.description.property(named: try text(property, "property")).property
        guard !property.isReadOnly else {
            throw Failure(.readOnly, "\(held.type.name).\(property.name) cannot be set: it is read only")
        }
        let checked = try property.check(try Value(borrowing: value, "value"))
        if property.isInBlock {
            guard let id = held.keyID else {
                throw Failure(.notReady, "'\(property.name)' lives in a block, and this object has none")
            }
            let container = held.type.container
            var set = ChangeSet(Cause(.set, "\(container.keyName(id)).\(property.name)"))
            set.bases = [(id, property.name, checked)]
            try Engine.find(container.handle).commit(set)
            return
        }
        guard !held.type.description.isShared else { throw held.type.description.sharedFailure(property) }
        guard let instance = try held.instance() else { throw Failure(.notReady, "the object has no instance") }
        try SetRecorder.note(object.bits, instance, property)
        try property.set(instance, checked)
    }
}

@c @implementation
public func invivo_object_call(
    _ object: invivo_object, _ method: UnsafePointer<CChar>!, _ arguments: UnsafePointer<invivo_value>!, _ count: Int,
    _ result: UnsafeMutablePointer<invivo_value>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    result?.pointee = invivo_null()
    return answering(error) { () throws(Failure) in
        let held = try HeldObject(object)
        let method = try held.type.description.method(named: try text(method, "method"))
        guard let instance = try held.instance() else { throw Failure(.notReady, "the object has no instance") }
        let answer = try method.call(instance, try Value.borrowed(arguments, count))
        result?.pointee = answer.owned()
    }
}

@c @implementation
public func invivo_object_instance(
    _ object: invivo_object, _ type: invivo_type, _ out: UnsafeMutablePointer<UnsafeMutableRawPointer?>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = nil
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let held = try HeldObject(object, isRead: true)
        if type.bits != 0 && type.bits != held.type.description.handleBits {
            throw Failure(
                .type,
                "the object is a '\(held.type.name)', not a '\((try? TypeDescription.find(type.bits))?.name ?? "?")'")
        }
        out.pointee = held.record.pointee.instance
    }
}

@c @implementation
public func invivo_object_type(
    _ object: invivo_object, _ out: UnsafeMutablePointer<invivo_type>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_type()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee.bits = try HeldObject(object, isRead: true).type.description.handleBits
    }
}

@c @implementation
public func invivo_object_key(
    _ object: invivo_object, _ out: UnsafeMutablePointer<invivo_key>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_key()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let held = try HeldObject(object, isRead: true)
        if let id = held.keyID { out.pointee.bits = held.type.container.keyHandle(id) }
    }
}

@c @implementation
public func invivo_object_runtime(
    _ object: invivo_object, _ out: UnsafeMutablePointer<invivo_runtime>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_runtime()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee.bits = try HeldObject(object, isRead: true).type.container.handle
    }
}

@c @implementation
public func invivo_object_make(
    _ runtime: invivo_runtime, _ type: invivo_type, _ arguments: UnsafePointer<invivo_value>!, _ count: Int,
    _ out: UnsafeMutablePointer<invivo_object>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_object()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let container = try Container.find(runtime.bits, .runtime)
        out.pointee.bits = try container.makeObject(
            try container.registry.type(of: type), try Value.borrowed(arguments, count))
    }
}

@c @implementation
public func invivo_object_wrap(
    _ runtime: invivo_runtime, _ type: invivo_type, _ instance: UnsafeMutableRawPointer!,
    _ out: UnsafeMutablePointer<invivo_object>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_object()
    return answering(error) { () throws(Failure) in
        guard let out, let instance else { throw Failure(.argument, "out or instance is NULL") }
        let container = try Container.find(runtime.bits, .runtime)
        out.pointee.bits = try container.wrap(try container.registry.type(of: type), instance)
    }
}

// MARK: - Targets

@c @implementation
public func invivo_target_attach(
    _ object: invivo_object, _ key: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<invivo_target>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_target()
    return answering(error) { () throws(Failure) in
        let held = try HeldObject(object)
        let engine = try Engine.find(held.type.container.handle)
        let key = try text(key, "key")
        if try engine.attachInSetup(object.bits, key: key) { return }
        let target = try engine.attach(object.bits, key: key)
        out?.pointee.bits = target.handleBits
    }
}

@c @implementation
public func invivo_target_detach(_ target: invivo_target, _ error: UnsafeMutablePointer<OpaquePointer?>!)
    -> invivo_status
{
    answering(error) { () throws(Failure) in
        let target = try HandleTable.require(target.bits, .target, as: Target.self)
        try Engine.of(target.runtime).detach(target)
    }
}

@c @implementation
public func invivo_target_detach_later(_ target: invivo_target, _ error: UnsafeMutablePointer<OpaquePointer?>!)
    -> invivo_status
{
    answering(error) { () throws(Failure) in
        let target = try HandleTable.require(target.bits, .target, as: Target.self)
        try Engine.of(target.runtime).detachLater(target)
    }
}

@c @implementation
public func invivo_target_declare(
    _ runtime: invivo_runtime, _ key: UnsafePointer<CChar>!, _ type: invivo_type,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let engine = try Engine.find(runtime.bits)
        try engine.declare(key: try text(key, "key"), type: try engine.container.registry.type(of: type))
    }
}
