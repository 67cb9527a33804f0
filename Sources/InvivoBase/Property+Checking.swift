/// Checks of new values, which do not touch the object.
extension Property {
    /// The value as it would be set: in the property's kind, inside its range. The failure's path is the property's
    /// name, down to the field concerned.
    public func check(_ value: Value) throws(Failure) -> Value {
        if isReadOnly { throw readOnlyFailure }
        if case .double(let number) = value, case .double(let low, let high) = bounds, number >= low, number <= high {
            return value
        }
        do {
            return try checkedContent(value)
        } catch {
            throw error.under(name)
        }
    }

    /// Whether the host checks values, besides `check`.
    public var isVerifiedByHost: Bool { verifying != nil }

    /// Lets the host check a value that passed `check`. Runs host code, which must not call the runtime.
    public func verify(_ value: Value) throws(Failure) {
        guard let verifying, !value.hasHandles else { return }
        do throws(Failure) {
            try CallbackResult.run("the verify function of '\(name)'") { error in
                Value.withBorrowed([value]) { value, _ in verifying.verify(verifying.userData.raw, value, error) }
            }
        } catch {
            throw isSecret
                ? Failure.ofSecret(error.code, "the verify function of '\(name)' refuses the value") : error
        }
    }

    /// The failure without the value of a secret property, or of a secret field of a nested struct that is at fault.
    public func masked(_ failure: Failure) -> Failure {
        isSecret ? VariableText.secret.masking(failure, expected: wanted) : failure
    }

    /// The origins of a value, as messages show it: it is a secret if the property is.
    public func origin(_ variables: VariableText?) -> VariableText? {
        isSecret || hasSecretFields ? VariableText.marking(variables, isSecret: true) : variables
    }

    /// Whether a field of the nested struct is secret, at any depth.
    private var hasSecretFields: Bool { fields.contains { $0.isSecret || $0.hasSecretFields } }

    /// Checks an initial value: as `check`, without the rule for read-only properties and without the property's name in the path.
    public func checkedContent(_ value: Value) throws(Failure) -> Value {
        guard isSecret else { return try checkedShown(value) }
        do throws(Failure) { return try checkedShown(value) } catch { throw masked(error) }
    }

    /// The check with errors that show the value.
    private func checkedShown(_ value: Value) throws(Failure) -> Value {
        if value.isNull {
            switch kind {
            // A reference may be none.
            case .any, .object, .type, .callable: return value
            default: throw Failure(.null, "expected \(isEnumeration ? wanted : kind.inWords), got null")
            }
        }
        if isEnumeration { return try checkedChoice(value) }
        if codec == .point, value.kind.isNumber {
            throw Failure(
                .type,
                "\(value.withKind) is not a point such as '10, 20', which needs quotes in a list or map in flow form")
        }
        if isNested { return try checkedFields(value) }
        if kind == .string && value.kind.isNumber {
            throw Failure(.type, "\(value.withKind) is not a string; in a document, write it in quotes")
        }
        let converted = try value.converted(to: kind)
        if isField { try checkCapacity(converted) }
        try checkParts(of: converted)
        try bounds.check(converted, unit: unit)
        return converted
    }

    /// "a whole number from 1 to 64", "one of off, on": the form of its values, with their range.
    public var wanted: String {
        if isEnumeration { return "one of \(choiceList)" }
        if isField, kind == .string { return "a string of at most \(size - 1) bytes" }
        return kind.inWords + bounds.inWords(kind, unit: unit)
    }

    private func checkCapacity(_ value: Value) throws(Failure) {
        switch value {
        case .string(let text):
            let count = text.utf8.count
            guard count < size else {
                throw Failure(.range, "the string has \(count) bytes; at most \(size - 1) fit")
            }
            guard !text.contains(byte: 0) else {
                throw Failure(.range, "the string contains a NUL character, which a C string cannot hold")
            }
        case .bytes(let bytes) where bytes.count != size:
            throw Failure(.range, "\(value) where exactly \(size) are needed")
        default: break
        }
    }

    /// Whether its value, which is a color, can have an alpha.
    public var hasAlpha: Bool { fields.isEmpty || fields.contains { codec.part(named: $0.name) == codec.optionalPart } }

    /// Checks a map of a host that its codec describes: it has each part once, and nothing else. A struct has fields instead.
    private func checkParts(of value: Value) throws(Failure) {
        guard case .map(let pairs) = value, !codec.parts.isEmpty else { return }
        let names = codec.parts.map { $0[0] }
        var problems: [Failure] = []
        var given: [Int: String] = [:]
        for pair in pairs {
            guard let part = codec.part(named: pair.name) else {
                let near = suggestion(for: pair.name, among: names)
                let known = near.isEmpty ? "; expected \(names.listed())" : near
                problems.append(
                    Failure(.property, "a \(codec.name) has no part '\(pair.name)'\(known)", path: pair.name))
                continue
            }
            if let other = given.updateValue(pair.name, forKey: part) {
                problems.append(
                    Failure(
                        .argument, "'\(other)' and '\(pair.name)' are the same part: give one of them", path: pair.name)
                )
            }
        }
        let needed = names.indices.filter { $0 != codec.optionalPart }
        let missing = needed.filter { given[$0] == nil }.map { names[$0] }
        if !missing.isEmpty, problems.isEmpty {
            problems.append(
                Failure(
                    .property,
                    "a \(codec.name) needs \(needed.map { names[$0] }.listed()); \(missing.listed()) is missing"))
        }
        if let failure = Failure.gathered(problems) { throw failure }
    }

    // MARK: Enumerations

    /// A choice by name or number.
    func checkedChoice(_ value: Value) throws(Failure) -> Value {
        switch value {
        case .string(let name), .enumeration(_, let name?):
            guard let named = choices.first(where: { $0.name.isSameName(as: name) }) else {
                let near = suggestion(for: name, among: choices.map(\.name))
                let shown = ContentQuoting.isAllowed ? "'\(name)'" : "'...'"
                throw Failure(.range, "\(shown) is not one of \(choiceList)\(near)")
            }
            // Of several names of a number, the first one is its name.
            let choice = choices.first { $0.number == named.number } ?? named
            return .enumeration(number: choice.number, name: choice.name)
        default:
            guard value.kind.isNumber || value.kind == .enumeration else {
                throw Failure(.type, "\(value.withKind) is not one of \(choiceList)")
            }
            guard case .int64(let number) = try value.converted(to: .int64),
                let choice = choices.first(where: { $0.number == number })
            else { throw Failure(.range, "\(value) is not one of \(numberedChoiceList)") }
            return .enumeration(number: choice.number, name: choice.name)
        }
    }

    private var choiceList: String { choices.map(\.name).listed() }
    private var numberedChoiceList: String { choices.map { "\($0.number) (\($0.name))" }.listed() }

    // MARK: Nested structs

    /// The error about a name that is no field of the nested struct: with the nearest one, or with all of them.
    public func unknownField(_ name: String, path: String, at location: Location = Location()) -> Failure {
        let near = suggestion(for: name, among: fields.map(\.name))
        let known = near.isEmpty ? "; expected \(fields.map(\.name).listed())" : near
        return Failure(.property, "'\(self.name)' has no field '\(name)'\(known)", path: path, at: location)
    }

    /// A map of known fields, in the order of the struct. Missing fields keep their values.
    private func checkedFields(_ value: Value) throws(Failure) -> Value {
        guard case .map(let pairs) = value else {
            let shown = hasSecretFields ? VariableText.shownSecret : value.withKind
            throw Failure(.type, "\(shown) is not a map of the fields \(fields.map(\.name).listed())")
        }
        var problems: [Failure] = []
        var found: [Value?] = Array(repeating: nil, count: fields.count)
        var given: [Int: String] = [:]
        for pair in pairs {
            guard let index = fields.index(named: pair.name) else {
                problems.append(unknownField(pair.name, path: pair.name))
                continue
            }
            if let other = given[index] {
                let names =
                    other == pair.name
                    ? "the field '\(other)' is given twice"
                    : "'\(other)' and '\(pair.name)' are the same field: give one of them"
                problems.append(Failure(.argument, names, path: pair.name))
                continue
            }
            given[index] = pair.name
            do throws(Failure) {
                found[index] = try fields[index].check(pair.value)
            } catch {
                // Under the name that was given, which may be a former one.
                problems += error.all.map { problem in
                    var named = problem
                    named.path = pair.name + problem.path.dropFirst(fields[index].name.count)
                    return named
                }
            }
        }
        if let failure = Failure.gathered(problems) { throw failure }
        return .map(zip(fields, found).compactMap { field, value in value.map { (name: field.name, value: $0) } })
    }
}

extension Value {
    /// Whether it is or contains an object, a type or a callable.
    fileprivate var hasHandles: Bool {
        switch self {
        case .object, .type, .callable: true
        case .list(let values): values.contains(where: \.hasHandles)
        case .map(let pairs): pairs.contains { $0.value.hasHandles }
        default: false
        }
    }
}
