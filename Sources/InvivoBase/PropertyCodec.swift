/// The text form of the values of a property. Mirrors `INVIVO_CODEC_...`.
public enum PropertyCodec: UInt32, Sendable, CaseIterable {
    case none
    case size
    case point
    case decibel
    case percent
    case color
    case duration

    public var name: String { "\(self)" }

    /// The units of time, in seconds; nil for another unit.
    public static func seconds(in unit: String) -> Double? {
        switch unit {
        case "ns": 1e-9
        case "us", "\u{B5}s", "\u{3BC}s": 1e-6
        case "ms": 1e-3
        case "s": 1
        case "min": 60
        case "h": 3600
        case "d": 86400
        default: nil
        }
    }

    /// The names of the parts of a value that is a map, each with its short form; empty for other codecs.
    public var parts: [[String]] {
        switch self {
        case .size: [["width"], ["height"]]
        case .point: [["x"], ["y"]]
        case .color: [["red", "r"], ["green", "g"], ["blue", "b"], ["alpha", "a"]]
        default: []
        }
    }

    /// The index of the part that a value may lack; nil if it needs all. A color without alpha is opaque.
    public var optionalPart: Int? { self == .color ? 3 : nil }

    /// The part that a field holds; nil if it holds none.
    public func part(named field: String) -> Int? { parts.firstIndex { $0.contains(where: field.isSameName(as:)) } }
}

/// Reads a value of a property from its text, as a spec file does. Set by the module that reads such texts.
public enum PropertyTextReading {
    public typealias Read = @Sendable (String, Property) -> Result<Value, Failure>

    static let read = SetOnce<Read>()

    public static func set(_ read: @escaping Read) { self.read.set(read) }
}

extension PropertyTable {
    /// Reads the codec of a property, whose kind, unit and fields are known.
    func readCodec(_ number: UInt32, _ parts: inout Property.Parts, path: String, _ reader: inout TableReader) {
        guard let codec = PropertyCodec(rawValue: number) else {
            reader.problem(path, "the codec \(number) is unknown; expected a constant INVIVO_CODEC_...")
            return
        }
        parts.codec = codec
        guard codec != .none else { return }
        if let fault = Self.fault(of: codec, &parts) { reader.problem(path, "the codec \(codec.name) needs \(fault)") }
    }

    /// Returns the requirement of a codec that the property does not meet; nil if it fits.
    private static func fault(of codec: PropertyCodec, _ parts: inout Property.Parts) -> String? {
        let found = parts.choices.isEmpty ? parts.kind.withArticle : "an enumeration"
        let isPlainNumber = parts.kind.isNumber && parts.choices.isEmpty
        let unit = parts.unit ?? ""
        switch codec {
        case .none: return nil
        case .decibel, .percent:
            guard parts.kind == .float || parts.kind == .double else { return "a float or double, not \(found)" }
            let own = codec == .decibel ? "dB" : "%"
            return unit == own ? "a property without the unit '\(own)': its values are factors" : nil
        case .duration:
            guard isPlainNumber else { return "a number, not \(found)" }
            if unit.isEmpty { parts.unit = "s" }
            return unit.isEmpty || PropertyCodec.seconds(in: unit) != nil
                ? nil : "a unit of time: ns, us, ms, s, min, h or d, not '\(unit)'"
        case .size, .point:
            guard parts.kind == .map else { return "a map, not \(found)" }
            return fieldFault(codec, parts.fields)
        case .color:
            if parts.kind == .map { return fieldFault(codec, parts.fields) }
            let isWide = parts.kind == .uint32 || parts.kind == .int64 || parts.kind == .uint64
            return isPlainNumber && isWide ? nil : "a uint32, int64, uint64 or map, not \(found)"
        }
    }

    /// The fault of the fields of a nested struct. A map without fields can hold every part.
    private static func fieldFault(_ codec: PropertyCodec, _ fields: [Property]) -> String? {
        guard !fields.isEmpty else { return nil }
        let names = codec.parts.enumerated().map { $0 == codec.optionalPart ? "perhaps \($1[0])" : $1[0] }
        let wanted = "the fields " + names.joined(separator: ", ")
        let found = fields.map { codec.part(named: $0.name) }
        guard !found.contains(nil), Set(found).count == found.count else { return wanted + " and no others" }
        for part in codec.parts.indices where part != codec.optionalPart && !found.contains(part) { return wanted }
        for field in fields {
            guard field.kind.isNumber, !field.isEnumeration else { return "numbers, and '\(field.name)' is none" }
            if codec == .color, field.kind == .int8 {
                return "fields that hold 0...255, and '\(field.name)' is an int8"
            }
        }
        return nil
    }
}
