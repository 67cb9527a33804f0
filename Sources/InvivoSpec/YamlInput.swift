internal import CYaml
internal import InvivoBase

/// The bytes of a text for libyaml, which is stricter than YAML in two cases.
///
/// It takes no tab between an indicator or the indentation and a value (`-<tab>a`), and treats blanks after the last line break
/// of a block scalar as nothing (`|+`): they get a line break, see `YamlEvents.content`. The first error of a tab gives its position, outside of every scalar. The tab becomes a blank there, and the text is
/// read again. All positions stay.
struct YamlInput {
    /// Nil: the bytes of the text.
    private var copy: [UInt8]?
    /// The errors of tabs that became blanks, by the scalar's number behind them.
    private var tabs: [Int: Failure] = [:]
    private let mostTabs: Int
    /// The number of blanks in the last line if it has nothing else, not even a line break.
    let lastBlanks: Int

    init(_ text: SourceText) {
        mostTabs = max(64, (1 << 24) / max(1, text.bytes.count))
        let blanks = text.bytes.reversed().prefix { $0 == 0x20 }.count
        let isBlankLine = blanks > 0 && blanks < text.bytes.count && text.bytes[text.bytes.count - blanks - 1] == 0x0A
        lastBlanks = isBlankLine ? blanks : 0
        if isBlankLine { copy = Array(text.bytes) + [0x0A] }
    }

    func withBytes<Result>(
        of text: SourceText, _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let copy else { return try body(text.bytes) }
        return try copy.span.withUnsafeBufferPointer { bytes throws(Failure) in try body(bytes) }
    }

    /// The input with blanks for the tabs of a range; nil without a range, or if there are too many.
    func accepting(_ range: SeparatingTab?, instead failure: Failure) -> YamlInput? {
        guard let range, tabs.count < mostTabs, tabs[range.scalarBehind] == nil else { return nil }
        var next = self
        next.tabs[range.scalarBehind] = failure
        var bytes = copy ?? Array(range.text.bytes)
        for index in range.bytes { bytes[index] = 0x20 }
        next.copy = bytes
        return next
    }

    /// The error of the tab before a list, map or key in block style that begins at a scalar.
    func failure(forBlockAt scalar: Int) -> Failure? { tabs.isEmpty ? nil : tabs[scalar] }
}

/// Blanks and tabs that separate a value from what is before it.
struct SeparatingTab {
    let text: SourceText
    let bytes: Range<Int>
    /// The number of the scalar behind them.
    let scalarBehind: Int
}

extension YamlEvents {
    /// The content of a scalar. If the last line of the text belongs to it with some of its blanks, the line has no line break.
    func content(of scalar: YamlScalar, lastBlanks: Int) -> UnsafeBufferPointer<UInt8> {
        let content = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
        let isBlock = scalar.style == YAML_LITERAL_SCALAR_STYLE || scalar.style == YAML_FOLDED_SCALAR_STYLE
        guard lastBlanks > 0, isBlock, content.last == 0x0A, event.pointee.end_mark.index >= text.scalarCount else {
            return content
        }
        let bytes = text.bytes
        let start = text.byte(ofScalar: event.pointee.start_mark.index)
        // The blanks before the first line with text, in the source and in the content: the rest is the indentation.
        guard let header = bytes[start...].firstIndex(where: { $0 == 0x0A || $0 == 0x0D }),
            let source = Self.blanks(before: bytes[header...]), let own = Self.blanks(before: content[...]),
            lastBlanks > source - own
        else { return content }
        return UnsafeBufferPointer(rebasing: content.dropLast())
    }

    /// The number of blanks right before the first byte that is no blank and no line break; nil without one.
    private static func blanks(before bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        guard let first = bytes.firstIndex(where: { $0 != 0x20 && $0 != 0x0A && $0 != 0x0D }) else { return nil }
        return bytes[..<first].reversed().prefix { $0 == 0x20 }.count
    }

    /// The tabs of the last error, if they only separate. A tab never indents: the blanks before it must do that, unless the rest of
    /// the line is empty. `column` is that of the innermost block.
    func separatingTab(in column: Int?) -> SeparatingTab? {
        let parser = parser.pointee
        guard parser.error == YAML_SCANNER_ERROR, let problem = parser.problem.map({ String(cString: $0) }) else {
            return nil
        }
        let isInPlainScalar = problem == "found a tab character that violates indentation"
        guard isInPlainScalar || problem == "found character that cannot start any token" else { return nil }
        let bytes = text.bytes
        let start = text.byte(ofScalar: parser.problem_mark.index)
        guard start < bytes.count, bytes[start] == 0x09 else { return nil }
        let end = bytes[start...].firstIndex { $0 != 0x20 && $0 != 0x09 } ?? bytes.count
        let line = (bytes[..<start].lastIndex { $0 == 0x0A || $0 == 0x0D } ?? -1) + 1
        let isEmpty = end == bytes.count || bytes[end] == 0x0A || bytes[end] == 0x0D
        let isComment = !isEmpty && bytes[end] == UInt8(ascii: "#")
        let blanks = bytes[line..<start].prefix { $0 == 0x20 }.count
        let isIndented = line + blanks < start || blanks > column ?? -1
        if !isEmpty, Self.isIndicator(bytes, end) { return nil }
        guard isEmpty || !isInPlainScalar && (isComment || isIndented) else { return nil }
        return SeparatingTab(
            text: text, bytes: start..<end, scalarBehind: Int(parser.problem_mark.index) + end - start)
    }

    /// Whether an entry or a key of a block begins at an offset.
    private static func isIndicator(_ bytes: UnsafeBufferPointer<UInt8>, _ offset: Int) -> Bool {
        guard [UInt8(ascii: "-"), UInt8(ascii: "?"), UInt8(ascii: ":")].contains(bytes[offset]) else { return false }
        return offset + 1 == bytes.count || [0x20, 0x09, 0x0A, 0x0D].contains(bytes[offset + 1])
    }
}

/// Keys in braces or brackets whose `?` has no blank behind it. In YAML 1.2 the `?` belongs to the text; libyaml drops it.
struct TightKeys {
    private var scalar = 0
    private var byte = 0

    /// Whether `?` stands right before a scalar. The scalars only increase.
    mutating func isTight(_ index: Int, _ text: SourceText) -> Bool {
        while scalar < index, byte < text.bytes.count {
            byte += 1
            while byte < text.bytes.count, text.bytes[byte] & 0xC0 == 0x80 { byte += 1 }
            scalar += 1
        }
        return byte > 0 && text.bytes[byte - 1] == UInt8(ascii: "?")
    }
}

extension SourceText {
    /// Whether a question mark has a text right behind it.
    var hasTightQuestionMark: Bool {
        var at = 0
        while let found = firstOffset(of: [UInt8(ascii: "?")], from: at) {
            at = found + 1
            if at < bytes.count, ![0x20, 0x09, 0x0A, 0x0D].contains(bytes[at]) { return true }
        }
        return false
    }
}
