internal import CInvivo

/// An existing object, or a value.
public func constant<Value>(
    _ value: Value, file: StaticString = #fileID, line: UInt = #line
) -> Definition<Value> {
    guard let instance = instance(of: value) else {
        let definition = Definition<Value>(Draft(Value.self, nil, isShared: nil, .inherited, file, line))
        definition.draft.problems.append(InvivoError(.null, "nil is no constant: a definition needs an object"))
        return definition
    }
    return Definition(Draft(Value.self, nil, isShared: nil, .constant(instance), file, line))
}

/// An alias of a member: `let lead = alias(of: \Synth.voice)`.
public func alias<Part: Assembly, Value, each Argument>(
    of member: KeyPath<Part, Definition<Value, repeat each Argument>>, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .another(.member(member), file, line)
}

/// An alias of a member, with all of its arguments bound: `let lead = alias(of: \Synth.voice, 60)`.
@_disfavoredOverload
public func alias<Part: Assembly, Value, First, each Argument>(
    of member: KeyPath<Part, Definition<Value, First, repeat each Argument>>, _ first: First,
    _ others: repeat each Argument, file: StaticString = #fileID, line: UInt = #line
) -> Definition<Value> {
    var arguments = [Injection.argument(bound: first)]
    for argument in repeat each others { arguments.append(.argument(bound: argument)) }
    return .another(Injection(.member(MemberPath(member), arguments)), file, line)
}

/// An alias of a member with its first argument bound; it takes the others: `alias(of: \Synth.voice, binding: 60)`.
public func alias<Part: Assembly, Value, First, each Argument>(
    of member: KeyPath<Part, Definition<Value, First, repeat each Argument>>, binding first: First,
    file: StaticString = #fileID, line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .another(Injection(.member(MemberPath(member), [.argument(bound: first)])), file, line)
}

/// An alias of a member with its own arguments, which passes on the given arguments in any order: `alias(of:
/// \Camelot.knight, passing: .argument(1), .value("Sir"), .argument(0), taking: Int.self, Quest.self)`.
public func alias<Part: Assembly, Value, each Bound, each Argument>(
    of member: KeyPath<Part, Definition<Value, repeat each Bound>>, passing injections: Injection...,
    taking: repeat (each Argument).Type, file: StaticString = #fileID, line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    let definition = Definition<Value, repeat each Argument>.another(
        Injection(.member(MemberPath(member), injections)), file, line)
    definition.declareParameters()
    return definition
}

/// An alias of a key: `let lead = alias(of: "orchestra.lead", as: Voice.self)`.
public func alias<Value>(
    of key: String, as type: Value.Type = Value.self, file: StaticString = #fileID, line: UInt = #line
) -> Definition<Value> {
    .another(.reference(key), file, line)
}

/// A definition that inherits from another member: its factory, scope, injections and hooks, unless they are declared
/// here.
public func child<Part: Assembly, Value, each Argument>(
    of parent: KeyPath<Part, Definition<Value, repeat each Argument>>, scope: Scope? = nil,
    file: StaticString = #fileID, line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    let definition = Definition<Value, repeat each Argument>(
        Draft(Value.self, scope, isShared: nil, .inherited, file, line))
    definition.draft.parent = .member(parent)
    return definition
}

/// A definition with its own factory, usually of a derived class, that inherits the injections and hooks of another
/// member: `child(of: \Synth.voice) { resolver in Organ() }`.
public func child<Part: Assembly, Base, each BaseArgument, Value, each Argument>(
    of parent: KeyPath<Part, Definition<Base, repeat each BaseArgument>>, scope: Scope? = nil,
    file: StaticString = #fileID, line: UInt = #line,
    _ make: @escaping @Sendable (Resolver, repeat each Argument) throws -> Value
) -> Definition<Value, repeat each Argument> {
    let definition = Definition.resolving(scope, isShared: nil, make, file, line)
    definition.draft.parent = .member(parent)
    if !isKind(Value.self, of: Base.self) {
        definition.draft.problems.append(
            InvivoError(
                .type, "a child creates objects of its parent's type: \(article(Value.self)) is no \(Base.self)"))
    }
    return definition
}

/// Defines an object that a method of another component creates:
/// `made(by: \Synth.library) { library, title in library.book(title) }`.
public func made<Part: Assembly, Owner, each Bound, Value, each Argument>(
    by owner: KeyPath<Part, Definition<Owner, repeat each Bound>>, _ arguments: Injection..., scope: Scope = .graph,
    file: StaticString = #fileID, line: UInt = #line,
    _ method: @escaping @Sendable (Owner, repeat each Argument) throws -> Value
) -> Definition<Value, repeat each Argument> {
    let making = Draft.Making.factory([Injection(.member(MemberPath(owner), arguments))]) { _, arguments in
        let owner = try arguments.next(Owner.self)
        return try instance(of: method(owner, repeat try arguments.next((each Argument).self)))
    }
    let definition = Definition<Value, repeat each Argument>(
        Draft(Value.self, scope, isShared: nil, making, file, line))
    definition.declareParameters()
    return definition
}

/// Defines an object that a method of another object creates, by the method's name. The other object is a component, an
/// argument or an existing object of any language:
/// `made(Book.self, by: .reference("app.library"), "book", .argument(0))`.
public func made<Value, each Argument>(
    _ type: Value.Type, by owner: Injection, _ method: String, _ arguments: Injection..., scope: Scope = .graph,
    taking: repeat (each Argument).Type, file: StaticString = #fileID, line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    let definition = Definition<Value, repeat each Argument>(
        Draft(Value.self, scope, isShared: nil, .method(owner, name: method, arguments), file, line))
    definition.declareParameters()
    return definition
}

/// An object of a type that any language or module has registered, by its name. Without a scope it is its parent's, or graph.
public func component(
    _ type: String, scope: Scope? = .lazySingleton, initializer: Injections = [:], properties: Injections = [:],
    file: StaticString = #fileID, line: UInt = #line
) -> Definition<Object> {
    var draft = Draft(invivo_type(), scope, initializer: initializer, properties: properties, file, line)
    draft.making = .named(type, initializer.map { ($0.key, $0.value) })
    return Definition(draft)
}

extension Injection {
    /// An argument of any Swift type.
    static func argument<Value>(bound value: Value) -> Injection {
        if let convertible = value as? any InvivoConvertible { return Injection(.value(convertible)) }
        return Injection(.instance(Value.self is AnyClass ? value as AnyObject : Boxed(value)))
    }
}

extension Definition {
    static func another(_ injection: Injection, _ file: StaticString, _ line: UInt) -> Definition {
        Definition(Draft(Value.self, nil, isShared: nil, .alias(injection), file, line))
    }
}
