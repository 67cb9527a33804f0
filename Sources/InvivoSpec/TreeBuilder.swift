internal import InvivoBase

/// Makes a tree out of the values that a front end meets, in order, and holds what both front ends must hold: the
/// limits, and that no key occurs twice. What a front end can read past is collected; a limit ends the reading.
struct TreeBuilder {
    private struct Frame {
        let place: Place
        let isMap: Bool
        var items: [SpecNode] = []
        var entries: [SpecEntry] = []
        var key: String?
        var keyPlace = Place()
        /// The keys, once there are too many to compare one by one.
        var seen: NameSet?
    }

    let limits: SpecLimits
    private(set) var root: SpecNode?
    private(set) var problems = FailureList()
    private var stack: [Frame] = []
    private var nodes = 0
    /// Sets of maps that have ended, emptied, for the next ones.
    private var spareSets: [NameSet] = []
    private var steps = LoadSteps()
    private static let comparedOneByOne = 8

    init(limits: SpecLimits) { self.limits = limits }

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
                path = path.item(frame.items.count)
            } else if let key = frame.key {
                path = path.key(key)
            }
        }
        return path.text
    }

    mutating func begin(map isMap: Bool, at place: Place) throws(Failure) {
        guard stack.count < limits.allowedDepth else {
            let message = "lists and maps lie deeper inside each other than the \(limits.allowedDepth) levels allowed"
            throw failure(.tooLarge, message, at: place)
        }
        try count(at: place)
        stack.append(Frame(place: place, isMap: isMap))
    }

    /// Only where a key is wanted.
    mutating func key(_ key: String, at place: Place) throws(Failure) {
        try checkLength(key.utf8.count, at: place)
        let top = stack.count - 1
        if isUsed(key), let first = stack[top].entries.first(where: { $0.key.isSameName(as: key) })?.keyPlace {
            let message = "the key \(quoted(key)) is given twice, first in line \(first.line); keep one of them"
            try report(.syntax, message, at: place)
        }
        stack[top].key = key
        stack[top].keyPlace = place
    }

    mutating func add(_ content: SpecNode.Content, at place: Place) throws(Failure) {
        try count(at: place)
        put(SpecNode(content, at: place))
    }

    mutating func end() {
        guard let frame = stack.popLast() else { return }
        if var seen = frame.seen {
            seen.removeAll()
            spareSets.append(seen)
        }
        put(SpecNode(frame.isMap ? .map(frame.entries) : .list(frame.items), at: frame.place))
    }

    /// An error that need not end the reading, unless there are very many of them.
    mutating func report(_ code: Status, _ message: String, at place: Place) throws(Failure) {
        let found = failure(code, message, at: place)
        problems.append(found)
        if problems.isFull { try problems.throwIfAny() }
    }

    func failure(_ code: Status, _ message: String, at place: Place) -> Failure {
        Failure(code, message, path: path, at: place)
    }

    func checkLength(_ length: Int, at place: Place) throws(Failure) {
        guard length > limits.stringLength else { return }
        let message = "the text has \(length) bytes, more than the \(limits.stringLength) allowed for one"
        throw failure(.tooLarge, message, at: place)
    }

    private mutating func count(at place: Place) throws(Failure) {
        try steps.step()
        nodes += 1
        guard nodes > limits.nodes else { return }
        let message = "the document has more than the \(limits.nodes) values allowed; max_document_nodes permits more"
        throw failure(.tooLarge, message, at: place)
    }

    private mutating func put(_ node: SpecNode) {
        let top = stack.count - 1
        if top < 0 {
            root = node
        } else if let key = stack[top].key {
            stack[top].entries.append(SpecEntry(key: key, keyPlace: stack[top].keyPlace, value: node))
            stack[top].key = nil
        } else {
            stack[top].items.append(node)
        }
    }

    /// Whether the innermost map has the key; notes it.
    private mutating func isUsed(_ key: String) -> Bool {
        let top = stack.count - 1
        let known = stack[top].entries.count
        guard known >= Self.comparedOneByOne else {
            return stack[top].entries.contains { $0.key.isSameName(as: key) }
        }
        if stack[top].seen == nil {
            stack[top].seen = spareSets.popLast() ?? []
            for entry in stack[top].entries { stack[top].seen?.insert(entry.key) }
        }
        return stack[top].seen?.insert(key).inserted == false
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
