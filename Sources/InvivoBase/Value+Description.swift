extension Value: CustomStringConvertible {
    /// As messages show it: `300`, `'saw'`, `[1, 2]`, `{gain: 0.5}`. Long ones are cut.
    public var description: String {
        var text = ""
        write(to: &text, depth: 0)
        return text
    }

    /// The texts by which messages could show the value, or a part of it.
    public var texts: [String] {
        switch self {
        case .string(let text): text.isEmpty ? [] : [text]
        case .list(let items): items.flatMap(\.texts)
        case .map(let pairs): pairs.flatMap(\.value.texts)
        default: kind.isNumber ? [description] : []
        }
    }

    private static let longestText = 80

    private func write(to text: inout String, depth: Int) {
        guard depth < 4, text.utf8.count < 200 else {
            text += "..."
            return
        }
        switch self {
        case .null: text += "null"
        case .bool(let boolean): text += boolean ? "true" : "false"
        case .int8, .int16, .int32, .int64: text += signedInteger.map { "\($0)" } ?? ""
        case .uint8, .uint16, .uint32, .uint64: text += unsignedInteger.map { "\($0)" } ?? ""
        case .float(let number): text += "\(number)".withoutPointZero
        case .double(let number): text += "\(number)".withoutPointZero
        case .string(let string):
            if ContentQuoting.isAllowed {
                text += string.count <= Self.longestText ? "'\(string)'" : "'\(string.prefix(Self.longestText))...'"
            } else {
                text += "'...'"
            }
        case .bytes(let bytes): text += bytes.count == 1 ? "1 byte" : "\(bytes.count) bytes"
        case .list(let items):
            text += "["
            for (index, item) in items.enumerated() {
                if index > 0 { text += ", " }
                guard index < 8 else {
                    text += "..."
                    break
                }
                item.write(to: &text, depth: depth + 1)
            }
            text += "]"
        case .map(let pairs):
            text += "{"
            for (index, pair) in pairs.enumerated() {
                if index > 0 { text += ", " }
                guard index < 8 else {
                    text += "..."
                    break
                }
                text += "\(pair.name): "
                pair.value.write(to: &text, depth: depth + 1)
            }
            text += "}"
        case .object(let lease): text += lease.type.map { "an object of type \($0.name)" } ?? "an object"
        case .type(let type): text += "the type \(type.name)"
        case .callable(let callable): text += "the callable \(callable.name)"
        case .enumeration(let number, let name): text += name ?? "\(number)"
        }
    }

    /// The value and its kind: "'saw' (a string)".
    public var withKind: String {
        switch self {
        case .null, .object, .type, .callable: description
        default: "\(description) (\(kind.inWords))"
        }
    }
}

extension String {
    /// "2.0" as people write it: "2".
    var withoutPointZero: String { hasSuffix(".0") ? String(dropLast(2)) : self }
}

/// A bound or number of a descriptor as people write it.
func plain(_ number: Double) -> String { "\(number)".withoutPointZero }
