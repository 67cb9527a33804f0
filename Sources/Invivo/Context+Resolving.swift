internal import CInvivo

/// Resolves in a context, which is the current one meanwhile: objects of the context's kind are found in it and above.
extension Context {
    /// The object of a key.
    public func callAsFunction<Value>(_ key: Key<Value>) throws(InvivoError) -> Value { try resolve(key) }

    /// The object of a definition: `try request(web.handler)`.
    public func callAsFunction<Value, each Argument>(
        _ definition: Definition<Value, repeat each Argument>, _ arguments: repeat each Argument
    ) throws(InvivoError) -> Value {
        let bound = try definition.standing()
        try require(in: bound.pointee.core.takeUnretainedValue())
        let values = try definition.values(core, repeat each arguments)
        return try resolve(bound.pointee.key, with: values, as: Value.self)
    }

    /// The object of a key.
    ///
    /// Fails with `InvivoError.Code.notReady` for an object of a kind of which no context is open here or above.
    public func resolve<Value>(_ key: Key<Value>) throws(InvivoError) -> Value {
        try resolve(key.handle, with: [], as: Value.self)
    }

    /// The object of a key by its name.
    public func resolve<Value>(_ name: String, as type: Value.Type = Value.self) throws(InvivoError) -> Value {
        try resolve(try core.key(name, as: type))
    }

    /// Resolves a prototype with runtime arguments, which follow the arguments of its definition.
    public func resolve<Value>(
        _ key: Key<Value>, with arguments: any InvivoConvertible...
    ) throws(InvivoError) -> Value {
        try resolve(key.handle, with: try arguments.values(), as: Value.self)
    }

    /// Resolves the one definition of a type, as `Runtime.resolve`.
    public func resolve<Value>(_ type: Value.Type = Value.self) throws(InvivoError) -> Value {
        try inside { () throws(InvivoError) in try core.find(type) }
    }

    /// Resolves a type among the keys of a name, `lead` or `synth.lead`. With `exact`, derived types are excluded.
    public func resolve<Value>(
        _ type: Value.Type, named name: String?, exact: Bool = false
    ) throws(InvivoError) -> Value {
        try inside { () throws(InvivoError) in try runtime.resolve(type, named: name, exact: exact) }
    }

    /// Resolves one object of each definition of a type, by rank, then in the order of declaration.
    public func all<Value>(of type: Value.Type = Value.self, exact: Bool = false) throws(InvivoError) -> [Value] {
        try inside { () throws(InvivoError) in try core.all(type, exact: exact) }
    }

    /// Resolves a key to an object of any language, held until it is released.
    public func object(_ name: String) throws(InvivoError) -> Object {
        try inside { () throws(InvivoError) in try runtime.object(name) }
    }

    private func resolve<Value>(
        _ key: invivo_key, with arguments: [InvivoValue], as type: Value.Type
    ) throws(InvivoError) -> Value {
        guard arguments.isEmpty, !(type is any OptionalValue.Type) else {
            return try inside { () throws(InvivoError) in try core.resolve(key, with: arguments, as: type) }
        }
        try Planning.notice(core)
        var object = invivo_object()
        try core.plainCall { $0.pointee.context_resolve(handle, key, &object, $1) }
        defer { _ = core.table.pointee.object_release(object) }
        return try core.of(key) { () throws(InvivoError) in try core.value(of: object, as: type) }
    }

    private func inside<Result>(_ body: () throws(InvivoError) -> Result) throws(InvivoError) -> Result {
        do { return try entered(body) } catch { throw InvivoError(error) }
    }
}
