internal import CInvivo

extension Runtime {
    /// Resolves a key with runtime arguments to an object of any language, held until it is released.
    public func object(_ name: String, with arguments: [any InvivoConvertible]) throws(InvivoError) -> Object {
        var key = invivo_key()
        try core.call(naming: name) { $0.pointee.key_find(core.handle, $1, &key, $2) }
        guard let object = try found(key, arguments, isOptional: false) else {
            throw InvivoError(.null, "the factory of '\(name)' returned null", path: name)
        }
        return object
    }

    /// As above; nil when the key is not defined, its definition is blocked, or its factory returns null.
    public func objectIfAny(_ name: String, with arguments: [any InvivoConvertible] = []) throws(InvivoError) -> Object?
    {
        guard let key = try core.key(ifDefined: name) else { return nil }
        return try found(key, arguments, isOptional: true)
    }

    /// The object of a key that a written function knows.
    public func object(_ key: WrittenKey, with arguments: [any InvivoConvertible]) throws(InvivoError) -> Object {
        guard let object = try found(key.found(in: core), arguments, isOptional: false) else {
            throw InvivoError(.null, "the factory of '\(key.name)' returned null", path: key.name)
        }
        return object
    }

    /// As above; nil when the key is not defined, its definition is blocked, or its factory returns null.
    public func objectIfAny(_ key: WrittenKey, with arguments: [any InvivoConvertible] = []) throws(InvivoError)
        -> Object?
    {
        try found(key.found(in: core), arguments, isOptional: true)
    }

    private func found(
        _ key: invivo_key, _ arguments: [any InvivoConvertible], isOptional: Bool
    ) throws(InvivoError) -> Object? {
        let values = try arguments.values()
        var object = invivo_object()
        try withArena { arena throws(InvivoError) in
            let table = try InvivoValue.table(values, arena, core)
            try core.call {
                isOptional
                    ? $0.pointee.resolve_optional(core.handle, key, table, values.count, &object, $1)
                    : $0.pointee.resolve_with(core.handle, key, table, values.count, &object, $1)
            }
        }
        return object.bits == 0 ? nil : Object(taking: object, core)
    }
}

extension Core {
    /// Returns the key of a name, or nil if the name is unknown. The name is not added.
    func key(ifDefined name: String) throws(InvivoError) -> invivo_key? {
        var key = invivo_key()
        let status = try Arena.whole(name).withCString { table.pointee.key_find(handle, $0, &key, nil) }
        if status == 0 { return key }
        if status == InvivoError.Code.notFound.rawValue { return nil }
        try call(naming: name) { $0.pointee.key_find(handle, $1, &key, $2) }
        return key
    }
}
