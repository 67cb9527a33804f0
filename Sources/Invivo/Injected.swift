internal import CInvivo

/// A property that is injected by its type whenever an object is created or injected.
///
///     final class Player {
///         @Injected var clock: Clock?                        // the object of the one definition of a Clock
///         @Injected var mixer: any Mixer = SilentMixer()     // the default is used without a definition
///         @Injected var voices: Provider<Voice>              // creates one for each call
///         @Injected var recorder: Weak<Recorder>             // the existing one, if any
///         @InjectedIfAny var meter: Meter?                   // nil without a definition
///         @InjectedByKey("synth.lead") var lead: Voice?
///     }
///
/// The runtime that creates the object injects it, before the injections of its definition. Without a definition of a
/// `Clock`, activation or construction fails. For an object that no runtime has created or injected, the lookup happens
/// at the first read of the property. It uses the runtime of `runtime.with { }` at the construction of the object or at
/// the read, or else `Runtime.default`. `Runtime.Options.fillsInjected` turns injection off for a runtime.
///
/// A getter cannot throw, so every form has a value without an injection: an optional, a default value, or a
/// `Provider`, `Lazy` or `Weak`, whose call throws. `try $clock.get()` throws the reason for a missing value. Required
/// dependencies are better passed to the initializer.
@propertyWrapper
public struct Injected<Value> {
    let box: InjectedBox<Value>

    /// A property that is empty until it is filled: an optional, a `Provider`, a `Lazy` or a `Weak`.
    public init() where Value: EmptyInjectable {
        box = InjectedBox(empty: .nothingInjected) { core throws(InvivoError) in try Value.demanded(core) }
    }

    /// Creates a property with a default for the case that nothing is found.
    public init(wrappedValue: Value) {
        box = InjectedBox(empty: wrappedValue) { core throws(InvivoError) in try core.find(Value.self) }
    }

    /// The injected value, or the empty value. Can be set.
    public var wrappedValue: Value {
        get { box.value }
        nonmutating set { box.fill(newValue) }
    }

    /// For `try $clock.get()`.
    public var projectedValue: Injected<Value> { self }

    /// Returns the injected value. Throws the reason if nothing was injected.
    public func get<Wrapped>() throws(InvivoError) -> Wrapped where Value == Wrapped? { try box.present() }
}

/// A property that is filled by its type where there is one definition of it, and else stays empty. See `Injected`.
@propertyWrapper
public struct InjectedIfAny<Wrapped> {
    let box: InjectedBox<Wrapped?>

    /// A property that is empty until it is filled.
    public init() {
        box = InjectedBox(empty: nil) { core throws(InvivoError) in try core.find(Wrapped?.self) }
    }

    /// The injected value. Can be set.
    public var wrappedValue: Wrapped? {
        get { box.value }
        nonmutating set { box.fill(newValue) }
    }

    /// For `try $meter.get()`.
    public var projectedValue: InjectedIfAny<Wrapped> { self }

    /// Returns the injected value. Throws the reason if nothing was injected.
    public func get() throws(InvivoError) -> Wrapped { try box.present() }
}

/// A property that is injected with the object of a key. See `Injected`. The lookup happens at construction, and the
/// object does not depend on the key: a reload does not set the property again.
@propertyWrapper
public struct InjectedByKey<Wrapped> {
    let box: InjectedBox<Wrapped?>

    /// A property that is empty until it is filled.
    public init(_ key: String) {
        box = InjectedBox(empty: nil) { core throws(InvivoError) in try core.find(key: key, as: Wrapped.self) }
    }

    /// The injected value. Can be set.
    public var wrappedValue: Wrapped? {
        get { box.value }
        nonmutating set { box.fill(newValue) }
    }

    /// For `try $lead.get()`.
    public var projectedValue: InjectedByKey<Wrapped> { self }

    /// Returns the injected value. Throws the reason if nothing was injected.
    public func get() throws(InvivoError) -> Wrapped { try box.present() }
}

/// The storage of an injected property, separate from the object. Only threads that may touch the object access it.
final class InjectedBox<Value>: AnyInjectedBox, @unchecked Sendable {
    private let empty: Value
    private let find: (Core) throws(InvivoError) -> Value
    private let state: Locked<(value: Value?, birth: WeakCore)>

    init(empty: Value, _ find: @escaping (Core) throws(InvivoError) -> Value) {
        self.empty = empty
        self.find = find
        state = Locked((nil, WeakCore(core: CurrentRuntime.entered)))
    }

    var value: Value { (try? get()) ?? empty }

    func fill(_ value: Value) { state.withLock { $0.value = value } }

    override func fill(_ value: invivo_value, _ core: Core) throws(InvivoError) {
        // Without a definition, which is allowed here, the property keeps its own value.
        if value.kind != InvivoKind.null.rawValue { fill(try core.take(value, as: Value.self)) }
    }

    override func look(in core: Core) throws(InvivoError) { fill(try find(core)) }

    func get() throws(InvivoError) -> Value {
        let (filled, birth) = state.withLock { $0 }
        if let filled { return filled }
        guard let core = CurrentRuntime.filling(birth.core ?? CurrentRuntime.core) else { throw InvivoError.unfilled }
        let value = try find(core)
        fill(value)
        return value
    }

    func present<Wrapped>() throws(InvivoError) -> Wrapped where Value == Wrapped? {
        guard let value = try get() else {
            throw InvivoError(.null, "nothing was injected, and no definition creates \(article(Wrapped.self))")
        }
        return value
    }
}

/// The common base class of all boxes.
class AnyInjectedBox {
    func fill(_ value: invivo_value, _ core: Core) throws(InvivoError) {}
    func look(in core: Core) throws(InvivoError) {}
}

/// A property wrapper that is filled, as its class' type sees it.
protocol InjectedProperty {
    /// The injection by type; nil for a property with its own lookup, which happens at construction.
    static var injection: Injection? { get }
    /// The box of the wrapper at an address inside an instance.
    static func box(at address: UnsafeMutableRawPointer) -> AnyInjectedBox
}

extension Injected: InjectedProperty {
    static var injection: Injection? {
        if let optional = Value.self as? any OptionalValue.Type { return .wanted(optional.wrapped) }
        let wanted = Injection.wanted(Value.self)
        switch wanted.how {
        case .provider, .lazy, .weak, .all: return wanted
        default: return wanted.optional
        }
    }
    static func box(at address: UnsafeMutableRawPointer) -> AnyInjectedBox {
        address.assumingMemoryBound(to: Self.self).pointee.box
    }
}

extension InjectedIfAny: InjectedProperty {
    static var injection: Injection? { .wanted(Wrapped.self).optional }
    static func box(at address: UnsafeMutableRawPointer) -> AnyInjectedBox {
        address.assumingMemoryBound(to: Self.self).pointee.box
    }
}

extension InjectedByKey: InjectedProperty {
    static var injection: Injection? { nil }
    static func box(at address: UnsafeMutableRawPointer) -> AnyInjectedBox {
        address.assumingMemoryBound(to: Self.self).pointee.box
    }
}

/// A type of which there is a value before anything is injected.
public protocol EmptyInjectable {
    /// The value before injection.
    static var nothingInjected: Self { get }
}

extension EmptyInjectable {
    /// The result of the lookup; throws without a definition.
    fileprivate static func demanded(_ core: Core) throws(InvivoError) -> Self {
        guard let optional = self as? any OptionalValue.Type else { return try core.find(self) }
        return try optional.demanded(core, as: self)
    }
}

extension OptionalValue {
    fileprivate static func demanded<Value>(_ core: Core, as type: Value.Type) throws(InvivoError) -> Value {
        guard let found = try core.one(wrapped, optional: false, as: type) else {
            throw InvivoError(.notFound, "no definition creates \(article(wrapped))")
        }
        return found
    }
}

extension Optional: EmptyInjectable {
    public static var nothingInjected: Wrapped? { nil }
}

extension Provider: EmptyInjectable {
    /// Looks in the current runtime, or throws.
    public static var nothingInjected: Provider {
        Provider { arguments throws(InvivoError) in
            guard let core = CurrentRuntime.filling(CurrentRuntime.core) else { throw InvivoError.unfilled }
            let provider: Provider = try core.find(Provider.self)
            return try provider.resolve(arguments)
        }
    }
}

extension Lazy: EmptyInjectable {
    /// Looks in the current runtime, or throws.
    public static var nothingInjected: Lazy {
        Lazy { () throws(InvivoError) in
            guard let core = CurrentRuntime.filling(CurrentRuntime.core) else { throw InvivoError.unfilled }
            return try core.find(Value.self)
        }
    }
}

extension Weak: EmptyInjectable {
    /// Throws: only a runtime that creates or injects the object sets it.
    public static var nothingInjected: Weak {
        Weak { _ throws(InvivoError) in
            throw InvivoError(
                .notReady,
                "no runtime has created or injected the object, so nothing was injected into a Weak<\(Value.self)> of it"
            )
        }
    }
}

extension InvivoError {
    fileprivate static var unfilled: InvivoError {
        InvivoError(
            .notReady,
            "no runtime has created or injected the object, and none is entered (`runtime.with { }`) or the "
                + "process's default (`Runtime.default`): nothing fills its injected properties")
    }
}
