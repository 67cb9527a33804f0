public import CInvivo
internal import InvivoBase
internal import InvivoDescribe
internal import InvivoPools
internal import InvivoReload
internal import InvivoWiring

// pool.h: weak pools.

private func factory(_ function: invivo_pool_make?, _ userData: UnsafeMutableRawPointer?) -> Pool.Factory? {
    function.map { Pool.Factory($0, userData) }
}

@c @implementation
public func invivo_pool_open(
    _ runtime: invivo_runtime, _ options: UnsafePointer<invivo_pool_options>!,
    _ out: UnsafeMutablePointer<invivo_pool>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_pool()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let pools = try Engine.find(runtime.bits).pools
        guard let options else {
            out.pointee.bits = try pools.open(name: nil, factory: nil, destroy: nil)
            return
        }
        let least = MemoryLayout<invivo_pool_options>.offset(of: \.make) ?? 8
        let given = try versioned(options, "options", least: least, as: invivo_pool_options.self)
        let userData = given.user_data
        var destroy: (() -> Void)?
        if let function = given.destroy { destroy = { function(userData) } }
        out.pointee.bits = try pools.open(
            name: try optionalText(given.name, "options.name"), factory: factory(given.make, userData), destroy: destroy
        )
    }
}

@c @implementation
public func invivo_pool_find(
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<invivo_pool>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_pool()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee.bits = try Engine.find(runtime.bits).pools.find(try text(name, "name"))
    }
}

@c @implementation
public func invivo_pool_close(_ pool: invivo_pool, _ error: UnsafeMutablePointer<OpaquePointer?>!) -> invivo_status {
    answering(error) { () throws(Failure) in
        let pool = try Pool.find(pool.bits)
        try Engine.find(pool.container.handle).pools.close(pool)
    }
}

@c @implementation
public func invivo_pool_get(
    _ pool: invivo_pool, _ key: UnsafePointer<invivo_value>!, _ make: invivo_pool_make!,
    _ user_data: UnsafeMutableRawPointer!, _ out: UnsafeMutablePointer<invivo_object>!,
    _ error_out: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    guard let out, let key else { return nullOutOrKey(error_out) }
    let (object, isMissing) = PoolSearch.find(pool.bits, key)
    out.pointee.bits = object
    return object != 0 ? 0 : getOtherwise(pool, key, isMissing, make, user_data, out, error_out)
}

// Slower paths are functions of their own, so that the fast one has a small frame.
@inline(never)
private func nullOutOrKey(_ error: UnsafeMutablePointer<OpaquePointer?>?) -> invivo_status {
    report(Failure(.argument, "out or key is NULL"), error)
}

@inline(never)
private func getOtherwise(
    _ pool: invivo_pool, _ key: UnsafePointer<invivo_value>, _ isMissing: Bool, _ make: invivo_pool_make?,
    _ userData: UnsafeMutableRawPointer?, _ out: UnsafeMutablePointer<invivo_object>,
    _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> invivo_status {
    let factory = factory(make, userData)
    var made: UInt64 = 0
    if isMissing {
        do throws(Failure) { made = try PoolSearch.create(pool.bits, key, factory) } catch let failure {
            return report(failure, error)
        }
    }
    guard made != 0 else { return getSlowly(pool, key, factory, out, error) }
    out.pointee.bits = made
    return 0
}

@inline(never)
private func getSlowly(
    _ pool: invivo_pool, _ key: UnsafePointer<invivo_value>, _ factory: Pool.Factory?,
    _ out: UnsafeMutablePointer<invivo_object>, _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let pool = try Pool.find(pool.bits)
        guard let object = try pool.get(key, factory) else { throw try nothing(pool, key) }
        out.pointee.bits = object
    }
}

private func nothing(_ pool: Pool, _ key: UnsafePointer<invivo_value>) throws(Failure) -> Failure {
    Failure(.notFound, "no live object in the pool '\(pool.name)' under \(try Value(borrowing: key.pointee))")
}

@c @implementation
public func invivo_pool_peek(
    _ pool: invivo_pool, _ key: UnsafePointer<invivo_value>!, _ out: UnsafeMutablePointer<invivo_object>!
) -> invivo_status {
    guard let out else { return Status.argument.rawValue }
    out.pointee = invivo_object()
    guard let key else { return Status.argument.rawValue }
    let (object, isMissing) = PoolSearch.find(pool.bits, key)
    out.pointee.bits = object
    return object != 0 ? 0 : peekOtherwise(pool, key, isMissing, out)
}

@inline(never)
private func peekOtherwise(
    _ pool: invivo_pool, _ key: UnsafePointer<invivo_value>, _ isMissing: Bool,
    _ out: UnsafeMutablePointer<invivo_object>
) -> invivo_status {
    if isMissing {
        PoolSearch.leave()
        return Status.notFound.rawValue
    }
    do throws(Failure) {
        guard let object = try Pool.find(pool.bits).peek(key) else { return Status.notFound.rawValue }
        out.pointee.bits = object
        return 0
    } catch { return error.code.rawValue }
}

@c @implementation
public func invivo_pool_peek_instance(
    _ pool: invivo_pool, _ key: UnsafePointer<invivo_value>!, _ type: invivo_type,
    _ out: UnsafeMutablePointer<UnsafeMutableRawPointer?>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = nil
    return answering(error) { () throws(Failure) in
        guard let out, let key else { throw Failure(.argument, "out or key is NULL") }
        let pool = try Pool.find(pool.bits)
        guard let instance = try pool.peekInstance(key, try pool.container.registry.type(of: type)) else {
            throw try nothing(pool, key)
        }
        out.pointee = instance
    }
}

@c @implementation
public func invivo_pool_put(
    _ pool: invivo_pool, _ key: UnsafePointer<invivo_value>!, _ object: invivo_object,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        guard let key else { throw Failure(.argument, "key is NULL") }
        try Pool.find(pool.bits).put(key, object.bits)
    }
}

@c @implementation
public func invivo_pool_remove(
    _ pool: invivo_pool, _ key: UnsafePointer<invivo_value>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        guard let key else { throw Failure(.argument, "key is NULL") }
        let pool = try Pool.find(pool.bits)
        guard try pool.remove(key) else { throw try nothing(pool, key) }
    }
}

@c @implementation
public func invivo_pool_list(
    _ pool: invivo_pool, _ out: UnsafeMutablePointer<invivo_value>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_null()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let entries = try Pool.find(pool.bits).list()
        out.pointee = Value.list(entries.map { .list([$0.key, .object($0.object)]) }).owned()
    }
}

@c @implementation
public func invivo_pool_count(
    _ pool: invivo_pool, _ out: UnsafeMutablePointer<UInt64>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = 0
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee = try Pool.find(pool.bits).count()
    }
}

@c @implementation
public func invivo_pool_clear(
    _ pool: invivo_pool, _ count: UnsafeMutablePointer<UInt64>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    count?.pointee = 0
    return answering(error) { () throws(Failure) in
        let pool = try Pool.find(pool.bits)
        let cleared = try Engine.find(pool.container.handle).clear(pool)
        count?.pointee = cleared
    }
}
