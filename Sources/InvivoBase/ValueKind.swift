public import CInvivo

/// The kinds of values, with the numbers of value.h. `any` is a requested kind, never the kind of a value.
public enum ValueKind: UInt32, Sendable, CaseIterable {
    case null, bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float, double
    case string, bytes, list, map, object, type, callable, enumeration
    case any = 255

    /// The kind that a number from C names.
    public init(checking number: invivo_kind) throws(Failure) {
        guard let kind = ValueKind(rawValue: number) else {
            throw Failure(.argument, "\(number) is not the number of a kind")
        }
        self = kind
    }

    public var isInteger: Bool { Self.int8.rawValue...Self.uint64.rawValue ~= rawValue }
    public var isNumber: Bool { Self.int8.rawValue...Self.double.rawValue ~= rawValue }

    /// The size of a field of this kind; nil when the kind alone does not determine it.
    public var width: Int? {
        switch self {
        case .bool, .int8, .uint8: 1
        case .int16, .uint16: 2
        case .int32, .uint32, .float: 4
        case .int64, .uint64, .double: 8
        default: nil
        }
    }

    public var name: String { cName.withUTF8Buffer { String(decoding: $0, as: UTF8.self) } }

    /// The name as the C border hands it out: never freed.
    public var cName: StaticString {
        switch self {
        case .null: "null"
        case .bool: "bool"
        case .int8: "int8"
        case .int16: "int16"
        case .int32: "int32"
        case .int64: "int64"
        case .uint8: "uint8"
        case .uint16: "uint16"
        case .uint32: "uint32"
        case .uint64: "uint64"
        case .float: "float"
        case .double: "double"
        case .string: "string"
        case .bytes: "bytes"
        case .list: "list"
        case .map: "map"
        case .object: "object"
        case .type: "type"
        case .callable: "callable"
        case .enumeration: "enumeration"
        case .any: "any"
        }
    }

    /// "a whole number", "a string": for messages about values, which also people read that do not know the kinds.
    public var inWords: String { isInteger ? "a whole number" : isNumber ? "a number" : withArticle }

    /// "an int8", "a string": for messages about declarations.
    public var withArticle: String {
        switch self {
        case .null, .bytes: name
        case .any: "any value"
        default: InvivoBase.withArticle(name)
        }
    }
}
