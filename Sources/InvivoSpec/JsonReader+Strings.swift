internal import InvivoBase

extension JsonReader {
    /// Reads a text in double quotes, as a key or a value; `at` is on the first of them.
    mutating func string(isKey: Bool, at position: Position) throws(Failure) {
        at += 1
        let start = at
        while let byte = peek, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { at += 1 }
        if peek == UInt8(ascii: "\"") {
            at += 1
            return try put(
                UnsafeBufferPointer(rebasing: bytes[start..<at - 1]), isKey: isKey, at: position, isAsWritten: true)
        }
        let decoded = try escapedString(begun: Array(bytes[start..<at]), at: position)
        try decoded.span.withUnsafeBufferPointer { text throws(Failure) in
            try put(text, isKey: isKey, at: position, isAsWritten: false)
        }
    }

    private mutating func put(
        _ text: UnsafeBufferPointer<UInt8>, isKey: Bool, at position: Position, isAsWritten: Bool
    ) throws(Failure) {
        if isKey { return try tree.key(text, at: position) }
        let content: () -> Position? = {
            isAsWritten ? Position(line: position.line, column: position.column + 1) : nil
        }
        switch try tree.expanded(text, at: position, content: content) {
        case .same, .verbatim: try tree.add(text, at: position)
        case .wrong: try tree.add(.null, at: position)
        case .text(let expanded, let variables):
            tree.note(variables)
            try expanded.span.withUnsafeBufferPointer { text throws(Failure) in try tree.add(text, at: position) }
        }
    }

    private mutating func escapedString(begun: [UInt8], at position: Position) throws(Failure) -> [UInt8] {
        var decoded = begun
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                at += 1
                return decoded
            case UInt8(ascii: "\\"):
                try escape(into: &decoded)
            case 0..<0x20:
                let code = hexadecimal(UInt32(byte), digits: 4)
                let opened = byte == 0x0A || byte == 0x0D ? " (is the string closed?)" : ""
                let message = "a control character in a string is written as an escape: \\u\(code)\(opened)"
                throw tree.failure(.syntax, message, at: here())
            default:
                decoded.append(byte)
                at += 1
            }
        }
        let message = "the string that begins at \(position.line):\(position.column) is not closed"
        throw tree.failure(.syntax, message, at: here())
    }

    private mutating func escape(into decoded: inout [UInt8]) throws(Failure) {
        let start = at
        at += 1
        let short: UInt8
        switch peek {
        case UInt8(ascii: "u"): return decoded.append(contentsOf: String(try unicodeEscape()).utf8)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): short = bytes[at]
        case UInt8(ascii: "b"): short = 0x08
        case UInt8(ascii: "f"): short = 0x0C
        case UInt8(ascii: "n"): short = 0x0A
        case UInt8(ascii: "r"): short = 0x0D
        case UInt8(ascii: "t"): short = 0x09
        default:
            let found = quoted("\\" + (text.scalar(atByte: at).map { String($0) } ?? ""))
            at = start
            let known = #"\" \\ \/ \b \f \n \r \t \uXXXX"#
            throw tree.failure(.syntax, "unknown escape \(found); known are \(known)", at: here())
        }
        decoded.append(short)
        at += 1
    }

    /// One `\uXXXX`, or the two that make a surrogate pair; `at` is on the `u`.
    private mutating func unicodeEscape() throws(Failure) -> Unicode.Scalar {
        let start = at - 1
        at += 1
        let first = try hexDigits()
        if let scalar = Unicode.Scalar(first) { return scalar }
        if first < 0xDC00, peek == UInt8(ascii: "\\"), at + 1 < bytes.count, bytes[at + 1] == UInt8(ascii: "u") {
            at += 2
            let second = try hexDigits()
            if (0xDC00...0xDFFF).contains(second),
                let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
            {
                return scalar
            }
        }
        at = start
        let escape = "\\u" + hexadecimal(first, digits: 4)
        let message = "the escape \(escape) is half of a surrogate pair; the other half is missing"
        throw tree.failure(.syntax, message, at: here())
    }

    private mutating func hexDigits() throws(Failure) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = NumberText.magnitude(CollectionOfOne(byte), radix: 16) else {
                throw unexpected("four hexadecimal digits after \\u")
            }
            value = value << 4 | UInt32(digit)
            at += 1
        }
        return value
    }
}
