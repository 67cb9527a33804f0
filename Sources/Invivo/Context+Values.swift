internal import CInvivo

extension Context {
    /// The value of a key in the context, in the nearest context above it that has one, or the default of the key.
    ///
    /// Fails with `InvivoError.Code.notFound` if there is none, and with `InvivoError.Code.orphaned` if a parent has ended below which
    /// the key was not found.
    public subscript<Value>(key: ContextKey<Value>) -> Value {
        get throws(InvivoError) {
            let raw = try core.contextKey(key)
            var value = invivo_null()
            try core.plainCall { $0.pointee.context_get(handle, raw, &value, $1) }
            return try taken(&value, key)
        }
    }

    /// Returns the value that the subscript finds; nil if there is none.
    public func value<Value>(for key: ContextKey<Value>) throws(InvivoError) -> Value? {
        try found(key) { $0.pointee.context_get(handle, $1, $2, $3) }
    }

    /// Returns the value that the context itself has; nil if it has none.
    public func local<Value>(_ key: ContextKey<Value>) throws(InvivoError) -> Value? {
        try found(key) { $0.pointee.context_get_local(handle, $1, $2, $3) }
    }

    private typealias Get = (Table, invivo_key, UnsafeMutablePointer<invivo_value>, ErrorOut?) -> invivo_status

    /// A missing value creates no error.
    private func found<Value>(_ key: ContextKey<Value>, _ get: Get) throws(InvivoError) -> Value? {
        let raw = try core.contextKey(key)
        var value = invivo_null()
        let status = core.inTaskPin { get(core.table, raw, &value, nil) }
        guard status != InvivoError.Code.notFound.rawValue else { return nil }
        if status != 0 { try core.plainCall { get($0, raw, &value, $1) } }
        return try taken(&value, key)
    }

    /// Takes over the result of a get.
    private func taken<Value>(_ value: inout invivo_value, _ key: ContextKey<Value>) throws(InvivoError) -> Value {
        defer { core.table.pointee.value_clear(&value) }
        do throws(InvivoError) { return try key.form.read(value, core) } catch {
            throw error.inside(key.name)
        }
    }

    /// Sets a value in this context. It shadows the values above.
    ///
    /// Fails with `InvivoError.Code.readOnly` for a value that the kind of the context provides and that is not `live`.
    public func set<Value>(_ key: ContextKey<Value>, to value: Value) throws(InvivoError) {
        let raw = try core.contextKey(key)
        let value = try key.form.write(value)
        try withArena { arena throws(InvivoError) in
            var value = try value.borrowed(arena, core)
            try core.call { $0.pointee.context_set(handle, raw, &value, $1) }
        }
    }

    /// Removes the value or the tombstone of this context: lookups find the value above again. Fails with
    /// `InvivoError.Code.notFound` if there is none.
    public func remove<Value>(_ key: ContextKey<Value>) throws(InvivoError) {
        let raw = try core.contextKey(key)
        try core.call { $0.pointee.context_remove(handle, raw, $1) }
    }

    /// Hides a key with a tombstone: lookups from this context and below find no value above it, and not the default.
    public func hide<Value>(_ key: ContextKey<Value>) throws(InvivoError) {
        let raw = try core.contextKey(key)
        try core.call { $0.pointee.context_hide(handle, raw, $1) }
    }

    /// Changes several keys at one instant: all or none.
    ///
    ///     try context.change {
    ///         $0.set(.user, to: user)
    ///         $0.remove(.guest)
    ///     }
    ///
    /// A key that occurs twice is an error. If the closure throws, nothing is changed.
    public func change(_ body: (inout ContextChange) throws -> Void) throws {
        var change = ContextChange()
        try body(&change)
        try withArena { arena throws(InvivoError) in
            let raw = try change.raw(arena, core)
            try core.call { $0.pointee.context_change_values(handle, raw, change.edits.count, $1) }
        }
    }

    /// A value that lookups from a context find.
    public struct Entry {
        /// The name of the key.
        public let name: String
        /// The value.
        public let value: InvivoValue
        /// The number of contexts between: 0 for the context itself.
        public let distance: Int
    }

    /// The values that lookups from the context find, sorted by name. Fails with `InvivoError.Code.orphaned` if a parent has ended.
    public var entries: [Entry] { get throws(InvivoError) { try entries(local: false) } }

    /// The values of the context itself, sorted by name.
    public var localEntries: [Entry] { get throws(InvivoError) { try entries(local: true) } }

    private func entries(local: Bool) throws(InvivoError) -> [Entry] {
        var raw = invivo_null()
        try core.call { $0.pointee.context_entries(handle, local, &raw, $1) }
        guard case .list(let entries) = try InvivoValue(taking: &raw, core) else { return [] }
        return entries.compactMap { entry in
            guard case .list(let parts) = entry, parts.count == 3, case .string(let name) = parts[0],
                case .uint64(let distance) = parts[2]
            else { return nil }
            return Entry(name: name, value: parts[1], distance: Int(clamping: distance))
        }
    }
}

/// The user data of an observer of a key.
private final class ContextObserverBox: Sendable {
    let core: Core
    let notify: @Sendable (invivo_value?) throws -> Void
    let end: @Sendable () -> Void

    init(
        _ core: Core, _ notify: @escaping @Sendable (invivo_value?) throws -> Void,
        _ end: @escaping @Sendable () -> Void
    ) {
        (self.core, self.notify, self.end) = (core, notify, end)
    }
}

extension Context {
    /// Calls `body` after changes of a key in the context or above it, with the current value; nil if there is none.
    ///
    /// It is called on the thread of the change. Changes that follow each other closely are one call. Errors that it throws are noted:
    /// see `Runtime.note`. The observer ends by `Observer.close`, or with the context. Dropping the result does not close it.
    @discardableResult
    public func observe<Value>(
        _ key: ContextKey<Value>, _ body: @escaping @Sendable (Value?) throws -> Void
    ) throws(InvivoError) -> Observer {
        try observe(key, body, end: {})
    }

    /// The values of a key after each change of it from now on; nil without a value. It ends with the context.
    ///
    /// Only the newest value is kept for a task that does not keep up. To run it on an actor, iterate there.
    public func values<Value: Sendable>(of key: ContextKey<Value>) throws(InvivoError) -> AsyncStream<Value?> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value?.self, bufferingPolicy: .bufferingNewest(1))
        let observer = try observe(key, { continuation.yield($0) }, end: { continuation.finish() })
        continuation.onTermination = { reason in
            // At the regular end, the observer is closed already.
            if case .cancelled = reason { try? observer.close() }
        }
        return stream
    }

    private func observe<Value>(
        _ key: ContextKey<Value>, _ body: @escaping @Sendable (Value?) throws -> Void,
        end: @escaping @Sendable () -> Void
    ) throws(InvivoError) -> Observer {
        let raw = try core.contextKey(key)
        let core = core
        let box = Unmanaged.passRetained(
            ContextObserverBox(core, { value in try body(try value.map { try key.form.read($0, core) }) }, end))
        var options = invivo_context_observer()
        options.struct_size = MemoryLayout<invivo_context_observer>.size
        options.user_data = box.toOpaque()
        options.changed = { data, _, _, value in
            guard let data else { return }
            let box = Unmanaged<ContextObserverBox>.fromOpaque(data).takeUnretainedValue()
            box.core.noting("an observer of a context") { try box.notify(value?.pointee) }
        }
        options.destroy = { data in
            guard let data else { return }
            Unmanaged<ContextObserverBox>.fromOpaque(data).takeRetainedValue().end()
        }
        var handle = invivo_observer()
        do throws(InvivoError) {
            try core.call { $0.pointee.context_observe(self.handle, raw, &options, &handle, $1) }
        } catch {
            box.release()
            throw error
        }
        return Observer(core, handle)
    }
}
