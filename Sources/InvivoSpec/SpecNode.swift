public import InvivoBase

/// One value of a document, with its place. Immutable; may be used from any thread.
public struct SpecNode: Sendable {
    public enum Content: Sendable {
        case null
        case bool(Bool)
        case integer(Int64)
        /// Only what is above `Int64.max`.
        case unsigned(UInt64)
        case number(Double)
        case text(String)
        case list([SpecNode])
        /// In the document's order; no key occurs twice.
        case map([SpecEntry])
    }

    public let content: Content
    /// Where the value begins.
    public let place: Place

    public init(_ content: Content, at place: Place = Place()) {
        self.content = content
        self.place = place
    }
}

/// One key of a map and its value.
public struct SpecEntry: Sendable {
    public let key: String
    public let keyPlace: Place
    public let value: SpecNode

    public init(key: String, keyPlace: Place = Place(), value: SpecNode) {
        self.key = key
        self.keyPlace = keyPlace
        self.value = value
    }
}

extension SpecNode {
    /// Whether another version of the same document has the same value at the same line and column.
    func isSame(as other: SpecNode) -> Bool {
        guard place.isSamePosition(as: other.place) else { return false }
        switch (content, other.content) {
        case (.null, .null): return true
        case (.bool(let one), .bool(let other)): return one == other
        case (.integer(let one), .integer(let other)): return one == other
        case (.unsigned(let one), .unsigned(let other)): return one == other
        // By bits: NaN is the same as itself, and 0 is not the same as -0.
        case (.number(let one), .number(let other)): return one.bitPattern == other.bitPattern
        case (.text(let one), .text(let other)): return one.isSameName(as: other)
        case (.list(let one), .list(let other)): return one.elementsEqual(other) { $0.isSame(as: $1) }
        case (.map(let one), .map(let other)): return one.elementsEqual(other) { $0.isSame(as: $1) }
        default: return false
        }
    }
}

extension SpecEntry {
    /// Whether another version of the same document has the same entry at the same line and column.
    func isSame(as other: SpecEntry) -> Bool {
        keyPlace.isSamePosition(as: other.keyPlace) && key.isSameName(as: other.key) && value.isSame(as: other.value)
    }
}

extension Place {
    /// Whether it is the same line and column, in whatever file.
    public func isSamePosition(as other: Place) -> Bool { line == other.line && column == other.column }
}

/// A whole text, read: the root value and the file's name as it was given.
public struct SpecDocument: Sendable {
    public let root: SpecNode
    public let file: String

    public init(root: SpecNode, file: String) {
        self.root = root
        self.file = file
    }
}

extension SpecNode {
    /// The entries, if this is a map.
    public var entries: [SpecEntry]? {
        if case .map(let entries) = content { entries } else { nil }
    }

    /// The items, if this is a list.
    public var items: [SpecNode]? {
        if case .list(let items) = content { items } else { nil }
    }

    /// The text, if this is a text.
    public var text: String? {
        if case .text(let text) = content { text } else { nil }
    }

    public var isNull: Bool {
        if case .null = content { true } else { false }
    }

    /// The value of a key, if this is a map that has it.
    public subscript(key: String) -> SpecNode? {
        entries?.first { $0.key.isSameName(as: key) }?.value
    }

    /// What it is, as an error says it: "the text 'saw'", "a list", "nothing".
    public var described: String {
        switch content {
        case .null: "nothing"
        case .bool(let value): "the boolean \(value)"
        case .integer(let value): "the integer \(value)"
        case .unsigned(let value): "the integer \(value)"
        case .number(let value): "the number \(value)"
        case .text(let text): "the text \(quoted(text))"
        case .list: "a list"
        case .map: "a map"
        }
    }
}

/// A name or text of the input as an error may show it: in quotes, at most 64 scalars of it, and with what could
/// disturb a terminal or a log written as an escape.
public func quoted(_ text: String) -> String {
    guard ContentQuoting.isAllowed else { return "'...'" }
    var shown = "'"
    var count = 0
    for scalar in text.unicodeScalars {
        if count == 64 {
            shown += "..."
            break
        }
        count += 1
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate:
            shown += "\\u{\(hexadecimal(scalar.value))}"
        default: shown.unicodeScalars.append(scalar)
        }
    }
    return shown + "'"
}

func hexadecimal(_ value: UInt32, digits: Int = 1) -> String {
    let text = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
}
