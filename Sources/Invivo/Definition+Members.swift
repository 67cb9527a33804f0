internal import CInvivo

// Definitions that are written as methods of their assembly, so that what is called has labels:
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
// The property says how the object is kept and what else is done to it; its key is `camelot.knight`. The method is the recipe
// and, once the assembly is active, the factory: names, arguments and result are checked by the compiler, for who calls it as
// for other recipes, which call it as they are written, and depend on what they got. A derived class overrides the method,
// and may call `super`; the most derived one makes the object. Before activation every call says that the assembly must be
// activated.

/// A new instance for each reference; while it is made, a reference back is itself.
/// It is what a method of the assembly answers: `let _voice = prototype(Synth.voice)`.
public func prototype<Part: Assembly, Value, each Argument>(
    _ member: @escaping @Sendable (Part) -> (repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .member(.prototype, isShared: nil, member, file, line)
}

/// One instance for each outermost resolve, for everything that is made in it.
/// It is what a method of the assembly answers: `let _voice = graph(Synth.voice)`.
public func graph<Part: Assembly, Value, each Argument>(
    _ member: @escaping @Sendable (Part) -> (repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .member(.graph, isShared: nil, member, file, line)
}

/// One instance for each set of arguments, built by the first resolve. Any thread may use it.
/// It is what a method of the assembly answers: `let _voice = lazySingleton(Synth.voice)`.
public func lazySingleton<Part: Assembly, Value: Sendable, each Argument>(
    _ member: @escaping @Sendable (Part) -> (repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .member(.lazySingleton, isShared: true, member, file, line)
}

/// One instance for each set of arguments, built by the first resolve. Only the thread that opened the runtime (or the main actor) touches it.
/// It is what a method of the assembly answers: `let _voice = lazySingleton(confined: Synth.voice)`.
public func lazySingleton<Part: Assembly, Value, each Argument>(
    confined member: @escaping @Sendable (Part) -> (repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .member(.lazySingleton, isShared: false, member, file, line)
}

/// One instance, built when the assembly is activated. Any thread may use it.
/// It is what a method of the assembly answers: `let _voice = singleton(Synth.voice)`.
public func singleton<Part: Assembly, Value: Sendable, each Argument>(
    _ member: @escaping @Sendable (Part) -> (repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .member(.singleton, isShared: true, member, file, line)
}

/// One instance, built when the assembly is activated. Only the thread that opened the runtime (or the main actor) touches it.
/// It is what a method of the assembly answers: `let _voice = singleton(confined: Synth.voice)`.
public func singleton<Part: Assembly, Value, each Argument>(
    confined member: @escaping @Sendable (Part) -> (repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .member(.singleton, isShared: false, member, file, line)
}

/// One instance for as long as somebody holds it. Any thread may use it.
/// It is what a method of the assembly answers: `let _voice = weakSingleton(Synth.voice)`.
public func weakSingleton<Part: Assembly, Value: Sendable, each Argument>(
    _ member: @escaping @Sendable (Part) -> (repeat each Argument) throws -> Value, file: StaticString = #fileID,
    line: UInt = #line
) -> Definition<Value, repeat each Argument> {
    .member(.weakSingleton, isShared: true, member, file, line)
}

/// One instance for as long as somebody holds it. Only the thread that opened the runtime (or the main actor) touches it.
/// It is what a method of the assembly answers: `let _voice = weakSingleton(confined: Synth.voice)`.
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
                throw InvivoError(.argument, "what makes it is a method of an assembly, and it stands in none")
            }
            let part = try home.assembly.as(Part.self)
            let made = try instance(of: member(part)(repeat try arguments.next((each Argument).self)))
            guard MemberFrame.hasRun else {
                throw InvivoError(
                    .argument,
                    "its method does not call its definition, so each call of it answers another object: its body is 'try _member { ... }', around what makes the object"
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

    /// In the method that makes it: what `make` answers, when the runtime asks for the object; for everybody else what the key
    /// resolves to with these arguments. See `prototype` of a method.
    @inlinable
    public func callAsFunction(
        _ arguments: repeat each Argument, file: StaticString = #fileID, line: UInt = #line, column: UInt = #column,
        make: () throws -> Value
    ) throws -> Value {
        if !Planning.isOutside, runs(file, line, column) { return try make() }
        return try self(repeat each arguments)
    }

    /// Whether the object that is being made is this one, and the implementation at that place makes it.
    @usableFromInline
    func runs(_ file: StaticString, _ line: UInt, _ column: UInt) -> Bool {
        let site = MemberFrame.Site(line: line, column: column, file: UnsafeRawPointer(file.utf8Start))
        return MemberFrame.runs(member, at: site)
    }

    /// Names the runtime arguments, in their order: for other languages, messages and what `invivo keys` writes.
    ///
    /// `defaults` are the values of the last arguments where another language leaves them out.
    public func taking(_ names: String..., defaults: [any InvivoConvertible] = []) -> Definition {
        saying { draft in
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
