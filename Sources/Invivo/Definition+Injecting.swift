/// Injections after the construction of an object: properties first, then methods, each in their order.
extension Definition {
    /// Sets a property by its type, as an initializer's parameter would be: `.inject(\.clock)`.
    public func inject<Property>(_ path: any ReferenceWritableKeyPath<Value, Property> & Sendable) -> Definition {
        set(path, .wanted(Property.self))
    }

    /// Sets a property to a constant: `.inject(\.tempo, 120)`.
    public func inject<Property: InvivoConvertible>(
        _ path: any ReferenceWritableKeyPath<Value, Property> & Sendable, _ value: Property
    ) -> Definition {
        set(path, Injection(.value(value)))
    }

    /// Sets a property to an injected value: `.inject(\.voices, .all(Voice.self))`.
    @_disfavoredOverload
    public func inject<Property>(
        _ path: any ReferenceWritableKeyPath<Value, Property> & Sendable, _ injection: Injection
    ) -> Definition {
        set(path, injection)
    }

    /// Sets a property to the object of another member of the assembly: `.inject(\.clock, from: \Synth.clock)`.
    public func inject<Part: Assembly, Property, each Bound>(
        _ path: any ReferenceWritableKeyPath<Value, Property> & Sendable,
        from member: KeyPath<Part, Definition<Property, repeat each Bound>>, _ arguments: Injection...
    ) -> Definition {
        set(path, Injection(.member(MemberPath(member), arguments)))
    }

    /// Sets an optional property to the object of another member of the assembly.
    public func inject<Part: Assembly, Property, each Bound>(
        _ path: any ReferenceWritableKeyPath<Value, Property?> & Sendable,
        from member: KeyPath<Part, Definition<Property, repeat each Bound>>, _ arguments: Injection...
    ) -> Definition {
        set(path, Injection(.member(MemberPath(member), arguments)))
    }

    /// Sets a property of a described type, of any language, by its name.
    public func inject(_ property: String, _ injection: Injection) -> Definition {
        with { $0.steps.append(Draft.Step(name: property, action: .property, injections: [injection])) }
    }

    /// Injects by code, after properties and methods. Objects that the code resolves become dependencies.
    public func inject(by code: @escaping @Sendable (Value, Resolver) throws -> Void) -> Definition {
        with { draft in
            draft.resolves = true
            draft.inject.append { object, resolver in try code(try valueBehind(object, resolver.core), resolver) }
        }
    }

    /// Calls a method. Its parameters are injected by their types, or as given:
    /// `.call { voice, clock in voice.start(clock) }`.
    public func call<each Parameter>(
        _ injections: Injection..., by method: @escaping @Sendable (Value, repeat each Parameter) throws -> Void
    ) -> Definition {
        let step = step("call", injections, method)
        return with { $0.steps.append(step) }
    }

    /// Calls a method of a described type, of any language, by its name.
    public func call(_ method: String, _ injections: Injection...) -> Definition {
        with { $0.steps.append(Draft.Step(name: method, action: .method, injections: injections)) }
    }

    /// Runs before anything is injected into the object.
    public func before<each Parameter>(
        _ injections: Injection..., by hook: @escaping @Sendable (Value, repeat each Parameter) throws -> Void
    ) -> Definition {
        let step = step("before", injections, hook)
        return with { $0.before.append(step) }
    }

    /// Runs when everything is injected into the object.
    public func after<each Parameter>(
        _ injections: Injection..., by hook: @escaping @Sendable (Value, repeat each Parameter) throws -> Void
    ) -> Definition {
        let step = step("after", injections, hook)
        return with { $0.after.append(step) }
    }

    /// Adds a hook that runs when all objects of the outermost resolve are complete, children before parents, once for
    /// each object.
    public func afterAll<each Parameter>(
        _ injections: Injection..., by hook: @escaping @Sendable (Value, repeat each Parameter) throws -> Void
    ) -> Definition {
        let step = step("afterAll", injections, hook)
        return with { $0.afterAll.append(step) }
    }

    private func set<Property>(
        _ path: any ReferenceWritableKeyPath<Value, Property> & Sendable, _ injection: Injection
    ) -> Definition {
        // The same key path, which is Sendable.
        nonisolated(unsafe) let writable: ReferenceWritableKeyPath<Value, Property> = path
        let injection = injection.placed(in: Property.self)
        let code: @Sendable (AnyObject, inout Arguments) throws -> Void = { object, arguments in
            let target: Value = try valueBehind(object, arguments.core)
            target[keyPath: writable] = try arguments.next(Property.self)
        }
        return with { draft in
            let name = propertyName(path)
            draft.steps.append(
                Draft.Step(
                    property: writable, name: name ?? "property", action: .code(code), injections: [injection],
                    isNamed: name != nil))
        }
    }

    private func step<each Parameter>(
        _ name: String, _ injections: [Injection],
        _ body: @escaping @Sendable (Value, repeat each Parameter) throws -> Void
    ) -> Draft.Step {
        var wanted = typeQueries(repeat (each Parameter).self)
        if injections.count > wanted.count {
            draft.problems.append(
                InvivoError(.arity, "'\(name)' is given \(injections.count) values and takes \(wanted.count)"))
        }
        var types: [Any.Type] = []
        for type in repeat (each Parameter).self { types.append(type) }
        for (index, injection) in injections.enumerated() where index < wanted.count {
            wanted[index] = injection.placed(in: types[index])
        }
        return Draft.Step(
            name: name,
            action: .code { object, arguments in
                try body(try valueBehind(object, arguments.core), repeat try arguments.next((each Parameter).self))
            }, injections: wanted)
    }
}

/// The value that an instance in the graph represents; the object, for an unknown instance.
func valueBehind<Value>(_ instance: AnyObject, _ core: Core) throws(InvivoError) -> Value {
    if Value.self == Object.self {
        let object = Object(taking: try core.lease(of: instance, isDescribed: false), core, .component)
        if let object = object as? Value { return object }
    }
    guard let value = unboxed(instance) as? Value else {
        throw InvivoError(.type, "expected \(article(Value.self)), got \(article(Swift.type(of: unboxed(instance))))")
    }
    return value
}

/// The last name of a key path; nil where it has none, as those to properties that a subclass may override.
private func propertyName(_ path: AnyKeyPath) -> String? {
    let name = String(describing: path).split(separator: ".").last.map(String.init)
    return name.flatMap { $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } ? $0 : nil }
}
