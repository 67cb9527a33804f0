internal import InvivoBase

/// Strict RFC 8259, with the source location of every value. Why not a library: docs/decisions.md.
///
/// One pass over the bytes, which are known to be UTF-8. The recursion is bounded by the limit of depth, which the
/// builder holds.
struct JsonReader {
    let text: SourceText
    let bytes: UnsafeBufferPointer<UInt8>
    var at = 0
    var cursor = TextCursor()
    var tree: TreeBuilder

    /// The document, or nil if there are only blanks.
    static func read(
        _ text: SourceText, limits: SpecLimits, _ expansion: Expansion
    ) throws(Failure) -> SpecDocument? {
        var reader = JsonReader(text, limits, expansion)
        reader.skipBlanks()
        if reader.at == reader.bytes.count { return nil }
        try reader.value()
        reader.skipBlanks()
        if reader.at < reader.bytes.count { throw reader.unexpected("the end of the document") }
        return try reader.tree.document()
    }

    private init(_ text: SourceText, _ limits: SpecLimits, _ expansion: Expansion) {
        self.text = text
        bytes = text.bytes
        tree = TreeBuilder(limits: limits, for: text, expansion)
    }

    private mutating func value() throws(Failure) {
        let position = here()
        switch peek ?? 0 {
        case UInt8(ascii: "{"): try map(at: position)
        case UInt8(ascii: "["): try list(at: position)
        case UInt8(ascii: "\""): try string(isKey: false, at: position)
        case UInt8(ascii: "-"), 0x30...0x39: try number(at: position)
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): try word(at: position)
        default: throw unexpected("a value")
        }
    }

    private mutating func map(at position: Position) throws(Failure) {
        try tree.begin(map: true, at: position)
        at += 1
        skipBlanks()
        if !skip(UInt8(ascii: "}")) {
            repeat {
                skipBlanks()
                guard peek == UInt8(ascii: "\"") else { throw unexpected("a key in double quotes", in: position) }
                try string(isKey: true, at: here())
                skipBlanks()
                guard skip(UInt8(ascii: ":")) else { throw unexpected("':' after the key", in: position) }
                skipBlanks()
                try value()
                skipBlanks()
            } while skip(UInt8(ascii: ","))
            guard skip(UInt8(ascii: "}")) else { throw unexpected("',' or '}'", in: position) }
        }
        tree.end()
    }

    private mutating func list(at position: Position) throws(Failure) {
        try tree.begin(map: false, at: position)
        at += 1
        skipBlanks()
        if !skip(UInt8(ascii: "]")) {
            repeat {
                skipBlanks()
                try value()
                skipBlanks()
            } while skip(UInt8(ascii: ","))
            guard skip(UInt8(ascii: "]")) else { throw unexpected("',' or ']'", in: position) }
        }
        tree.end()
    }

    private mutating func word(at position: Position) throws(Failure) {
        let start = at
        while let byte = peek, isWordByte(byte) { at += 1 }
        let word = String(decoding: bytes[start..<at], as: UTF8.self)
        switch word {
        case "null": try tree.add(.null, at: position)
        case "true": try tree.add(.bool(true), at: position)
        case "false": try tree.add(.bool(false), at: position)
        default:
            let near = suggestion(for: word.lowercased(), among: ["true", "false", "null"])
            let hint = near.isEmpty ? "; a string needs double quotes" : near
            throw tree.failure(.syntax, "unknown word \(quoted(word))\(hint)", at: position)
        }
    }

    private mutating func number(at position: Position) throws(Failure) {
        let start = at
        let isNegative = skip(UInt8(ascii: "-"))
        let first = at
        let digits = skipDigits()
        guard digits > 0 else { throw unexpected("a digit") }
        if digits > 1 && bytes[first] == 0x30 {
            throw tree.failure(.syntax, "a number must not begin with 0", at: position)
        }
        let end = at
        var isInteger = true
        if skip(UInt8(ascii: ".")) {
            isInteger = false
            guard skipDigits() > 0 else { throw unexpected("a digit after the '.'") }
        }
        if let byte = peek, byte | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            at += 1
            if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
            guard skipDigits() > 0 else { throw unexpected("a digit in the exponent") }
        }
        if let byte = peek, isWordByte(byte) { throw unexpected("the end of the number") }
        try tree.add(
            try content(start, first..<end, isInteger: isInteger, isNegative: isNegative, at: position), at: position)
    }

    private mutating func content(
        _ start: Int, _ digits: Range<Int>, isInteger: Bool, isNegative: Bool, at position: Position
    ) throws(Failure) -> SpecNode.Content {
        if isInteger {
            let magnitude = NumberText.magnitude(bytes[digits])
            if let magnitude, let integer = NumberText.integer(magnitude: magnitude, isNegative: isNegative) {
                return integer
            }
            try tree.report(.range, NumberText.tooLarge(written(from: start)), at: position)
        } else if let value = Double(written(from: start)), value.isFinite {
            return .number(value)
        } else {
            try tree.report(.range, NumberText.infinite(written(from: start)), at: position)
        }
        return .null
    }

    private func written(from start: Int) -> String { String(decoding: bytes[start..<at], as: UTF8.self) }
}

// MARK: - Single bytes and errors

extension JsonReader {
    var peek: UInt8? { at < bytes.count ? bytes[at] : nil }

    mutating func skip(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        at += 1
        return true
    }

    mutating func skipBlanks() {
        while at < bytes.count {
            switch bytes[at] {
            case 0x20, 0x09, 0x0A, 0x0D: at += 1
            default: return
            }
        }
    }

    mutating func skipDigits() -> Int {
        let start = at
        while at < bytes.count && NumberText.isDigit(bytes[at]) { at += 1 }
        return at - start
    }

    func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x30...0x39, 0x5F: true
        default: false
        }
    }

    /// The position of the next byte. It only increases.
    mutating func here() -> Position {
        cursor.advance(to: at, in: bytes)
        return cursor.position
    }

    /// The error for a byte that cannot stand at `at`; `opening` is where the list or map began that it stands in.
    mutating func unexpected(_ expected: String, in opening: Position? = nil) -> Failure {
        let position = here()
        var message = "expected \(expected), found "
        switch text.scalar(atByte: at) {
        case nil:
            message += "the end of the document"
            if let opening { message += "; what begins at \(opening.line):\(opening.column) is not closed" }
        case "/", "#": message = "JSON has no comments; remove it"
        case "'": message += "a single quote; strings are written in double quotes"
        case "}", "]":
            message += "'\(Character(bytes[at] == 0x7D ? "}" : "]"))'"
            if lastByte == UInt8(ascii: ",") { message += "; remove the comma before it" }
        case let scalar?: message += quoted(String(scalar))
        }
        return Failure(
            .syntax, message, path: opening == nil ? tree.path : tree.containerPath,
            at: position.location(in: text.file))
    }

    private var lastByte: UInt8? {
        bytes[..<at].last { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    }
}
