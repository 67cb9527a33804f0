/// A trait type: a named and reversible change of objects, which spec files use.
///
/// Its fields are stored properties of a struct. It either declares layers over properties, or changes objects by code:
///
///     struct Duck { var amount = 0.5 }
///     try runtime.addTrait(TraitType("synth.Duck", Duck()) {
///         $0.target(Voice.self)
///         $0.field("amount", \.amount, in: 0...1)
///         $0.layers { duck, layers in try layers.scale("gain", by: 1 - duck.amount) }
///     })
///
/// A spec file can then list `synth.Duck: { amount: 0.25 }` for the key of a voice.
public struct TraitType<Fields: Sendable>: Sendable {
    /// The name in spec files: `module.Type`.
    public let name: String
    /// The initial values of the fields.
    public let initial: Fields
    var text: String?
    var targets: [Target] = []
    var fields: [Field] = []
    var check: (@Sendable (Fields) throws -> Void)?
    var layers: (@Sendable (Fields, TraitLayers) throws -> Void)?
    var apply: (@Sendable (Object, Fields) throws -> TraitReversal?)?

    /// A type of accepted objects.
    enum Target: Sendable {
        case name(String)
        case type(any (AnyObject & SendableMetatype).Type)
    }

    /// A field, and how a value is stored in it.
    struct Field: Sendable {
        var property: Property
        var isRequired: Bool
        var initial: @Sendable () throws(InvivoError) -> InvivoValue
        var store: @Sendable (inout Fields, InvivoValue) throws(InvivoError) -> Void
    }

    /// Describes a trait type.
    ///
    /// - Parameters:
    ///   - name: The name in spec files. Another type with the same name is replaced.
    ///   - initial: The initial values of the fields.
    ///   - text: A one-line description.
    public init(_ name: String, _ initial: Fields, text: String? = nil, _ describe: (inout Self) -> Void) {
        self.name = name
        self.initial = initial
        self.text = text
        describe(&self)
    }

    /// Adds types of accepted objects by their registered names; `"*"` accepts all. A type also accepts its subtypes.
    public mutating func target(_ names: String...) { targets += names.map { .name($0) } }

    /// Adds a class of accepted objects.
    public mutating func target<Instance: AnyObject & SendableMetatype>(_ type: Instance.Type) {
        targets.append(.type(type))
    }

    /// Declares a field that a spec file may give.
    ///
    /// - Parameters:
    ///   - name: The name in spec files.
    ///   - path: The stored property.
    ///   - range: The allowed values; both ends are included.
    ///   - step: A hint for editors.
    ///   - unit: The unit. With `"Hz"`, a spec file may contain `1.2 kHz`.
    ///   - codec: The text form of its values in spec files.
    ///   - text: A one-line description.
    ///   - was: Former names, accepted with a warning.
    ///   - secret: Whether messages do not show its values.
    public mutating func field<Value: InvivoConvertible>(
        _ name: String, _ path: any WritableKeyPath<Fields, Value> & Sendable, in range: ClosedRange<Double>? = nil,
        step: Double? = nil, unit: String? = nil, codec: PropertyCodec = .none, text: String? = nil, was: [String] = [],
        secret: Bool = false
    ) {
        let about = Property.About(
            range: range, step: step, unit: unit, codec: codec, text: text, was: was, secret: secret)
        add(name, path, about, isRequired: false)
    }

    /// Declares a field that a spec file must give. The parameters are those of `field`.
    public mutating func required<Value: InvivoConvertible>(
        _ name: String, _ path: any WritableKeyPath<Fields, Value> & Sendable, in range: ClosedRange<Double>? = nil,
        step: Double? = nil, unit: String? = nil, codec: PropertyCodec = .none, text: String? = nil, was: [String] = [],
        secret: Bool = false
    ) {
        let about = Property.About(
            range: range, step: step, unit: unit, codec: codec, text: text, was: was, secret: secret)
        add(name, path, about, isRequired: true)
    }

    private mutating func add<Value: InvivoConvertible>(
        _ name: String, _ path: any WritableKeyPath<Fields, Value> & Sendable, _ about: Property.About, isRequired: Bool
    ) {
        let start = initial
        let property = Property(
            name: name, shape: { Value.invivoShape }, about: about,
            place: .accessors(get: { _ in .null }, set: { _, _ in }, verify: nil))
        fields.append(
            Field(
                property: property, isRequired: isRequired,
                initial: { () throws(InvivoError) in try start[keyPath: path].asInvivo() },
                store: { (fields, value) throws(InvivoError) in
                    fields[keyPath: path] = try Value.fromInvivo(value)
                }))
    }

    /// Sets the check of the fields. It refuses them by throwing: a `TraitRefusal` with the field at fault, or another error.
    ///
    /// It runs on a thread of the library, must not wait, and must not call the runtime.
    public mutating func check(_ body: @escaping @Sendable (Fields) throws -> Void) { check = body }

    /// Sets the function that declares the layers. It runs as the check does.
    public mutating func layers(_ body: @escaping @Sendable (Fields, TraitLayers) throws -> Void) { layers = body }

    /// Sets the function that changes an instance, and returns its reversal.
    ///
    ///     $0.apply(to: Voice.self) { voice, boost in
    ///         voice.gain += boost.by
    ///         return { voice in voice.gain -= boost.by }
    ///     }
    ///
    /// Both run where the object belongs, during a commit, and cannot wait for reloads. If `body` throws, the values that it has
    /// set by `Object.set` are put back. The reversal receives the instance, and should not capture it: the runtime keeps the
    /// reversal as long as the object. `Object.self` stands for objects of any language. Without another target, the type
    /// accepts this class.
    ///
    /// - Parameter repeats: The reversal may run again after a failure: later commits call it until it succeeds, and nothing
    ///   below the trait changes until then. Otherwise a reversal that fails is treated as done.
    public mutating func apply<Instance: AnyObject & SendableMetatype>(
        to type: Instance.Type, repeats: Bool = false,
        _ body: @escaping @Sendable (Instance, Fields) throws -> (Instance) throws -> Void
    ) {
        if targets.isEmpty { target(type) }
        apply = { object, fields in
            let reversal = try body(try object.core.value(of: object.handle, as: Instance.self, .component), fields)
            return TraitReversal(repeats: repeats) { object in
                try reversal(try object.core.value(of: object.handle, as: Instance.self, .component))
            }
        }
    }

    /// Sets the function that changes an object of any language by `Object.set`. The values that it has set are put back at the end
    /// of the trait, the last one first.
    public mutating func apply(_ body: @escaping @Sendable (Object, Fields) throws -> Void) {
        apply = { object, fields in
            try body(object, fields)
            return nil
        }
    }
}

extension TraitType where Fields == Void {
    /// Describes a trait type without fields.
    public init(_ name: String, text: String? = nil, _ describe: (inout Self) -> Void) {
        self.init(name, (), text: text, describe)
    }
}

/// An error to throw from the check of a trait type: the fields are invalid. Any other error refuses them, too.
public struct TraitRefusal: Error {
    /// Why.
    public var message: String
    /// The name of the field at fault, whose source location the error has; nil: the location of the trait.
    public var field: String?

    public init(_ message: String, field: String? = nil) {
        self.message = message
        self.field = field
    }
}
