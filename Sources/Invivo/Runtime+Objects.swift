internal import CInvivo

extension Runtime {
    /// The object of a key made with runtime arguments, whatever language made it, held until it is let go.
    public func object(_ name: String, with arguments: [any InvivoConvertible]) throws(InvivoError) -> Object {
        guard let object = try found(name, arguments, isOptional: false) else {
            throw InvivoError(.null, "what makes '\(name)' answered null", path: name)
        }
        return object
    }

    /// The same, or nil when what makes it answers null.
    public func objectIfAny(_ name: String, with arguments: [any InvivoConvertible] = []) throws(InvivoError) -> Object?
    {
        try found(name, arguments, isOptional: true)
    }

    private func found(
        _ name: String, _ arguments: [any InvivoConvertible], isOptional: Bool
    ) throws(InvivoError) -> Object? {
        let values = try arguments.values()
        var (key, object) = (invivo_key(), invivo_object())
        try core.call(naming: name) { $0.pointee.key_find(core.handle, $1, &key, $2) }
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
