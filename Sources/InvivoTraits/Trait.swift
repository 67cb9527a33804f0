internal import InvivoBase
internal import InvivoGraph
internal import InvivoSpec
internal import InvivoWiring

/// A built-in trait that declares layers.
///
/// A trait only determines the values. One mechanism applies and reverts them (`Tuning` for objects,
/// `TargetLayers.block` for blocks), so that layers may be removed in any order.
enum BuiltInTrait: String, CaseIterable {
    case set = "Set"
    case scale = "Scale"
    case offset = "Offset"

    private var operation: DeclaredLayer.Operation {
        switch self {
        case .set: .set
        case .scale: .scale
        case .offset: .offset
        }
    }

    /// The layers that the trait puts on objects of `type`. Touches no object. Throws all errors at once.
    func layers(
        _ spec: TraitSpec, for type: ObjectType, warn: (String, Location) -> Void
    ) throws(Failure) -> [DeclaredLayer] {
        var found: [DeclaredLayer] = []
        var given: [Int: String] = [:]
        var failures: [Failure] = []
        var omitted = 0
        for parameter in spec.parameters {
            do throws(Failure) {
                let layer = try layer(parameter, spec, type, warn)
                if let other = given.updateValue(parameter.key, forKey: layer.property) {
                    throw Failure(
                        .argument,
                        "'\(other)' and '\(parameter.key)' are the same property of \(type.name): give one of them",
                        at: parameter.keyLocation)
                }
                found.append(layer)
            } catch {
                let all = failures.count < Failure.most ? error.all : []
                failures += all.map { spec.located($0, parameter) }
                if all.isEmpty { omitted += 1 }
            }
        }
        if let failure = Failure.gathered(failures, omitted: omitted) { throw failure }
        return found
    }

    private func layer(
        _ parameter: SpecEntry, _ spec: TraitSpec, _ type: ObjectType, _ warn: (String, Location) -> Void
    ) throws(Failure) -> DeclaredLayer {
        let found = try type.tunableProperty(parameter.key)
        if found.formerName {
            warn("'\(parameter.key)' is now called '\(found.property.name)'", parameter.keyLocation)
        }
        var failures: [Failure] = []
        var amount = Value.null
        if self == .set {
            if let wanted = Value.said(parameter.value, for: found.property, &failures) {
                do throws(Failure) { amount = try found.property.check(wanted) } catch { failures += error.all }
            }
        } else {
            try found.property.requireNumbers(rawValue)
            amount = Value.amount(parameter.value, for: found.property, isFactor: self == .scale, &failures) ?? .null
        }
        failures = failures.map { parameter.value.masked($0, for: found.property) }
        if let failure = Failure.gathered(failures) { throw failure }
        return DeclaredLayer(
            property: type.description.index(of: found.property), operation, amount,
            at: spec.location(of: parameter.value))
    }
}

extension TraitSpec {
    /// Adds the whole key path and the source location to a failure about a parameter, down to the field of a nested struct.
    func located(_ failure: Failure, _ parameter: SpecEntry) -> Failure {
        var located = failure
        var path = [parameter.key]
        var entry = parameter
        for name in failure.path.split(separator: ".").dropFirst().map(String.init) {
            guard let field = entry.value.entries?.first(where: { $0.key == name }) else { break }
            path.append(name)
            entry = field
        }
        located.path = self.path(of: path)
        if located.location.line == 0 {
            located.location =
                failure.code == .property || failure.code == .readOnly ? entry.keyLocation : entry.value.location
        }
        return located
    }
}

extension ObjectType {
    /// Returns a property that layers may change.
    func tunableProperty(_ name: String) throws(Failure) -> (property: Property, formerName: Bool) {
        let found = try description.property(named: name)
        guard !found.property.isReadOnly else {
            throw Failure(.readOnly, "\(self.name).\(found.property.name) cannot be set: it is read only")
        }
        guard found.property.isTunable else {
            throw Failure(
                .readOnly, "\(self.name).\(found.property.name) is not tunable: its class does not let specs set it")
        }
        try description.checkTunable(found.property)
        return found
    }
}

extension Property {
    /// Throws unless the property is a number, or a struct.
    func requireNumbers(_ trait: String) throws(Failure) {
        guard isNested || kind == .any || kind.isNumber && choices.isEmpty else {
            throw Failure(.type, "\(trait) changes numbers, and '\(name)' is \(kind.withArticle)", path: name)
        }
    }

    /// Checks the amount of a layer that a trait type declares.
    func checkAmount(_ operation: DeclaredLayer.Operation, _ amount: Value) throws(Failure) -> Value {
        guard operation != .set else { return try check(amount) }
        try requireNumbers(operation == .scale ? "a scale" : "an offset")
        guard !isNested else {
            throw Failure(.type, "'\(name)' is a struct: set it, or use a trait in the spec file", path: name)
        }
        guard case .double(let number) = amount, number.isFinite else {
            throw Failure(.range, "expected a finite number, got \(amount)", path: name)
        }
        return amount
    }
}

extension Value {
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
                guard
                    let field = property.fields.first(where: {
                        $0.name.isSameName(as: entry.key) || $0.was.contains(where: entry.key.isSameName(as:))
                    })
                else {
                    let near = suggestion(for: entry.key, among: property.fields.map(\.name))
                    fail(
                        .property, "'\(property.name)' has no field '\(entry.key)'\(near)", "\(path).\(entry.key)",
                        at: entry.keyLocation)
                    continue
                }
                guard field.isNested || field.kind.isNumber && field.choices.isEmpty else {
                    fail(
                        .type, "expected the name of a number, and '\(field.name)' is \(field.kind.withArticle)",
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
