internal import CInvivo

/// A key of contexts, with the type of its values and an optional default.
///
///     extension ContextKey<User> { static var user: Self { Self("user") } }
///     extension ContextKey<Int> { static var workers: Self { Self("workers", default: 8) } }
///
///     let user = try context[.user]
///
/// Values are of any type that is `InvivoConvertible`, or of any `Sendable` type. A class instance is an object for other languages,
/// and comes back as the identical instance.
///
/// A key is declared to a runtime when it is first used there, with its type and default. Another declaration of the name is an error
/// (`InvivoError.Code.exists`). A `ContextKey<InvivoValue>` without a default declares nothing, and reads values of all types.
public struct ContextKey<Value>: Sendable {
    /// The name of the key in all languages.
    public let name: String
    let form: ContextForm<Value>
    let initial: (@Sendable () -> Value)?

    /// A key whose values convert to values of other languages.
    public init(_ name: String) where Value: InvivoConvertible {
        (self.name, form, initial) = (name, .convertible, nil)
    }

    /// A key whose values convert to values of other languages, with a default.
    ///
    /// - Parameter initial: The result of a lookup that finds no value.
    public init(_ name: String, default initial: Value) where Value: InvivoConvertible & Sendable {
        (self.name, form) = (name, .convertible)
        self.initial = { initial }
    }

    /// A key whose values are objects for other languages.
    @_disfavoredOverload
    public init(_ name: String) where Value: Sendable { (self.name, form, initial) = (name, .object, nil) }

    /// A key whose values are objects for other languages, with a default.
    ///
    /// - Parameter initial: The result of a lookup that finds no value.
    @_disfavoredOverload
    public init(_ name: String, default initial: Value) where Value: Sendable {
        (self.name, form) = (name, .object)
        self.initial = { initial }
    }
}

extension ContextKey: CustomStringConvertible {
    public var description: String { name }
}

/// The conversion of the values of a key.
struct ContextForm<Value>: Sendable {
    /// The kind of the values, and the name of the type of objects.
    let shape: @Sendable (Core) throws(InvivoError) -> (kind: InvivoKind, type: String?)
    let write: @Sendable (Value) throws(InvivoError) -> InvivoValue
    /// The raw value stays the caller's.
    let read: @Sendable (invivo_value, Core) throws(InvivoError) -> Value
}

extension ContextForm where Value: InvivoConvertible {
    static var convertible: Self {
        Self(
            shape: { _ in
                let shape = Value.invivoShape
                return shape.isOptional || !shape.choices.isEmpty ? (.any, nil) : (shape.kind, shape.typeName)
            },
            write: { value throws(InvivoError) in try value.asInvivo() },
            read: { raw, core throws(InvivoError) in try Value.fromInvivo(try InvivoValue(reading: raw, core)) })
    }
}

extension ContextForm where Value: Sendable {
    static var object: Self {
        Self(
            shape: { core throws(InvivoError) in
                (.object, try core.typeQuery((Value.self as? any OptionalValue.Type)?.wrapped ?? Value.self))
            },
            write: { value throws(InvivoError) in
                guard let instance = instance(of: value) else { return .null }
                // An existential may hold an instance of a class.
                if let box = instance as? any AnyBoxed, Swift.type(of: box.any) is AnyClass {
                    return .instance(box.any as AnyObject)
                }
                return .instance(instance)
            },
            read: { raw, core throws(InvivoError) in
                guard raw.kind == InvivoKind.object.rawValue else {
                    throw try InvivoValue(reading: raw, core).mismatch(article(Value.self))
                }
                let value = try core.value(of: raw.as.object, as: Value.self)
                if Value.self is AnyClass { core.know(value as AnyObject, as: raw.as.object) }
                return value
            })
    }
}

/// A key of contexts that a runtime has, by its name and the type of its values.
struct ContextKeyIdentity: Hashable {
    let name: String
    let value: ObjectIdentifier

    /// Names are compared by their bytes, as the library compares them.
    static func == (one: Self, other: Self) -> Bool {
        one.value == other.value && one.name.utf8.elementsEqual(other.name.utf8)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(value)
        hasher.combine(name)
    }
}

/// The declaration of a key in a runtime.
struct DeclaredContextKey {
    let key: invivo_key
    let hasInitial: Bool
    /// The default, if it can be compared and refers to no object.
    let initial: InvivoValue?
}

extension Core {
    /// The key in this runtime. Declares it at its first use.
    func contextKey<Value>(_ key: ContextKey<Value>) throws(InvivoError) -> invivo_key {
        let identity = ContextKeyIdentity(name: key.name, value: ObjectIdentifier(Value.self))
        var initial: InvivoValue?
        if let make = key.initial { initial = try key.form.write(make()) }
        let plain = initial.flatMap { $0.isPlain ? $0 : nil }
        if let known = registry.withLock({ $0.contextKeys[identity] }),
            known.hasInitial == (initial != nil), known.initial == plain
        {
            return known.key
        }
        let (kind, type) = try key.form.shape(self)
        if kind != .any || initial != nil { try declareContextKey(key.name, kind, type, initial) }
        var found = invivo_key()
        try call(naming: key.name) { $0.pointee.key_intern(handle, $1, &found, $2) }
        let declared = DeclaredContextKey(key: found, hasInitial: initial != nil, initial: plain)
        registry.withLock { $0.contextKeys[identity] = declared }
        return found
    }

    fileprivate func declareContextKey(
        _ name: String, _ kind: InvivoKind, _ type: String?, _ initial: InvivoValue?
    ) throws(InvivoError) {
        try withArena { arena throws(InvivoError) in
            var declaration = invivo_context_key()
            declaration.struct_size = MemoryLayout<invivo_context_key>.size
            declaration.name = try arena.name(name)
            declaration.kind = kind.rawValue
            declaration.type_name = try arena.name(type)
            if let initial { declaration.initial = UnsafePointer(arena.table([try initial.borrowed(arena, self)])) }
            try call { $0.pointee.context_declare_key(handle, &declaration, $1) }
        }
    }
}

extension Runtime {
    /// Declares a key of contexts now, and not at its first use.
    public func declare<Value>(_ key: ContextKey<Value>) throws(InvivoError) { _ = try core.contextKey(key) }

    /// Declares a key of contexts by the kind of its values, or by the name of a type of any language. For a
    /// `ContextKey<InvivoValue>`.
    ///
    /// Declaring a key again with the same content is a no-op; with other content it is an error (`InvivoError.Code.exists`).
    ///
    /// - Parameters:
    ///   - kind: The kind to which values are converted, exactly.
    ///   - type: For objects: the type or supertype of the values.
    ///   - initial: The result of a lookup that finds no value.
    public func declareContextKey(
        _ name: String, kind: InvivoKind, type: String? = nil, default initial: InvivoValue? = nil
    ) throws(InvivoError) {
        try core.declareContextKey(name, kind, type, initial)
    }
}

extension InvivoValue {
    /// Whether the value refers to no object, type or function.
    fileprivate var isPlain: Bool {
        switch self {
        case .object, .instance, .type, .callable: false
        case .list(let values): values.allSatisfy(\.isPlain)
        case .map(let values): values.values.allSatisfy(\.isPlain)
        default: true
        }
    }
}
