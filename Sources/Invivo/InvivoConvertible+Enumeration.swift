/// An enumeration crosses by name: `enum Wave: String, CaseIterable, InvivoConvertible { case sine, saw }`. Its names are
/// its raw values when these are strings, its numbers its raw values when these are integers.
extension InvivoConvertible where Self: CaseIterable {
    public static var invivoShape: InvivoShape {
        Enumeration<Self>.shape { _ in
            nil
        } name: {
            "\($0)"
        }
    }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> Self {
        try Enumeration<Self>.read(value, invivoShape)
    }
    public func asInvivo() throws(InvivoError) -> InvivoValue { Enumeration.written(self, Self.invivoShape, "\(self)") }
}

extension InvivoConvertible where Self: CaseIterable & RawRepresentable, RawValue == String {
    public static var invivoShape: InvivoShape {
        Enumeration<Self>.shape { _ in
            nil
        } name: {
            $0.rawValue
        }
    }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> Self {
        try Enumeration<Self>.read(value, invivoShape)
    }
    public func asInvivo() throws(InvivoError) -> InvivoValue { Enumeration.written(self, Self.invivoShape, rawValue) }
}

extension InvivoConvertible where Self: CaseIterable & RawRepresentable, RawValue: FixedWidthInteger {
    public static var invivoShape: InvivoShape {
        Enumeration<Self>.shape {
            Int64(truncatingIfNeeded: $0.rawValue)
        } name: {
            "\($0)"
        }
    }
    public static func fromInvivo(_ value: InvivoValue) throws(InvivoError) -> Self {
        try Enumeration<Self>.read(value, invivoShape)
    }
    public func asInvivo() throws(InvivoError) -> InvivoValue { Enumeration.written(self, Self.invivoShape, "\(self)") }
}

enum Enumeration<Value: CaseIterable> {
    static func shape(number: (Value) -> Int64?, name: (Value) -> String) -> InvivoShape {
        let choices = Value.allCases.enumerated().map { index, value in
            InvivoShape.Choice(name(value), number(value) ?? tag(value) ?? Int64(index))
        }
        let fits = choices.allSatisfy { 0 <= $0.number && $0.number <= UInt8.max }
        return InvivoShape(fits ? .uint8 : .int64, choices: choices)
    }

    /// The number that represents a case of an enumeration without payloads in memory; nil for other types.
    static func tag(_ value: Value) -> Int64? {
        withUnsafeBytes(of: value) { bytes in
            switch bytes.count {
            case 1: Int64(bytes.load(as: UInt8.self))
            case 2: Int64(bytes.load(as: UInt16.self))
            default: nil
            }
        }
    }

    /// Reads a case by its name if there is one, otherwise by its number.
    static func read(_ value: InvivoValue, _ shape: InvivoShape) throws(InvivoError) -> Value {
        let index: Int?
        switch value {
        case .enumeration(_, let name?), .string(let name): index = shape.choices.firstIndex { $0.name == name }
        case .enumeration(let number, nil): index = shape.choices.firstIndex { $0.number == number }
        default:
            guard let number = try? Int64.integer(value) else { throw value.mismatch("one of \(names(shape))") }
            index = shape.choices.firstIndex { $0.number == number }
        }
        guard let index else { throw InvivoError(.range, "\(value) is none of \(names(shape))") }
        return Value.allCases[Value.allCases.index(Value.allCases.startIndex, offsetBy: index)]
    }

    static func written(_ value: Value, _ shape: InvivoShape, _ name: String) -> InvivoValue {
        .enumeration(number: shape.choices.first { $0.name == name }?.number ?? 0, name: name)
    }

    private static func names(_ shape: InvivoShape) -> String { shape.choices.map(\.name).joined(separator: ", ") }
}
