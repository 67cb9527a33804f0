internal import CInvivo

/// Values of contexts and of the configuration, and strings.
extension Injection {
    /// The configuration value at a path, converted to the type of the receiver. The path is looked up in the
    /// definition's own assembly first, then globally; `"/drums.voices"` is a whole path. A changed value updates its
    /// dependents, like a changed definition.
    public static func config(_ path: String) -> Injection { Injection(.config(path, nil, .any)) }

    /// As above, with a default for a missing value.
    public static func config(_ path: String, default value: some InvivoConvertible) -> Injection {
        Injection(.config(path, Inner(.value(value)), .any))
    }

    /// The value of a key of contexts: a lookup from the context in which the object is created.
    ///
    /// With a kind, from the nearest context of that kind. Without a value and a default it is an error, unless it is `optional`.
    public static func context<Value>(_ key: ContextKey<Value>, of kind: String? = nil) -> Injection {
        Injection(
            .context(key.name, kind: kind, nil) { core throws(InvivoError) in _ = try core.contextKey(key) })
    }

    /// As above, with a default for a missing value.
    public static func context<Value>(
        _ key: ContextKey<Value>, of kind: String? = nil, default value: some InvivoConvertible
    ) -> Injection {
        Injection(
            .context(key.name, kind: kind, Inner(.value(value))) { core throws(InvivoError) in
                _ = try core.contextKey(key)
            })
    }

    /// The value of a key of contexts, by the key's name.
    public static func context(named key: String, of kind: String? = nil) -> Injection {
        Injection(.context(key, kind: kind, nil) { _ in })
    }

    /// As above, with another injection for a missing value.
    public static func context(named key: String, of kind: String? = nil, default other: Injection) -> Injection {
        Injection(.context(key, kind: kind, Inner(other)) { _ in })
    }

    /// The value of a string, converted by the named converter, or by the receiver's.
    public static func text(_ text: String, by converter: String? = nil) -> Injection {
        Injection(.text(Inner(.value(text)), converter))
    }

    /// Converts a string of the configuration: `.config("limit").read(by: "bytes")`.
    public func read(by converter: String) -> Injection { Injection(.text(Inner(self), converter)) }

    /// The same injection with the receiver's type, where the engine does not know it.
    func placed(in type: Any.Type) -> Injection {
        let wrapped = (type as? any OptionalValue.Type)?.wrapped ?? type
        if case .config = how, let place = wrapped as? AnyClass, wrapped != Object.self, wrapped != Callable.self {
            var copy = self
            copy.place = place
            if wrapped != type { copy.isOptional = true }
            return copy
        }
        guard case .config(let path, let other, .any) = how,
            let shape = (type as? any InvivoConvertible.Type)?.invivoShape, shape.choices.isEmpty
        else { return self }
        var copy = self
        copy.how = .config(path, other, shape.kind)
        if shape.isOptional { copy.isOptional = true }
        return copy
    }
}

/// An initializer with the given injections for its first parameters, in order; the others are injected by type:
/// `singleton(wired(.config("voices"), .config("name", default: "lead"), by: Voice.init))`.
public func wired<Value, each Parameter>(
    _ injections: Injection..., by make: @escaping @Sendable (repeat each Parameter) throws -> Value
) -> Maker<Value> {
    var types: [Any.Type] = []
    for type in repeat (each Parameter).self { types.append(type) }
    var wanted = typeQueries(repeat (each Parameter).self)
    for (index, injection) in injections.enumerated() where index < wanted.count {
        wanted[index] = injection.placed(in: types[index])
    }
    let problem =
        injections.count > types.count
        ? InvivoError(
            .arity,
            "\(injections.count) injections are declared, and \(types.count) parameters take one: leave out the last")
        : nil
    return Maker(injections: wanted, problem: problem) { _, arguments in
        try instance(of: make(repeat try arguments.next((each Parameter).self)))
    }
}
