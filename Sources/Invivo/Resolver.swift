internal import CInvivo

/// Gives a factory access to other definitions. A resolved object becomes a dependency of the created object: when it
/// changes, the created object is rebuilt. In a factory, use the resolver instead of the assembly or the runtime.
public struct Resolver: Sendable {
    let core: Core
    let home: Home?

    /// The assembly that contains the definition. Any thread may read its definitions, which are not written any more.
    final class Home: @unchecked Sendable {
        let assembly: Assembly
        /// The remaps of a mounted assembly.
        let remaps: Remaps

        init(_ assembly: Assembly, _ remaps: Remaps = Remaps()) {
            self.assembly = assembly
            self.remaps = remaps
        }
    }

    init(_ core: Core, _ home: Home?) {
        self.core = core
        self.home = home
    }

    /// The instance of a key by its name; without a dot it is a member of the assembly, where there is one of the name.
    public func callAsFunction<Value>(_ name: String, as type: Value.Type = Value.self) throws(InvivoError) -> Value {
        try Planning.notice(core)
        var object = invivo_object()
        try core.call(naming: whole(name)) { $0.pointee.resolve_name(core.handle, $1, &object, $2) }
        defer { if object.bits != 0 { _ = core.table.pointee.object_release(object) } }
        return try core.value(orNone: object, as: type, .component)
    }

    /// The instance of a key.
    public func callAsFunction<Value>(_ key: Key<Value>) throws(InvivoError) -> Value {
        try core.resolve(key.handle, as: Value.self, .component)
    }

    /// Resolves the one definition of a type: of a class or a derived class, or of a protocol. An optional is nil
    /// without a definition; an array has one object of each definition; a `Provider` or `Lazy` resolves later.
    public func callAsFunction<Value>(_ type: Value.Type = Value.self) throws(InvivoError) -> Value {
        try core.find(type)
    }

    /// The assembly that contains the definition: `resolver.assembly(Synth.self).voice(60)`.
    public func assembly<Part: Assembly>(_ type: Part.Type = Part.self) throws(InvivoError) -> Part {
        try own().as(Part.self)
    }

    /// Resolves another definition of the assembly: `resolver(\Synth.clock)`, `resolver(\Synth.voice, 60)`.
    public func callAsFunction<Part: Assembly, Value, each Argument>(
        _ path: KeyPath<Part, Definition<Value, repeat each Argument>>, _ arguments: repeat each Argument
    ) throws(InvivoError) -> Value {
        try self(try own().as(Part.self)[keyPath: path], repeat each arguments)
    }

    /// Resolves a definition of a collaborator: `resolver(\Synth.tuning, \.scale)`.
    public func callAsFunction<Part: Assembly, Other, Value, each Argument>(
        _ collaborator: KeyPath<Part, Collaborator<Other>>,
        _ path: KeyPath<Other, Definition<Value, repeat each Argument>>, _ arguments: repeat each Argument
    ) throws(InvivoError) -> Value {
        let other = try own().as(Part.self)[keyPath: collaborator].met()
        return try self(other[keyPath: path], repeat each arguments)
    }

    /// Resolves a collaborator's key by name: `resolver(\Synth.studio, "scale", as: Scale.self)`.
    public func callAsFunction<Part: Assembly, Value>(
        _ collaborator: KeyPath<Part, NamedCollaborator>, _ key: String, as type: Value.Type = Value.self
    ) throws(InvivoError) -> Value {
        try self("\(try own().as(Part.self)[keyPath: collaborator].prefix ?? "").\(key)", as: type)
    }

    /// Resolves a definition.
    public func callAsFunction<Value, each Argument>(
        _ definition: Definition<Value, repeat each Argument>, _ arguments: repeat each Argument
    ) throws(InvivoError) -> Value {
        guard let place = definition.place, place.core === core else {
            throw InvivoError(
                .notReady,
                "the referenced definition is not active in this runtime; activate its assembly together "
                    + "with this one", file: "\(definition.draft.file)", line: Int(definition.draft.line))
        }
        let values = try definition.values(core, repeat each arguments)
        return try core.resolve(place.key, with: values, as: Value.self, .component)
    }

    /// The whole key of a name.
    private func whole(_ name: String) -> String {
        guard let home else { return name }
        guard !name.contains(".") else { return home.remaps(name) }
        let own = home.assembly.name
        return core.registry.withLock { $0.assemblies[own]?.members[name]?.name } ?? home.remaps(name)
    }

    private func own() throws(InvivoError) -> Assembly {
        guard let home else {
            throw InvivoError(.argument, "the recipe belongs to no assembly; resolve by a key's name, or by type")
        }
        return home.assembly
    }
}

extension Core {
    /// Resolves a type.
    func find<Value>(_ type: Value.Type) throws(InvivoError) -> Value {
        if let special = type as? any Found.Type {
            if let found = try special.found(self) as? Value { return found }
            throw InvivoError(.internal, "\(article(type)) was not found as one; please report this")
        }
        guard let found = try one(type, optional: false, as: Value.self) else {
            throw InvivoError(.notFound, "no definition creates \(article(type))")
        }
        return found
    }

    /// The definition of a type that is closest to the calling code, for later lookups. Nil without a definition, or
    /// with several.
    fileprivate func closest(_ type: Any.Type) -> invivo_key? {
        guard !(type is any Found.Type), let name = try? typeQuery(type) else { return nil }
        var key = invivo_key()
        try? call(naming: name) { $0.pointee.key_of_type(handle, $1, nil, UInt32(INVIVO_LOOKUP_OPTIONAL), &key, $2) }
        return key.bits == 0 ? nil : key
    }

    /// Resolves a type later. Among several equal candidates, it selects the definition that was the closest one, if it
    /// still exists.
    fileprivate func find<Value>(_ type: Value.Type, closest: invivo_key?) throws(InvivoError) -> Value {
        do { return try find(type) } catch {
            guard error.code == .ambiguous, let closest else { throw error }
            guard let found = try? resolve(closest, with: [], as: type, .component) else { throw error }
            return found
        }
    }

    /// Resolves the only definition of a type. Returns nil if no definition exists and `optional` is set.
    func one<Value>(
        _ wanted: Any.Type, optional: Bool, as type: Value.Type
    ) throws(InvivoError) -> Value? {
        try Planning.notice(self)
        var object = invivo_object()
        let name = try typeQuery(wanted)
        let flags = optional ? UInt32(INVIVO_LOOKUP_OPTIONAL) : 0
        try call(naming: name) { $0.pointee.resolve_type(handle, $1, nil, flags, &object, $2) }
        guard object.bits != 0 else { return nil }
        defer { _ = table.pointee.object_release(object) }
        return try value(of: object, as: type, .component)
    }

    /// One object of each definition of a type.
    func all<Element>(_ type: Element.Type, exact: Bool) throws(InvivoError) -> [Element] {
        try Planning.notice(self)
        let name = try typeQuery(type)
        var list = invivo_null()
        let flags = exact ? UInt32(INVIVO_LOOKUP_EXACT) : 0
        try call(naming: name) { $0.pointee.resolve_all(handle, $1, flags, &list, $2) }
        defer { table.pointee.value_clear(&list) }
        return try take(list, as: [Element].self)
    }
}

/// A type that is looked for otherwise than by one definition of it.
private protocol Found {
    static func found(_ core: Core) throws(InvivoError) -> Self
}

extension Optional: Found {
    static func found(_ core: Core) throws(InvivoError) -> Wrapped? {
        if Wrapped.self is any Found.Type { return try core.find(Wrapped.self) }
        return try core.one(Wrapped.self, optional: true, as: Wrapped.self)
    }
}

extension Array: Found {
    static func found(_ core: Core) throws(InvivoError) -> [Element] {
        try core.all(Element.self, exact: false)
    }
}

extension Provider: Found {
    static func found(_ core: Core) throws(InvivoError) -> Provider<Value> {
        let closest = core.closest(Value.self)
        return Provider { arguments throws(InvivoError) in
            guard arguments.isEmpty else {
                throw InvivoError(.arity, "a provider by type takes no arguments, got \(arguments.count)")
            }
            return try core.find(Value.self, closest: closest)
        }
    }
}

extension Lazy: Found {
    static func found(_ core: Core) throws(InvivoError) -> Lazy<Value> {
        let closest = core.closest(Value.self)
        return Lazy { () throws(InvivoError) in try core.find(Value.self, closest: closest) }
    }
}

extension Weak: Found {
    static func found(_ core: Core) throws(InvivoError) -> Weak<Value> {
        throw InvivoError(
            .unsupported,
            "a Weak<\(Value.self)> is injected, into an initializer, a property or a method; a lookup answers an object"
        )
    }
}

extension Resolver: Found {
    static func found(_ core: Core) throws(InvivoError) -> Resolver { Resolver(core, nil) }
}
