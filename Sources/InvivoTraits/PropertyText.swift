public import InvivoBase
internal import InvivoSpec

/// Values of properties as text, in both directions.
public enum PropertyText {
    /// Reads a value of a property, as a spec file does, and checks it.
    public static func value(_ text: String, of property: Property) throws(Failure) -> Value {
        do throws(Failure) { return try property.checkedContent(try read(text, property)) } catch {
            throw property.masked(error).under(property.name)
        }
    }

    /// Writes a value of a property. `value(_:of:)` returns it again.
    public static func text(of value: Value, of property: Property) throws(Failure) -> String {
        let checked: Value
        do throws(Failure) { checked = plain(try property.checkedContent(value)) } catch {
            throw error.under(property.name)
        }
        for candidate in candidates(checked, property) {
            if let again = try? self.value(candidate, of: property), again.isSame(as: checked) { return candidate }
        }
        let shown = property.isSecret ? VariableText.shownSecret : checked.withKind
        throw Failure(.unsupported, "\(shown) has no text", path: property.name)
    }

    // MARK: reading

    private static func read(_ text: String, _ property: Property) throws(Failure) -> Value {
        if property.isEnumeration {
            if case .integer(let number)? = TextReader.plain(text),
                !property.choices.contains(where: { $0.name == text })
            {
                return .int64(number)
            }
            return .string(text)
        }
        switch property.kind {
        case .string: return .string(text)
        case .bool: return .bool(try TextReader.bool(text))
        case .bytes: return .bytes(try TextReader.base64(text))
        case .any, .list: return try structure(text, property)
        case .map:
            let isStructure = property.codec == .none || text.utf8.first == UInt8(ascii: "{") || text.contains("\n")
            return isStructure ? try structure(text, property) : try TextReader.codecValue(text, of: property)
        case _ where property.kind.isNumber: return try TextReader.value(text, of: property)
        default: throw Failure(.unsupported, "\(property.kind.withArticle) has no text")
        }
    }

    private static func structure(_ text: String, _ property: Property) throws(Failure) -> Value {
        try Value(spec: try SpecReader.read(text, file: property.name, format: .yaml).root, for: property)
    }

    // MARK: writing

    /// The value with the canonical NaN, because text cannot express others.
    private static func plain(_ value: Value) -> Value {
        switch value {
        case .double(let number) where number.isNaN: .double(.nan)
        case .float(let number) where number.isNaN: .float(.nan)
        case .list(let items): .list(items.map(plain))
        case .map(let pairs): .map(pairs.map { (name: $0.name, value: plain($0.value)) })
        default: value
        }
    }

    /// The candidates for the text of a value, the best one first.
    private static func candidates(_ value: Value, _ property: Property) -> [String] {
        var found = CodecText(property).texts(of: value)
        switch value {
        case .enumeration(_, let name?): found.append(name)
        case .string(let text) where property.kind == .string: found.append(text)
        case .bool(let bool) where property.kind == .bool: found.append(bool ? "true" : "false")
        case .bytes(let bytes): found.append(Base64.text(of: bytes))
        default:
            if let node = SpecNode(plain: value) {
                if let text = try? SpecWriter.json(node) { found.append(text) }
                found.append(SpecWriter.yaml(node).withoutLineEnd)
            }
        }
        return found
    }
}

extension String {
    fileprivate var withoutLineEnd: String { hasSuffix("\n") ? String(dropLast()) : self }
}

extension SpecNode {
    /// A value as a document contains it; nil if a document cannot contain it.
    init?(plain value: Value) {
        switch value {
        case .null: self.init(.null)
        case .bool(let bool): self.init(.bool(bool))
        case .float(let number): self.init(.number(Double(number)))
        case .double(let number): self.init(.number(number))
        case .string(let text): self.init(.text(text))
        case .enumeration(_, let name?): self.init(.text(name))
        case .list(let values):
            let items = values.compactMap { SpecNode(plain: $0) }
            guard items.count == values.count else { return nil }
            self.init(.list(items))
        case .map(let pairs):
            let entries = pairs.compactMap { pair in
                SpecNode(plain: pair.value).map { SpecEntry(key: pair.name, value: $0) }
            }
            guard entries.count == pairs.count else { return nil }
            self.init(.map(entries))
        default:
            if let number = value.signedInteger {
                self.init(.integer(number))
            } else if let number = value.unsignedInteger {
                self.init(.unsigned(number))
            } else {
                return nil
            }
        }
    }
}

/// The texts of a value by the codec and the unit of its property.
private struct CodecText {
    private let property: Property

    init(_ property: Property) { self.property = property }

    /// The candidates for the text of the value, the best one first. The caller reads them back.
    func texts(of value: Value) -> [String] {
        switch property.codec {
        case .none: return [withUnit(value, property.unit ?? "")].compactMap { $0 }
        case .size: return [pair(value, " x ")].compactMap { $0 }
        case .point: return [pair(value, ", ")].compactMap { $0 }
        case .percent: return number(value).map { scaled($0 * 100, "%") } ?? []
        case .decibel:
            guard let factor = number(value), factor >= 0 else { return [] }
            return factor == 0 ? ["-inf dB"] : scaled(TextReader.level(ofFactor: factor), "dB")
        case .duration: return durations(value)
        case .color: return [color(value)].compactMap { $0 }
        }
    }

    private func number(_ value: Value) -> Double? {
        guard let number = value.approximateNumber, number.isFinite else { return nil }
        return number
    }

    /// A number without superfluous digits.
    private func short(_ number: Double) -> String {
        if number == number.rounded(), abs(number) < 1e15, number != 0 || number.sign == .plus {
            return String(Int64(number))
        }
        return number.description
    }

    private func withUnit(_ value: Value, _ unit: String) -> String? {
        guard property.kind.isNumber, !unit.isEmpty, let number = number(value) else { return nil }
        return "\(Self.shortest(value) ?? short(number)) \(unit)"
    }

    /// The shortest text of a float, whose double has more digits.
    private static func shortest(_ value: Value) -> String? {
        guard case .float(let number) = value, number != number.rounded() else { return nil }
        return number.description
    }

    /// The shortest texts near a number. Reading the text may round, so several are tried.
    private func scaled(_ estimate: Double, _ unit: String) -> [String] {
        var found: [String] = []
        func add(_ number: Double) {
            let text = "\(short(number)) \(unit)"
            if number.isFinite, found.last != text { found.append(text) }
        }
        var power = 1.0
        for _ in 0...15 {
            add((estimate * power).rounded() / power)
            power *= 10
        }
        var (below, above) = (estimate, estimate)
        add(estimate)
        for _ in 0..<4 {
            (below, above) = (below.nextDown, above.nextUp)
            add(below)
            add(above)
        }
        return found
    }

    private func durations(_ value: Value) -> [String] {
        let unit = property.unit ?? "s"
        guard let number = number(value) else { return [] }
        var found: [String] = []
        let seconds = number * (PropertyCodec.seconds(in: unit) ?? 1)
        if abs(seconds) >= 60, abs(seconds) < 1e9, seconds.rounded() == seconds {
            var rest = Int64(abs(seconds))
            var parts: [String] = []
            for (size, name) in [(86400, "d"), (3600, "h"), (60, "min"), (1, "s")] as [(Int64, String)]
            where rest >= size {
                parts.append("\(rest / size) \(name)")
                rest %= size
            }
            found.append((seconds < 0 ? "-" : "") + parts.joined(separator: " "))
        } else if seconds != 0, abs(seconds) < 60 {
            let (scale, name): (Double, String) =
                switch abs(seconds) {
                case 1...: (1, "s")
                case 1e-3...: (1e3, "ms")
                case 1e-6...: (1e6, "us")
                default: (1e9, "ns")
                }
            found += scaled(seconds * scale, name)
        }
        if let text = withUnit(value, unit) { found.append(text) }
        return found
    }

    private func color(_ value: Value) -> String? {
        var parts: [UInt8] = []
        if case .map(let pairs) = value {
            guard pairs.count == (property.fields.isEmpty ? 4 : property.fields.count) else { return nil }
            var found: [UInt8?] = [nil, nil, nil, property.fields.count == 3 ? 255 : nil]
            for pair in pairs {
                guard let part = property.codec.part(named: pair.name), let number = number(pair.value) else {
                    return nil
                }
                let isFraction = property.fields.isEmpty ? false : !pair.value.kind.isInteger
                let scaled = isFraction ? (number * 255).rounded() : number
                guard let component = UInt8(exactly: scaled) else { return nil }
                found[part] = component
            }
            parts = found.compactMap { $0 }
        } else if let number = value.signedInteger ?? value.unsignedInteger.flatMap({ Int64(exactly: $0) }),
            let packed = UInt32(exactly: number)
        {
            parts = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: packed >> $0) }
        }
        guard parts.count == 4 else { return nil }
        if parts[3] == 255 { parts.removeLast() }
        return "#" + parts.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private func pair(_ value: Value, _ separator: String) -> String? {
        guard case .map(let pairs) = value, pairs.count == 2 else { return nil }
        var found: [String?] = [nil, nil]
        for pair in pairs {
            guard let part = property.codec.part(named: pair.name), let number = number(pair.value) else { return nil }
            if property.fields.isEmpty, case .double = pair.value {
                found[part] = number.description
            } else if let whole = pair.value.signedInteger {
                found[part] = String(whole)
            } else if let whole = pair.value.unsignedInteger {
                found[part] = String(whole)
            } else {
                found[part] = Self.shortest(pair.value) ?? short(number)
            }
        }
        let texts = found.compactMap { $0 }
        return texts.count == 2 ? texts.joined(separator: separator) : nil
    }
}
