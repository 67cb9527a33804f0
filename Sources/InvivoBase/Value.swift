/// A value as it crosses between languages: self-contained, owned, of any kind in value.h.
///
/// Objects are held by leases and callables by references for as long as the value lives.
public enum Value: Sendable {
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
    case list([Value])
    /// Ordered, as it was written.
    case map([(name: String, value: Value)])
    case object(ObjectLease)
    case type(TypeDescription)
    case callable(Callable)
    /// On the way in the name decides, where there is one.
    case enumeration(number: Int64, name: String?)

    public var kind: ValueKind {
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
        case .object: .object
        case .type: .type
        case .callable: .callable
        case .enumeration: .enumeration
        }
    }

    public var isNull: Bool {
        if case .null = self { return true }
        return false
    }

    /// The number of an integer or enumeration that an Int64 can hold.
    public var signedInteger: Int64? {
        switch self {
        case .int8(let number): Int64(number)
        case .int16(let number): Int64(number)
        case .int32(let number): Int64(number)
        case .int64(let number): number
        case .uint8(let number): Int64(number)
        case .uint16(let number): Int64(number)
        case .uint32(let number): Int64(number)
        case .uint64(let number): Int64(exactly: number)
        case .enumeration(let number, _): number
        default: nil
        }
    }

    /// The number of an integer that a UInt64 can hold.
    public var unsignedInteger: UInt64? {
        if case .uint64(let number) = self { return number }
        return signedInteger.flatMap { UInt64(exactly: $0) }
    }

    /// The nearest double of a number; nil for other kinds.
    public var approximateNumber: Double? {
        switch self {
        case .bool(let boolean): boolean ? 1 : 0
        case .float(let number): Double(number)
        case .double(let number): number
        case .uint64(let number): Double(number)
        case .enumeration: nil
        default: signedInteger.map(Double.init)
        }
    }

    /// A number without its kind: equal for equal numbers (-0 is 0, a NaN its bits).
    public enum Worth: Hashable, Sendable {
        case negative(Int64)
        case natural(UInt64)
        case fraction(UInt64)
    }

    /// The value as a number; nil for other kinds.
    public var worth: Worth? {
        switch self {
        case .uint64(let number): .natural(number)
        case .float(let number): Worth(Double(number))
        case .double(let number): Worth(number)
        case .enumeration: nil
        default: signedInteger.map { $0 < 0 ? .negative($0) : .natural(UInt64($0)) }
        }
    }

    /// The value of `name` in a map.
    public subscript(name: String) -> Value? {
        guard case .map(let pairs) = self else { return nil }
        return pairs.first { $0.name.isSameName(as: name) }?.value
    }

    /// Calls `body` with this value and all nested ones, parents before children. Does not recurse: nesting may be deep and the
    /// stack small.
    public func forEach(_ body: (Value) -> Void) {
        _ = contains {
            body($0)
            return false
        }
    }

    /// Returns whether this value or a nested one satisfies `isMeant`.
    public func contains(where isMeant: (Value) -> Bool) -> Bool {
        switch self {
        case .list, .map: break
        default: return isMeant(self)
        }
        var left = [self]
        while let value = left.popLast() {
            if isMeant(value) { return true }
            switch value {
            case .list(let items): left += items.reversed()
            case .map(let pairs): for pair in pairs.reversed() { left.append(pair.value) }
            default: break
            }
        }
        return false
    }

    /// Whether both values have exactly the same kind and content.
    ///
    /// Floating-point numbers are compared by their bits (NaN equals itself, -0 does not equal 0). Objects, types and
    /// callables are compared by identity, enumerations by number, maps in any order. With `numbersByWorth`, numbers of
    /// different kinds are equal when their values are.
    public func isSame(as other: Value, numbersByWorth: Bool = false) -> Bool {
        if numbersByWorth, let a = worth, let b = other.worth { return a == b }
        return switch (self, other) {
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
        case (.float(let a), .float(let b)): a.bitPattern == b.bitPattern
        case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern
        case (.string(let a), .string(let b)): a.utf8.elementsEqual(b.utf8)
        case (.bytes(let a), .bytes(let b)): a == b
        case (.list, .list), (.map, .map): Self.areSame(self, other, numbersByWorth)
        case (.object(let a), .object(let b)): a.bits == b.bits
        case (.type(let a), .type(let b)): a === b
        case (.callable(let a), .callable(let b)): a === b
        case (.enumeration(let a, let nameA), .enumeration(let b, let nameB)):
            a == b && (nameA == nil || nameB == nil || nameA == nameB)
        default: false
        }
    }

    /// Lists and maps, without recursion: values may lie deep in each other and the stack may be small.
    private static func areSame(_ a: Value, _ b: Value, _ numbersByWorth: Bool) -> Bool {
        var pairs = [(a, b)]
        func compare(_ a: Value, _ b: Value) -> Bool {
            switch (a, b) {
            case (.list, .list), (.map, .map):
                pairs.append((a, b))
                return true
            default: return a.isSame(as: b, numbersByWorth: numbersByWorth)
            }
        }
        while let pair = pairs.popLast() {
            switch pair {
            case (.list(let a), .list(let b)):
                guard a.count == b.count else { return false }
                for index in a.indices where !compare(a[index], b[index]) { return false }
            case (.map(var a), .map(var b)):
                guard a.count == b.count else { return false }
                // The usual case first; sorting only when the order differs.
                if !a.elementsEqual(b, by: { $0.name.isSameName(as: $1.name) }) {
                    a.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
                    b.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
                }
                for index in a.indices {
                    guard a[index].name.isSameName(as: b[index].name), compare(a[index].value, b[index].value)
                    else { return false }
                }
            default: return false
            }
        }
        return true
    }
}

extension Value.Worth {
    fileprivate init(_ number: Double) {
        if let whole = Int64(exactly: number) {
            self = whole < 0 ? .negative(whole) : .natural(UInt64(whole))
        } else if let whole = UInt64(exactly: number) {
            self = .natural(whole)
        } else {
            self = .fraction(number.bitPattern)
        }
    }
}
