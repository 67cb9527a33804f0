public import CInvivo
internal import CPlatform
internal import InvivoBase
internal import InvivoReload
internal import InvivoWiring

// wiring.h: keys, resolving.

// MARK: - Keys

@c @implementation
public func invivo_key_intern(
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<invivo_key>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_key()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let container = try Container.find(runtime.bits, .runtime)
        out.pointee.bits = container.keyHandle(try container.intern(try text(name, "name")))
    }
}

@c @implementation
public func invivo_key_find(
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<invivo_key>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_key()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        if let parents = ForkedRuntime(runtime.bits) {
            out.pointee.bits = try parents.key(named: try text(name, "name"))
            return
        }
        let container = try Container.find(runtime.bits, .runtime)
        let id = try container.definedKey(try text(name, "name"), isRead: error != nil)
        out.pointee.bits = container.keyHandle(id)
    }
}

@c @implementation
public func invivo_key_name(_ key: invivo_key) -> UnsafePointer<CChar>! {
    if HandleBits(key.bits).kind == HandleBits.keyKind, let parents = ForkedRuntime(HandleBits(key.bits).runtime) {
        return parents.name(of: key.bits)
    }
    guard let container = try? Container.find(key.bits, .key) else { return nil }
    return container.monitor.locked { container.keys.text(UInt32(truncatingIfNeeded: key.bits)) }
}

@c @implementation
public func invivo_key_version(_ key: invivo_key) -> UnsafePointer<UInt64>! {
    if ForkedRuntime(HandleBits(key.bits).runtime) != nil, HandleBits(key.bits).kind == HandleBits.keyKind {
        return iv_version_of_forked_keys()
    }
    guard let container = try? Container.find(key.bits, .key) else { return nil }
    return container.monitor.locked { () -> UnsafePointer<UInt64>? in
        let id = UInt32(truncatingIfNeeded: key.bits)
        return Int(id) < container.keys.count ? container.keys.version(id) : nil
    }
}

// MARK: - Resolving

@c @implementation
public func invivo_resolve(
    _ runtime: invivo_runtime, _ key: invivo_key, _ out: UnsafeMutablePointer<invivo_object>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    guard let out else { return nullOut(error) }
    let (object, cell) = FastResolve.leaseShared(runtime.bits, key.bits)
    guard object != 0 else { return resolveOtherwise(runtime, key, cell, out, error) }
    out.pointee.bits = object
    return 0
}

// Cold paths are separate functions, so that the hot one needs no stack frame for them.
@inline(never)
private func resolveOtherwise(
    _ runtime: invivo_runtime, _ key: invivo_key, _ cell: UnsafeMutablePointer<iv_making_cell>?,
    _ out: UnsafeMutablePointer<invivo_object>, _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> invivo_status {
    resolveFast(runtime, key, out, error, by: cell) ?? resolveSlowly(runtime, key, nil, 0, out, error)
}

/// Returns nil, with a zero object, if a slower path must be used. `cell`: as `FastResolve.leaseShared` returns it.
private func resolveFast(
    _ runtime: invivo_runtime, _ key: invivo_key, _ out: UnsafeMutablePointer<invivo_object>,
    _ error: UnsafeMutablePointer<OpaquePointer?>?, by cell: UnsafeMutablePointer<iv_making_cell>? = nil
) -> invivo_status? {
    var failed = FastResolve.Failed()
    let bits =
        if let cell {
            FastResolve.make(cell, runtime.bits, key.bits, failed: &failed)
        } else {
            FastResolve.resolve(runtime.bits, key.bits, makes: true, failed: &failed)
        }
    out.pointee.bits = bits
    if bits != 0 { return 0 }
    guard failed.status != 0 else { return nil }
    return initFailed(failed.key == 0 ? key : invivo_key(bits: failed.key), failed.status, failed.error, error)
}

@inline(never)
private func nullOut(_ error: UnsafeMutablePointer<OpaquePointer?>?) -> invivo_status {
    report(Failure(.argument, "out is NULL"), error)
}

@inline(never)
private func initFailed(
    _ key: invivo_key, _ status: invivo_status, _ given: UnsafeMutableRawPointer?,
    _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> invivo_status {
    let name = (try? Container.find(key.bits, .key))?.keyName(UInt32(truncatingIfNeeded: key.bits)) ?? ""
    var failure = ErrorBox.failure(status: status, error: given.map { OpaquePointer($0) }, from: "the init function")
    if failure.path.isEmpty { failure.path = name }
    return report(failure, error)
}

@inline(never)
private func resolveSlowly(
    _ runtime: invivo_runtime, _ key: invivo_key, _ arguments: UnsafePointer<invivo_value>?, _ count: Int,
    _ out: UnsafeMutablePointer<invivo_object>, _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> invivo_status {
    answering(error) { () throws(Failure) in
        if let parents = ForkedRuntime(runtime.bits), count == 0 {
            out.pointee.bits = try parents.object(key.bits)
            return
        }
        let (container, id) = try keyed(runtime, key)
        let object = try container.resolve(id, arguments: try Value.borrowed(arguments, count))
        guard object != 0 else { throw nullObject(container.keyName(id)) }
        out.pointee.bits = object
    }
}

func nullObject(_ key: String) -> Failure {
    Failure(
        .null, "the factory of '\(key)' returned null; resolve it as optional where that is allowed", path: key)
}

@c @implementation
public func invivo_resolve_with(
    _ runtime: invivo_runtime, _ key: invivo_key, _ arguments: UnsafePointer<invivo_value>!, _ count: Int,
    _ out: UnsafeMutablePointer<invivo_object>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    guard let out else { return nullOut(error) }
    if count == 0, let status = resolveFast(runtime, key, out, error) { return status }
    return resolveSlowly(runtime, key, arguments, count, out, error)
}

@c @implementation
public func invivo_resolve_name(
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<invivo_object>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_object()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        if let parents = ForkedRuntime(runtime.bits) {
            out.pointee.bits = try parents.object(try parents.key(named: try text(name, "name")))
            return
        }
        let container = try Container.find(runtime.bits, .runtime)
        let id = try container.definedKey(try text(name, "name"))
        let object = try container.resolve(id)
        guard object != 0 else {
            throw Failure(.null, "the factory of '\(container.keyName(id))' returned null", path: container.keyName(id))
        }
        out.pointee.bits = object
    }
}

@c @implementation
public func invivo_peek(_ runtime: invivo_runtime, _ key: invivo_key, _ out: UnsafeMutablePointer<invivo_object>!)
    -> invivo_status
{
    guard let out else { return Status.argument.rawValue }
    var failed = FastResolve.Failed()
    out.pointee.bits = FastResolve.resolve(runtime.bits, key.bits, makes: false, failed: &failed)
    return out.pointee.bits != 0 ? 0 : Status.cold.rawValue
}

@c @implementation
public func invivo_key_outline(
    _ runtime: invivo_runtime, _ key: invivo_key, _ out: UnsafeMutablePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_null()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let (container, id) = try keyed(runtime, key)
        out.pointee = try RuntimeFacts(container).outline(id).owned()
    }
}

@c @implementation
public func invivo_key_describe(
    _ runtime: invivo_runtime, _ key: invivo_key, _ out: UnsafeMutablePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_null()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let (container, id) = try keyed(runtime, key)
        let facts = try RuntimeFacts(container).key(id)
        let parameters = facts.parameters.map { parameter -> Value in
            var fields: [(name: String, value: Value)] = [
                ("name", .string(parameter.name)), ("kind", .uint32(parameter.kind.rawValue)),
                ("type", parameter.typeName.map(Value.string) ?? .null), ("optional", .bool(parameter.isOptional)),
            ]
            if let value = parameter.defaultValue { fields.append(("default", value)) }
            return .map(fields)
        }
        out.pointee = Value.map([
            ("type", facts.type.map { .type($0.description) } ?? .null), ("scope", .uint32(facts.scope.rawValue)),
            ("scope_name", facts.scopeName.map(Value.string) ?? .null), ("making", .string(facts.making)),
            ("file", .string(facts.location.file)), ("line", .uint32(facts.location.line)),
            ("parameters", .list(parameters)),
            ("receivers", facts.receivers.map { .list($0.map { .type($0.description) }) } ?? .null),
        ]).owned()
    }
}

@c @implementation
public func invivo_resolve_optional(
    _ runtime: invivo_runtime, _ key: invivo_key, _ arguments: UnsafePointer<invivo_value>!, _ count: Int,
    _ out: UnsafeMutablePointer<invivo_object>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    guard let out else { return nullOut(error) }
    if count == 0, let status = resolveFast(runtime, key, out, error) { return status }
    return answering(error) { () throws(Failure) in
        if let parents = ForkedRuntime(runtime.bits), count == 0 {
            out.pointee.bits = try parents.object(key.bits)
            return
        }
        let (container, id) = try keyed(runtime, key)
        let graph = container.visibleGraph
        guard graph.isDefined(id) else { return try container.registry.requireActive(id) }
        guard graph.ownRecipe(id)?.waits.isEmpty ?? true else { return }
        out.pointee.bits = try container.resolve(id, arguments: try Value.borrowed(arguments, count))
    }
}

@c @implementation
public func invivo_resolve_type(
    _ runtime: invivo_runtime, _ type: UnsafePointer<CChar>!, _ name: UnsafePointer<CChar>!, _ flags: UInt32,
    _ out: UnsafeMutablePointer<invivo_object>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_object()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let isExact = try lookupFlags(flags) & UInt32(INVIVO_LOOKUP_EXACT) != 0
        let lookup = Container.Lookup(
            type: try text(type, "type"), name: try optionalText(name, "name"), isExact: isExact)
        if let parents = ForkedRuntime(runtime.bits) {
            out.pointee.bits = try parents.object(lookup)
            return
        }
        let container = try Container.find(runtime.bits, .runtime)
        let object = try container.resolve(lookup)
        guard object != nil || flags & UInt32(INVIVO_LOOKUP_OPTIONAL) != 0 else { throw container.nothing(lookup) }
        guard object != 0 || flags & UInt32(INVIVO_LOOKUP_OPTIONAL) != 0 else {
            throw Failure(.null, "the factory of the '\(lookup.type)' returned null", path: lookup.type)
        }
        out.pointee.bits = object ?? 0
    }
}

@c @implementation
public func invivo_key_of_type(
    _ runtime: invivo_runtime, _ type: UnsafePointer<CChar>!, _ name: UnsafePointer<CChar>!, _ flags: UInt32,
    _ out: UnsafeMutablePointer<invivo_key>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_key()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let isExact = try lookupFlags(flags) & UInt32(INVIVO_LOOKUP_EXACT) != 0
        let lookup = Container.Lookup(
            type: try text(type, "type"), name: try optionalText(name, "name"), isExact: isExact)
        if let parents = ForkedRuntime(runtime.bits) {
            if let key = try parents.key(lookup) {
                out.pointee.bits = key
            } else if flags & UInt32(INVIVO_LOOKUP_OPTIONAL) == 0 {
                throw Failure(.notFound, "no definition makes a '\(lookup.type)'", path: lookup.type)
            }
            return
        }
        let container = try Container.find(runtime.bits, .runtime)
        if let id = try container.find(lookup) {
            out.pointee.bits = container.keyHandle(id)
        } else if flags & UInt32(INVIVO_LOOKUP_OPTIONAL) == 0 {
            throw container.nothing(lookup)
        }
    }
}

private func lookupFlags(_ flags: UInt32) throws(Failure) -> UInt32 {
    guard flags & ~UInt32(INVIVO_LOOKUP_EXACT | INVIVO_LOOKUP_OPTIONAL) == 0 else {
        throw Failure(.argument, "flags contains unknown ones")
    }
    return flags
}

@c @implementation
public func invivo_resolve_all(
    _ runtime: invivo_runtime, _ type: UnsafePointer<CChar>!, _ flags: UInt32,
    _ out: UnsafeMutablePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_null()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let container = try Container.find(runtime.bits, .runtime)
        let isExact = try lookupFlags(flags) & UInt32(INVIVO_LOOKUP_EXACT) != 0
        let objects = try container.resolveAll(try text(type, "type"), isExact: isExact)
        out.pointee = Value.list(objects.map { .object(ObjectLease(owning: $0)) }).owned()
    }
}

/// The container and the id behind a key handle that must be the runtime's.
func keyed(_ runtime: invivo_runtime, _ key: invivo_key) throws(Failure) -> (container: Container, id: UInt32) {
    let container = try Container.find(runtime.bits, .runtime)
    guard UInt32(truncatingIfNeeded: key.bits >> 32) == container.keys.owner else {
        throw key.bits == 0 ? .badHandle(0, .key) : Failure(.handle, "the key belongs to another runtime")
    }
    let id = UInt32(truncatingIfNeeded: key.bits)
    guard container.monitor.locked({ Int(id) < container.keys.count }) else {
        throw Failure(.handle, "the key is no key of this runtime")
    }
    return (container, id)
}
