internal import CInvivo

/// A Swift closure by which a definition makes its instances. Lives as long as the definition.
final class Factory: Sendable {
    private let core: Core
    private let assembly: AssemblyBox?
    private let scope: Scope
    private let make: @Sendable (Resolver, [InvivoValue]) throws -> AnyObject

    init(
        _ core: Core, _ assembly: AssemblyBox?, _ scope: Scope,
        _ make: @escaping @Sendable (Resolver, [InvivoValue]) throws -> AnyObject
    ) {
        self.core = core
        self.assembly = assembly
        self.scope = scope
        self.make = make
    }

    /// Lets a definition use it. The definition releases the pointer when it takes it; the caller, when it does not.
    func attach(to definition: inout invivo_definition) -> Unmanaged<Factory> {
        let pointer = Unmanaged.passRetained(self)
        definition.user_data = pointer.toOpaque()
        definition.destroy = { data in if let data { Unmanaged<Factory>.fromOpaque(data).release() } }
        definition.factory = { instance, build, arguments, count, data, error in
            guard let data, let instance else { return InvivoError.Code.internal.rawValue }
            let factory = Unmanaged<Factory>.fromOpaque(data).takeUnretainedValue()
            let core = factory.core
            return answering(core.table, error) {
                let resolver = Resolver(core, factory.assembly)
                let object = try factory.make(resolver, try InvivoValue.array(arguments, count, core, .component))
                if factory.scope != .prototype, let key = build?.pointee.key, key.bits != 0 {
                    core.remember(object, as: .key(key))
                }
                instance.pointee = Unmanaged.passRetained(object).toOpaque()
            }
        }
        return pointer
    }
}

/// How a recipe reaches other keys. What it resolves becomes a dependency of what it makes: when one changes, the other is
/// remade. Use it, and not the assembly or runtime, inside a recipe.
public struct Resolver: Sendable {
    let core: Core
    let assembly: AssemblyBox?

    init(_ core: Core, _ assembly: AssemblyBox?) {
        self.core = core
        self.assembly = assembly
    }

    /// The instance of a key by its name.
    public func callAsFunction<Value>(_ name: String, as type: Value.Type = Value.self) throws(InvivoError) -> Value {
        var object = invivo_object()
        try core.call(naming: name) { $0.pointee.resolve_name(core.handle, $1, &object, $2) }
        defer { _ = core.table.pointee.object_release(object) }
        return try core.value(of: object, as: type, .component)
    }

    /// The instance of a key.
    public func callAsFunction<Value>(_ key: Key<Value>) throws(InvivoError) -> Value {
        try core.resolve(key.handle, as: Value.self, .component)
    }
}
