extension InvivoValue: InvivoConvertible {
    public static var invivoShape: InvivoShape { InvivoShape(.any, isOptional: true) }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> InvivoValue { value }
    public func asInvivo() throws(InvivoError) -> InvivoValue { self }
}

extension Bool: InvivoConvertible {
    public static var invivoShape: InvivoShape { InvivoShape(.bool) }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> Bool {
        guard case .bool(let boolean) = value else { throw value.mismatch("bool") }
        return boolean
    }
    public func asInvivo() throws(InvivoError) -> InvivoValue { .bool(self) }
}

extension FixedWidthInteger {
    /// Any integer that fits, and a floating-point number without a fraction.
    static func integer(_ value: InvivoValue) throws(InvivoError) -> Self {
        func fitting(_ number: some BinaryInteger) throws(InvivoError) -> Self {
            guard let fits = Self(exactly: number) else { throw outside("\(number)") }
            return fits
        }
        func whole(_ number: some BinaryFloatingPoint) throws(InvivoError) -> Self {
            guard let fits = Self(exactly: number) else { throw outside("\(number)") }
            return fits
        }
        switch value {
        case .int8(let number): return try fitting(number)
        case .int16(let number): return try fitting(number)
        case .int32(let number): return try fitting(number)
        case .int64(let number): return try fitting(number)
        case .uint8(let number): return try fitting(number)
        case .uint16(let number): return try fitting(number)
        case .uint32(let number): return try fitting(number)
        case .uint64(let number): return try fitting(number)
        case .float(let number): return try whole(number)
        case .double(let number): return try whole(number)
        default: throw value.mismatch("an integer")
        }
    }

    private static func outside(_ number: String) -> InvivoError {
        InvivoError(.range, "\(number) is not an integer from \(Self.min) to \(Self.max)")
    }
}

extension Int: InvivoConvertible {
    public static var invivoShape: InvivoShape { InvivoShape(.int64) }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> Int { try integer(value) }
    public func asInvivo() throws(InvivoError) -> InvivoValue { .int64(Int64(self)) }
}

extension UInt: InvivoConvertible {
    public static var invivoShape: InvivoShape { InvivoShape(.uint64) }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> UInt { try integer(value) }
    public func asInvivo() throws(InvivoError) -> InvivoValue { .uint64(UInt64(self)) }
}

extension Int8: InvivoConvertible {
    public static var invivoShape: InvivoShape { InvivoShape(.int8) }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> Int8 { try integer(value) }
    public func asInvivo() throws(InvivoError) -> InvivoValue { .int8(self) }
}

extension Int16: InvivoConvertible {
    public static var invivoShape: InvivoShape { InvivoShape(.int16) }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> Int16 { try integer(value) }
    public func asInvivo() throws(InvivoError) -> InvivoValue { .int16(self) }
}

extension Int32: InvivoConvertible {
    public static var invivoShape: InvivoShape { InvivoShape(.int32) }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> Int32 { try integer(value) }
    public func asInvivo() throws(InvivoError) -> InvivoValue { .int32(self) }
}

extension Int64: InvivoConvertible {
    public static var invivoShape: InvivoShape { InvivoShape(.int64) }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> Int64 { try integer(value) }
    public func asInvivo() throws(InvivoError) -> InvivoValue { .int64(self) }
}

extension UInt8: InvivoConvertible {
    public static var invivoShape: InvivoShape { InvivoShape(.uint8) }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> UInt8 { try integer(value) }
    public func asInvivo() throws(InvivoError) -> InvivoValue { .uint8(self) }
}

extension UInt16: InvivoConvertible {
    public static var invivoShape: InvivoShape { InvivoShape(.uint16) }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> UInt16 { try integer(value) }
    public func asInvivo() throws(InvivoError) -> InvivoValue { .uint16(self) }
}

extension UInt32: InvivoConvertible {
    public static var invivoShape: InvivoShape { InvivoShape(.uint32) }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> UInt32 { try integer(value) }
    public func asInvivo() throws(InvivoError) -> InvivoValue { .uint32(self) }
}

extension UInt64: InvivoConvertible {
    public static var invivoShape: InvivoShape { InvivoShape(.uint64) }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> UInt64 { try integer(value) }
    public func asInvivo() throws(InvivoError) -> InvivoValue { .uint64(self) }
}

extension Float: InvivoConvertible {
    public static var invivoShape: InvivoShape { InvivoShape(.float) }
    /// A double may lose its last digits, and nothing else.
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> Float {
        if case .float(let single) = value { return single }
        let number = try Double.fromInvivo(value)
        let single = Float(number)
        guard single.isFinite || !number.isFinite else { throw InvivoError(.range, "\(number) does not fit a float") }
        return single
    }
    public func asInvivo() throws(InvivoError) -> InvivoValue { .float(self) }
}

extension Double: InvivoConvertible {
    public static var invivoShape: InvivoShape { InvivoShape(.double) }
    /// A floating-point number, or an integer that a double holds exactly.
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> Double {
        switch value {
        case .double(let number): return number
        case .float(let single): return Double(single)
        case .uint64(let number):
            guard let exact = Double(exactly: number) else { throw inexact("\(number)") }
            return exact
        default:
            guard let number = try? Int64.integer(value) else { throw value.mismatch("a number") }
            guard let exact = Double(exactly: number) else { throw inexact("\(number)") }
            return exact
        }
    }
    public func asInvivo() throws(InvivoError) -> InvivoValue { .double(self) }

    private static func inexact(_ number: String) -> InvivoError {
        InvivoError(.range, "a double cannot hold \(number) exactly")
    }
}

extension String: InvivoConvertible {
    public static var invivoShape: InvivoShape { InvivoShape(.string) }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> String {
        guard case .string(let text) = value else { throw value.mismatch("a string") }
        return text
    }
    public func asInvivo() throws(InvivoError) -> InvivoValue { .string(self) }
}

extension Optional: InvivoConvertible where Wrapped: InvivoConvertible {
    public static var invivoShape: InvivoShape {
        var shape = Wrapped.invivoShape
        shape.isOptional = true
        return shape
    }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> Wrapped? {
        value == .null ? nil : try Wrapped.fromInvivo(value)
    }
    public func asInvivo() throws(InvivoError) -> InvivoValue { try self?.asInvivo() ?? .null }
}

/// An array is a list; an array of `UInt8` is bytes.
extension Array: InvivoConvertible where Element: InvivoConvertible {
    public static var invivoShape: InvivoShape { InvivoShape(Element.self == UInt8.self ? .bytes : .list) }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> [Element] {
        switch value {
        case .bytes(let bytes):
            if let bytes = bytes as? [Element] { return bytes }
            throw value.mismatch("a list")
        case .list(let values):
            var elements: [Element] = []
            elements.reserveCapacity(values.count)
            for (index, value) in values.enumerated() {
                do { elements.append(try Element.fromInvivo(value)) } catch { throw error.inside("[\(index)]") }
            }
            return elements
        default: throw value.mismatch("a list")
        }
    }
    public func asInvivo() throws(InvivoError) -> InvivoValue {
        if let bytes = self as? [UInt8], Element.self == UInt8.self { return .bytes(bytes) }
        var values: [InvivoValue] = []
        values.reserveCapacity(count)
        for element in self { values.append(try element.asInvivo()) }
        return .list(values)
    }
}

extension Dictionary: InvivoConvertible where Key == String, Value: InvivoConvertible {
    public static var invivoShape: InvivoShape { InvivoShape(.map) }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> [String: Value] {
        guard case .map(let values) = value else { throw value.mismatch("a map") }
        var result: [String: Value] = [:]
        for (name, value) in values {
            do { result[name] = try Value.fromInvivo(value) } catch { throw error.inside(name) }
        }
        return result
    }
    public func asInvivo() throws(InvivoError) -> InvivoValue {
        var values: [String: InvivoValue] = [:]
        for (name, value) in self { values[name] = try value.asInvivo() }
        return .map(values)
    }
}

extension InvivoError {
    /// The error, with one more step in its path.
    func inside(_ step: String) -> InvivoError {
        var error = self
        error.path = path.isEmpty || path.hasPrefix("[") ? step + path : "\(step).\(path)"
        return error
    }
}
