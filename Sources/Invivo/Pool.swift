internal import CInvivo

/// A weak pool: a table of live objects by key. It keeps no object alive: an entry lives as long as its value is
/// retained.
///
///     let textures = try runtime.pool("textures", of: Texture.self)
///     let brick = try textures.get("brick") { Texture(named: "brick") }
///
/// A pool of `Object`s holds objects of any language and type. Any thread may use it. Keys are numbers, strings, and
/// other convertible values; an array is a key of several values.
public final class Pool<Value: AnyObject & Sendable>: Sendable {
    /// The name under which other languages find it.
    public let name: String?
    private let core: Core
    private let handle: invivo_pool
    private let type: invivo_type

    fileprivate init(_ core: Core, _ handle: invivo_pool, _ name: String?) throws(InvivoError) {
        (self.core, self.handle, self.name) = (core, handle, name)
        type = Value.self == Object.self ? invivo_type() : try core.type(of: Value.self, isShared: true)
    }

    /// A pool without a name cannot be found again, so it ends with its last reference.
    deinit { if name == nil { _ = core.table.pointee.pool_close(handle, nil) } }

    /// The live value of a key, or a new one from `make`, which is called once even when several threads request it.
    public func get(
        _ key: some InvivoConvertible, _ make: () throws -> Value
    ) throws(InvivoError) -> Value {
        if let known = try peek(key) { return known }
        let key = try key.asInvivo()
        return try withoutActuallyEscaping(make) { make throws(InvivoError) -> Value in
            let maker = PoolMaker(core, type, make)
            return try withArena { arena throws(InvivoError) -> Value in
                var key = try key.borrowed(arena, core)
                var object = invivo_object()
                try withExtendedLifetime(maker) { () throws(InvivoError) in
                    let data = Unmanaged.passUnretained(maker).toOpaque()
                    try core.call { $0.pointee.pool_get(handle, &key, makeEntry, data, &object, $1) }
                }
                defer { _ = core.table.pointee.object_release(object) }
                return try core.value(of: object, as: Value.self)
            }
        }
    }

    /// The living value of a key, or nil.
    public func peek(_ key: some InvivoConvertible) throws(InvivoError) -> Value? {
        let key = try key.asInvivo()
        return try withArena { arena throws(InvivoError) -> Value? in
            var key = try key.borrowed(arena, core)
            if Value.self == Object.self {
                var object = invivo_object()
                let status = core.table.pointee.pool_peek(handle, &key, &object)
                if status == InvivoError.Code.notFound.rawValue { return nil }
                guard status == 0 else { throw InvivoError(taking: nil, status: status, table: core.table) }
                return Object(taking: object, core) as? Value
            }
            var instance: UnsafeMutableRawPointer?
            var error: OpaquePointer?
            let status = core.table.pointee.pool_peek_instance(handle, &key, type, &instance, &error)
            if status == InvivoError.Code.notFound.rawValue {
                core.table.pointee.error_release(error)
                return nil
            }
            guard status == 0 else { throw InvivoError(taking: error, status: status, table: core.table) }
            guard let instance else { return nil }
            return Unmanaged<AnyObject>.fromOpaque(instance).takeRetainedValue() as? Value
        }
    }

    /// Stores an existing value under a key, and replaces the former entry.
    public func put(_ value: Value, at key: some InvivoConvertible) throws(InvivoError) {
        let key = try key.asInvivo()
        let object = try core.lease(of: value, as: Value.self, isShared: true)
        defer { _ = core.table.pointee.object_release(object) }
        try withArena { arena throws(InvivoError) in
            var key = try key.borrowed(arena, core)
            try core.call { $0.pointee.pool_put(handle, &key, object, $1) }
        }
    }

    /// Removes an entry, which does not end its value. Throws if the entry does not exist.
    public func remove(_ key: some InvivoConvertible) throws(InvivoError) {
        let key = try key.asInvivo()
        try withArena { arena throws(InvivoError) in
            var key = try key.borrowed(arena, core)
            try core.call { $0.pointee.pool_remove(handle, &key, $1) }
        }
    }

    /// The living entries, in no order.
    public var entries: [(key: InvivoValue, value: Value)] {
        get throws(InvivoError) {
            var list = invivo_null()
            try core.call { $0.pointee.pool_list(handle, &list, $1) }
            guard case .list(let pairs) = try InvivoValue(taking: &list, core) else { return [] }
            var found: [(key: InvivoValue, value: Value)] = []
            for case .list(let pair) in pairs where pair.count == 2 {
                guard case .object(let object) = pair[1] else { continue }
                found.append((pair[0], try object.instance(as: Value.self)))
            }
            return found
        }
    }

    /// The current number of live entries.
    public var count: Int {
        get throws(InvivoError) {
            var count: UInt64 = 0
            try core.call { $0.pointee.pool_count(handle, &count, $1) }
            return Int(clamping: count)
        }
    }

    /// Removes all entries, as a reload that observers receive; returns the number of live ones.
    @discardableResult
    public func clear() throws(InvivoError) -> Int {
        var count: UInt64 = 0
        try core.call { $0.pointee.pool_clear(handle, &count, $1) }
        return Int(clamping: count)
    }

    /// Closes the pool. Its values stay with their owners. A pool with a name lives until it or the runtime is closed.
    public func close() throws(InvivoError) {
        try core.call { $0.pointee.pool_close(handle, $1) }
    }
}

extension Runtime {
    /// Opens a weak pool of instances of a class. Under its name other languages find it.
    public func pool<Value: AnyObject & Sendable>(
        _ name: String? = nil, of type: Value.Type
    ) throws(InvivoError) -> Pool<Value> {
        var options = invivo_pool_options()
        var pool = invivo_pool()
        options.struct_size = MemoryLayout<invivo_pool_options>.size
        try withArena { arena throws(InvivoError) in
            if let name { options.name = try arena.name(name) }
            try core.call { $0.pointee.pool_open(core.handle, &options, &pool, $1) }
        }
        return try Pool(core, pool, name)
    }

    /// The pool of a name, opened by any language. Entries of another class are not accessible.
    public func pool<Value: AnyObject & Sendable>(
        named name: String, of type: Value.Type
    ) throws(InvivoError) -> Pool<Value> {
        var pool = invivo_pool()
        try core.call(naming: name) { $0.pointee.pool_find(core.handle, $1, &pool, $2) }
        return try Pool(core, pool, name)
    }
}

/// The factory of an entry, for the duration of a call.
private final class PoolMaker {
    let core: Core
    let type: invivo_type
    let make: () throws -> AnyObject
    init(_ core: Core, _ type: invivo_type, _ make: @escaping () throws -> AnyObject) {
        (self.core, self.type, self.make) = (core, type, make)
    }
}

private func makeEntry(
    _ data: UnsafeMutableRawPointer?, _ key: UnsafePointer<invivo_value>?, _ out: UnsafeMutablePointer<invivo_object>?,
    _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> invivo_status {
    guard let data, let out else { return InvivoError.Code.internal.rawValue }
    let maker = Unmanaged<PoolMaker>.fromOpaque(data).takeUnretainedValue()
    return answering(maker.core, error) {
        let made = try maker.make()
        out.pointee = try maker.core.lease(of: made, wrappedAs: maker.type)
    }
}
