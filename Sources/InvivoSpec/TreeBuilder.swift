internal import InvivoBase

/// Builds a tree from the values that a front end reads, in their order. Enforces the rules of both front ends: the
/// limits, and that no key occurs twice. Errors that a front end can skip are collected; a limit ends the reading.
struct TreeBuilder {
    /// A list or map that is not complete.
    private struct Frame {
        let index: Int
        let isMap: Bool
        /// The number of its complete items or entries.
        var count = 0
        /// The index of the key whose value is next.
        var key: Int?
    }

    let limits: SpecLimits
    let file: String
    private var parts: SpecTree.Parts
    private(set) var problems = FailureList()
    private var stack: [Frame] = []
    private var nodes = 0
    private var steps = LoadSteps()
    private let expansion: DocumentExpansion

    init(limits: SpecLimits, for text: SourceText, _ expansion: Expansion) {
        self.limits = limits
        file = text.file
        self.expansion = DocumentExpansion(expansion, text, limits)
        parts = SpecTree.Parts(textLength: text.bytes.count)
    }

    /// The document of the complete tree; nil if there was no value. Fails with the problems that were reported.
    consuming func document() throws(Failure) -> SpecDocument? {
        try problems.throwIfAny()
        guard nodes > 0 else { return nil }
        return SpecDocument(
            root: SpecNode(SpecTree(parts, file: file), 0), file: file, variables: expansion.variables)
    }

    /// Whether the next value of the innermost map is a key.
    var wantsKey: Bool {
        guard let frame = stack.last else { return false }
        return frame.isMap && frame.key == nil
    }

    /// The key path of the next value: "traits.synth.lead[0].Set".
    var path: String { path(of: stack[...]) }

    /// The key path of the innermost list or map.
    var containerPath: String { path(of: stack.dropLast()) }

    private func path(of frames: ArraySlice<Frame>) -> String {
        var path = SpecPath()
        for frame in frames {
            if !frame.isMap {
                path = path.item(frame.count)
            } else if let key = frame.key {
                path = path.key(parts.string(key))
            }
        }
        return path.text
    }

    mutating func begin(map isMap: Bool, at position: Position) throws(Failure) {
        guard stack.count < limits.allowedDepth else {
            let message = "lists and maps lie deeper inside each other than the \(limits.allowedDepth) levels allowed"
            throw failure(.tooLarge, message, at: position)
        }
        try count(at: position)
        stack.append(Frame(index: parts.values.count, isMap: isMap))
        parts.appendValue(isMap ? .map : .list, at: position)
    }

    /// Only where a key is wanted.
    mutating func key(_ key: UnsafeBufferPointer<UInt8>, at position: Position) throws(Failure) {
        try checkLength(key.count, at: position)
        let top = stack.count - 1
        let index = parts.values.count
        parts.append(key, at: position)
        if let first = parts.noteKey(number: stack[top].count, of: stack[top].index) {
            let line = parts.positions[first].line
            let message =
                "the key \(quotedName(parts.string(index))) is given twice, first in line \(line); keep one of them"
            try report(.syntax, message, at: position)
        }
        stack[top].key = index
    }

    mutating func add(_ content: SpecNode.Content, at position: Position) throws(Failure) {
        try count(at: position)
        parts.append(content, at: position)
        complete()
    }

    mutating func add(_ text: UnsafeBufferPointer<UInt8>, at position: Position) throws(Failure) {
        try checkLength(text.count, at: position)
        try count(at: position)
        parts.append(text, at: position)
        complete()
    }

    /// The string with the values of its environment variables.
    enum Expanded {
        /// The string names no variable and no escape.
        case same
        /// Nil: no value was inserted.
        case text([UInt8], VariableText?)
        /// The string stays as it is, in its form.
        case verbatim
        /// The fault was reported.
        case wrong
    }

    /// Expands a string. `content` is the position of its first character, where the string stands in the document as it is.
    mutating func expanded(
        _ text: UnsafeBufferPointer<UInt8>, at position: Position, content: () -> Position?
    ) throws(Failure) -> Expanded {
        guard expansion.isPossible, ExpandedString.concerns(text) else { return .same }
        if expansion.isVerbatim { return .verbatim }
        try checkLength(text.count, at: position)
        do {
            let (bytes, inserted) = try expansion.expand(text)
            return .text(bytes, inserted)
        } catch let fault as ExpandedString.Fault {
            var place = position
            if let start = content() {
                let before = text[..<fault.offset].reduce(into: UInt32(0)) { $0 += $1 & 0xC0 != 0x80 ? 1 : 0 }
                place = Position(line: start.line, column: start.column + before)
            }
            guard fault.code != .tooLarge else { throw failure(fault.code, fault.message, at: place) }
            try report(fault.code, fault.message, at: place)
            return .wrong
        } catch {
            throw error as? Failure ?? Loading.abandoned
        }
    }

    /// Notes the form of the value that is added next.
    mutating func note(_ form: ValueForm) { parts.note(form) }

    /// Notes the variables that have a part in the value that is added next.
    mutating func note(_ variables: VariableText?) {
        if let variables { parts.note(variables) }
    }

    mutating func end() {
        guard let frame = stack.popLast() else { return }
        parts.close(frame.index, count: frame.count)
        complete()
    }

    /// An error that need not end the reading, unless there are very many of them.
    mutating func report(_ code: Status, _ message: String, at position: Position) throws(Failure) {
        let found = failure(code, message, at: position)
        problems.append(found)
        if problems.isFull { try problems.throwIfAny() }
    }

    func failure(_ code: Status, _ message: String, at position: Position) -> Failure {
        Failure(code, message, path: path, at: position.location(in: file))
    }

    func checkLength(_ length: Int, at position: Position) throws(Failure) {
        guard length > limits.allowedLength else { return }
        let message = "the string has \(length) bytes, more than the \(limits.allowedLength) allowed for one"
        throw failure(.tooLarge, message, at: position)
    }

    private mutating func count(at position: Position) throws(Failure) {
        try steps.step()
        nodes += 1
        guard nodes > limits.allowedNodes else { return }
        let message =
            "the document has more than the \(limits.allowedNodes) values allowed; max_document_nodes permits more"
        throw failure(.tooLarge, message, at: position)
    }

    /// Counts a complete value of the innermost list or map.
    private mutating func complete() {
        guard !stack.isEmpty else { return }
        stack[stack.count - 1].count += 1
        stack[stack.count - 1].key = nil
    }
}

/// The expansions of one document, with the bytes that they may add.
private final class DocumentExpansion {
    private let expansion: Expansion
    /// Whether the text can contain `${`, also by an escape.
    let isPossible: Bool
    var isVerbatim: Bool { if case .verbatim = expansion { true } else { false } }
    private var room: Int
    /// The variables that the document names.
    private(set) var variables: [String] = []
    private var seen: NameSet = []

    init(_ expansion: Expansion, _ text: SourceText, _ limits: SpecLimits) {
        self.expansion = expansion
        room = max(0, limits.bytes - text.bytes.count)
        isPossible = if case .none = expansion { false } else { text.contains("$") || text.contains("\\") }
    }

    func expand(_ text: UnsafeBufferPointer<UInt8>) throws -> ([UInt8], VariableText?) {
        let expanded = try ExpandedString(text, expansion, room: room)
        room = expanded.room
        for name in expanded.named where seen.insert(name).inserted { variables.append(name) }
        guard !expanded.named.isEmpty else { return (expanded.bytes, nil) }
        let inserted = VariableText(
            expanded.named, text: String(decoding: expanded.bytes, as: UTF8.self),
            isDefault: !expanded.hasValues, literalPrefix: expanded.literalPrefix)
        return (expanded.bytes, inserted)
    }
}

/// A key path as errors show it: keys joined by ".", items of lists by their number from 0 in brackets.
struct SpecPath {
    var text = ""

    func key(_ key: String) -> SpecPath {
        let isPlain =
            (1...64).contains(key.utf8.count) && key.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value < 0x7F }
        let shown = isPlain ? key : quoted(key)
        return SpecPath(text: text.isEmpty ? shown : text + "." + shown)
    }

    func item(_ index: Int) -> SpecPath { SpecPath(text: text + "[\(index)]") }
}
