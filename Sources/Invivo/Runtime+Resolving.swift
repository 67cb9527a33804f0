public import CInvivo

extension Runtime {
    /// The key of a defined name; an unknown one is `.notFound` and names the nearest.
    public func key<Value>(_ name: String, as type: Value.Type = Value.self) throws(InvivoError) -> Key<Value> {
        try core.key(name, as: type)
    }

    /// The key of a declared block, with the struct to read it as.
    public func block<Content: BitwiseCopyable & Sendable>(
        _ name: String, as type: Content.Type = Content.self
    ) throws(InvivoError) -> BlockKey<Content> {
        try core.blockKey(name, as: type)
    }

    /// The instance of a key. A built shared instance costs nanoseconds and never waits. A cold one is built once, even
    /// when several threads request it.
    @inlinable
    public func resolve<Instance: AnyObject>(_ key: Key<Instance>) throws(InvivoError) -> Instance {
        if let instance = core.withShared(
            key.handle, key.type, { Unmanaged<Instance>.fromOpaque($0).retain() })
        {
            return instance.takeRetainedValue()
        }
        return try core.resolve(key.handle, as: Instance.self)
    }

    /// The value of a key.
    @inlinable
    public func resolve<Value>(_ key: Key<Value>) throws(InvivoError) -> Value {
        if let value = core.withShared(key.handle, key.type, { key.value(at: $0) }) { return value }
        return try core.resolve(key.handle, as: Value.self)
    }

    /// The instance of a key by its name.
    public func resolve<Value>(_ name: String, as type: Value.Type = Value.self) throws(InvivoError) -> Value {
        try resolve(try key(name, as: type))
    }

    /// Resolves a prototype with runtime arguments, which follow the arguments of its definition.
    public func resolve<Value>(
        _ key: Key<Value>, with arguments: any InvivoConvertible...
    ) throws(InvivoError) -> Value {
        try core.resolve(key.handle, with: try arguments.values(), as: Value.self)
    }

    /// Resolves a key to an object of any language, held until it is released.
    public func object(_ name: String) throws(InvivoError) -> Object {
        var object = invivo_object()
        try core.call(naming: name) { $0.pointee.resolve_name(core.handle, $1, &object, $2) }
        return Object(taking: object, core)
    }

    /// The object of a Swift instance whose class is described.
    public func object(for instance: AnyObject) throws(InvivoError) -> Object {
        Object(taking: try core.lease(of: instance), core)
    }

    /// Creates an object of a registered type without a definition. It belongs to the calling thread.
    public func make(_ type: TypeReference, _ arguments: any InvivoConvertible...) throws(InvivoError) -> Object {
        try make(type, with: arguments)
    }

    /// Creates an object of a registered type, with an array of arguments.
    public func make(_ type: TypeReference, with arguments: [any InvivoConvertible]) throws(InvivoError) -> Object {
        let values = try arguments.values()
        var object = invivo_object()
        try withArena { arena throws(InvivoError) in
            let table = try InvivoValue.table(values, arena, core)
            try core.call { $0.pointee.object_make(core.handle, type.handle, table, values.count, &object, $1) }
        }
        return Object(taking: object, core)
    }

    /// Reads through a view: everything read in `body` belongs to one generation, and nothing in it waits.
    @inlinable
    public func view<Result, Failure: Error>(_ body: (borrowing View) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        let raw = core.beginView()
        defer { core.table.pointee.view_end(raw) }
        let view = View(raw, core)
        return try body(view)
    }

    /// The content of a block in the current generation.
    @inlinable
    public subscript<Content>(key: BlockKey<Content>) -> Content { view { $0[key] } }
}
