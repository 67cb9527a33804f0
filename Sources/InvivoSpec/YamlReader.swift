internal import CYaml
internal import InvivoBase

/// YAML by libyaml's events, as YAML 1.2 with the core schema reads it. Anchors, aliases, foreign tags, several
/// documents and keys that are not text are refused.
struct YamlReader {
    private let text: SourceText
    private let events: YamlEvents
    private let input: YamlInput
    /// The columns at which the open lists and maps begin, from 0; of one in brackets, that of the block around it.
    private var columns: [Int] = []
    /// Nil if no question mark has a text right behind it.
    private var marks: TightKeys?
    private var tree: TreeBuilder

    /// The document, or nil if there are only blanks and comments.
    static func read(
        _ text: SourceText, limits: SpecLimits, _ expansion: Expansion
    ) throws(Failure) -> SpecDocument? {
        // libyaml would call a line with nothing but a tab an error.
        if text.isBlankOrComments { return nil }
        try checkFormerBreaks(text)
        try checkDirectives(text)
        var input = YamlInput(text)
        while true {
            var next: YamlInput?
            do throws(Failure) {
                return try input.withBytes(of: text) { (bytes) throws(Failure) in
                    let events = try YamlEvents(text, input: bytes)
                    defer { events.close() }
                    var reader = YamlReader(text, TreeBuilder(limits: limits, for: text, expansion), events, input)
                    do throws(Failure) { return try reader.document() } catch {
                        next = input.accepting(events.separatingTab(in: reader.columns.last), instead: error)
                        throw error
                    }
                }
            } catch {
                guard let next else { throw error }
                input = next
            }
        }
    }

    private init(_ text: SourceText, _ tree: TreeBuilder, _ events: YamlEvents, _ input: YamlInput) {
        self.text = text
        self.tree = tree
        self.events = events
        self.input = input
        marks = text.hasTightQuestionMark ? TightKeys() : nil
    }

    private mutating func document() throws(Failure) -> SpecDocument? {
        var documents = 0
        var isDone = false
        while !isDone {
            try events.next()
            switch events.current.type {
            case YAML_DOCUMENT_START_EVENT:
                documents += 1
                if documents > 1 {
                    throw tree.failure(
                        .syntax, "a second document begins here; one file holds one document", at: events.position)
                }
            case YAML_SCALAR_EVENT: try scalar(events.current.data.scalar)
            case YAML_MAPPING_START_EVENT:
                let start = events.current.data.mapping_start
                try open(isBlock: start.style == YAML_BLOCK_MAPPING_STYLE)
                try begin(map: true, tag: start.tag, anchor: start.anchor)
            case YAML_SEQUENCE_START_EVENT:
                let start = events.current.data.sequence_start
                try open(isBlock: start.style == YAML_BLOCK_SEQUENCE_STYLE)
                try begin(map: false, tag: start.tag, anchor: start.anchor)
            case YAML_MAPPING_END_EVENT, YAML_SEQUENCE_END_EVENT:
                columns.removeLast()
                tree.end()
            case YAML_ALIAS_EVENT:
                let name = string(events.current.data.alias.anchor)
                let message = "the alias \(quoted("*" + name)) is refused: aliases are not allowed; write the value out"
                throw tree.failure(.syntax, message, at: events.position)
            case YAML_STREAM_END_EVENT: isDone = true
            default: break
            }
        }
        return try tree.document()
    }

    private mutating func begin(
        map isMap: Bool, tag: UnsafePointer<UInt8>?, anchor: UnsafePointer<UInt8>?
    ) throws(Failure) {
        try refuse(anchor: anchor)
        if tree.wantsKey {
            let found = isMap ? "a map" : "a list"
            throw tree.failure(.syntax, "expected a key, found \(found); a key is a string", at: events.position)
        }
        if let tag = try coreTag(tag), tag != (isMap ? .map : .seq) {
            let found = isMap ? "a map" : "a list"
            throw tree.failure(.syntax, "\(found) cannot have the tag !!\(tag.rawValue)", at: events.position)
        }
        try tree.begin(map: isMap, at: events.position)
    }

    private mutating func open(isBlock: Bool) throws(Failure) {
        if isBlock { try refuseAfterTab() }
        columns.append(isBlock ? Int(events.current.start_mark.column) : columns.last ?? -1)
    }

    /// A tab indents no list, map or key: only a value may stand behind it.
    private func refuseAfterTab() throws(Failure) {
        if let failure = input.failure(forBlockAt: events.current.start_mark.index) { throw failure }
    }

    private mutating func scalar(_ scalar: YamlScalar) throws(Failure) {
        if tree.wantsKey { try refuseAfterTab() }
        if tree.wantsKey, marks?.isTight(events.current.start_mark.index, text) == true {
            throw tree.failure(
                .syntax, "'?' begins a key here; write a blank behind it, or put the string with its '?' in quotes",
                at: events.position)
        }
        try refuse(anchor: scalar.anchor)
        let tag = try coreTag(scalar.tag)
        let isPlain = scalar.style == YAML_PLAIN_SCALAR_STYLE
        let bytes = events.content(of: scalar, lastBlanks: input.lastBlanks)
        if tree.wantsKey {
            guard !isPlain || scalar.length > 0 else {
                throw tree.failure(.syntax, "expected a key, found nothing", at: events.position)
            }
            guard tag == nil || tag == .str else {
                throw tree.failure(.syntax, "a key is a string and cannot have a tag", at: events.position)
            }
            return try tree.key(bytes, at: events.position)
        }
        let events = events
        switch try tree.expanded(bytes, at: events.position, content: { events.contentPosition(of: scalar) }) {
        case .same: try add(bytes, tag, isPlain: isPlain, nil)
        case .verbatim:
            if let tag, tag != .str {
                tree.note(.tagged(tag.rawValue))
            } else if isPlain && tag == nil {
                tree.note(.plain)
            }
            try tree.add(bytes, at: events.position)
        case .wrong: try tree.add(.null, at: events.position)
        case .text(let expanded, let variables):
            try expanded.span.withUnsafeBufferPointer { bytes throws(Failure) in
                // An empty result is an empty string, and a string with an escape alone is a string.
                try add(bytes, tag, isPlain: isPlain && variables != nil && !bytes.isEmpty, variables)
            }
        }
    }

    /// Adds a scalar with the variables that have a part in it.
    private mutating func add(
        _ bytes: UnsafeBufferPointer<UInt8>, _ tag: CoreTag?, isPlain: Bool, _ variables: VariableText?
    ) throws(Failure) {
        var added: SpecNode.Content?
        switch tag {
        case nil where isPlain: added = try content(bytes, variables)
        case nil, .str: break
        case let tag?: added = try tagged(tag, bytes, variables)
        }
        tree.note(variables)
        if let added { try tree.add(added, at: events.position) } else { try tree.add(bytes, at: events.position) }
    }

    /// The value of a plain scalar; nil for a text.
    private mutating func content(
        _ bytes: UnsafeBufferPointer<UInt8>, _ variables: VariableText?
    ) throws(Failure) -> SpecNode.Content? {
        switch CoreSchema.resolve(bytes) {
        case .content(let content): return content
        case .text: return nil
        case .outOfRange(let message):
            let masked = variables.map { "\($0.described) gives a number that is too large" }
            try tree.report(.range, masked ?? message, at: events.position)
            return .null
        }
    }

    private mutating func tagged(
        _ tag: CoreTag, _ bytes: UnsafeBufferPointer<UInt8>, _ variables: VariableText?
    ) throws(Failure) -> SpecNode.Content {
        let content = try content(bytes, variables)
        switch (tag, content) {
        case (.null, .null?), (.bool, .bool?), (.int, .integer?), (.int, .unsigned?), (.float, .number?):
            return content ?? .null
        case (.float, .integer(let value)?): return .number(Double(value))
        case (.float, .unsigned(let value)?): return .number(Double(value))
        default:
            try tree.checkLength(bytes.count, at: events.position)
            let value =
                variables.map(\.describedValue) ?? quoted(String(decoding: bytes, as: UTF8.self))
            throw tree.failure(.syntax, "\(value) is not what the tag !!\(tag.rawValue) says", at: events.position)
        }
    }

    private func string(_ pointer: UnsafePointer<UInt8>?) -> String {
        pointer.map { String(cString: $0) } ?? ""
    }

    private func refuse(anchor: UnsafePointer<UInt8>?) throws(Failure) {
        guard let anchor else { return }
        let name = quoted("&" + string(anchor))
        let message = "the anchor \(name) is refused: anchors are not allowed; write the value out"
        throw tree.failure(.syntax, message, at: events.position)
    }

    private enum CoreTag: String, CaseIterable {
        case null, bool, int, float, str, seq, map
    }

    private func coreTag(_ tag: UnsafePointer<UInt8>?) throws(Failure) -> CoreTag? {
        guard let tag else { return nil }
        let name = string(tag)
        let prefix = "tag:yaml.org,2002:"
        if name.hasPrefix(prefix), let known = CoreTag(rawValue: String(name.dropFirst(prefix.count))) { return known }
        let shown = name.hasPrefix(prefix) ? "!!" + name.dropFirst(prefix.count) : name
        let allowed = CoreTag.allCases.map { "!!" + $0.rawValue }.joined(separator: ", ")
        let message = "the tag \(quoted(shown)) is refused; allowed are \(allowed)"
        throw tree.failure(.syntax, message, at: events.position)
    }
}

// MARK: - What is looked for before libyaml sees the text

extension YamlReader {
    /// U+0085, U+2028 and U+2029 end a line for libyaml (YAML 1.1) and do not in YAML 1.2: they would change texts and
    /// shift every line number after them. As escapes in double quotes they are unambiguous.
    private static func checkFormerBreaks(_ text: SourceText) throws(Failure) {
        if text.isASCII { return }
        let breaks: [(bytes: [UInt8], name: String, escape: String)] = [
            ([0xC2, 0x85], "U+0085", "\\N"),
            ([0xE2, 0x80, 0xA8], "U+2028", "\\L"),
            ([0xE2, 0x80, 0xA9], "U+2029", "\\P"),
        ]
        for (bytes, name, escape) in breaks {
            guard let offset = text.firstOffset(of: bytes) else { continue }
            let message = "the line separator \(name) is not allowed here; write it as \"\(escape)\" in double quotes"
            throw Failure(.syntax, message, at: text.location(ofByte: offset))
        }
    }

    /// %TAG has no use where foreign tags are refused, and libyaml's time grows with the square of their number.
    private static func checkDirectives(_ text: SourceText) throws(Failure) {
        var offset = 0
        while let found = text.firstOffset(of: Array("%TAG".utf8), from: offset) {
            if found == 0 || text.bytes[found - 1] == 0x0A || text.bytes[found - 1] == 0x0D {
                throw Failure(.syntax, "the directive %TAG is refused; remove it", at: text.location(ofByte: found))
            }
            offset = found + 4
        }
    }
}
