internal import Glibc
public import InvivoBase

/// The codecs of properties: text of a well-known form, read as a value.
extension TextReader {
    /// The value of a text for a property that is a number or has a codec. A number is also accepted without a unit.
    public static func value(_ text: String, of property: Property) throws(Failure) -> Value {
        guard property.codec != .none else { return try number(text, unit: property.unit) }
        if property.kind.isNumber, let number = plainNumber(text) { return number }
        return try codecValue(text, of: property)
    }

    /// The value of a text in the form of the codec of a property. It is not checked against the property's range.
    public static func codecValue(_ text: String, of property: Property) throws(Failure) -> Value {
        switch property.codec {
        case .none: return try number(text, unit: property.unit)
        case .size: return try pair(text, of: property, separators: ["x", "X", "\u{D7}"], "a size such as '640 x 480'")
        case .point: return try pair(text, of: property, separators: [","], "a point such as '10, 20'")
        case .decibel:
            guard let factor = decibel(text) else {
                throw wrong(text, "a factor such as 0.5 or '-6 dB'", at: goodPrefix(text))
            }
            return .double(factor)
        case .percent:
            guard let fraction = percent(text) else {
                throw wrong(text, "a fraction such as 0.5 or '50 %'", at: goodPrefix(text))
            }
            return .double(fraction)
        case .duration:
            let unit = property.unit ?? "s"
            if let number = quantity(text, unit: unit) { return .double(number) }
            _ = try duration(text)
            throw wrong(text, wantedNumber(unit: unit), at: 0)
        case .color: return try color(text, of: property)
        }
    }

    /// The factor of decibels: "-6 dB" is about 0.5, and "-inf dB" is 0. Nil for everything else.
    public static func decibel(_ text: String) -> Double? {
        if text == "-inf dB" || text == "-infdB" { return 0 }
        guard let level = parseQuantity(text, unit: "dB", prefixes: false) else { return nil }
        let factor = pow(10, level / 20)
        return factor.isFinite && factor > 0 ? factor : nil
    }

    /// The fraction of a percentage: "50 %" is 0.5. Nil for everything else.
    public static func percent(_ text: String) -> Double? {
        parseQuantity(text, unit: "%", shift: -2, prefixes: false)
    }

    /// The level of a positive factor in decibels.
    public static func level(ofFactor factor: Double) -> Double { 20 * log10(factor) }

    /// A number without a unit; nil for everything else.
    private static func plainNumber(_ text: String) -> Value? {
        switch plain(text) {
        case .integer(let number)?: .int64(number)
        case .unsigned(let number)?: .uint64(number)
        case .number(let number)?: .double(number)
        default: nil
        }
    }

    /// The length of the number that a text begins with, with the blanks behind it.
    private static func goodPrefix(_ text: String) -> Int {
        var rest = Scanner(text)
        guard rest.number() != nil else { return 0 }
        rest.skipBlanks()
        return rest.offset
    }

    // MARK: values of parts

    private static func pair(
        _ text: String, of property: Property, separators: [Unicode.Scalar], _ wanted: String
    ) throws(Failure) -> Value {
        var rest = Scanner(text)
        func next() throws(Failure) -> Value {
            rest.skipBlanks()
            let start = rest.offset
            guard let written = rest.numberText(), let value = plainNumber(written) else {
                throw wrong(text, wanted, at: start)
            }
            rest.skipBlanks()
            return value
        }
        let first = try next()
        guard rest.skip(oneOf: separators) else { throw wrong(text, wanted, at: rest.offset) }
        let second = try next()
        guard rest.isAtEnd else { throw wrong(text, "nothing after \(wanted)", at: rest.offset) }
        return map([first, second], of: property)
    }

    private static func color(_ text: String, of property: Property) throws(Failure) -> Value {
        let parts = try colorParts(text)
        guard property.kind == .map else { return .int64(parts.reduce(0) { $0 << 8 | Int64($1) }) }
        guard property.hasAlpha || parts[3] == 255 else {
            throw Failure(.conversion, "\(quoted(text)) has an alpha, and '\(property.name)' has none: write '#rrggbb'")
        }
        return map(parts.map { .int64(Int64($0)) }, of: property)
    }

    /// The parts under the names of the fields that hold them. A field of floating point holds a component of a color from 0 to 1.
    private static func map(_ parts: [Value], of property: Property) -> Value {
        guard !property.fields.isEmpty else {
            return .map(zip(property.codec.parts, parts).map { (name: $0[0], value: $1) })
        }
        return .map(
            property.fields.compactMap { field in
                guard let part = property.codec.part(named: field.name) else { return nil }
                guard property.codec == .color, field.kind == .float || field.kind == .double,
                    case .int64(let number) = parts[part]
                else { return (name: field.name, value: parts[part]) }
                return (name: field.name, value: .double(Double(number) / 255))
            })
    }

    /// The red, green, blue and alpha of a color: "#rgb", "#rgba", "#rrggbb", "#rrggbbaa", or a basic name of CSS.
    public static func colorParts(_ text: String) throws(Failure) -> [UInt8] {
        if let named = basicColors[text.lowercased()] {
            return [16, 8, 0].map { UInt8(truncatingIfNeeded: named >> $0) } + [255]
        }
        guard text.hasPrefix("#") else {
            let near = text.utf8.count > 16 ? "" : suggestion(for: text.lowercased(), among: basicColors.keys.sorted())
            var failure = wrong(text, "a color such as '#ff8800', '#ff8800cc' or 'red'", at: 0)
            failure.message += near
            throw failure
        }
        return try hexColor(text)
    }

    private static let basicColors: [String: UInt32] = [
        "black": 0x000000, "silver": 0xC0C0C0, "gray": 0x808080, "white": 0xFFFFFF, "maroon": 0x800000,
        "red": 0xFF0000, "purple": 0x800080, "fuchsia": 0xFF00FF, "green": 0x008000, "lime": 0x00FF00,
        "olive": 0x808000, "yellow": 0xFFFF00, "navy": 0x000080, "blue": 0x0000FF, "teal": 0x008080,
        "aqua": 0x00FFFF,
    ]
}
