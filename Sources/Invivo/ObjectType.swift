/// Describes a Swift class for the runtime and for other languages: properties, methods and the initializer.
///
///     static let invivoType = ObjectType<Player>(confined: "Player") { type in
///         type.make("clock", Player.init)
///         type.property("tempo", \.tempo, in: 30...300, unit: "bpm")
///         type.method("play", "note") { player, note in try player.play(note: note) }
///     }
///
/// Instances and closures are kept alive by ordinary reference counting.
public struct ObjectType<Instance: AnyObject & SendableMetatype>: Sendable {
    /// The name under which it is registered.
    public let name: String
    var isShared: Bool
    var text: String?
    var supertypes: [String] = []
    var lookupName: String?
    var properties: [Property] = []
    var methods: [Method] = []
    var parameters: [Parameter] = []
    var make: (@Sendable ([InvivoValue]) throws -> AnyObject)?
    var prepare: (@Sendable (AnyObject) throws -> Void)?
    var start: (@Sendable (AnyObject) throws -> Void)?
    var stop: (@Sendable (AnyObject) throws -> Void)?
    var setupHooks = SetupHooks()
    var willInject: (@Sendable (AnyObject) throws -> Void)?
    var didInject: (@Sendable (AnyObject) throws -> Void)?
    var takeResolver: (@Sendable (AnyObject, Resolver) throws -> Void)?
    var children: (@Sendable (AnyObject) throws -> [AnyObject])?
    var keyName: (@Sendable (AnyObject) throws -> String?)?
    var parent: (@Sendable (AnyObject) throws -> AnyObject?)?
    var needs: [TypeNeed] = []
    var block: (image: [UInt8], content: ObjectIdentifier)?
    var problems: [InvivoError] = []

    /// A type whose instances any thread may use: the class is `Sendable`. Its tunable values are in its block.
    public init(_ name: String, text: String? = nil, _ describe: (inout Self) -> Void = { _ in })
    where Instance: Sendable {
        self.init(name, text, isShared: true)
        describe(&self)
    }

    /// A type whose instances are touched only by the thread that they belong to: as a rule the one that opened the runtime.
    public init(confined name: String, text: String? = nil, _ describe: (inout Self) -> Void = { _ in }) {
        self.init(name, text, isShared: false)
        describe(&self)
    }

    /// A type of which nothing is known but its name.
    init(plain name: String, isShared: Bool) { self.init(name, nil, isShared: isShared) }

    private init(_ name: String, _ text: String?, isShared: Bool) {
        self.name = name
        self.text = text
        self.isShared = isShared
    }

    /// Names types and interfaces that it also is.
    public mutating func supertype(_ names: String...) { supertypes += names }

    /// Names another type that this type represents and is a subtype of. Lookups for that name treat its definitions as
    /// those of the exact type.
    public mutating func stands(for name: String) {
        lookupName = name
        if !supertypes.contains(name) { supertypes.insert(name, at: 0) }
    }

    /// Runs a function when all objects that were created together are complete, before any of them is started. The
    /// function may throw, and must have no effect outside of the object.
    public mutating func prepare(_ body: @escaping @Sendable (Instance) throws -> Void) {
        prepare = { try body(unsafeDowncast($0, to: Instance.self)) }
    }

    /// Adds a function that starts an instance before it is shared, and after its injected dependencies were started.
    /// Independent instances of `Sendable` classes start at the same time.
    public mutating func start(_ body: @escaping @Sendable (Instance) throws -> Void) {
        start = { try body(unsafeDowncast($0, to: Instance.self)) }
    }

    /// Adds a function that stops an instance before its disposal, and before its injected dependencies are stopped.
    ///
    /// A prototype that is resolved as its Swift class belongs to the caller alone, so it is stopped immediately.
    /// Resolve it as an `Object` to keep it under the runtime's control.
    public mutating func stop(_ body: @escaping @Sendable (Instance) throws -> Void) {
        stop = { try body(unsafeDowncast($0, to: Instance.self)) }
    }

    /// Adds a function that sets an instance up, after its start, and again when something that belongs to it changes.
    ///
    /// Everything that it registers with `Setup`, and the observers that it adds to the runtime, belongs to the instance. It is undone in
    /// reverse order before the function runs again, and when the instance ends.
    public mutating func setup(_ body: @escaping @Sendable (Instance, Setup) throws -> Void) {
        setupHooks.setup = { try body(unsafeDowncast($0, to: Instance.self), $1) }
    }

    /// Adds a function that runs before an instance is set up again, and before it is stopped. Then its effects are undone.
    public mutating func teardown(_ body: @escaping @Sendable (Instance) throws -> Void) {
        setupHooks.teardown = { try body(unsafeDowncast($0, to: Instance.self)) }
    }

    /// Adds a function that runs after a commit in which an instance stays, and something that it uses was replaced. An error is a
    /// warning of the report.
    public mutating func refresh(_ body: @escaping @Sendable (Instance) throws -> Void) {
        setupHooks.refresh = { try body(unsafeDowncast($0, to: Instance.self)) }
    }

    /// Adds a function for values that depend on other values. It runs after `setup` and `refresh`, and after a commit that set
    /// properties of the instance.
    public mutating func finalize(_ body: @escaping @Sendable (Instance) throws -> Void) {
        setupHooks.finalize = { try body(unsafeDowncast($0, to: Instance.self)) }
    }

    /// Instances are not set up again when their children change. They are refreshed instead.
    public mutating func keepsChildren() { setupHooks.keepsChildren = true }

    /// Runs before anything is injected into an instance, by a definition or `Runtime.inject`.
    public mutating func willInject(_ body: @escaping @Sendable (Instance) throws -> Void) {
        willInject = { try body(unsafeDowncast($0, to: Instance.self)) }
    }

    /// Adds a hook that runs when all objects of the outermost resolve are complete, children before parents.
    public mutating func didInject(_ body: @escaping @Sendable (Instance) throws -> Void) {
        didInject = { try body(unsafeDowncast($0, to: Instance.self)) }
    }

    /// Passes a resolver to each instance, for later lookups. Called once, when all objects of the outermost resolve
    /// are complete, after the last hooks of the definition and before `didInject`.
    public mutating func takeResolver(_ body: @escaping @Sendable (Instance, Resolver) throws -> Void) {
        takeResolver = { try body(unsafeDowncast($0, to: Instance.self), $1) }
    }

    /// Declares a dependency of the type's instances: a property of this description that is injected whenever an
    /// instance is created or injected, even without a definition.
    ///
    /// The injection is a key or type, all objects of a type, a value, or a provider or lazy reference of these. A
    /// definition's own injection of the property wins. `Runtime.Options.fillsInjected` turns this off for a runtime.
    public mutating func needs(_ property: String, _ injection: Injection) {
        needs.append(TypeNeed(property: property, injection: injection))
    }

    /// Declares a function that returns the children of an instance, for `Runtime.injectTree`.
    public mutating func children(_ body: @escaping @Sendable (Instance) throws -> [AnyObject]) {
        children = { try body(unsafeDowncast($0, to: Instance.self)) }
    }

    /// Declares a function that returns the key by which an instance requests its injection, or nil. For
    /// `Runtime.injectTree`.
    public mutating func key(_ body: @escaping @Sendable (Instance) throws -> String?) {
        keyName = { try body(unsafeDowncast($0, to: Instance.self)) }
    }

    /// Declares a function that returns the object in which an instance stands, such as its window or view, or nil. For
    /// `Runtime.context(of:)`.
    public mutating func parent(_ body: @escaping @Sendable (Instance) throws -> AnyObject?) {
        parent = { try body(unsafeDowncast($0, to: Instance.self)) }
    }

    /// Declares the initializer with the names of its parameters, in order: `type.make("clock", Player.init)`.
    public mutating func make<each Value: InvivoConvertible>(
        _ names: String..., by body: @escaping @Sendable (repeat each Value) throws -> Instance
    ) {
        parameters = Parameter.list(names, repeat (each Value).self)
        checkNames(names, parameters.count, of: "make")
        make = { values in
            var arguments = ArgumentReader(values)
            let instance = try body(repeat try arguments.next((each Value).self))
            try arguments.end()
            return instance
        }
    }

    /// Declares a property by its key path. It can be written from outside unless it is `let`, computed without a
    /// setter, or declared `readOnly`.
    ///
    /// Messages do not show the values of a `secret` property. Its initial value is not checked against `range`, because only an object has it, and registering a type creates
    /// none. The initial value of a block's field is checked. `verify` is that of the property with closures.
    public mutating func property<Value: InvivoConvertible>(
        _ name: String, _ path: any KeyPath<Instance, Value> & Sendable, in range: ClosedRange<Double>? = nil,
        step: Double? = nil, unit: String? = nil, codec: PropertyCodec = .none, text: String? = nil, was: [String] = [],
        readOnly: Bool = false, secret: Bool = false, verify: (@Sendable (Value) throws -> Void)? = nil
    ) {
        // The same key path, which is Sendable.
        nonisolated(unsafe) let writable = readOnly ? nil : path as? ReferenceWritableKeyPath<Instance, Value>
        let set =
            writable == nil
            ? nil
            : { @Sendable (instance: Instance, value: Value) in
                if let writable { instance[keyPath: writable] = value }
            }
        property(
            name, get: { $0[keyPath: path] }, set: set, in: range, step: step, unit: unit, codec: codec, text: text,
            was: was, secret: secret, verify: verify)
    }

    /// A property read and written by closures. `set` may clamp or refuse; the value is read back.
    ///
    /// - Parameter verify: Refuses values by throwing. It runs while a change is planned, so that a spec file with a wrong value
    ///   is refused before any instance exists. It must not wait or call the runtime.
    public mutating func property<Value: InvivoConvertible>(
        _ name: String, get: @escaping @Sendable (Instance) throws -> Value,
        set: (@Sendable (Instance, Value) throws -> Void)?, in range: ClosedRange<Double>? = nil, step: Double? = nil,
        unit: String? = nil, codec: PropertyCodec = .none, text: String? = nil, was: [String] = [],
        secret: Bool = false, verify: (@Sendable (Value) throws -> Void)? = nil
    ) {
        let about = Property.About(
            range: range, step: step, unit: unit, codec: codec, text: text, was: was, secret: secret)
        let write = set.map { set in
            { @Sendable (object: AnyObject, value: InvivoValue) in
                try set(unsafeDowncast(object, to: Instance.self), try Value.fromInvivo(value))
            }
        }
        properties.append(
            Property(
                name: name, shape: { Value.invivoShape }, about: about,
                place: .accessors(
                    get: { try get(unsafeDowncast($0, to: Instance.self)).asInvivo() }, set: write,
                    verify: verify.map { verify in { @Sendable value in try verify(try Value.fromInvivo(value)) } })))
    }

    /// Declares the tunable values that any thread may read: a plain struct, which a commit replaces as a whole, and
    /// which views read by the instance's key.
    public mutating func block<Content: BitwiseCopyable & Sendable>(
        _ initial: Content, _ describe: (inout BlockLayout<Content>) -> Void
    ) {
        var layout = BlockLayout(initial)
        describe(&layout)
        properties += layout.fields
        problems += layout.problems
        block = (layout.image, ObjectIdentifier(Content.self))
    }

    /// A method with a result; the names of its parameters are given in order.
    public mutating func method<each Value: InvivoConvertible, Result: InvivoConvertible>(
        _ name: String, _ names: String..., text: String? = nil,
        body: @escaping @Sendable (Instance, repeat each Value) throws -> Result
    ) {
        let parameters = Parameter.list(names, repeat (each Value).self)
        checkNames(names, parameters.count, of: name)
        methods.append(
            Method(name: name, text: text, parameters: parameters, result: { Result.resultKind }) { object, values in
                var arguments = ArgumentReader(values)
                return try body(
                    unsafeDowncast(object, to: Instance.self), repeat try arguments.next((each Value).self)
                ).asInvivo()
            })
    }

    /// A method without a result.
    public mutating func method<each Value: InvivoConvertible>(
        _ name: String, _ names: String..., text: String? = nil,
        body: @escaping @Sendable (Instance, repeat each Value) throws -> Void
    ) {
        let parameters = Parameter.list(names, repeat (each Value).self)
        checkNames(names, parameters.count, of: name)
        methods.append(
            Method(name: name, text: text, parameters: parameters, result: { .null }) { object, values in
                var arguments = ArgumentReader(values)
                try body(unsafeDowncast(object, to: Instance.self), repeat try arguments.next((each Value).self))
                return .null
            })
    }

    private mutating func checkNames(_ names: [String], _ count: Int, of what: String) {
        if names.count > count {
            problems.append(
                InvivoError(.argument, "'\(what)' of \(name) names \(names.count) parameters, but takes \(count)"))
        }
    }
}

/// A dependency that a description declares for its instances; constant after its declaration.
struct TypeNeed: @unchecked Sendable {
    let property: String
    let injection: Injection
}

extension InvivoConvertible {
    /// The kind of a result. Optional results and enumerations are declared as `.any`.
    fileprivate static var resultKind: InvivoKind {
        let shape = invivoShape
        return shape.isOptional || !shape.choices.isEmpty ? .any : shape.kind
    }
}

/// A class that describes itself for other languages. Its instances may be arguments, results and properties, and
/// return as the identical instance.
public protocol InvivoObject: AnyObject, InvivoConvertible {
    /// The description; registered with a runtime when first needed.
    static var invivoType: ObjectType<Self> { get }
}

extension InvivoObject {
    public static var invivoShape: InvivoShape { InvivoShape(.object, typeName: invivoType.name) }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> Self {
        switch value {
        case .object(let object): return try object.instance(as: Self.self)
        case .instance(let instance):
            guard let own = instance as? Self else { throw value.mismatch("\(article(Self.self))") }
            return own
        default: throw value.mismatch("\(article(Self.self))")
        }
    }
    public func asInvivo() throws(InvivoError) -> InvivoValue { .instance(self) }
}
