internal import CInvivo

/// An initializer of which some parameters are runtime arguments and the others are injected by their types. See `wired`.
public struct Maker<Value, each Argument>: @unchecked Sendable {
    let injections: [Injection]
    let make: Draft.Make
    /// An error of the factory, reported when its assembly is activated.
    let problem: InvivoError?

    init(injections: [Injection], problem: InvivoError? = nil, make: @escaping Draft.Make) {
        self.injections = injections
        self.make = make
        self.problem = problem
    }
}

/// An initializer whose first parameter is a runtime argument: `prototype(wired(Voice.init, taking: Int.self))`.
public func wired<Value, First, each Parameter>(
    _ make: @escaping @Sendable (First, repeat each Parameter) throws -> Value, taking first: First.Type
) -> Maker<Value, First> {
    Maker(injections: typeQueries(repeat (each Parameter).self)) { _, arguments in
        let injected = (repeat try arguments.next((each Parameter).self))
        return try instance(of: make(try arguments.next(First.self), repeat each injected))
    }
}

/// An initializer whose first two parameters are runtime arguments.
public func wired<Value, First, Second, each Parameter>(
    _ make: @escaping @Sendable (First, Second, repeat each Parameter) throws -> Value, taking first: First.Type,
    _ second: Second.Type
) -> Maker<Value, First, Second> {
    Maker(injections: typeQueries(repeat (each Parameter).self)) { _, arguments in
        let injected = (repeat try arguments.next((each Parameter).self))
        return try instance(
            of: make(try arguments.next(First.self), try arguments.next(Second.self), repeat each injected))
    }
}

/// An initializer whose first three parameters are runtime arguments.
public func wired<Value, First, Second, Third, each Parameter>(
    _ make: @escaping @Sendable (First, Second, Third, repeat each Parameter) throws -> Value,
    taking first: First.Type, _ second: Second.Type, _ third: Third.Type
) -> Maker<Value, First, Second, Third> {
    Maker(injections: typeQueries(repeat (each Parameter).self)) { _, arguments in
        let injected = (repeat try arguments.next((each Parameter).self))
        return try instance(
            of: make(
                try arguments.next(First.self), try arguments.next(Second.self), try arguments.next(Third.self),
                repeat each injected))
    }
}

/// The injections of parameters, by their types.
func typeQueries<each Parameter>(_ types: repeat (each Parameter).Type) -> [Injection] {
    var injections: [Injection] = []
    for type in repeat each types { injections.append(.wanted(type)) }
    return injections
}

extension Definition {
    /// Creates it from a closure that resolves its dependencies and takes the runtime arguments.
    static func resolving(
        _ scope: Scope?, isShared: Bool?, _ make: @escaping @Sendable (Resolver, repeat each Argument) throws -> Value,
        _ file: StaticString, _ line: UInt
    ) -> Definition {
        let making = Draft.Making.factory([]) { resolver, arguments in
            try instance(of: make(resolver, repeat try arguments.next((each Argument).self)))
        }
        let definition = Definition(Draft(Value.self, scope, isShared: isShared, making, file, line))
        definition.draft.resolves = true
        definition.declareParameters()
        return definition
    }

    /// Creates it from an initializer whose parameters are injected by their types.
    @usableFromInline
    static func wired<each Parameter>(
        _ scope: Scope?, isShared: Bool?, _ make: @escaping @Sendable (repeat each Parameter) throws -> Value,
        _ file: StaticString, _ line: UInt,
        _ direct: @escaping @Sendable (inout Instances) throws -> Void
    ) -> Definition {
        let making = Draft.Making.factory(typeQueries(repeat (each Parameter).self)) { _, arguments in
            try instance(of: make(repeat try arguments.next((each Parameter).self)))
        }
        let definition = Definition(Draft(Value.self, scope, isShared: isShared, making, file, line))
        if Value.self is AnyClass {
            var classes: [AnyClass?] = []
            for type in repeat (each Parameter).self { classes.append(type as? AnyClass) }
            definition.draft.direct = Draft.Direct(make: direct, parameters: classes)
        }
        return definition
    }

    /// Creates it from an initializer with injections and runtime arguments.
    static func made(
        _ scope: Scope?, isShared: Bool?, _ maker: Maker<Value, repeat each Argument>, _ file: StaticString,
        _ line: UInt
    ) -> Definition {
        let making = Draft.Making.factory(maker.injections, maker.make)
        var draft = Draft(Value.self, scope, isShared: isShared, making, file, line)
        if let problem = maker.problem { draft.problems.append(problem) }
        let definition = Definition(draft)
        definition.declareParameters()
        return definition
    }
}
