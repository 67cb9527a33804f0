public import InvivoBase
public import InvivoSpec

extension SpecNode {
    /// The failure without the values of environment variables. Its path leads to the wrong part of the value.
    func masked(_ failure: Failure, for property: Property) -> Failure {
        guard hasVariables || property.origin(nil) != nil else { return failure }
        var (node, field) = (self, property)
        for name in failure.path.split(separator: ".").dropFirst().map(String.init) {
            guard let inner = node[name] else { break }
            node = inner
            field =
                field.fields.first { $0.name.isSameName(as: name) || $0.was.contains(where: name.isSameName(as:)) }
                ?? field
        }
        let unit = field.unit.map { $0.isEmpty ? "" : " of \($0)" } ?? ""
        let expected = field.isEnumeration ? "a choice of '\(field.name)'" : field.kind.withArticle + unit
        return field.origin(node.anyVariables)?.masking(failure, expected: expected) ?? failure
    }
}

extension Value {
    /// Converts a node to a value of a property, and omits its invalid parts. For a nested struct it keeps the valid
    /// fields. Nil when no part is valid.
    static func said(_ node: SpecNode, for property: Property, path: String? = nil, _ failures: inout [Failure])
        -> Value?
    {
        let path = path ?? property.name
        guard property.isNested, case .map(let entries) = node.content else {
            do throws(Failure) { return try Value(spec: node, for: property) } catch {
                var failure = error
                failure.path = path
                failures.append(failure)
                return nil
            }
        }
        var pairs: [(name: String, value: Value)] = []
        for entry in entries {
            if let field = property.fields.first(where: {
                $0.name.isSameName(as: entry.key) || $0.was.contains(where: entry.key.isSameName(as:))
            }) {
                guard let value = said(entry.value, for: field, path: "\(path).\(entry.key)", &failures) else {
                    continue
                }
                pairs.append((entry.key, value))
            } else {
                // The value does not matter: the name is invalid.
                pairs.append((entry.key, .null))
            }
        }
        return .map(pairs)
    }
}

extension Value {
    /// Converts a node of a document to a value. A string for a number with a unit ("1.2 kHz") is converted to that
    /// number, and a string for bytes is base64. `kind` is the requested kind where there is no property.
    ///
    /// A string with environment variables is a string where one is requested. For a number or a boolean it is read as a plain
    /// scalar of YAML.
    public init(spec node: SpecNode, for property: Property? = nil, kind: ValueKind? = nil) throws(Failure) {
        switch node.content(for: property, kind) {
        case .null:
            guard property?.codec != .color else {
                throw Failure(
                    .null, "expected a color, found nothing; write it in quotes, as in '#ff8800': '#' begins a comment",
                    at: node.location)
            }
            self = .null
        case .bool(let bool): self = .bool(bool)
        case .integer(let number): self = .int64(number)
        case .unsigned(let number): self = .uint64(number)
        case .number(let number): self = .double(number)
        case .text(let text):
            if let property, property.codec != .none {
                do throws(Failure) { self = try TextReader.codecValue(text, of: property) } catch {
                    var failure = error
                    failure.location = node.location
                    throw failure
                }
            } else if let property, property.kind.isNumber, property.choices.isEmpty {
                guard let number = property.unit.flatMap({ TextReader.quantity(text, unit: $0) }) else {
                    let wanted = TextReader.wantedNumber(unit: property.unit)
                    let isQuoted = TextReader.plain(text)?.isNumber == true
                    throw Failure(
                        .type,
                        "expected \(wanted), got the string \(quoted(text))"
                            + (isQuoted ? "; write the number without quotes" : ""), at: node.location)
                }
                self = .double(number)
            } else if (property?.kind ?? kind) == .bool {
                throw Failure(.type, "expected true or false, got the string \(quoted(text))", at: node.location)
            } else if (property?.kind ?? kind) == .bytes {
                do throws(Base64.Fault) { self = .bytes(try Base64.bytes(of: text)) } catch {
                    throw Failure(.type, "expected bytes in base64, as in 'AQID': \(error.text)", at: node.location)
                }
            } else {
                self = .string(text)
            }
        case .list(let items):
            var values: [Value] = []
            for item in items { values.append(try Value(spec: item)) }
            self = .list(values)
        case .map(let entries):
            var pairs: [(name: String, value: Value)] = []
            for entry in entries {
                let field = property?.fields.first {
                    $0.name.isSameName(as: entry.key) || $0.was.contains(where: entry.key.isSameName(as:))
                }
                pairs.append((entry.key, try Value(spec: entry.value, for: field)))
            }
            self = .map(pairs)
        }
    }
}

extension SpecNode.Content {
    fileprivate var isNumber: Bool {
        switch self {
        case .integer, .unsigned, .number: true
        default: false
        }
    }
}

extension SpecNode {
    /// The content for a property or kind: a string with environment variables has the content that is requested.
    func content(for property: Property?, _ kind: ValueKind?) -> Content {
        guard let text = variables?.text, let kind = property?.kind ?? kind else { return content }
        switch content {
        case .text where kind.isNumber || kind == .bool: return TextReader.plain(text) ?? content
        case .text, .list, .map: return content
        default: return kind == .string || kind == .bytes || property?.choices.isEmpty == false ? .text(text) : content
        }
    }
}
