internal import CYaml
internal import InvivoBase

extension YamlEvents {
    /// The error that libyaml found, with advice.
    func failure() -> Failure {
        let parser = parser.pointee
        let problem = parser.problem.map { String(cString: $0) } ?? "not well-formed"
        switch parser.error {
        case YAML_MEMORY_ERROR:
            return Failure(.memory, "out of memory", at: Location(file: text.file))
        case YAML_READER_ERROR:
            let code = hexadecimal(UInt32(clamping: parser.problem_value), digits: 4)
            return Failure(
                .syntax, "the control character U+\(code) is not allowed; in double quotes it can be an escape",
                at: text.location(ofByte: parser.problem_offset))
        default:
            // Marks at the end of the text lie one line too far, so the locations of errors are found by the scalar's number.
            let isKey = problem == "could not find expected ':'"
            let mark = isKey ? parser.context_mark : parser.problem_mark
            let offset = text.byte(ofScalar: mark.index)
            if isVariableInFlowForm(problem, offset) {
                return Failure(
                    .syntax, "in flow form, YAML ends a plain string before '{'; put the string with ${...} in quotes",
                    at: text.location(ofByte: offset - 1))
            }
            let begun = parser.context == nil ? offset : text.byte(ofScalar: parser.context_mark.index)
            if let comment = commentForValue(from: begun, to: offset) {
                return Failure(
                    .syntax, "'#' begins a comment: write \(quoted(comment.text)) in quotes",
                    at: text.location(ofByte: comment.offset))
            }
            let message = Self.message(problem, found: text.scalar(atByte: offset)) + opened(parser)
            return Failure(.syntax, message, at: text.location(ofByte: offset))
        }
    }

    /// Whether the error is due to an environment variable in a list or map in flow form, as in `{a: ${NAME}}`.
    private func isVariableInFlowForm(_ problem: String, _ offset: Int) -> Bool {
        let isAfterValue = problem.hasPrefix("did not find expected ',' or ")
        return isAfterValue && offset > 0 && text.bytes[offset - 1] == UInt8(ascii: "$")
            && text.scalar(atByte: offset) == "{"
    }

    /// The comment before an error that most likely is a value of a list or map in flow form, such as `#ff8800`: the first one that
    /// stands where a value is expected, with a word right behind the '#'. The lines from the one of `start` to `end` are searched, and
    /// the line before them.
    private func commentForValue(from start: Int, to end: Int) -> (text: String, offset: Int)? {
        let bytes = text.bytes
        func lineStart(_ offset: Int) -> Int {
            var start = min(offset, bytes.count)
            while start > 0, bytes[start - 1] != UInt8(ascii: "\n") { start -= 1 }
            return start
        }
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        let first = lineStart(min(start, end))
        var before: UInt8?
        for offset in lineStart(max(first - 1, 0))..<max(first, min(end, bytes.count)) {
            let byte = bytes[offset]
            let isAfterBlank = offset > 0 && isBlank(bytes[offset - 1])
            if byte == UInt8(ascii: "#"), isAfterBlank, before.map({ Array(":,[".utf8).contains($0) }) == true {
                let word = bytes[(offset + 1)...].prefix { byte in
                    UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                        || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte.lowercasedLetter
                }
                if !word.isEmpty { return ("#" + String(decoding: word, as: UTF8.self), offset) }
            }
            if !isBlank(byte) { before = byte }
        }
        return nil
    }

    private static func message(_ problem: String, found: Unicode.Scalar?) -> String {
        switch (problem, found) {
        case ("found character that cannot start any token", "\t"):
            "a tab cannot indent or set off a value; use spaces"
        case ("found character that cannot start any token", let found?):
            "a value cannot begin with \(quoted(String(found))); put the string in quotes"
        case ("mapping values are not allowed in this context", _):
            "':' is not expected here; check the indentation, or put a string that contains ': ' in quotes"
        case ("block sequence entries are not allowed in this context", _):
            "'- ' is not expected here; begin the list in a line of its own"
        case ("did not find expected key", nil): "expected a key, found the end of the document"
        case ("did not find expected key", _): "expected a key; check the indentation and the quotes before"
        case ("did not find expected '-' indicator", _): "expected '- '; check the indentation"
        case ("could not find expected ':'", _): "expected ':' after the key"
        case ("did not find expected ',' or '}'", nil), ("did not find expected ',' or ']'", nil),
            ("did not find expected node content", nil), ("found unexpected end of stream", _):
            "the document ends too early"
        case ("did not find expected ',' or '}'", _): "expected ',' or '}'"
        case ("did not find expected ',' or ']'", _): "expected ',' or ']'"
        case ("did not find expected node content", let found?): "expected a value, found \(quoted(String(found)))"
        case ("found unknown escape character", _):
            "unknown escape in double quotes; write \\\\ for a backslash, or use single quotes"
        case ("found invalid Unicode character escape code", _):
            "the escape is no Unicode character; beyond U+FFFF write \\UXXXXXXXX, not a surrogate pair"
        case ("did not find expected <document start>", _): "expected '---' or the end of the document"
        case ("found unknown directive name", _): "unknown directive; only %YAML is known"
        case ("found incompatible YAML document", _): "unsupported version of YAML; expected 1.1 or 1.2"
        default: problem
        }
    }

    /// "; the map that begins at 2:9 is not closed", where libyaml reports what it was reading.
    private func opened(_ parser: yaml_parser_t) -> String {
        guard let context = parser.context.map({ String(cString: $0) }) else { return "" }
        let what: String
        switch context {
        case "while parsing a flow mapping": what = "map"
        case "while parsing a flow sequence": what = "list"
        case "while scanning a quoted scalar": what = "string"
        default: return ""
        }
        let mark = parser.context_mark
        return "; the \(what) that begins at \(mark.line + 1):\(mark.column + 1) is not closed"
    }
}
