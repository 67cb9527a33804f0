public import InvivoBase

/// One value of a document, with its source location. Immutable; may be used from any thread.
public struct SpecNode: Sendable {
    public enum Content: Sendable {
        case null
        case bool(Bool)
        case integer(Int64)
        /// Only numbers above `Int64.max`.
        case unsigned(UInt64)
        case number(Double)
        case text(String)
        case list([SpecNode])
        /// In the document's order; no key occurs twice.
        case map([SpecEntry])

        public var isNumber: Bool {
            switch self {
            case .integer, .unsigned, .number: true
            default: false
            }
        }
    }

    let tree: SpecTree
    let index: Int

    init(_ tree: SpecTree, _ index: Int) {
        self.tree = tree
        self.index = index
    }

    /// Creates a value without a document. Its parts are copied.
    public init(_ content: Content, at location: Location = Location()) {
        var parts = SpecTree.Parts()
        parts.append(content, at: Position(location))
        self.init(SpecTree(parts, file: location.file), 0)
    }

    /// The source location at which the value begins.
    public var location: Location { tree.location(index) }

    /// The value with its parts. Each use creates its strings and arrays.
    public var content: Content {
        let value = tree.value(index)
        return switch value.kind {
        case .null: .null
        case .bool: .bool(value.payload != 0)
        case .integer: .integer(Int64(bitPattern: value.payload))
        case .unsigned: .unsigned(value.payload)
        case .number: .number(Double(bitPattern: value.payload))
        case .text: .text(tree.string(index))
        case .list: .list(items ?? [])
        case .map: .map(entries ?? [])
        }
    }
}

/// One key of a map and its value.
public struct SpecEntry: Sendable {
    public let key: String
    public let keyLocation: Location
    public let value: SpecNode

    public init(key: String, keyLocation: Location = Location(), value: SpecNode) {
        self.key = key
        self.keyLocation = keyLocation
        self.value = value
    }

    /// The entry whose key has that index.
    init(_ tree: SpecTree, _ index: Int) {
        self.init(key: tree.string(index), keyLocation: tree.location(index), value: SpecNode(tree, index + 1))
    }
}

/// A whole text, read: the root value and the file's name as it was given.
public struct SpecDocument: Sendable {
    public internal(set) var root: SpecNode
    public let file: String
    /// The environment variables that the text names.
    public let variables: [String]

    public init(root: SpecNode, file: String, variables: [String] = []) {
        self.root = root
        self.file = file
        self.variables = variables
    }
}

extension SpecNode {
    /// The entries, if this is a map.
    public var entries: [SpecEntry]? {
        let value = tree.value(index)
        guard value.kind == .map else { return nil }
        var entries: [SpecEntry] = []
        entries.reserveCapacity(Int(value.payload))
        var key = index + 1
        while key < value.extent {
            entries.append(SpecEntry(tree, key))
            key = tree.end(key + 1)
        }
        return entries
    }

    /// The items, if this is a list.
    public var items: [SpecNode]? {
        let value = tree.value(index)
        guard value.kind == .list else { return nil }
        var items: [SpecNode] = []
        items.reserveCapacity(Int(value.payload))
        var item = index + 1
        while item < value.extent {
            items.append(SpecNode(tree, item))
            item = tree.end(item)
        }
        return items
    }

    /// The part that environment variables have in the value; nil if they have none.
    public var variables: VariableText? { tree.variables(index) }

    /// The form of a value that was read verbatim; nil for a value that may be written in any form.
    var form: ValueForm? { tree.form(index) }

    /// The part that environment variables have in the value, or in the first of its parts with one.
    public var anyVariables: VariableText? { tree.anyVariables(index) }

    public var hasVariables: Bool { anyVariables != nil }

    /// The text, if this is a text.
    public var text: String? { tree.value(index).kind == .text ? tree.string(index) : nil }

    public var isNull: Bool { tree.value(index).kind == .null }

    public var isMap: Bool { tree.value(index).kind == .map }

    /// The value of a key, if this is a map that has it.
    public subscript(key: String) -> SpecNode? {
        isMap ? tree.find(key, in: index).map { SpecNode(tree, $0.key + 1) } : nil
    }

    /// A description of the value for error messages: "the string 'saw'", "a list", "nothing".
    public var described: String {
        if let variables { return variables.describedValue }
        guard ContentQuoting.isAllowedForForm else { return describedForm }
        return switch content {
        case .null: "nothing"
        case .bool(let value): "the boolean \(value)"
        case .integer(let value): "the integer \(value)"
        case .unsigned(let value): "the integer \(value)"
        case .number(let value): "the number \(value)"
        case .text(let text): "the string \(quoted(text))"
        case .list: "a list"
        case .map: "a map"
        }
    }

    /// A description without the value: "a string", "an integer".
    private var describedForm: String {
        switch content {
        case .null: "nothing"
        case .bool: "a boolean"
        case .integer, .unsigned: "an integer"
        case .number: "a number"
        case .text: "a string"
        case .list: "a list"
        case .map: "a map"
        }
    }
}

/// A name or text of the input as an error may show it: in quotes, at most 64 scalars of it, and with what could
/// disturb a terminal or a log written as an escape.
public func quoted(_ text: String) -> String { ContentQuoting.isAllowed ? written(text) : "'...'" }

/// A key of a document or the name of a trait, as an error may show it: also while there are secrets, because names are not secret.
public func quotedName(_ text: String) -> String { ContentQuoting.isAllowedForNames ? written(text) : "'...'" }

private func written(_ text: String) -> String {
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
