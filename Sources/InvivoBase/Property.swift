public import CInvivo

/// One property of a type: a field at an offset of a plain struct, or a pair of functions.
///
/// Immutable once the type is created. The caller ensures that the memory behind it may be read or written (on the
/// thread of the object's domain, or before a block is published). Mirrors `invivo_property`.
public final class Property: Sendable {
    /// One name of an enumeration.
    public struct Choice: Sendable, Equatable {
        public let name: String
        public let number: Int64
    }

    public typealias Getter =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutablePointer<invivo_value>?,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status
    public typealias Setter =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafePointer<invivo_value>?,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status

    enum Access: Sendable {
        case field
        case functions(get: Getter, set: Setter?, userData: HostPointer)
    }

    /// Functions for hosts whose values contain more than a `Value`.
    struct Keeping: Sendable {
        let capture:
            @convention(c) (
                UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutablePointer<invivo_value>?,
                UnsafeMutablePointer<UnsafeMutableRawPointer?>?, UnsafeMutablePointer<OpaquePointer?>?
            ) -> invivo_status
        let restore:
            @convention(c) (
                UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?,
                UnsafeMutablePointer<OpaquePointer?>?
            ) -> invivo_status
        let forget: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void
        let userData: HostPointer
    }

    /// A function for hosts that check more than a `Property` can express.
    struct Verifying: Sendable {
        let verify:
            @convention(c) (
                UnsafeMutableRawPointer?, UnsafePointer<invivo_value>?, UnsafeMutablePointer<OpaquePointer?>?
            ) -> invivo_status
        let userData: HostPointer
    }

    public let name: String
    public let kind: ValueKind
    public let isReadOnly: Bool
    /// Specs may set it.
    public let isTunable: Bool
    /// A new value takes effect in the next object that is created.
    public let takesRestart: Bool
    /// Lives in the block, not in the instance.
    public let isInBlock: Bool
    /// Messages do not show its values.
    public let isSecret: Bool
    /// The offset of the field, followed by its size; 0 for properties by function.
    public let offset: Int
    public let size: Int
    /// Inclusive; nil where there is no range.
    public let range: ClosedRange<Double>?
    public let step: Double
    public let unit: String?
    /// The text form of its values.
    public let codec: PropertyCodec
    public let text: String?
    public let choices: [Choice]
    /// Former names.
    public let was: [String]
    /// The fields of a nested struct; their offsets are relative to its start.
    public let fields: [Property]
    /// The value at the start; nil for functions that declare none.
    public let initial: Value?
    /// The initial bytes come from the struct's image; `initial` is only informative.
    let isInitialFromImage: Bool
    let bounds: Property.Bounds
    let access: Access
    let keeping: Keeping?
    let verifying: Verifying?

    init(_ parts: Property.Parts) {
        name = parts.name
        kind = parts.kind
        isReadOnly = parts.isReadOnly
        isTunable = parts.isTunable
        takesRestart = parts.takesRestart
        isInBlock = parts.isInBlock
        isSecret = parts.isSecret
        offset = parts.offset
        size = parts.size
        range = parts.range
        step = parts.step
        unit = parts.unit
        codec = parts.codec
        text = parts.text
        choices = parts.choices
        was = parts.was
        fields = parts.fields
        initial = parts.initial
        isInitialFromImage = parts.isInitialFromImage
        bounds = parts.bounds
        access = parts.access
        keeping = parts.keeping
        verifying = parts.verifying
    }

    public var isField: Bool {
        if case .field = access { return true }
        return false
    }
    /// The name, followed by the former names.
    public var names: [String] { [name] + was }
    public var isEnumeration: Bool { !choices.isEmpty }
    public var isNested: Bool { !fields.isEmpty }

    /// The value of an enumeration with this number, with its name where it has one.
    func choice(_ number: Int64) -> Value {
        .enumeration(number: number, name: choices.first { $0.number == number }?.name)
    }

    // MARK: Through the instance

    /// Reads it from an instance (or, for a property of the block, from a block), in the object's domain.
    public func get(_ instance: UnsafeMutableRawPointer) throws(Failure) -> Value {
        guard case .functions(let get, _, let userData) = access else { return read(instance) }
        let value = try CallbackResult.run("the get function of '\(name)'") { (result, error) in
            get(instance, userData.raw, result, error)
        }
        return try presented(value)
    }

    /// Writes a checked value, in the object's domain. A setter may clamp: read it back.
    public func set(_ instance: UnsafeMutableRawPointer, _ value: Value) throws(Failure) {
        guard case .functions(_, let set, let userData) = access else { return write(value, to: instance) }
        guard let set else { throw readOnlyFailure }
        let whole = isNested ? try merged(value, into: instance) : value
        do throws(Failure) {
            try CallbackResult.run("the set function of '\(name)'") { error in
                Value.withBorrowed([whole]) { value, _ in set(instance, userData.raw, value, error) }
            }
        } catch {
            throw isSecret
                ? Failure.ofSecret(error.code, "the set function of '\(name)' refuses the value") : error
        }
    }

    /// Fields that are missing in a map keep their values.
    private func merged(_ value: Value, into instance: UnsafeMutableRawPointer) throws(Failure) -> Value {
        guard case .map(let given) = value, given.count < fields.count,
            case .map(let present) = try get(instance)
        else { return value }
        let whole = present.map { pair in (name: pair.name, value: value[pair.name] ?? pair.value) }
        let added = given.filter { pair in !present.contains { $0.name.isSameName(as: pair.name) } }
        return .map(whole + added)
    }

    /// The result of a get function, converted to the property's kind. Null is allowed: it means that there is no
    /// value.
    func presented(_ value: Value) throws(Failure) -> Value {
        if value.isNull { return value }
        do {
            guard isEnumeration else { return try value.converted(to: kind) }
            if case .string = value { return try checkedChoice(value) }
            guard let number = value.signedInteger else { return try value.converted(to: kind) }
            return choice(number)
        } catch {
            let fault = isSecret ? masked(error).message : error.message
            throw Failure(
                error.code, "the get function of '\(name)' returned a value of another kind: \(fault)",
                path: name)
        }
    }

    var readOnlyFailure: Failure { Failure(.readOnly, "'\(name)' cannot be set: it is read only", path: name) }
}

extension [Property] {
    /// The index of the property with this name or former name. Both are distinct in a table.
    public func index(named name: String) -> Int? {
        firstIndex { $0.name.isSameName(as: name) || $0.was.contains(where: name.isSameName(as:)) }
    }

    /// The property with this name or former name.
    public func property(named name: String) -> Property? { index(named: name).map { self[$0] } }
}

extension Property {
    /// The parts of a property, collected while its table is read. Mirrors `invivo_property`.
    struct Parts {
        var name: String
        var kind: ValueKind
        var isReadOnly = false
        var isTunable = true
        var takesRestart = false
        var isInBlock = false
        var isSecret = false
        var offset = 0
        var size = 0
        var range: ClosedRange<Double>?
        var step = 0.0
        var unit: String?
        var codec = PropertyCodec.none
        var text: String?
        var choices: [Property.Choice] = []
        var was: [String] = []
        var fields: [Property] = []
        var initial: Value?
        var isInitialFromImage = false
        var bounds = Property.Bounds.none
        var access = Property.Access.field
        var keeping: Property.Keeping?
        var verifying: Property.Verifying?
    }
}
