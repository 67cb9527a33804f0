internal import CInvivo

extension Runtime {
    /// Resolves the one definition of a type: of a class or a derived class, or of a protocol (`(any Clock).self`).
    ///
    /// Several definitions of the highest rank are an error that lists them. An optional is nil without a definition;
    /// an array has one object of each definition; a `Provider` or `Lazy` resolves later.
    public func resolve<Value>(_ type: Value.Type = Value.self) throws(InvivoError) -> Value {
        try core.find(type)
    }

    /// Resolves a type among the keys of a name, `lead` or `synth.lead`. With `exact`, derived types are excluded.
    public func resolve<Value>(
        _ type: Value.Type, named name: String?, exact: Bool = false
    ) throws(InvivoError) -> Value {
        try Planning.notice(core)
        let optional = type as? any OptionalValue.Type
        let wanted = try core.typeQuery(optional?.wrapped ?? type)
        let core = core
        let flags =
            (exact ? UInt32(INVIVO_LOOKUP_EXACT) : 0) | (optional == nil ? 0 : UInt32(INVIVO_LOOKUP_OPTIONAL))
        var object = invivo_object()
        try withArena { arena throws(InvivoError) in
            let name = try arena.name(name)
            try core.call(naming: wanted) { $0.pointee.resolve_type(core.handle, $1, name, flags, &object, $2) }
        }
        defer { if object.bits != 0 { _ = core.table.pointee.object_release(object) } }
        return try core.value(orNone: object, as: type)
    }

    /// Resolves one object of each definition of a type, by rank, then in the order of declaration. Objects of graph
    /// scope are shared within the call.
    public func all<Value>(of type: Value.Type = Value.self, exact: Bool = false) throws(InvivoError) -> [Value] {
        try core.all(type, exact: exact)
    }
}

extension Core {
    func find<Value>(key name: String, as type: Value.Type) throws(InvivoError) -> Value {
        try Planning.notice(self)
        var object = invivo_object()
        try call(naming: name) { $0.pointee.resolve_name(handle, $1, &object, $2) }
        defer { if object.bits != 0 { _ = table.pointee.object_release(object) } }
        return try value(orNone: object, as: type, .component)
    }
}
