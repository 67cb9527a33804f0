internal import Glibc
internal import InvivoBase

/// The values of one document in the document's order: a list or map before its parts, a key before its value.
///
/// A `SpecNode` is one value of a tree. The arrays are shared by all nodes, so that reading a document allocates nothing for
/// each value. Locations are kept apart: two versions of a document are compared without them.
final class SpecTree: Sendable {
    enum Kind: UInt8 { case null, bool, integer, unsigned, number, text, list, map }

    struct Value {
        /// The bits of a scalar, the offset of a text in `bytes`, or the number of items or entries.
        fileprivate(set) var payload: UInt64
        /// The length of a string, or the index after the last part of a list or map.
        fileprivate(set) var extent: UInt32 = 0
        let kind: Kind
    }

    let file: String
    private let parts: Parts

    init(_ parts: consuming Parts, file: String) {
        self.parts = parts
        self.file = file
    }

    /// The arrays of a tree. They grow while a document is read.
    struct Parts {
        fileprivate(set) var values: ContiguousArray<Value> = []
        fileprivate(set) var positions: ContiguousArray<Position> = []
        fileprivate(set) var bytes: ContiguousArray<UInt8> = []
        /// The values that environment variables have a part in, by their index.
        fileprivate(set) var variables: [Int: VariableText] = [:]
        /// The forms of values that are read verbatim, by their index.
        fileprivate(set) var forms: [Int: ValueForm] = [:]
        /// The keys of long maps, by the index of the map.
        fileprivate var keys: [Int: KeyTable] = [:]

        /// Reserves the memory that a document of so many bytes usually needs.
        init(textLength: Int) {
            values.reserveCapacity(textLength / 8)
            positions.reserveCapacity(textLength / 8)
            bytes.reserveCapacity(textLength / 2)
        }

        init() {}
    }

    func value(_ index: Int) -> Value { parts.values[index] }

    func location(_ index: Int) -> Location { parts.positions[index].location(in: file) }

    func string(_ index: Int) -> String { parts.string(index) }

    /// The variables of a value, or of the first of its parts with some.
    func anyVariables(_ index: Int) -> VariableText? {
        guard !parts.variables.isEmpty else { return nil }
        return (index..<end(index)).lazy.compactMap { self.variables($0) }.first
    }

    func variables(_ index: Int) -> VariableText? { parts.variables.isEmpty ? nil : parts.variables[index] }

    func form(_ index: Int) -> ValueForm? { parts.forms.isEmpty ? nil : parts.forms[index] }

    /// Whether two trees have the same values in the same forms.
    func isWritten(like other: SpecTree) -> Bool { isSame(0, as: other, 0) && parts.forms == other.parts.forms }

    /// The index after a value and its parts.
    func end(_ index: Int) -> Int { parts.end(index) }

    /// The number of a key among those of a map, from 0, and the index of the key.
    func find(_ key: String, in map: Int) -> (number: Int, key: Int)? {
        var key = key
        return key.withUTF8 { parts.find($0, in: map) }
    }

    /// Whether a text or key begins with these bytes.
    func hasText(beginningWith bytes: [UInt8]) -> Bool {
        parts.bytes.withUnsafeBytes { all in
            guard let start = all.baseAddress else { return false }
            return parts.values.contains { value in
                value.kind == .text && value.extent >= bytes.count
                    && memcmp(start + Int(value.payload), bytes, bytes.count) == 0
            }
        }
    }

    /// Returns the tree with other texts.
    ///
    /// `origin` is for texts that errors must not show.
    func replacing(_ texts: [(index: Int, text: [UInt8])], origin: VariableText?) -> SpecTree {
        var next = parts
        for (index, text) in texts { next.replace(index, by: text, origin) }
        return SpecTree(next, file: file)
    }

    /// The number of values of all kinds, without keys.
    var valueCount: Int {
        parts.values.reduce(parts.values.count) { $1.kind == .map ? $0 - Int($1.payload) : $0 }
    }

    /// Returns whether two values are the same. Locations are not compared.
    func isSame(_ index: Int, as other: SpecTree, _ otherIndex: Int) -> Bool {
        let count = end(index) - index
        guard other.end(otherIndex) - otherIndex == count else { return false }
        return parts.values.withUnsafeBufferPointer { mine in
            other.parts.values.withUnsafeBufferPointer { theirs in
                for offset in 0..<count {
                    let (one, two) = (mine[index + offset], theirs[otherIndex + offset])
                    guard one.kind == two.kind else { return false }
                    // The kinds and numbers of parts determine the shape. Numbers are compared by bits: NaN is the same as itself.
                    if one.kind == .text {
                        guard one.isSameText(in: parts.bytes, as: two, in: other.parts.bytes) else { return false }
                    } else if one.payload != two.payload {
                        return false
                    }
                }
                return true
            }
        }
    }
}

extension SpecTree.Parts {
    typealias Value = SpecTree.Value

    /// Maps with fewer keys are searched one by one.
    private static var longestLinearSearch: Int { 8 }

    /// Appends a value. A list or map is followed by its parts, and closed.
    mutating func appendValue(_ kind: SpecTree.Kind, payload: UInt64 = 0, at position: Position) {
        values.append(Value(payload: payload, kind: kind))
        positions.append(position)
    }

    mutating func append(_ text: UnsafeBufferPointer<UInt8>, at position: Position) {
        values.append(Value(payload: UInt64(bytes.count), extent: UInt32(text.count), kind: .text))
        positions.append(position)
        bytes.append(contentsOf: text)
    }

    /// Replaces a text, which stays a text.
    mutating func replace(_ index: Int, by text: [UInt8], _ origin: VariableText?) {
        variables[index] = origin
        values[index].payload = UInt64(bytes.count)
        values[index].extent = UInt32(text.count)
        bytes.append(contentsOf: text)
    }

    mutating func append(_ content: SpecNode.Content, at position: Position) {
        switch content {
        case .null: appendValue(.null, at: position)
        case .bool(let value): appendValue(.bool, payload: value ? 1 : 0, at: position)
        case .integer(let value): appendValue(.integer, payload: UInt64(bitPattern: value), at: position)
        case .unsigned(let value): appendValue(.unsigned, payload: value, at: position)
        case .number(let value): appendValue(.number, payload: value.bitPattern, at: position)
        case .text(let text): append(text, at: position)
        case .list(let items):
            let list = values.count
            appendValue(.list, at: position)
            for item in items { append(item) }
            close(list, count: items.count)
        case .map(let entries):
            let map = values.count
            appendValue(.map, at: position)
            for (number, entry) in entries.enumerated() {
                append(entry.key, at: Position(entry.keyLocation))
                _ = noteKey(number: number, of: map)
                append(entry.value)
            }
            close(map, count: entries.count)
        }
    }

    /// Appends a copy of a value with its form.
    private mutating func append(_ node: SpecNode) {
        if let form = node.form { note(form) }
        append(node.content, at: Position(node.location))
    }

    private mutating func append(_ text: String, at position: Position) {
        var text = text
        text.withUTF8 { append($0, at: position) }
    }

    /// Notes the variables that have a part in the next value.
    mutating func note(_ variables: VariableText) { self.variables[values.count] = variables }

    /// Notes the form of the next value.
    mutating func note(_ form: ValueForm) { forms[values.count] = form }

    /// Ends a list or map.
    mutating func close(_ index: Int, count: Int) {
        values[index].payload = UInt64(count)
        values[index].extent = UInt32(values.count)
    }

    /// Notes the last text as a key of a map that is still open. Returns the index of an earlier key of that name.
    mutating func noteKey(number: Int, of map: Int) -> Int? {
        let index = values.count - 1
        if number < Self.longestLinearSearch {
            var key = map + 1
            for _ in 0..<number {
                if values[key].isSameText(in: bytes, as: values[index], in: bytes) { return key }
                key = end(key + 1)
            }
            return nil
        }
        if number == Self.longestLinearSearch {
            var table = KeyTable()
            var key = map + 1
            for _ in 0..<number {
                _ = table.insert(key, values, bytes)
                key = end(key + 1)
            }
            keys[map] = table
        }
        return keys[map]?.insert(index, values, bytes)
    }

    func end(_ index: Int) -> Int {
        let value = values[index]
        return value.kind == .list || value.kind == .map ? Int(value.extent) : index + 1
    }

    func find(_ key: UnsafeBufferPointer<UInt8>, in map: Int) -> (number: Int, key: Int)? {
        if let table = keys[map] { return table.find(key, values, bytes) }
        var index = map + 1
        for number in 0..<Int(values[map].payload) {
            if values[index].isText(key, in: bytes) { return (number, index) }
            index = end(index + 1)
        }
        return nil
    }

    func string(_ index: Int) -> String {
        values[index].withText(in: bytes) { String(decoding: $0, as: UTF8.self) }
    }
}

extension SpecTree.Value {
    @inline(__always)
    fileprivate func withText<Result>(
        in bytes: borrowing ContiguousArray<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        bytes.withUnsafeBufferPointer { bytes in
            let start = Int(payload)
            return body(UnsafeBufferPointer(rebasing: bytes[start..<start + Int(extent)]))
        }
    }

    @inline(__always)
    fileprivate func isText(_ text: UnsafeBufferPointer<UInt8>, in bytes: borrowing ContiguousArray<UInt8>) -> Bool {
        withText(in: bytes) { own in
            guard own.count == text.count else { return false }
            guard let start = own.baseAddress, let other = text.baseAddress else { return true }
            return memcmp(start, other, own.count) == 0
        }
    }

    @inline(__always)
    fileprivate func isSameText(
        in bytes: borrowing ContiguousArray<UInt8>, as other: SpecTree.Value,
        in others: borrowing ContiguousArray<UInt8>
    ) -> Bool {
        extent == other.extent && other.withText(in: others) { isText($0, in: bytes) }
    }
}

/// The keys of one map, by name and by number.
private struct KeyTable {
    /// The index of each key in its tree.
    private var indices: ContiguousArray<UInt32> = []
    private var hashes: ContiguousArray<UInt32> = []
    /// The number of a key plus 1, or 0; a power of two of them, at most half of them used.
    private var slots = ContiguousArray<UInt32>(repeating: 0, count: 32)

    /// Adds a key. Returns the index of an earlier one of that name instead.
    mutating func insert(
        _ index: Int, _ values: borrowing ContiguousArray<SpecTree.Value>, _ bytes: borrowing ContiguousArray<UInt8>
    ) -> Int? {
        let (hash, slot, number) = values[index].withText(in: bytes) { search($0, values, bytes) }
        if let number { return Int(indices[number]) }
        slots[slot] = UInt32(indices.count + 1)
        indices.append(UInt32(index))
        hashes.append(hash)
        if indices.count * 2 > slots.count { grow() }
        return nil
    }

    func find(
        _ key: UnsafeBufferPointer<UInt8>, _ values: borrowing ContiguousArray<SpecTree.Value>,
        _ bytes: borrowing ContiguousArray<UInt8>
    ) -> (number: Int, key: Int)? {
        search(key, values, bytes).number.map { ($0, Int(indices[$0])) }
    }

    private func search(
        _ key: UnsafeBufferPointer<UInt8>, _ values: borrowing ContiguousArray<SpecTree.Value>,
        _ bytes: borrowing ContiguousArray<UInt8>
    ) -> (hash: UInt32, slot: Int, number: Int?) {
        // The hasher is seeded, so that no document can be written whose keys collide.
        var hasher = Hasher()
        hasher.combine(bytes: UnsafeRawBufferPointer(key))
        let hash = UInt32(truncatingIfNeeded: hasher.finalize())
        var slot = Int(hash) & (slots.count - 1)
        while slots[slot] != 0 {
            let number = Int(slots[slot] - 1)
            if hashes[number] == hash && values[Int(indices[number])].isText(key, in: bytes) {
                return (hash, slot, number)
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        return (hash, slot, nil)
    }

    private mutating func grow() {
        slots = ContiguousArray(repeating: 0, count: slots.count * 2)
        for (number, hash) in hashes.enumerated() {
            var slot = Int(hash) & (slots.count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = UInt32(number + 1)
        }
    }
}

/// The form of a string with environment variables, which determines the kind of the expanded value.
enum ValueForm: Equatable, Sendable {
    /// Without quotes: `${RATE}` may become a number.
    case plain
    /// With a tag such as `!!int`.
    case tagged(String)
}

/// A line and column from 1, in a document that is known.
struct Position: Sendable {
    let line: UInt32
    let column: UInt32

    init(line: UInt32, column: UInt32) {
        self.line = line
        self.column = column
    }

    init(_ location: Location) { self.init(line: location.line, column: location.column) }

    func location(in file: String) -> Location { Location(file: file, line: line, column: column) }
}
