/// A number with its unit, in the unit wanted: "1.2 kHz" for "Hz" is 1200.
///
/// Blanks between number and unit are optional. The unit must be there; before it one SI prefix may stand: p, n, u, µ,
/// m, k, M, G or T, unless `prefixes` is false. A remainder that equals the unit is never read as a prefix. The number is
/// multiplied by `10^shift`. Nil for everything else.
public func parseQuantity(_ text: String, unit: String, shift: Int = 0, prefixes: Bool = true) -> Double? {
    guard !unit.isEmpty, text.utf8.count <= 256 else { return nil }
    let bytes = Array(text.utf8)
    guard let shape = bytes.withUnsafeBufferPointer(DecimalShape.init(beginning:)) else { return nil }
    let remainder = String(decoding: bytes[shape.end...].drop { $0 == 0x20 || $0 == 0x09 }, as: UTF8.self)
    guard let power = prefixes ? decimalPower(of: remainder, unit: unit) : remainder == unit ? 0 : nil else {
        return nil
    }

    // The power goes into the exponent of the text, so that the result is rounded once.
    var mantissaEnd = shape.end
    var exponent = power + shift
    if let range = shape.exponent {
        let text = String(decoding: bytes[range], as: UTF8.self)
        guard let written = Int(text), abs(written) < 10_000 else { return nil }
        mantissaEnd = range.lowerBound - 1
        exponent += written
    }
    let value = Double(String(decoding: bytes[..<mantissaEnd], as: UTF8.self) + "e\(exponent)")
    return value.flatMap { $0.isFinite ? $0 : nil }
}

private func decimalPower(of remainder: String, unit: String) -> Int? {
    if remainder == unit { return 0 }
    guard let first = remainder.unicodeScalars.first else { return nil }
    guard String(String.UnicodeScalarView(remainder.unicodeScalars.dropFirst())) == unit else { return nil }
    switch first {
    case "p": return -12
    case "n": return -9
    case "u", "\u{B5}", "\u{3BC}": return -6
    case "m": return -3
    case "k": return 3
    case "M": return 6
    case "G": return 9
    case "T": return 12
    default: return nil
    }
}
