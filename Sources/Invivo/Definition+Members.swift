internal import CInvivo

// Definitions that are written as methods of their assembly, so that calls have argument labels.
//
//     class Camelot: Assembly {
//         let _table = lazySingleton(Camelot.table)
//         func table() throws -> Table { try _table { Table(seats: 12) } }
//
//         let _knight = prototype(Camelot.knight).taking("quest")
//         func knight(quest: Quest) throws -> Knight {
//             try _knight(quest) { try Knight(quest: quest, table: table()) }
//         }
//     }
//     …
//     let knight = try camelot.knight(quest: grail)
//
// The property declares the scope and the injections; its key is `camelot.knight`. The method is the factory function
// and, once the assembly is active, the way to resolve. The compiler checks names, arguments and result. Other
// definitions call the method in the same way, and depend on its result.
//
// A derived class overrides the method, and may call `super`; the most derived method creates the object. Before
// activation every call fails, and the error names the assembly to activate.

/// A new instance for each reference; while it is being created, a reference back leads to itself. A method of the
/// assembly creates it: `let _voice = prototype(Synth.voice)`.
public func prototype<Part: Assembly, Value, each Argument>(
    _ member: @escaping @Sendable (Part) -> (repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .member(.prototype, isShared: nil, member, file, line)
}

/// One instance for each outermost resolve, shared by all objects that it creates. A method of the assembly creates it:
/// `let _voice = graph(Synth.voice)`.
public func graph<Part: Assembly, Value, each Argument>(
    _ member: @escaping @Sendable (Part) -> (repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .member(.graph, isShared: nil, member, file, line)
}

/// One instance for each set of arguments, built by the first resolve. Any thread may use it. A method of the assembly
/// creates it: `let _voice = lazySingleton(Synth.voice)`.
public func lazySingleton<Part: Assembly, Value: Sendable, each Argument>(
    _ member: @escaping @Sendable (Part) -> (repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .member(.lazySingleton, isShared: true, member, file, line)
}

/// One instance for each set of arguments, built by the first resolve. Only the thread that opened the runtime (or the
/// main actor) may use it. A method of the assembly creates it: `let _voice = lazySingleton(confined: Synth.voice)`.
public func lazySingleton<Part: Assembly, Value, each Argument>(
    confined member: @escaping @Sendable (Part) -> (repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .member(.lazySingleton, isShared: false, member, file, line)
}

/// One instance, built when the assembly is activated. Any thread may use it. A method of the assembly creates it:
/// `let _voice = singleton(Synth.voice)`.
public func singleton<Part: Assembly, Value: Sendable, each Argument>(
    _ member: @escaping @Sendable (Part) -> (repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .member(.singleton, isShared: true, member, file, line)
}

/// One instance, built when the assembly is activated. Only the thread that opened the runtime (or the main actor) may
/// use it. A method of the assembly creates it: `let _voice = singleton(confined: Synth.voice)`.
public func singleton<Part: Assembly, Value, each Argument>(
    confined member: @escaping @Sendable (Part) -> (repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .member(.singleton, isShared: false, member, file, line)
}

/// One instance as long as it is retained. Any thread may use it. A method of the assembly creates it:
/// `let _voice = weakSingleton(Synth.voice)`.
public func weakSingleton<Part: Assembly, Value: Sendable, each Argument>(
    _ member: @escaping @Sendable (Part) -> (repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .member(.weakSingleton, isShared: true, member, file, line)
}

/// One instance as long as it is retained. Only the thread that opened the runtime (or the main actor) may use it. A
/// method of the assembly creates it: `let _voice = weakSingleton(confined: Synth.voice)`.
public func weakSingleton<Part: Assembly, Value, each Argument>(
    confined member: @escaping @Sendable (Part) -> (repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .member(.weakSingleton, isShared: false, member, file, line)
}

extension Definition {
    fileprivate static func member<Part: Assembly>(
        _ scope: Scope, isShared: Bool?, _ member: @escaping @Sendable (Part) -> (repeat each Argument) throws -> Value,
        _ file: StaticString, _ line: UInt
    ) -> Definition {
        let making = Draft.Making.factory([]) { resolver, arguments in
            guard let home = resolver.home else {
                throw InvivoError(.argument, "its factory is a method of an assembly, but it is a member of none")
            }
            let part = try home.assembly.as(Part.self)
            let made = try instance(of: member(part)(repeat try arguments.next((each Argument).self)))
            guard MemberFrame.hasRun else {
                throw InvivoError(
                    .argument,
                    "its method does not call its definition, so each call returns another object: wrap the body in 'try _member { ... }'"
                )
            }
            return made
        }
        var draft = Draft(Value.self, scope, isShared: isShared, making, file, line)
        draft.resolves = true
        draft.member = MemberToken()
        let definition = Definition(draft)
        definition.declareParameters()
        return definition
    }

    /// Calls `make` when the runtime requests the object. For all other callers, resolves the key with these arguments.
    /// See `prototype` of a method.
    @inlinable
    public func callAsFunction(
        _ arguments: repeat each Argument, file: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
        make: () throws -> Value
    ) throws -> Value {
        if !Planning.isOutside, runs(file, line, column) { return try make() }
        return try self(repeat each arguments)
    }

    /// Whether this object is under construction, and the implementation at that source location creates it.
    @usableFromInline
    func runs(_ file: StaticString, _ line: UInt, _ column: UInt) -> Bool {
        let site = MemberFrame.Site(line: line, column: column, file: UnsafeRawPointer(file.utf8Start))
        return MemberFrame.runs(member, at: site)
    }

    /// Names the runtime arguments in their order, for other languages, messages and `invivo keys`.
    ///
    /// `defaults` are the values of the last arguments where another language omits them.
    public func taking(_ names: String..., defaults: [any InvivoConvertible] = []) -> Definition {
        with { draft in
            if names.count > draft.parameters.count {
                draft.problems.append(
                    InvivoError(
                        .arity, "\(names.count) arguments are named, and it takes \(draft.parameters.count)"))
            }
            for (index, name) in names.enumerated() where index < draft.parameters.count {
                draft.parameters[index].name = name
            }
            let first = draft.parameters.count - defaults.count
            guard first >= 0 else {
                draft.problems.append(
                    InvivoError(
                        .arity, "\(defaults.count) arguments have a default, and it takes \(draft.parameters.count)"))
                return
            }
            for (index, value) in defaults.enumerated() { draft.parameters[first + index].defaultValue = value }
        }
    }
}
