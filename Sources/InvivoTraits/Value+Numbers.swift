internal import InvivoBase

extension Value {
    // MARK: relative layers

    /// The number times a factor, in a kind. Integers are rounded to the nearest, half away from zero.
    func scaled(by factor: Value, _ kind: ValueKind) throws(Failure) -> Value {
        try Self.number((wideNumber ?? .nan) * (factor.wideNumber ?? .nan), kind)
    }

    /// The number plus an amount, in a kind. The sum of integers is exact.
    func offset(by amount: Value, _ kind: ValueKind) throws(Failure) -> Value {
        if let own = signedInteger, let whole = amount.wholeNumber {
            let (sum, overflows) = own.addingReportingOverflow(whole)
            if !overflows { return try Value.int64(sum).converted(to: kind) }
        }
        if let own = unsignedInteger, let whole = amount.wholeNumber {
            let (sum, overflows) =
                whole < 0
                ? own.subtractingReportingOverflow(whole.magnitude) : own.addingReportingOverflow(whole.magnitude)
            if !overflows { return try Value.uint64(sum).converted(to: kind) }
        }
        return try Self.number((wideNumber ?? .nan) + (amount.wideNumber ?? .nan), kind)
    }

    private static func number(_ number: Double, _ kind: ValueKind) throws(Failure) -> Value {
        try Value.double(kind.isInteger ? number.rounded(.toNearestOrAwayFromZero) : number).converted(to: kind)
    }

    /// The number as a double, which may be rounded; nil for another value.
    private var wideNumber: Double? {
        switch self {
        case .double(let number): number
        case .float(let number): Double(number)
        default: signedInteger.map(Double.init) ?? unsignedInteger.map(Double.init)
        }
    }

    /// The number as an integer, if it is one.
    private var wholeNumber: Int64? {
        switch self {
        case .double(let number): Int64(exactly: number)
        case .float(let number): Int64(exactly: number)
        default: signedInteger
        }
    }

    // MARK: movements

    /// The numbers of this value that `other` has, in its kinds. Nil if one of them is no finite number.
    func ofSameKinds(as other: Value) -> Value? {
        if case .map(let wanted) = other {
            var pairs: [(name: String, value: Value)] = []
            for pair in wanted {
                guard let value = self[pair.name]?.ofSameKinds(as: pair.value) else { return nil }
                pairs.append((pair.name, value))
            }
            return .map(pairs)
        }
        guard kind.isNumber, let number = try? converted(to: other.kind) else { return nil }
        return switch number {
        case .double(let double): double.isFinite ? number : nil
        case .float(let float): float.isFinite ? number : nil
        default: number
        }
    }

    /// Interpolates to another value of the same kind. Integers are rounded to the nearest, half away from zero. In a map, each number
    /// moves; in a color of the property, each part.
    func moved(to end: Value, by part: Double, of property: Property?) -> Value {
        switch (self, end) {
        case (.map, .map(let ends)):
            return .map(
                ends.map { pair in
                    let field = property?.fields.property(named: pair.name)
                    return (pair.name, (self[pair.name] ?? pair.value).moved(to: pair.value, by: part, of: field))
                })
        case _ where property?.isPackedColor == true: return movedColor(to: end, by: part) ?? end
        case (.double(let start), .double(let end)): return .double(Self.between(start, end, part))
        case (.float(let start), .float(let end)):
            return .float(Float(Self.between(Double(start), Double(end), part)))
        default:
            if let start = signedInteger, let stop = end.signedInteger {
                return (try? Value.int64(Self.between(start, stop, part)).converted(to: end.kind)) ?? end
            }
            if let start = unsignedInteger, let stop = end.unsignedInteger {
                return (try? Value.uint64(Self.between(start, stop, part)).converted(to: end.kind)) ?? end
            }
            return end
        }
    }

    /// Interpolates each part of a color 0xRRGGBBAA; nil for other numbers.
    private func movedColor(to end: Value, by part: Double) -> Value? {
        guard let from = signedInteger, let to = end.signedInteger, 0...0xFFFF_FFFF ~= from, 0...0xFFFF_FFFF ~= to
        else {
            return nil
        }
        let color = [24, 16, 8, 0].reduce(Int64(0)) { color, shift in
            color << 8 | Self.between(from >> shift & 0xFF, to >> shift & 0xFF, part)
        }
        return try? Value.int64(color).converted(to: end.kind)
    }

    private static func between(_ start: Double, _ end: Double, _ part: Double) -> Double {
        // Their difference may be too large for a double.
        start * (1 - part) + end * part
    }

    private static func between(_ start: Int64, _ end: Int64, _ part: Double) -> Int64 {
        guard max(start.magnitude, end.magnitude) > 1 << 52 else {
            return Int64(between(Double(start), Double(end), part).rounded(.toNearestOrAwayFromZero))
        }
        let steps = Int64(bitPattern: steps(UInt64(bitPattern: start < end ? end &- start : start &- end), part))
        return start < end ? start &+ steps : start &- steps
    }

    private static func between(_ start: UInt64, _ end: UInt64, _ part: Double) -> UInt64 {
        guard max(start, end) > 1 << 52 else {
            return UInt64(between(Double(start), Double(end), part).rounded(.toNearestOrAwayFromZero))
        }
        return start < end ? start + steps(end - start, part) : start - steps(start - end, part)
    }

    /// A part of a distance that may be too large for an exact double.
    private static func steps(_ distance: UInt64, _ part: Double) -> UInt64 {
        let steps = Double(distance) * part
        return steps < 0x1p64 ? min(UInt64(steps), distance) : distance
    }
}
