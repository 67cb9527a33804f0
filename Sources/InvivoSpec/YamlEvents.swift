internal import CYaml
internal import InvivoBase

typealias YamlScalar = yaml_event_t.__Unnamed_union_data.__Unnamed_struct_scalar

/// libyaml's parser and its current event. Owns both: its creator calls `close` exactly once. The text and the input must
/// outlive it.
struct YamlEvents {
    let text: SourceText
    let parser: UnsafeMutablePointer<yaml_parser_t>
    let event: UnsafeMutablePointer<yaml_event_t>

    private let scalarCount: Int

    /// `input` has the bytes for libyaml. They differ from the text in blanks alone, so that all positions are those of the text.
    init(_ text: SourceText, input: UnsafeBufferPointer<UInt8>) throws(Failure) {
        self.text = text
        scalarCount = text.scalarCount
        parser = .allocate(capacity: 1)
        event = .allocate(capacity: 1)
        event.initialize(to: yaml_event_t())
        guard yaml_parser_initialize(parser) == 1 else {
            parser.deallocate()
            event.deallocate()
            throw Failure(.memory, "out of memory", at: Location(file: text.file))
        }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, input.baseAddress, input.count)
    }

    func close() {
        yaml_event_delete(event)
        yaml_parser_delete(parser)
        event.deallocate()
        parser.deallocate()
    }

    /// Valid until the next `next`.
    var current: yaml_event_t {
        event.pointee
    }

    /// Frees the current event and reads the next.
    func next() throws(Failure) {
        yaml_event_delete(event)
        guard yaml_parser_parse(parser, event) == 1 else { throw failure() }
    }

    /// The position of the first character of a scalar that stands in one line, as it is: without escapes, folded lines or a
    /// tag. Nil for other scalars.
    func contentPosition(of scalar: YamlScalar) -> Position? {
        let (start, end) = (event.pointee.start_mark, event.pointee.end_mark)
        let isPlain = scalar.style == YAML_PLAIN_SCALAR_STYLE
        let isQuoted =
            scalar.style == YAML_SINGLE_QUOTED_SCALAR_STYLE || scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE
        let count = UnsafeBufferPointer(start: scalar.value, count: scalar.length).count { $0 & 0xC0 != 0x80 }
        guard isPlain || isQuoted, start.line == end.line, end.index - start.index == count + (isPlain ? 0 : 2) else {
            return nil
        }
        let first = position
        return isPlain ? first : Position(line: first.line, column: first.column + 1)
    }

    /// The position at which the current event begins. libyaml's marks count lines as `SourceText` does, and columns in
    /// scalars; but at the end of a text without a last line break they are one line too far.
    var position: Position {
        let mark = event.pointee.start_mark
        if mark.index >= scalarCount { return text.position(ofByte: text.bytes.count) }
        return Position(line: UInt32(clamping: mark.line &+ 1), column: UInt32(clamping: mark.column &+ 1))
    }
}
