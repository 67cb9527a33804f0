/// The meaning of a plain scalar by the core schema of YAML 1.2: no `yes` and `no`, no octal by a leading zero, no base
/// 60.
enum CoreSchema {
    enum Resolved {
        case content(SpecNode.Content)
        case text
        /// An integer that 64 bits do not hold, or a number that a double does not.
        case outOfRange(String)
    }

    static func resolve(_ bytes: UnsafeBufferPointer<UInt8>) -> Resolved {
        guard let first = bytes.first else { return .content(.null) }
        switch first {
        case UInt8(ascii: "~"), UInt8(ascii: "n"), UInt8(ascii: "N"), UInt8(ascii: "t"), UInt8(ascii: "T"),
            UInt8(ascii: "f"), UInt8(ascii: "F"):
            return bytes.count <= 5 ? word(bytes) : .text
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), 0x30...0x39:
            return number(bytes)
        default:
            return .text
        }
    }

    private static func word(_ bytes: UnsafeBufferPointer<UInt8>) -> Resolved {
        switch String(decoding: bytes, as: UTF8.self) {
        case "~", "null", "Null", "NULL": .content(.null)
        case "true", "True", "TRUE": .content(.bool(true))
        case "false", "False", "FALSE": .content(.bool(false))
        default: .text
        }
    }

    private static func number(_ bytes: UnsafeBufferPointer<UInt8>) -> Resolved {
        if bytes.count > 2 && bytes[0] == 0x30 && (bytes[1] == UInt8(ascii: "x") || bytes[1] == UInt8(ascii: "o")) {
            return prefixed(bytes, radix: bytes[1] == UInt8(ascii: "x") ? 16 : 8)
        }
        guard let shape = DecimalShape(bytes) else { return special(bytes) }
        let text = String(decoding: bytes, as: UTF8.self)
        if shape.isInteger {
            let magnitude = NumberText.magnitude(bytes[shape.digits])
            let integer = magnitude.flatMap { NumberText.integer(magnitude: $0, isNegative: shape.isNegative) }
            return integer.map { .content($0) } ?? .outOfRange(NumberText.tooLarge(text))
        }
        guard let value = Double(text) else { return .text }
        return value.isFinite ? .content(.number(value)) : .outOfRange(NumberText.infinite(text))
    }

    private static func prefixed(_ bytes: UnsafeBufferPointer<UInt8>, radix: UInt64) -> Resolved {
        let digits = bytes[2...]
        let isNumber = digits.allSatisfy { byte in NumberText.magnitude(CollectionOfOne(byte), radix: radix) != nil }
        guard isNumber else { return .text }
        let magnitude = NumberText.magnitude(digits, radix: radix)
        let integer = magnitude.flatMap { NumberText.integer(magnitude: $0, isNegative: false) }
        return integer.map { .content($0) }
            ?? .outOfRange(NumberText.tooLarge(String(decoding: bytes, as: UTF8.self)))
    }

    private static func special(_ bytes: UnsafeBufferPointer<UInt8>) -> Resolved {
        guard bytes.count == 4 || bytes.count == 5 else { return .text }
        return switch String(decoding: bytes, as: UTF8.self) {
        case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF": .content(.number(.infinity))
        case "-.inf", "-.Inf", "-.INF": .content(.number(-.infinity))
        case ".nan", ".NaN", ".NAN": .content(.number(.nan))
        default: .text
        }
    }
}
