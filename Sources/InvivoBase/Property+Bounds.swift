extension Property {
    /// The range of a property, in the arithmetic of its kind so that the comparison is exact.
    enum Bounds: Sendable, Equatable {
        case none
        case signed(Int64, Int64)
        case unsigned(UInt64, UInt64)
        case single(Float, Float)
        case double(Double, Double)

        /// The range `min...max` for a kind. Bounds outside the kind's range are a failure. INT64_MAX and UINT64_MAX,
        /// written as a double, are accepted as themselves.
        init(min: Double, max: Double, kind: ValueKind) throws(Failure) {
            guard !min.isNaN, !max.isNaN else { throw Failure(.argument, "min or max is not a number") }
            guard min <= max else { throw Failure(.argument, "min \(plain(min)) is greater than max \(plain(max))") }
            guard min < max else {
                self = .none
                return
            }
            guard kind.isNumber else { throw Failure(.argument, "min and max need a number, not \(kind.withArticle)") }
            switch kind {
            case .float:
                guard let low = Float(bound: min), let high = Float(bound: max) else {
                    throw Failure(.argument, "min or max does not fit a float")
                }
                self = .single(low, high)
            case .double: self = .double(min, max)
            case .uint8, .uint16, .uint32, .uint64:
                let high = try Self.bound("max", max, kind).unsignedInteger ?? .max
                self = .unsigned(try Self.bound("min", min, kind).unsignedInteger ?? 0, high)
            default:
                let high = try Self.bound("max", max, kind).signedInteger ?? .max
                self = .signed(try Self.bound("min", min, kind).signedInteger ?? .min, high)
            }
        }

        private static func bound(_ name: String, _ bound: Double, _ kind: ValueKind) throws(Failure) -> Value {
            if kind == .uint64, bound == 0x1p64 { return .uint64(.max) }
            if kind == .int64, bound == 0x1p63 { return .int64(.max) }
            do throws(Failure) {
                return try Value.double(bound).converted(to: kind)
            } catch {
                throw Failure(.argument, "\(name): \(error.message)")
            }
        }

        /// Throws a range failure for a value outside; the message contains `unit`.
        @inline(__always)
        func check(_ value: Value, unit: String?) throws(Failure) {
            let inside =
                switch (self, value) {
                case (.none, _): true
                // A NaN is outside every range.
                case (.double(let low, let high), .double(let number)): number >= low && number <= high
                case (.single(let low, let high), .float(let number)): number >= low && number <= high
                case (.unsigned(let low, let high), _): value.unsignedInteger.map { $0 >= low && $0 <= high } ?? false
                case (.signed(let low, let high), _): value.signedInteger.map { $0 >= low && $0 <= high } ?? false
                default: false
                }
            if !inside { throw outside(value, unit) }
        }

        /// nil: no bound.
        private static func range(_ low: String?, _ high: String?) -> String {
            switch (low, high) {
            case (let low?, let high?): "\(low)...\(high)"
            case (let low?, nil): "the range from \(low)"
            case (nil, let high?): "the range up to \(high)"
            case (nil, nil): "any range of numbers"
            }
        }

        /// The range without a bound that is that of the kind itself; nil for every number.
        private func limits(_ kind: ValueKind) -> (low: String?, high: String?)? {
            switch self {
            case .none: return nil
            case .signed(let low, let high):
                return (low == kind.leastSigned ? nil : "\(low)", high >= kind.greatestSigned ? nil : "\(high)")
            case .unsigned(let low, let high):
                return ("\(low)", high >= kind.greatestUnsigned ? nil : "\(high)")
            case .single(let low, let high):
                return (
                    low.isInfinite ? nil : "\(low)".withoutPointZero, high.isInfinite ? nil : "\(high)".withoutPointZero
                )
            case .double(let low, let high):
                return (low.isInfinite ? nil : plain(low), high.isInfinite ? nil : plain(high))
            }
        }

        /// " from 1 to 64", " up to 5", " of Hz": the end of a phrase about the expected number; "" for every number.
        func inWords(_ kind: ValueKind, unit: String?) -> String {
            let unit = unit.flatMap { $0.isEmpty ? nil : $0 }
            let end = unit.map { " \($0)" } ?? ""
            switch limits(kind) {
            case (let low?, let high?)?: return " from \(low) to \(high)\(end)"
            case (let low?, nil)?: return " from \(low)\(end)"
            case (nil, let high?)?: return " up to \(high)\(end)"
            default: return unit.map { " of \($0)" } ?? ""
            }
        }

        private func outside(_ value: Value, _ unit: String?) -> Failure {
            let range = limits(value.kind).map { Self.range($0.low, $0.high) } ?? "any number"
            return Failure(.range, "\(value) is outside \(range)" + (unit.map { " \($0)" } ?? ""))
        }
    }
}

extension ValueKind {
    fileprivate var leastSigned: Int64 {
        switch self {
        case .int8: Int64(Int8.min)
        case .int16: Int64(Int16.min)
        case .int32: Int64(Int32.min)
        default: .min
        }
    }

    fileprivate var greatestSigned: Int64 {
        switch self {
        case .int8: Int64(Int8.max)
        case .int16: Int64(Int16.max)
        case .int32: Int64(Int32.max)
        // The greatest double below: bounds are given as doubles.
        default: 0x7FFF_FFFF_FFFF_FC00
        }
    }

    fileprivate var greatestUnsigned: UInt64 {
        switch self {
        case .uint8: UInt64(UInt8.max)
        case .uint16: UInt64(UInt16.max)
        case .uint32: UInt64(UInt32.max)
        default: 0xFFFF_FFFF_FFFF_F800
        }
    }
}

extension Float {
    fileprivate init?(bound: Double) {
        guard bound.isInfinite || Float(bound).isFinite else { return nil }
        self = Float(bound)
    }
}
