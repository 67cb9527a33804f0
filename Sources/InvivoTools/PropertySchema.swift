internal import InvivoBase
internal import InvivoTraits

/// The schema of one property, field or parameter.
struct PropertySchema {
    /// The part of a document that contains the value.
    enum Place {
        case trait
        /// A string is converted to the kind that its receiver requests, and null removes a value.
        case configuration
        /// A value that the host reads: a string is not converted.
        case host
    }

    let place: Place

    // MARK: values

    /// The schema of a property of `Set`, of a trait type or of a section, with annotations for editors.
    func value(_ property: Property, hasDefault: Bool = true) -> JsonText {
        .object(annotations(property, hasDefault: hasDefault) + content(property))
    }

    /// The schema of a property under a former name.
    private func former(_ property: Property) -> JsonText {
        .object(
            [("description", .string("Now called '\(property.name)'.")), ("deprecated", .bool(true))]
                + content(property))
    }

    /// The members of an object that may have the property, under its name or a former one.
    func members(_ property: Property, hasDefault: Bool = true) -> [JsonText.Member] {
        [(property.name, value(property, hasDefault: hasDefault))] + property.was.map { ($0, former(property)) }
    }

    /// The schema of a value of a kind.
    func value(_ kind: ValueKind) -> JsonText {
        switch kind {
        case .bool:
            return .object(typed(["boolean", "string"], pattern: place == .configuration ? [SchemaPatterns.bool] : []))
        case .string: return .object(typed(["string"]))
        case .bytes: return .object(typed(["string"], pattern: [SchemaPatterns.base64]))
        case .list: return .object(typed(["array"]))
        case .map: return .object(typed(["object"]))
        case .object, .type, .callable: return .object([("type", .string("null"))])
        case _ where kind.isNumber:
            let plain = kind.isInteger ? SchemaPatterns.plainInteger : SchemaPatterns.plainNumber
            let members = typed(
                [kind.isInteger ? "integer" : "number", "string"], pattern: place == .configuration ? [plain] : [])
            return .object(members + Self.limits(kind, nil))
        default: return .object([])
        }
    }

    private func content(_ property: Property) -> [JsonText.Member] {
        if property.isEnumeration { return choices(property) }
        if property.isNested { return fields(property) }
        if property.kind == .string, property.isField, property.size > 0 {
            return typed(["string"])
                + [
                    (
                        "anyOf",
                        .list([
                            .object([("maxLength", .integer(property.size - 1))]),
                            .object([("pattern", .string(SchemaPatterns.open))]),
                        ])
                    )
                ]
        }
        guard property.kind.isNumber || property.codec != .none else { return value(property.kind).members }
        guard property.kind.isNumber else { return typed(["object", "string"], pattern: texts(property)) }
        return typed([property.kind.isInteger ? "integer" : "number", "string"], pattern: texts(property))
            + Self.limits(property.kind, property.range)
    }

    /// Regular expressions for the strings that the property accepts.
    private func texts(_ property: Property) -> [String] {
        var found: [String] = []
        switch property.codec {
        case .none: found = SchemaPatterns.quantities(property.unit ?? "")
        case .size: found = [SchemaPatterns.size]
        case .point: found = [SchemaPatterns.point]
        case .decibel: found = [SchemaPatterns.decibel]
        case .percent: found = [SchemaPatterns.percent]
        case .duration: found = SchemaPatterns.quantities(property.unit ?? "s")
        case .color: found = [SchemaPatterns.color(hasAlpha: property.hasAlpha)]
        }
        guard place == .configuration, property.kind.isNumber else { return found }
        // The number in front of a unit may be a fraction although the property is whole: "1.5 k" is 1500.
        return found + [
            property.kind.isInteger && found.isEmpty ? SchemaPatterns.plainInteger : SchemaPatterns.plainNumber
        ]
    }

    /// The types of a value. With `pattern`, a string must match one of the expressions, or contain a variable.
    private func typed(_ types: [String], pattern: [String]? = nil) -> [JsonText.Member] {
        let all = place == .trait ? types : types + ["null"]
        var members: [JsonText.Member] = [("type", all.count == 1 ? .string(all[0]) : .strings(all))]
        if let pattern { members.append(("pattern", .string(SchemaPatterns.any(pattern + [SchemaPatterns.open])))) }
        return members
    }

    private func choices(_ property: Property) -> [JsonText.Member] {
        var values: [JsonText] = property.choices.map { .string($0.name) }
        values += property.choices.map { .integer($0.number) }
        if place != .trait { values.append(.null) }
        let open = JsonText.object([("type", .string("string")), ("pattern", .string(SchemaPatterns.open))])
        return [("anyOf", .list([.object([("enum", .list(values))]), open]))]
    }

    private func fields(_ property: Property) -> [JsonText.Member] {
        let hasText = property.codec != .none
        return typed(hasText ? ["object", "string"] : ["object"], pattern: hasText ? texts(property) : nil)
            + Self.closed(property.fields.flatMap { members($0) })
    }

    /// Refuses members with other names.
    static func closed(_ properties: [JsonText.Member]) -> [JsonText.Member] {
        [("properties", .object(properties)), ("additionalProperties", .bool(false))]
    }

    // MARK: ranges

    private static func limits(_ kind: ValueKind, _ range: ClosedRange<Double>?) -> [JsonText.Member] {
        var (low, high): (JsonText?, JsonText?) = kindLimits(kind)
        if let range {
            func bound(_ number: Double) -> JsonText? {
                guard kind.isInteger else { return .number(number) }
                return Int64(exactly: number).map { .integer($0) }
            }
            (low, high) = (bound(range.lowerBound) ?? low, bound(range.upperBound) ?? high)
        }
        return [("minimum", low), ("maximum", high)].compactMap { name, value in value.map { (name, $0) } }
    }

    private static func kindLimits(_ kind: ValueKind) -> (JsonText?, JsonText?) {
        switch kind {
        case .int8: (.integer(Int8.min), .integer(Int8.max))
        case .int16: (.integer(Int16.min), .integer(Int16.max))
        case .int32: (.integer(Int32.min), .integer(Int32.max))
        case .int64: (.integer(Int64.min), .integer(Int64.max))
        case .uint8: (.integer(0), .integer(UInt8.max))
        case .uint16: (.integer(0), .integer(UInt16.max))
        case .uint32: (.integer(0), .integer(UInt32.max))
        case .uint64: (.integer(0), .integer(UInt64.max))
        default: (nil, nil)
        }
    }

    // MARK: relative layers

    /// The schema of the factor of `Scale`, or of the amount of `Offset`.
    func relative(_ property: Property, isFactor: Bool) -> JsonText {
        guard !property.isNested else {
            let fields = property.fields.filter(\.hasNumbers)
            return .object(
                typed(["object"])
                    + Self.closed(
                        fields.flatMap { field in
                            field.names.map { ($0, relative(field, isFactor: isFactor)) }
                        }))
        }
        var found: [String] = []
        if isFactor {
            found = [SchemaPatterns.percent] + (property.codec == .decibel ? [SchemaPatterns.decibel] : [])
        } else {
            switch property.codec {
            case .percent: found = [SchemaPatterns.percent]
            case .duration: found = SchemaPatterns.quantities(property.unit ?? "s")
            case .none: found = property.unit.map { $0.isEmpty ? [] : [SchemaPatterns.quantity($0)] } ?? []
            default: break
            }
        }
        let what =
            isFactor
            ? "A factor, such as 0.5 or '50 %'." : "An amount" + (property.unit.map { " in \($0)." } ?? ".")
        return .object([("description", .string(what))] + typed(["number", "string"], pattern: found))
    }

    // MARK: annotations

    private func annotations(_ property: Property, hasDefault: Bool) -> [JsonText.Member] {
        var members: [JsonText.Member] = []
        let description = [property.text, Self.described(property)].compactMap { $0 }.filter { !$0.isEmpty }
        if !description.isEmpty { members.append(("description", .string(description.joined(separator: " ")))) }
        if property.takesRestart {
            members.append(("$comment", .string("takes effect when the object is next created")))
        }
        if hasDefault, !property.isSecret, let initial = property.initial, !initial.isNull,
            let value = JsonText(initial)
        {
            members.append(("default", value))
        }
        if let example = Self.example(property) { members.append(("examples", .list([.string(example)]))) }
        return members
    }

    /// "A number of Hz, 20 to 20000."
    private static func described(_ property: Property) -> String? {
        guard property.kind.isNumber, !property.isEnumeration else { return nil }
        let unit = property.unit.map { $0.isEmpty ? "" : " of \($0)" } ?? ""
        var text = (property.kind.isInteger ? "A whole number" : "A number") + unit
        if let range = property.range {
            switch (JsonText.number(range.lowerBound), JsonText.number(range.upperBound)) {
            case (.number(let low)?, .number(let high)?): text += ", \(low) to \(high)"
            case (.number(let low)?, _): text += ", at least \(low)"
            case (_, .number(let high)?): text += ", at most \(high)"
            default: break
            }
        } else if unit.isEmpty {
            return nil
        }
        return text + "."
    }

    private static func example(_ property: Property) -> String? {
        switch property.codec {
        case .size: return "640 x 480"
        case .point: return "10, 20"
        case .decibel: return "-6 dB"
        case .percent: return "50 %"
        case .color: return "#ff8800"
        case .duration: return "250 ms"
        case .none:
            guard property.kind.isNumber, !property.isEnumeration, let unit = property.unit, !unit.isEmpty else {
                return nil
            }
            return PropertyCodec.seconds(in: unit) == nil ? "1.5 k\(unit)" : "250 ms"
        }
    }
}
