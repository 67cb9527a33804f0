public import InvivoBase

/// Reads values from strings of a few well-known forms, without side effects. A value is exact; an error has its
/// position in the string.
public enum TextReader {
    /// A number such as 12, -0.5, 1e3 or 0x20. With a unit also 1.2 kHz; with a unit of time also the forms of
    /// `duration`.
    public static func number(_ text: String, unit: String?) throws(Failure) -> Value {
        if let unit, let number = quantity(text, unit: unit) { return .double(number) }
        let resolved = text.utf8.elementsEqual(text.utf8.filter { $0 != 0x20 }) ? resolve(text) : .text
        switch resolved {
        case .content(.integer(let number)): return .int64(number)
        case .content(.unsigned(let number)): return .uint64(number)
        case .content(.number(let number)): return .double(number)
        case .outOfRange(let message): throw Failure(.conversion, message)
        default:
            var failure = wrong(text, wantedNumber(unit: unit), at: goodDigits(text))
            if unit?.isEmpty != false { failure.message += unitHint(text) }
            throw failure
        }
    }

    /// The content of a plain scalar of YAML that is no string; nil for a string.
    public static func plain(_ text: String) -> SpecNode.Content? {
        guard !text.isEmpty, case .content(let content) = resolve(text) else { return nil }
        return content
    }

    /// The content of a plain scalar of YAML.
    public static func scalar(_ text: String) throws(Failure) -> SpecNode.Content {
        switch resolve(text) {
        case .content(let content): return content
        case .text: return .text(text)
        case .outOfRange(let message): throw Failure(.range, message)
        }
    }

    /// A number with a unit, such as 1.2 kHz, converted to the receiver's unit. With a unit of time also the forms of
    /// `duration`. Nil for everything else.
    public static func quantity(_ text: String, unit: String) -> Double? {
        guard !unit.isEmpty else { return nil }
        if let number = parseQuantity(text, unit: unit) { return number }
        guard let size = seconds(in: unit), let (seconds, exact) = try? durations(text) else { return nil }
        return exact.value(in: size) ?? seconds / size
    }

    /// The text that a property of this unit expects, with examples.
    public static func wantedNumber(unit: String?) -> String {
        guard let unit, !unit.isEmpty else { return "a number" }
        let isTime = seconds(in: unit) != nil
        let examples = isTime ? "3 or '250 ms'" : isPrefixed(unit) ? "1200 or '1.2 k\(unit)'" : "3 or '3 \(unit)'"
        return "a number of \(unit), as in \(examples)"
    }

    /// Whether the unit is usually written with a prefix for thousands.
    private static func isPrefixed(_ unit: String) -> Bool {
        ["Hz", "m", "g", "W", "V", "A", "Pa", "N", "J", "B", "bit", "Ohm", "\u{3A9}"].contains(unit)
    }

    /// The advice for a number with a unit whose receiver has no unit.
    private static func unitHint(_ text: String) -> String {
        var rest = Scanner(text)
        rest.skipBlanks()
        guard rest.number() != nil else { return "" }
        rest.skipBlanks()
        guard !rest.letters().isEmpty else { return "" }
        let converter: String? =
            (try? duration(text)) != nil ? "duration" : (try? bytes(text)) != nil ? "bytes" : nil
        let help = converter.map { "; the converter '\($0)' reads this" } ?? "; write the number alone"
        return ": no unit is expected here\(help)"
    }

    public static func bool(_ text: String) throws(Failure) -> Bool {
        switch text {
        case "true": true
        case "false": false
        default: throw wrong(text, "'true' or 'false'", at: 0)
        }
    }

    /// Seconds: numbers with units, the larger first, as in "1 h 30 min".
    public static func duration(_ text: String) throws(Failure) -> Double {
        let (seconds, exact) = try durations(text)
        return exact.value(in: 1) ?? seconds
    }

    /// The seconds, and the exact sum of the parts.
    private static func durations(_ text: String) throws(Failure) -> (seconds: Double, exact: ExactDuration) {
        var exact = ExactDuration()
        var rest = Scanner(text)
        var sum = 0.0
        var last = Double.infinity
        rest.skipBlanks()
        repeat {
            let start = rest.offset
            guard let written = rest.numberText(), let number = Double(written) else {
                throw wrong(text, "a duration such as '250 ms' or '1 h 30 min'", at: start)
            }
            rest.skipBlanks()
            let offset = rest.offset
            guard let size = seconds(in: rest.letters()) else {
                throw wrong(text, "a unit of time: ns, us, ms, s, min, h or d", at: offset)
            }
            guard size < last else { throw wrong(text, "units that get smaller, each once", at: offset) }
            guard number >= 0 || last == .infinity else { throw wrong(text, "one sign, at the beginning", at: start) }
            last = size
            // Rounded once for each part: 0.3 ms is 0.0003.
            let part = size < 1 ? number / (1 / size).rounded() : number * size
            exact.add(sum.sign == .minus ? "-\(written)" : written, seconds: size)
            sum = sum.sign == .minus ? sum - part : sum + part
            rest.skipBlanks()
        } while !rest.isAtEnd
        return (sum, exact)
    }

    private static func seconds(in unit: String) -> Double? { PropertyCodec.seconds(in: unit) }

    /// A whole number of bytes: 4096, 64 KiB, 1.5 MB.
    public static func bytes(_ text: String) throws(Failure) -> UInt64 {
        var rest = Scanner(text)
        rest.skipBlanks()
        let start = rest.offset
        guard let number = rest.number(), number >= 0 else {
            throw wrong(text, "a number of bytes such as '4096' or '64 KiB'", at: start)
        }
        rest.skipBlanks()
        let offset = rest.offset
        let unit = rest.letters()
        let units: [String: Double] = [
            "": 1, "B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 1024, "MiB": 1_048_576,
            "GiB": 1_073_741_824, "TiB": 1_099_511_627_776,
        ]
        guard let size = units[unit] else {
            throw wrong(text, "a unit: B, kB, MB, GB, TB, KiB, MiB, GiB or TiB", at: offset)
        }
        rest.skipBlanks()
        guard rest.isAtEnd else { throw wrong(text, "nothing after the unit", at: rest.offset) }
        guard let count = UInt64(exactly: number * size), count <= 1 << 53 else {
            throw wrong(text, "a whole number of bytes, at most 8 PiB", at: start)
        }
        return count
    }

    /// The bytes of a text in base64.
    public static func base64(_ text: String) throws(Failure) -> [UInt8] {
        do throws(Base64.Fault) { return try Base64.bytes(of: text) } catch {
            throw Failure(.conversion, "\(quoted(text)) is not base64, as in 'AQID': \(error.text)")
        }
    }

    /// A path, made absolute from a folder.
    public static func path(_ text: String, from folder: String) throws(Failure) -> String {
        if text.isEmpty { throw wrong(text, "a path", at: 0) }
        if let zero = Array(text.unicodeScalars).firstIndex(of: "\0") {
            throw wrong(text, "no NUL in a path", at: zero)
        }
        return text.hasPrefix("/") ? text : folder.hasSuffix("/") ? folder + text : "\(folder)/\(text)"
    }

    /// A URL with a scheme (RFC 3986), as it stands.
    public static func url(_ text: String) throws(Failure) -> String {
        let scalars = Array(text.unicodeScalars)
        var at = 0
        while at < scalars.count, isSchemeScalar(scalars[at], first: at == 0) { at += 1 }
        guard at > 0, at < scalars.count, scalars[at] == ":" else {
            throw wrong(text, "a URL that begins with a scheme, as in 'https://...'", at: at)
        }
        while at < scalars.count {
            let scalar = scalars[at]
            if scalar == "%" {
                let digits = scalars[(at + 1)...].prefix(2)
                guard digits.count == 2, digits.allSatisfy(\.properties.isASCIIHexDigit) else {
                    throw wrong(text, "two hexadecimal digits after '%'", at: at + 1)
                }
            } else if scalar.value <= 0x20 || scalar.value >= 0x7F || "\"<>\\^`{|}".unicodeScalars.contains(scalar) {
                throw wrong(text, "a character that a URL may have; write others as %XX", at: at)
            }
            at += 1
        }
        return text
    }

    private static func isSchemeScalar(_ scalar: Unicode.Scalar, first: Bool) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z": true
        case "0"..."9", "+", "-", ".": !first
        default: false
        }
    }

    /// Red, green, blue and alpha of #rgb, #rgba, #rrggbb or #rrggbbaa.
    public static func hexColor(_ text: String) throws(Failure) -> [UInt8] {
        let scalars = Array(text.unicodeScalars)
        let wanted = "a color such as '#f80' or '#ff8800cc'"
        guard scalars.first == "#" else { throw wrong(text, wanted, at: 0) }
        var digits: [UInt8] = []
        for (index, scalar) in scalars.dropFirst().enumerated() {
            guard scalar.isASCII, let digit = UInt8(String(scalar), radix: 16) else {
                throw wrong(text, "a hexadecimal digit", at: index + 1)
            }
            digits.append(digit)
        }
        var parts: [UInt8]
        switch digits.count {
        case 3, 4: parts = digits.map { $0 * 17 }
        case 6, 8: parts = stride(from: 0, to: digits.count, by: 2).map { digits[$0] * 16 + digits[$0 + 1] }
        default: throw wrong(text, wanted, at: scalars.count)
        }
        if parts.count == 3 { parts.append(255) }
        return parts
    }

    // MARK: failures

    /// `offset` counts scalars from 0; people count from 1.
    static func wrong(_ text: String, _ wanted: String, at offset: Int) -> Failure {
        Failure(.conversion, "expected \(wanted) at character \(offset + 1) of \(quoted(text))")
    }

    private static func resolve(_ text: String) -> CoreSchema.Resolved {
        var text = text
        return text.withUTF8 { CoreSchema.resolve($0) }
    }

    /// The length of the prefix that could be a number.
    private static func goodDigits(_ text: String) -> Int {
        var rest = Scanner(text)
        return rest.number() == nil ? 0 : rest.offset
    }

    /// Scans a string; offsets count scalars.
    struct Scanner {
        private let scalars: [Unicode.Scalar]
        private(set) var offset = 0

        init(_ text: String) { scalars = Array(text.unicodeScalars.prefix(1024)) }

        var isAtEnd: Bool { offset >= scalars.count }

        mutating func skipBlanks() {
            while offset < scalars.count, scalars[offset] == " " || scalars[offset] == "\t" { offset += 1 }
        }

        mutating func letters() -> String {
            var found = String.UnicodeScalarView()
            while offset < scalars.count, scalars[offset].properties.isAlphabetic || scalars[offset] == "\u{B5}" {
                found.append(scalars[offset])
                offset += 1
            }
            return String(found)
        }

        /// The longest decimal number here.
        mutating func number() -> Double? { numberText().flatMap { Double($0) } }

        /// The text of the longest decimal number here, which is finite.
        mutating func numberText() -> String? {
            let ascii = scalars[offset...].prefix { $0.isASCII }.map { UInt8($0.value) }
            guard let shape = ascii.withUnsafeBufferPointer(DecimalShape.init(beginning:)) else { return nil }
            let text = String(decoding: ascii[..<shape.end], as: UTF8.self)
            guard let number = Double(text), number.isFinite else { return nil }
            offset += shape.end
            return text
        }

        mutating func skip(oneOf wanted: [Unicode.Scalar]) -> Bool {
            guard offset < scalars.count, wanted.contains(scalars[offset]) else { return false }
            offset += 1
            return true
        }
    }
}
