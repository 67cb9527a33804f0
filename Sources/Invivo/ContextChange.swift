internal import CInvivo

/// A value for a key of a context that opens: `[.set(.user, to: user)]`.
///
/// It is no dictionary literal (`[.user: user]`), because the compiler could not check each value against the type of its key there.
public struct ContextValue {
    let edit: ContextEdit

    /// A value under a key.
    public static func set<Value>(_ key: ContextKey<Value>, to value: Value) -> Self {
        Self(edit: .set(key, value))
    }
}

/// Changes of several keys of a context that take effect at one instant. See `Context.change`.
public struct ContextChange {
    var edits: [ContextEdit] = []

    /// Sets a value, which shadows the values above.
    public mutating func set<Value>(_ key: ContextKey<Value>, to value: Value) { edits.append(.set(key, value)) }

    /// Removes the value or the tombstone of the context. The change fails if there is none.
    public mutating func remove<Value>(_ key: ContextKey<Value>) {
        edits.append(.without(key, UInt32(INVIVO_VALUE_REMOVE)))
    }

    /// Hides a key: lookups from the context and below find no value above it, and not the default.
    public mutating func hide<Value>(_ key: ContextKey<Value>) {
        edits.append(.without(key, UInt32(INVIVO_VALUE_HIDE)))
    }
}

/// The change of one key of a context.
struct ContextEdit {
    let what: UInt32
    /// The key and the value in a runtime.
    let read: (Core) throws(InvivoError) -> (key: invivo_key, value: InvivoValue)

    static func set<Value>(_ key: ContextKey<Value>, _ value: Value) -> Self {
        Self(what: UInt32(INVIVO_VALUE_SET)) { core throws(InvivoError) in
            (try core.contextKey(key), try key.form.write(value))
        }
    }

    static func without<Value>(_ key: ContextKey<Value>, _ what: UInt32) -> Self {
        Self(what: what) { core throws(InvivoError) in (try core.contextKey(key), .null) }
    }
}

extension Array where Element == ContextValue {
    /// For the opening of a context, borrowed from the arena.
    func opening(_ arena: Arena, _ core: Core) throws(InvivoError) -> UnsafePointer<invivo_context_value>? {
        var table: [invivo_context_value] = []
        for value in self {
            let (key, value) = try value.edit.read(core)
            table.append(invivo_context_value(key: key, value: try value.borrowed(arena, core)))
        }
        return UnsafePointer(arena.table(table))
    }
}

extension ContextChange {
    /// For one change, borrowed from the arena.
    func raw(_ arena: Arena, _ core: Core) throws(InvivoError) -> UnsafePointer<invivo_context_change>? {
        var table: [invivo_context_change] = []
        for edit in edits {
            let (key, value) = try edit.read(core)
            table.append(
                invivo_context_change(key: key, what: edit.what, reserved: 0, value: try value.borrowed(arena, core)))
        }
        return UnsafePointer(arena.table(table))
    }
}
