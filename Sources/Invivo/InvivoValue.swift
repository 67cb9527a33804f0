internal import CInvivo

/// A value as it crosses between languages.
public enum InvivoValue {
    /// Nothing.
    case null
    case bool(Bool)
    case int8(Int8)
    case int16(Int16)
    case int32(Int32)
    case int64(Int64)
    case uint8(UInt8)
    case uint16(UInt16)
    case uint32(UInt32)
    case uint64(UInt64)
    case float(Float)
    case double(Double)
    case string(String)
    case bytes([UInt8])
    case list([InvivoValue])
    /// Named values; also how a nested plain struct crosses.
    case map([String: InvivoValue])
    /// A live object of any language, as the runtime knows it.
    case object(Object)
    /// An instance of a Swift class that is described to the runtime; crosses as an object.
    case instance(AnyObject)
    /// A registered type.
    case type(TypeReference)
    /// A function of any language.
    case callable(Callable)
    /// One name of an enumeration. With a name, the name decides.
    case enumeration(number: Int64, name: String?)
}

/// The kind of a value, as properties and parameters declare it.
public enum InvivoKind: UInt32, Sendable, CaseIterable {
    case null, bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float, double, string, bytes, list, map
    case object, type, callable, enumeration
    /// Any kind, as a requested kind; never the kind of a value.
    case any = 255
}

/// A type that is registered with a runtime.
public struct TypeReference: Sendable, Hashable {
    let core: Core
    let handle: invivo_type
    /// The name under which it is registered.
    public let name: String

    init(_ core: Core, _ handle: invivo_type) {
        self.core = core
        self.handle = handle
        name = String(text: core.table.pointee.type_name(handle))
    }

    public static func == (left: Self, right: Self) -> Bool { left.handle.bits == right.handle.bits }
    public func hash(into hasher: inout Hasher) { hasher.combine(handle.bits) }
}

extension TypeReference: InvivoConvertible {
    public static var invivoShape: InvivoShape { InvivoShape(.type) }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> TypeReference {
        guard case .type(let type) = value else { throw value.mismatch("a type") }
        return type
    }
    public func asInvivo() throws(InvivoError) -> InvivoValue { .type(self) }
}

extension InvivoValue {
    /// The kind of the value.
    public var kind: InvivoKind {
        switch self {
        case .null: .null
        case .bool: .bool
        case .int8: .int8
        case .int16: .int16
        case .int32: .int32
        case .int64: .int64
        case .uint8: .uint8
        case .uint16: .uint16
        case .uint32: .uint32
        case .uint64: .uint64
        case .float: .float
        case .double: .double
        case .string: .string
        case .bytes: .bytes
        case .list: .list
        case .map: .map
        case .object, .instance: .object
        case .type: .type
        case .callable: .callable
        case .enumeration: .enumeration
        }
    }

    /// Returns the value as `Value`. Throws if the conversion would lose information.
    public func get<Value: InvivoConvertible>(_ type: Value.Type = Value.self) throws(InvivoError) -> Value {
        try Value.fromInvivo(self)
    }
}

/// Values are equal when kind and content are; objects, instances and callables when they are the same one.
extension InvivoValue: Equatable {
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.int8(let a), .int8(let b)): a == b
        case (.int16(let a), .int16(let b)): a == b
        case (.int32(let a), .int32(let b)): a == b
        case (.int64(let a), .int64(let b)): a == b
        case (.uint8(let a), .uint8(let b)): a == b
        case (.uint16(let a), .uint16(let b)): a == b
        case (.uint32(let a), .uint32(let b)): a == b
        case (.uint64(let a), .uint64(let b)): a == b
        case (.float(let a), .float(let b)): a == b
        case (.double(let a), .double(let b)): a == b
        case (.string(let a), .string(let b)): a == b
        case (.bytes(let a), .bytes(let b)): a == b
        case (.list(let a), .list(let b)): a == b
        case (.map(let a), .map(let b)): a == b
        case (.object(let a), .object(let b)): a == b
        case (.instance(let a), .instance(let b)): a === b
        case (.type(let a), .type(let b)): a == b
        case (.callable(let a), .callable(let b)): a == b
        case (.enumeration(let a, let m), .enumeration(let b, let n)): a == b && m == n
        default: false
        }
    }
}

extension InvivoValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .int64(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: InvivoValue...) { self = .list(elements) }
    public init(dictionaryLiteral elements: (String, InvivoValue)...) {
        self = .map(Dictionary(elements) { _, last in last })
    }
}

extension InvivoValue: CustomStringConvertible {
    public var description: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .int8(let value): "\(value)"
        case .int16(let value): "\(value)"
        case .int32(let value): "\(value)"
        case .int64(let value): "\(value)"
        case .uint8(let value): "\(value)"
        case .uint16(let value): "\(value)"
        case .uint32(let value): "\(value)"
        case .uint64(let value): "\(value)"
        case .float(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value): value
        case .bytes(let value): "\(value.count) bytes"
        case .list(let value): "\(value)"
        case .map(let value):
            "{" + value.sorted { $0.key < $1.key }.map { "\($0): \($1)" }.joined(separator: ", ") + "}"
        case .object(let value): "\(value)"
        case .instance(let value): "\(value)"
        case .type(let value): value.name
        case .callable(let value): "\(value)"
        case .enumeration(let number, let name): name ?? "\(number)"
        }
    }
}
