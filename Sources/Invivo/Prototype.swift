internal import CInvivo
internal import Synchronization

/// A definition of an assembly that makes a new instance for each call, from the arguments that the call gives:
/// `let voice = prototype { resolver, note in try Voice(note: note, clock: resolver(\Synth.clock)) }`.
public final class Prototype<Value, each Argument: InvivoConvertible>: Recipe {
    private let make: @Sendable (Resolver, [InvivoValue]) throws -> Value
    private let bound = Locked<(core: Core, key: Key<Value>)?>(nil)
    let needsArguments: Bool

    fileprivate init(_ make: @escaping @Sendable (Resolver, repeat each Argument) throws -> Value) {
        self.make = { resolver, values in
            var arguments = ArgumentReader(values)
            let value = try make(resolver, repeat try arguments.next((each Argument).self))
            try arguments.end()
            return value
        }
        var count = 0
        for _ in repeat (each Argument).self { count += 1 }
        needsArguments = count > 0
    }

    /// A new instance. It is the caller's alone.
    public func callAsFunction(_ arguments: repeat each Argument) throws(InvivoError) -> Value {
        guard let bound = bound.withLock({ $0 }) else { throw InvivoError.notActive }
        return try bound.core.resolve(bound.key.handle, with: try values(repeat each arguments), as: Value.self)
    }

    func values(_ arguments: repeat each Argument) throws(InvivoError) -> [InvivoValue] {
        var all: [any InvivoConvertible] = []
        for argument in repeat each arguments { all.append(argument) }
        return try all.values()
    }

    var valueType: Any.Type { Value.self }
    var wanted: [Any.Type] { [] }
    var isBound: Bool { bound.withLock { $0 != nil } }

    func define(_ key: String, _ changes: ChangeSet, _ assembly: AssemblyBox) throws(InvivoError) -> Bindable {
        let core = changes.core
        let make = make
        let typed: Key<Value> = try changes.define(
            key, try core.type(of: Value.self, isShared: false), .prototype,
            factory: Factory(core, assembly, .prototype) { resolver, values in boxed(try make(resolver, values)) })
        return Bindable(handle: typed.handle) { self.bound.withLock { $0 = (core, typed) } }
    }
}

/// A new instance for each call, from the arguments that the call gives.
public func prototype<Value, each Argument: InvivoConvertible>(
    _ make: @escaping @Sendable (Resolver, repeat each Argument) throws -> Value
) -> Prototype<Value, repeat each Argument> {
    Prototype(make)
}

extension Resolver {
    /// What another definition of the assembly makes: `resolver(\Synth.clock)`.
    public func callAsFunction<Part: Assembly, Value>(_ path: KeyPath<Part, Shared<Value>>) throws(InvivoError) -> Value
    {
        let assembly = try ownAssembly()
        return try core.resolve(try assembly.key(try assembly.read(path)), as: Value.self, .component)
    }

    /// A new instance by another definition of the assembly: `resolver(\Synth.voice, 60)`.
    public func callAsFunction<Part: Assembly, Value, each Argument: InvivoConvertible>(
        _ path: KeyPath<Part, Prototype<Value, repeat each Argument>>, _ arguments: repeat each Argument
    ) throws(InvivoError) -> Value {
        let assembly = try ownAssembly()
        let recipe = try assembly.read(path)
        return try core.resolve(
            try assembly.key(recipe), with: try recipe.values(repeat each arguments), as: Value.self, .component)
    }

    /// What the assembly makes of a type.
    func find<Value>(_ type: Value.Type) throws(InvivoError) -> Value {
        let assembly = try ownAssembly()
        return try core.resolve(try assembly.key(try assembly.candidate(type)), as: type, .component)
    }

    private func ownAssembly() throws(InvivoError) -> AssemblyBox {
        guard let assembly else {
            throw InvivoError(.argument, "the recipe belongs to no assembly; resolve by a key's name")
        }
        return assembly
    }
}
