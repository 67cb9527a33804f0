internal import CInvivo

/// Objects of any language, by the names of their types.
extension Runtime {
    /// Resolves the one definition of a type or of a subtype, by the type's name. `name` restricts the lookup to keys
    /// of a name, `lead` or `synth.lead`. With `exact`, subtypes are excluded.
    public func object(
        ofType type: String, named name: String? = nil, exact: Bool = false
    ) throws(InvivoError) -> Object {
        guard let object = try found(type, name, exact ? UInt32(INVIVO_LOOKUP_EXACT) : 0) else {
            throw InvivoError(.null, "the factory of \(article(type)) returned null")
        }
        return object
    }

    /// Resolves a type by its name; nil without a definition.
    public func objectIfAny(
        ofType type: String, named name: String? = nil, exact: Bool = false
    ) throws(InvivoError) -> Object? {
        let flags = UInt32(INVIVO_LOOKUP_OPTIONAL) | (exact ? UInt32(INVIVO_LOOKUP_EXACT) : 0)
        return try found(type, name, flags)
    }

    /// Resolves one object of each definition of a type, by its name: by rank, then in the order of declaration.
    public func objects(ofType type: String, exact: Bool = false) throws(InvivoError) -> [Object] {
        var list = invivo_null()
        let flags = exact ? UInt32(INVIVO_LOOKUP_EXACT) : 0
        try core.call(naming: type) { $0.pointee.resolve_all(core.handle, $1, flags, &list, $2) }
        return try InvivoValue(taking: &list, core).get([Object].self)
    }

    private func found(_ type: String, _ name: String?, _ flags: UInt32) throws(InvivoError) -> Object? {
        var object = invivo_object()
        try withArena { arena throws(InvivoError) in
            let name = try arena.name(name)
            try core.call(naming: type) { $0.pointee.resolve_type(core.handle, $1, name, flags, &object, $2) }
        }
        return object.bits == 0 ? nil : Object(taking: object, core)
    }
}
