/// Bytes as a text of a document: base64 of RFC 4648 with its padding, and nothing else in it, so that each value has one
/// spelling.
public enum Base64 {
    /// A description of an error in a string, for the end of a message.
    public struct Fault: Error {
        public let text: String
    }

    /// Writes bytes. `bytes(of:)` returns them again.
    public static func text(of bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            let group = part.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - part.count))
            for digit in 0..<4 {
                let value = Int(group >> UInt32(18 - 6 * digit) & 63)
                text.append(digit <= part.count ? alphabet[value] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    public static func bytes(of text: String) throws(Fault) -> [UInt8] {
        var found: [UInt8] = []
        found.reserveCapacity(text.utf8.count / 4 * 3)
        var group: UInt32 = 0
        var digits = 0
        var padding = 0
        for (position, scalar) in text.unicodeScalars.enumerated() {
            if scalar == "=" {
                padding += 1
                continue
            }
            guard padding == 0 else { throw Fault(text: "'=' stands before its end") }
            guard let digit = digit(scalar) else {
                throw Fault(text: "character \(position + 1) is not one of A to Z, a to z, 0 to 9, '+' and '/'")
            }
            group = group << 6 | digit
            digits += 1
            if digits % 4 == 0 {
                found += [UInt8(group >> 16), UInt8(group >> 8 & 0xff), UInt8(group & 0xff)]
                group = 0
            }
        }
        let missing = (4 - digits % 4) % 4
        guard missing < 3 else { throw Fault(text: "it ends after one character of a group of four") }
        guard padding == missing else { throw Fault(text: "it ends with \(padding) '=' instead of \(missing)") }
        let spare: UInt32 = missing == 1 ? 0x3 : missing == 2 ? 0xf : 0
        guard group & spare == 0 else { throw Fault(text: "its last character says more than a byte") }
        if missing == 1 { found += [UInt8(group >> 10), UInt8(group >> 2 & 0xff)] }
        if missing == 2 { found.append(UInt8(group >> 4)) }
        return found
    }

    private static func digit(_ scalar: Unicode.Scalar) -> UInt32? {
        switch scalar {
        case "A"..."Z": scalar.value - 65
        case "a"..."z": scalar.value - 97 + 26
        case "0"..."9": scalar.value - 48 + 52
        case "+": 62
        case "/": 63
        default: nil
        }
    }
}
