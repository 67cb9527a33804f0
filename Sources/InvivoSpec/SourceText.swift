internal import Glibc
internal import InvivoBase

/// The bytes of a document, known to be UTF-8 and without a byte order mark. Borrowed from the caller of the reader.
///
/// A line ends with LF, CRLF or CR. Columns count Unicode scalars from 1, so a tab, an accented letter and an emoji
/// are one each; a byte order mark counts as absent.
struct SourceText {
    let bytes: UnsafeBufferPointer<UInt8>
    let file: String
    let isASCII: Bool

    init(_ raw: UnsafeRawBufferPointer, file: String) throws(Failure) {
        var all = raw.assumingMemoryBound(to: UInt8.self)
        if all.starts(with: [0xEF, 0xBB, 0xBF]) { all = UnsafeBufferPointer(rebasing: all[3...]) }
        bytes = all
        self.file = file
        do throws(UTF8.ValidationError) {
            isASCII = try UTF8Span(validating: Span(_unsafeElements: all)).isKnownASCII
        } catch {
            var cursor = TextCursor()
            cursor.advance(to: error.byteOffsets.lowerBound, in: all)
            throw Failure(.encoding, Self.notUTF8(all, cursor.offset), at: cursor.position.location(in: file))
        }
    }

    private static func notUTF8(_ bytes: UnsafeBufferPointer<UInt8>, _ offset: Int) -> String {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
            return "the text is UTF-16; save the file as UTF-8"
        }
        let byte = hexadecimal(UInt32(bytes[offset]), digits: 2)
        return "the text is not UTF-8 (the byte 0x\(byte) cannot stand here); save the file as UTF-8"
    }

    /// Returns the source location of a byte. Walks from the beginning: for errors only.
    func location(ofByte offset: Int) -> Location { position(ofByte: offset).location(in: file) }

    func position(ofByte offset: Int) -> Position {
        var cursor = TextCursor()
        cursor.advance(to: offset, in: bytes)
        return cursor.position
    }

    var scalarCount: Int {
        isASCII ? bytes.count : bytes.reduce(into: 0) { count, byte in count &+= byte & 0xC0 != 0x80 ? 1 : 0 }
    }

    func contains(_ character: Unicode.Scalar) -> Bool {
        bytes.baseAddress.map { memchr($0, Int32(character.value), bytes.count) != nil } ?? false
    }

    /// Whether the text consists of blanks, line breaks and comments of YAML.
    var isBlankOrComments: Bool {
        var isComment = false
        for byte in bytes {
            switch byte {
            case 0x0A, 0x0D: isComment = false
            case 0x20, 0x09: continue
            case UInt8(ascii: "#"): isComment = true
            default: if !isComment { return false }
            }
        }
        return true
    }

    /// The byte at which the scalar of that number begins, or the end. Walks from the beginning: for errors only.
    func byte(ofScalar index: Int) -> Int {
        var left = index
        var offset = 0
        while offset < bytes.count {
            if bytes[offset] & 0xC0 != 0x80 {
                if left == 0 { break }
                left -= 1
            }
            offset += 1
        }
        return offset
    }

    /// The offset at which these bytes, at least one, next occur.
    func firstOffset(of wanted: [UInt8], from start: Int = 0) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        var at = start
        while at + wanted.count <= bytes.count, let found = memchr(base + at, Int32(wanted[0]), bytes.count - at) {
            at = UnsafeRawPointer(found) - UnsafeRawPointer(base)
            if at + wanted.count <= bytes.count && memcmp(base + at, wanted, wanted.count) == 0 { return at }
            at += 1
        }
        return nil
    }

    func scalar(atByte offset: Int) -> Unicode.Scalar? {
        guard offset < bytes.count else { return nil }
        var iterator = bytes[offset...].makeIterator()
        var decoder = UTF8()
        if case .scalarValue(let scalar) = decoder.decode(&iterator) { return scalar }
        return nil
    }
}

/// Counts lines and columns in a text. It only moves forward, so that reading a document counts each byte once.
struct TextCursor {
    private(set) var offset = 0
    private(set) var line: UInt32 = 1
    private(set) var column: UInt32 = 1

    @inline(__always)
    mutating func advance(to end: Int, in bytes: UnsafeBufferPointer<UInt8>) {
        while offset < min(end, bytes.count) {
            let byte = bytes[offset]
            offset += 1
            if byte == 0x0A || byte == 0x0D && !(offset < bytes.count && bytes[offset] == 0x0A) {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
    }

    var position: Position { Position(line: line, column: column) }
}
