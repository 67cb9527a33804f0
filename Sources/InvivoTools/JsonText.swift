internal import InvivoBase
internal import InvivoSpec

/// A JSON value whose members keep their order.
enum JsonText: Sendable {
    case null
    case bool(Bool)
    /// A number as it is written.
    case number(String)
    case string(String)
    case list([JsonText])
    case object([Member])

    typealias Member = (name: String, value: JsonText)

    /// A schema that refuses every value. The error has the path of the value.
    static var never: JsonText { .object([("not", .object([]))]) }

    static func integer(_ number: some BinaryInteger) -> JsonText { .number("\(number)") }

    /// A number. A whole one is written without a decimal point. Nil for infinity and NaN.
    static func number(_ number: Double) -> JsonText? {
        guard number.isFinite else { return nil }
        guard number == number.rounded(), abs(number) < 1e15 else { return .number("\(number)") }
        return .integer(Int64(number))
    }

    static func strings(_ strings: [String]) -> JsonText { .list(strings.map { .string($0) }) }

    /// A value as JSON; nil for a value that JSON cannot express.
    init?(_ value: Value) {
        switch value {
        case .null: self = .null
        case .bool(let flag): self = .bool(flag)
        case .string(let text): self = .string(text)
        case .float(let number):
            guard let number = Self.number(Double(number)) else { return nil }
            self = number
        case .double(let number):
            guard let number = Self.number(number) else { return nil }
            self = number
        case .enumeration(let number, let name): self = name.map { .string($0) } ?? .integer(number)
        case .list(let items):
            let items = items.map(JsonText.init)
            guard !items.contains(where: { $0 == nil }) else { return nil }
            self = .list(items.compactMap { $0 })
        case .map(let pairs):
            var members: [Member] = []
            for pair in pairs {
                guard let value = JsonText(pair.value) else { return nil }
                members.append((pair.name, value))
            }
            self = .object(members)
        default:
            if let number = value.signedInteger {
                self = .integer(number)
            } else if let number = value.unsignedInteger {
                self = .integer(number)
            } else {
                return nil
            }
        }
    }

    init(_ node: SpecNode) {
        switch node.content {
        case .null: self = .null
        case .bool(let flag): self = .bool(flag)
        case .integer(let number): self = .integer(number)
        case .unsigned(let number): self = .integer(number)
        case .number(let number): self = Self.number(number) ?? .null
        case .text(let text): self = .string(text)
        case .list(let items): self = .list(items.map(JsonText.init))
        case .map(let entries): self = .object(entries.map { ($0.key, JsonText($0.value)) })
        }
    }

    var members: [Member] { if case .object(let members) = self { members } else { [] } }
    var items: [JsonText] { if case .list(let items) = self { items } else { [] } }
    var text: String? { if case .string(let text) = self { text } else { nil } }
    subscript(name: String) -> JsonText? { members.first { $0.name.isSameName(as: name) }?.value }

    var isEmpty: Bool {
        switch self {
        case .object(let members): members.isEmpty
        case .list(let items): items.isEmpty
        default: false
        }
    }

    // MARK: writing

    /// Writes the value with line breaks and indentation. A list of scalars is one line.
    func write(to out: inout String, indent: String = "") {
        switch self {
        case .null: out += "null"
        case .bool(let flag): out += flag ? "true" : "false"
        case .number(let text): out += text
        case .string(let text): out += SpecWriter.doubleQuoted(text)
        case .list(let items):
            let isShort = items.allSatisfy { if case .object = $0 { $0.isEmpty } else { $0.items.isEmpty } }
            out += "["
            for (index, item) in items.enumerated() {
                if index > 0 { out += isShort ? ", " : "," }
                if !isShort { out += "\n\(indent)  " }
                item.write(to: &out, indent: indent + "  ")
            }
            out += isShort ? "]" : "\n\(indent)]"
        case .object(let members):
            guard !members.isEmpty else {
                out += "{}"
                return
            }
            let isShort = members.count == 1 && members.allSatisfy { $0.value.isScalar }
            out += isShort ? "{ " : "{"
            for (index, member) in members.enumerated() {
                if index > 0 { out += "," }
                if !isShort { out += "\n\(indent)  " }
                out += SpecWriter.doubleQuoted(member.name) + ": "
                member.value.write(to: &out, indent: indent + "  ")
            }
            out += isShort ? " }" : "\n\(indent)}"
        }
    }

    private var isScalar: Bool {
        switch self {
        case .list, .object: isEmpty
        default: true
        }
    }
}
