internal import CInvivo
public import Synchronization

/// A definition of an assembly whose instance is shared: `let clock = lazySingleton(SystemClock.init)`. Once the assembly
/// is active, calling it answers the instance.
public final class Shared<Value>: Recipe, @unchecked Sendable {
    typealias Make = @Sendable (Resolver) throws -> Value

    private let scope: Scope
    private let isShared: Bool
    private let make: Make
    let wanted: [Any.Type]
    /// Set once, by activation; freed with this.
    @usableFromInline let bound = Atomic<UnsafeMutablePointer<Bound>?>(nil)

    @usableFromInline struct Bound {
        @usableFromInline let core: Unmanaged<Core>
        @usableFromInline let key: Key<Value>
    }

    init(_ scope: Scope, isShared: Bool, wanted: [Any.Type] = [], _ make: @escaping Make) {
        self.scope = scope
        self.isShared = isShared
        self.wanted = wanted
        self.make = make
    }

    deinit {
        guard let bound = bound.load(ordering: .acquiring) else { return }
        bound.pointee.core.release()
        bound.deinitialize(count: 1).deallocate()
    }

    /// The instance; built by the first call when it is lazy.
    @inlinable
    public func callAsFunction() throws(InvivoError) -> Value {
        guard let bound = bound.load(ordering: .acquiring) else { throw InvivoError.notActive }
        if let value = bound.pointee.core._withUnsafeGuaranteedRef({ core in
            core.withShared(bound.pointee.key.handle, bound.pointee.key.type) { bound.pointee.key.value(at: $0) }
        }) {
            return value
        }
        return try bound.pointee.core.takeUnretainedValue().resolve(bound.pointee.key.handle, as: Value.self)
    }

    /// The key, for views: `view.with(synth.clock.key) { ... }`.
    public var key: Key<Value> {
        get throws(InvivoError) {
            guard let bound = bound.load(ordering: .acquiring) else { throw InvivoError.notActive }
            return bound.pointee.key
        }
    }

    var valueType: Any.Type { Value.self }
    var needsArguments: Bool { false }
    var isBound: Bool { bound.load(ordering: .acquiring) != nil }

    func define(_ key: String, _ changes: ChangeSet, _ assembly: AssemblyBox) throws(InvivoError) -> Bindable {
        let core = changes.core
        let make = make
        let typed: Key<Value> = try changes.define(
            key, try core.type(of: Value.self, isShared: isShared), scope,
            factory: Factory(core, assembly, scope) { resolver, _ in boxed(try make(resolver)) })
        return Bindable(handle: typed.handle) {
            let bound = UnsafeMutablePointer<Bound>.allocate(capacity: 1)
            bound.initialize(to: Bound(core: Unmanaged.passRetained(core), key: typed))
            self.bound.store(bound, ordering: .releasing)
        }
    }
}

extension Shared where Value: AnyObject {
    /// The instance; built by the first call when it is lazy.
    @inlinable
    public func callAsFunction() throws(InvivoError) -> Value {
        guard let bound = bound.load(ordering: .acquiring) else { throw InvivoError.notActive }
        if let instance = bound.pointee.core._withUnsafeGuaranteedRef({ core in
            core.withShared(bound.pointee.key.handle, bound.pointee.key.type) {
                Unmanaged<Value>.fromOpaque($0).retain()
            }
        }) {
            return instance.takeRetainedValue()
        }
        return try bound.pointee.core.takeUnretainedValue().resolve(bound.pointee.key.handle, as: Value.self)
    }
}

extension InvivoError {
    @usableFromInline
    static var notActive: InvivoError {
        InvivoError(.notReady, "the assembly is not active yet: pass it to `Runtime.activate` first")
    }
}

// MARK: - Recipes

/// One instance for all threads, made by the first resolve.
public func lazySingleton<Value: Sendable>(
    _ make: @escaping @Sendable (Resolver) throws -> Value
) -> Shared<Value> {
    Shared(.lazySingleton, isShared: true, make)
}

/// One instance for all threads, made by the first resolve from what else the assembly makes: each parameter is injected
/// by its type.
public func lazySingleton<Value: Sendable, each Parameter>(
    _ make: @escaping @Sendable (repeat each Parameter) throws -> Value
) -> Shared<Value> {
    injected(.lazySingleton, isShared: true, make)
}

/// One instance for the thread that opened the runtime, made by the first resolve.
public func lazySingleton<Value>(
    confined make: @escaping @Sendable (Resolver) throws -> Value
) -> Shared<Value> {
    Shared(.lazySingleton, isShared: false, make)
}

/// One instance for the thread that opened the runtime; each parameter is injected by its type.
public func lazySingleton<Value, each Parameter>(
    confined make: @escaping @Sendable (repeat each Parameter) throws -> Value
) -> Shared<Value> {
    injected(.lazySingleton, isShared: false, make)
}

/// One instance for all threads, made when the assembly is activated.
public func singleton<Value: Sendable>(_ make: @escaping @Sendable (Resolver) throws -> Value) -> Shared<Value> {
    Shared(.singleton, isShared: true, make)
}

/// One instance for all threads, made when the assembly is activated; each parameter is injected by its type.
public func singleton<Value: Sendable, each Parameter>(
    _ make: @escaping @Sendable (repeat each Parameter) throws -> Value
) -> Shared<Value> {
    injected(.singleton, isShared: true, make)
}

/// One instance for the thread that opened the runtime, made when the assembly is activated.
public func singleton<Value>(confined make: @escaping @Sendable (Resolver) throws -> Value) -> Shared<Value> {
    Shared(.singleton, isShared: false, make)
}

/// One instance for the thread that opened the runtime, made when the assembly is activated; each parameter is injected by
/// its type.
public func singleton<Value, each Parameter>(
    confined make: @escaping @Sendable (repeat each Parameter) throws -> Value
) -> Shared<Value> {
    injected(.singleton, isShared: false, make)
}

private func injected<Value, each Parameter>(
    _ scope: Scope, isShared: Bool, _ make: @escaping @Sendable (repeat each Parameter) throws -> Value
) -> Shared<Value> {
    let types = Types<repeat each Parameter>()
    return Shared(scope, isShared: isShared, wanted: types.list) { resolver in try types.inject(resolver, make) }
}

/// The parameter types of an initializer.
private struct Types<each Parameter>: Sendable {
    var list: [Any.Type] {
        var list: [Any.Type] = []
        for type in repeat (each Parameter).self { list.append(type) }
        return list
    }

    func inject<Value>(_ resolver: Resolver, _ make: (repeat each Parameter) throws -> Value) throws -> Value {
        try make(repeat try resolver.find((each Parameter).self))
    }
}
