public import CInvivo

extension Core {
    /// Runs `body` with the built shared instance of a key whose entry is of the given type, borrowed. Returns nil when
    /// a slower check is necessary. The hot path: no lock, no allocation, no reference counting.
    @inlinable @inline(__always)
    func withShared<Result>(
        _ key: invivo_key, _ type: UInt64, _ body: (UnsafeMutableRawPointer) -> Result
    ) -> Result? {
        let view = beginView()
        defer { table.pointee.view_end(view) }
        guard let instance = instance(view, key, type) else { return nil }
        return body(instance)
    }

    /// The built shared instance of a key in a view, when its entry is of the given type.
    @inlinable @inline(__always)
    func instance(_ view: invivo_view, _ key: invivo_key, _ type: UInt64) -> UnsafeMutableRawPointer? {
        guard type != 0, let entry = invivo_view_entry(view, key), let cell = invivo_entry_cell(entry),
            let instance = invivo_cell_instance(cell) ?? table.pointee.view_get_confined(view, key),
            // In this order: the type is stored before the instance.
            invivo_entry_type(entry) == type
        else { return nil }
        return instance
    }

    /// As above, for an entry of another type than that of the key's lookup. A decorator or a later definition may have
    /// stored an instance of another class. Its registered class shows whether it is a `Value`.
    @usableFromInline
    func instance<Value>(_ view: invivo_view, _ key: Key<Value>) -> UnsafeMutableRawPointer? {
        guard let entry = invivo_view_entry(view, key.handle) else { return nil }
        // The type of an instance that is being stored is stored before it.
        let type = invivo_entry_type(entry)
        guard type != key.type, let found = instance(view, key.handle, type) else { return nil }
        let now = self.key(key.handle, key.name, type: type) as Key<Value>
        return now.type != 0 && now.isBoxed == key.isBoxed ? found : nil
    }

    /// Resolves with a lease. Builds cold objects, and records the dependency of a running factory.
    @usableFromInline
    func resolve<Value>(_ key: invivo_key, as type: Value.Type) throws(InvivoError) -> Value {
        try resolve(key, as: type, .program)
    }

    func resolve<Value>(
        _ key: invivo_key, as type: Value.Type, _ holder: Object.Holder
    ) throws(InvivoError) -> Value {
        try Planning.notice(self)
        var object = invivo_object()
        if type is any OptionalValue.Type {
            try call { $0.pointee.resolve_optional(handle, key, nil, 0, &object, $1) }
        } else {
            try call { $0.pointee.resolve(handle, key, &object, $1) }
        }
        defer { if object.bits != 0 { _ = table.pointee.object_release(object) } }
        return try of(key) { () throws(InvivoError) in try value(orNone: object, as: type, holder) }
    }

    /// Adds the path of this key to an error of the body without a path.
    func of<Result>(
        _ key: invivo_key, _ body: () throws(InvivoError) -> Result
    ) throws(InvivoError) -> Result {
        do throws(InvivoError) { return try body() } catch {
            guard error.path.isEmpty, let name = table.pointee.key_name(key) else { throw error }
            var error = error
            error.path = String(cString: name)
            throw error
        }
    }

    /// Resolves with runtime arguments. An optional `Value` is nil if the factory returned null.
    func resolve<Value>(
        _ key: invivo_key, with arguments: [InvivoValue], as type: Value.Type, _ holder: Object.Holder = .program
    ) throws(InvivoError) -> Value {
        try Planning.notice(self)
        var object = invivo_object()
        try withArena { arena throws(InvivoError) in
            let values = try InvivoValue.table(arguments, arena, self)
            if type is any OptionalValue.Type {
                try call { $0.pointee.resolve_optional(handle, key, values, arguments.count, &object, $1) }
            } else {
                try call { $0.pointee.resolve_with(handle, key, values, arguments.count, &object, $1) }
            }
        }
        defer { if object.bits != 0 { _ = table.pointee.object_release(object) } }
        return try of(key) { () throws(InvivoError) in try value(orNone: object, as: type, holder) }
    }
}
