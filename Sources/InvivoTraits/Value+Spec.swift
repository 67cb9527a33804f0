public import InvivoBase
public import InvivoSpec

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
                let field = property?.fields.property(named: entry.key)
                pairs.append((entry.key, try Value(spec: entry.value, for: field)))
            }
            self = .map(pairs)
        }
    }

    /// Converts a node to a value of a property, and omits its invalid parts. For a nested struct it keeps the valid
    /// fields. Nil when no part is valid.
    static func validParts(
        of node: SpecNode, for property: Property, path: String? = nil, _ failures: inout [Failure]
    ) -> Value? {
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
            if let field = property.fields.property(named: entry.key) {
                guard let value = validParts(of: entry.value, for: field, path: "\(path).\(entry.key)", &failures)
                else {
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

    /// Converts a node to the number of a relative layer: a factor, or an amount in the unit of the property. For a nested struct it
    /// is a map of such numbers. Nil if no part is valid.
    static func amount(
        _ node: SpecNode, for property: Property, isFactor: Bool, path: String? = nil, _ failures: inout [Failure]
    ) -> Value? {
        let path = path ?? property.name
        func fail(_ code: Status, _ message: String, _ path: String, at location: Location) {
            failures.append(Failure(code, message, path: path, at: location))
        }
        if property.isNested {
            guard let entries = node.entries else {
                fail(.type, "expected a map of fields and numbers, found \(node.described)", path, at: node.location)
                return nil
            }
            var pairs: [(name: String, value: Value)] = []
            for entry in entries {
                guard let field = property.fields.property(named: entry.key) else {
                    failures.append(
                        property.unknownField(entry.key, path: "\(path).\(entry.key)", at: entry.keyLocation))
                    continue
                }
                guard field.hasNumbers else {
                    fail(
                        .type, "expected the name of a number, and '\(field.name)' is \(field.described)",
                        "\(path).\(entry.key)", at: entry.keyLocation)
                    continue
                }
                guard !pairs.contains(where: { $0.name.isSameName(as: field.name) }) else {
                    fail(
                        .argument, "the field '\(field.name)' is given twice", "\(path).\(entry.key)",
                        at: entry.keyLocation)
                    continue
                }
                let amount = amount(
                    entry.value, for: field, isFactor: isFactor, path: "\(path).\(entry.key)", &failures)
                if let amount { pairs.append((field.name, amount)) }
            }
            return .map(pairs)
        }
        switch node.content(for: isFactor ? nil : property, .double) {
        case .integer(let number): return .int64(number)
        case .unsigned(let number): return .uint64(number)
        case .number(let number) where number.isFinite: return .double(number)
        case .text(let text):
            if let number = amount(text, of: property, isFactor: isFactor) { return .double(number) }
        default: break
        }
        let factor =
            property.codec == .decibel ? "a factor, such as 0.5, '50 %' or '-6 dB'" : "a factor, such as 0.5 or '50 %'"
        let wanted =
            isFactor ? factor : "a finite number\(property.unit.map { " of \($0)" } ?? "")"
        fail(.type, "expected \(wanted), found \(node.described)", path, at: node.location)
        return nil
    }

    /// The number of a text with a unit; nil if it is none. A property in decibels is scaled, and has no offset in them.
    private static func amount(_ text: String, of property: Property, isFactor: Bool) -> Double? {
        if isFactor {
            return TextReader.percent(text) ?? (property.codec == .decibel ? TextReader.decibel(text) : nil)
        }
        switch property.codec {
        case .percent: return TextReader.percent(text)
        case .duration: return TextReader.quantity(text, unit: property.unit ?? "s")
        case .none: return parseQuantity(text, unit: property.unit ?? "")
        default: return nil
        }
    }
}
