internal import CInvivo

extension Core {
    /// The Swift value behind an object.
    func value<Value>(
        of handle: invivo_object, as type: Value.Type, _ holder: Object.Holder = .program
    ) throws(InvivoError) -> Value {
        if type == Object.self, let object = try Object(holding: handle, self, holder) as? Value { return object }
        var described = invivo_type()
        try call { $0.pointee.object_type(handle, &described, $1) }
        guard registry.withLock({ $0.types[described.bits] != nil }) else {
            throw InvivoError(
                .type,
                "the object is \(article(TypeReference(self, described).name)), which this Swift code did not register; "
                    + "ask for it as an Object, or register the type here")
        }
        var raw: UnsafeMutableRawPointer?
        try call { $0.pointee.object_instance(handle, described, &raw, $1) }
        guard let raw else { throw InvivoError(.notReady, "the object has no instance yet") }
        let instance = Unmanaged<AnyObject>.fromOpaque(raw).takeUnretainedValue()
        guard let value = unboxed(instance) as? Value else {
            throw InvivoError(
                .type, "expected \(article(Value.self)), got \(article(Swift.type(of: unboxed(instance))))")
        }
        return value
    }

    /// The value of an object; without an object the empty value of the type.
    func value<Value>(
        orNone handle: invivo_object, as type: Value.Type, _ holder: Object.Holder = .program
    ) throws(InvivoError) -> Value {
        if handle.bits != 0 { return try value(of: handle, as: type, holder) }
        guard type is any OptionalValue.Type, let none = Optional<Any>.none as Any as? Value else {
            throw InvivoError(.null, "no object was created where \(article(type)) is expected")
        }
        return none
    }

    /// Leases the object of a Swift instance: its known object, or a new one. The caller releases the lease.
    ///
    /// - Parameter isDescribed: Whether its class must have a description: for a target of documents, but not for an
    ///   argument.
    func lease(of instance: AnyObject, isDescribed: Bool = true) throws(InvivoError) -> invivo_object {
        if let known = try knownLease(of: instance) { return known }
        return try wrapped(instance, try registeredType(of: instance, isDescribed))
    }

    /// The object of an instance under the type of a definition.
    func lease(of instance: AnyObject, as value: Any.Type, isShared: Bool?) throws(InvivoError) -> invivo_object {
        if let known = try knownLease(of: instance) { return known }
        return try wrapped(instance, try type(of: value, isShared: isShared))
    }

    /// The object of an instance under a type that is known.
    func lease(of instance: AnyObject, wrappedAs type: invivo_type) throws(InvivoError) -> invivo_object {
        if let known = try knownLease(of: instance) { return known }
        return try wrapped(instance, type)
    }

    /// Leases the object that a Swift instance has; nil if it has none. The caller releases the lease.
    func knownLease(of instance: AnyObject) throws(InvivoError) -> invivo_object? {
        if let object = instance as? Object { return try lease(of: object) }
        guard let known = registry.withLock({ $0.instances[ObjectIdentifier(instance)] }), let handle = leased(known),
            isInstance(handle, instance)
        else { return nil }
        return handle
    }

    /// Another lease of an object. For a type that is not known here, the `Object` itself is the value.
    private func lease(of object: Object) throws(InvivoError) -> invivo_object {
        try object.require(in: self)
        try call { table, _ in table.pointee.object_retain(object.handle) }
        return object.handle
    }

    /// Whether a type was registered here: its instances are those of Swift classes.
    func isOwn(_ type: invivo_type) -> Bool { registry.withLock { $0.types[type.bits] != nil } }

    /// The object of an instance that was not known a moment ago: one, also when several threads ask at once.
    private func wrapped(_ instance: AnyObject, _ type: invivo_type) throws(InvivoError) -> invivo_object {
        let identity = ObjectIdentifier(instance)
        while true {
            var handle = invivo_object()
            // No code of the program is called here.
            let known = try wrapping.alone { () throws(InvivoError) -> invivo_object? in
                if case .object(let known)? = registry.withLock({ $0.instances[identity] }),
                    table.pointee.object_retain(known) == 0
                {
                    return known
                }
                let pointer = Unmanaged.passRetained(instance)
                do throws(InvivoError) {
                    try call { $0.pointee.object_wrap(self.handle, type, pointer.toOpaque(), &handle, $1) }
                } catch {
                    pointer.release()
                    throw error
                }
                remember(instance, as: .object(handle))
                return nil
            }
            guard let known else { return handle }
            if isInstance(known, instance) { return known }
            // The entry of an earlier instance at the same address.
            registry.withLock {
                if $0.instances[identity] == .object(known) { $0.instances[identity] = nil }
            }
        }
    }

    private func leased(_ known: Registry.Known) -> invivo_object? {
        switch known {
        case .object(let handle):
            return table.pointee.object_retain(handle) == 0 ? handle : nil
        case .key(let key):
            var handle = invivo_object()
            return table.pointee.peek(self.handle, key, &handle) == 0 ? handle : nil
        }
    }

    /// Whether a leased handle refers to `instance`; releases the lease otherwise.
    private func isInstance(_ handle: invivo_object, _ instance: AnyObject) -> Bool {
        var raw: UnsafeMutableRawPointer?
        var error: OpaquePointer?
        let status = table.pointee.object_instance(handle, invivo_type(), &raw, &error)
        table.pointee.error_release(error)
        if status == 0, raw == Unmanaged.passUnretained(instance).toOpaque() { return true }
        _ = table.pointee.object_release(handle)
        return false
    }

    func remember(_ instance: AnyObject, as known: Registry.Known) {
        registry.withLock { $0.instances[ObjectIdentifier(instance)] = known }
    }

    /// Records the object of an instance that has none, so that later uses of the instance find it.
    func know(_ instance: AnyObject, as object: invivo_object) {
        registry.withLock { registry in
            let identity = ObjectIdentifier(instance)
            if case .object? = registry.instances[identity] { return }
            registry.instances[identity] = .object(object)
        }
    }

    /// Forgets the object of an instance, which has ended. An object that another thread has created for the instance since stays.
    func forget(_ instance: AnyObject) {
        let identity = ObjectIdentifier(instance)
        let noted = registry.withLock { $0.instances[identity] }
        if case .object(let known)? = noted, table.pointee.object_retain(known) == 0 {
            _ = table.pointee.object_release(known)
            return
        }
        registry.withLock { if $0.instances[identity] == noted { $0.instances[identity] = nil } }
    }

    /// The type under which the class of an instance was described. Describes it now if the class can describe itself.
    private func registeredType(of instance: AnyObject, _ isDescribed: Bool) throws(InvivoError) -> invivo_type {
        if let boxed = instance as? any AnyBoxed { return try self.type(of: boxed.type, isShared: nil) }
        let type: AnyClass = Swift.type(of: instance)
        if let bits = registry.withLock({ $0.described[ObjectIdentifier(type)] }) { return invivo_type(bits: bits) }
        if let described = type as? any InvivoObject.Type { return try described.registered(with: self) }
        guard isDescribed else { return try self.type(of: type, isShared: nil) }
        throw InvivoError(
            .type, "\(type) is not described to the runtime; register an ObjectType of it, or make it an InvivoObject")
    }
}

/// A value that is no class instance, in the graph.
@usableFromInline
final class Boxed<Value>: AnyBoxed {
    @usableFromInline let value: Value
    init(_ value: Value) { self.value = value }
    var any: Any { value }
    var type: Any.Type { Value.self }
}

protocol AnyBoxed: AnyObject {
    var any: Any { get }
    var type: Any.Type { get }
}

/// The instance that represents a value in the graph.
func boxed<Value>(_ value: Value) -> AnyObject {
    Value.self is AnyClass ? value as AnyObject : Boxed(value)
}

func unboxed(_ instance: AnyObject) -> Any { (instance as? any AnyBoxed)?.any ?? instance }
