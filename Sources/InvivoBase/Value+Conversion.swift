public import CInvivo

extension Value {
    /// The same value in another kind. No information is lost: a value that does not fit is a range failure, kinds that
    /// do not convert are a type failure. Integers and floating-point numbers convert where the number stays the same
    /// (a double may lose its last digits in a float); an enumeration converts to integers and, by its name, to a
    /// string; an integer to an enumeration. Nothing else converts; text is never parsed, a bool is not a number.
    public func converted(to kind: ValueKind) throws(Failure) -> Value {
        if kind == .any || kind == self.kind { return self }
        switch kind {
        case .int8: return .int8(try integer(kind))
        case .int16: return .int16(try integer(kind))
        case .int32: return .int32(try integer(kind))
        case .int64: return .int64(try integer(kind))
        case .uint8: return .uint8(try integer(kind))
        case .uint16: return .uint16(try integer(kind))
        case .uint32: return .uint32(try integer(kind))
        case .uint64: return .uint64(try integer(kind))
        case .float: return .float(try single())
        case .double: return .double(try double())
        case .enumeration:
            guard self.kind.isInteger else { throw notConvertible(kind) }
            return .enumeration(number: try integer(.int64), name: nil)
        case .string:
            guard case .enumeration(_, let name?) = self else { throw notConvertible(kind) }
            return .string(name)
        default: throw notConvertible(kind)
        }
    }

    /// Converts the value to a kind of value.h.
    public func converted(to number: invivo_kind) throws(Failure) -> Value {
        try converted(to: ValueKind(checking: number))
    }

    private func notConvertible(_ kind: ValueKind) -> Failure {
        Failure(.type, "\(withKind) is not \(kind.inWords)")
    }

    private func integer<Integer: FixedWidthInteger>(_ kind: ValueKind) throws(Failure) -> Integer {
        let number: Integer?
        switch self {
        case .uint64(let wide): number = Integer(exactly: wide)
        case .float(let wide):
            try Self.requireWhole(Double(wide), kind)
            number = Integer(exactly: wide)
        case .double(let wide):
            try Self.requireWhole(wide, kind)
            number = Integer(exactly: wide)
        default:
            guard let wide = signedInteger else { throw notConvertible(kind) }
            number = Integer(exactly: wide)
        }
        guard let number else {
            let shown = if case .enumeration(let number, _) = self { "\(number)" } else { description }
            throw Failure(.range, "\(shown) is outside \(Integer.min)...\(Integer.max) (\(kind.name))")
        }
        return number
    }

    private static func requireWhole(_ number: Double, _ kind: ValueKind) throws(Failure) {
        // Infinities are whole to `rounded`; they fail as out of range.
        guard number.isNaN || (number.isFinite && number != number.rounded(.towardZero)) else { return }
        throw Failure(.range, "\(plain(number)) is not a whole number")
    }

    private func double() throws(Failure) -> Double {
        let number: Double?
        switch self {
        case .float(let narrow): return Double(narrow)
        case .uint64(let wide): number = Double(exactly: wide)
        default:
            guard kind.isInteger, let wide = signedInteger else { throw notConvertible(.double) }
            number = Double(exactly: wide)
        }
        guard let number else { throw Failure(.range, "a double cannot hold \(self) exactly") }
        return number
    }

    private func single() throws(Failure) -> Float {
        let number: Float?
        switch self {
        case .double(let wide): number = Float(rounding: wide)
        case .uint64(let wide): number = Float(exactly: wide)
        default:
            guard kind.isInteger, let wide = signedInteger else { throw notConvertible(.float) }
            number = Float(exactly: wide)
        }
        guard let number else { throw Failure(.range, "a float cannot hold \(self)") }
        return number
    }
}

extension Float {
    /// The nearest float, where only the last digits go: nil when a finite number becomes infinite, or so small that
    /// more than its last digits would be lost.
    init?(rounding wide: Double) {
        let narrow = Float(wide)
        guard wide.isFinite else {
            self = narrow
            return
        }
        guard narrow.isFinite, narrow.isNormal || Double(narrow) == wide else { return nil }
        self = narrow
    }
}
