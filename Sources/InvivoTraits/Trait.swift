public import InvivoBase
public import InvivoGraph
public import InvivoSpec
internal import InvivoWiring

/// One layer: the value that a trait sets for a property, checked and converted, with its source location.
public struct Layer: Sendable {
    /// Index among the type's properties.
    public let property: Int
    public let value: Value
    public let location: TraitLocation

    public init(property: Int, value: Value, location: TraitLocation = TraitLocation()) {
        self.property = property
        self.value = value
        self.location = location
    }
}

/// A named and reversible change with parameters.
///
/// A trait only determines the values. One mechanism applies and reverts them (`Tuning` for objects,
/// `TargetLayers.fill` for blocks), so that layers may be removed in any order.
public protocol Trait: Sendable {
    var name: String { get }
    /// The properties that the trait overrides on objects of `type`. Touches no object. Throws all errors at once.
    func overrides(_ spec: TraitSpec, for type: ObjectType, warn: (String, Location) -> Void)
        throws(Failure) -> [Layer]
}

/// The traits that a runtime knows, by name.
public struct TraitTable: Sendable {
    private static let all: [any Trait] = [SetTrait()]

    private let traits = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    public init() {}

    /// All layers of one key: every trait of every document, in order. All errors at once.
    public func layers(
        for key: String, type: ObjectType, _ specs: [TraitSpec], warn: (String, Location) -> Void
    ) throws(Failure) -> TargetLayers {
        var stack: [Layer] = []
        var failures: [Failure] = []
        for spec in specs {
            do throws(Failure) {
                guard let trait = traits[spec.type] else {
                    throw Failure(
                        .spec,
                        unknown(spec.type), path: spec.path, at: spec.typeLocation)
                }
                stack += try trait.overrides(spec, for: type, warn: warn)
            } catch { failures.append(error) }
        }
        if let failure = Failure.gathered(failures) { throw failure }
        return TargetLayers(type: type, stack: stack)
    }

    private func unknown(_ name: String) -> String {
        let known = traits.keys.sorted()
        let nearest = suggestion(for: name, among: known)
        return "unknown trait \(quoted(name))"
            + (nearest.isEmpty ? "; the traits are: \(known.joined(separator: ", "))" : nearest)
    }

    /// Checks the names of traits for a key whose target is not there yet.
    public func checkNames(_ specs: [TraitSpec]) throws(Failure) {
        let failures = specs.filter { traits[$0.type] == nil }.map {
            Failure(.spec, unknown($0.type), path: $0.path, at: $0.typeLocation)
        }
        if let failure = Failure.gathered(failures) { throw failure }
    }
}

/// `Set: { gain: 0.5, cutoff: 1.2 kHz }`: any properties of the target.
struct SetTrait: Trait {
    let name = "Set"

    func overrides(
        _ spec: TraitSpec, for type: ObjectType, warn: (String, Location) -> Void
    ) throws(Failure) -> [Layer] {
        var found: [Layer] = []
        var given: [Int: String] = [:]
        var failures: [Failure] = []
        var omitted = 0
        for parameter in spec.parameters {
            do throws(Failure) {
                let override = try override(parameter, spec, type, warn)
                if let other = given.updateValue(parameter.key, forKey: override.property) {
                    throw Failure(
                        .argument,
                        "'\(other)' and '\(parameter.key)' are the same property of \(type.name): give one of them",
                        at: parameter.keyLocation)
                }
                found.append(override)
            } catch {
                let all = failures.count < Failure.most ? error.all : []
                failures += all.map { located($0, parameter, spec) }
                if all.isEmpty { omitted += 1 }
            }
        }
        if let failure = Failure.gathered(failures, omitted: omitted) { throw failure }
        return found
    }

    /// Adds the whole key path and the source location to a failure, down to the field of a nested struct.
    private func located(_ failure: Failure, _ parameter: SpecEntry, _ spec: TraitSpec) -> Failure {
        var located = failure
        var path = [parameter.key]
        var entry = parameter
        for name in failure.path.split(separator: ".").dropFirst().map(String.init) {
            guard let field = entry.value.entries?.first(where: { $0.key == name }) else { break }
            path.append(name)
            entry = field
        }
        located.path = spec.path(of: path)
        if located.location.line == 0 {
            located.location =
                failure.code == .property || failure.code == .readOnly ? entry.keyLocation : entry.value.location
        }
        return located
    }

    private func override(
        _ parameter: SpecEntry, _ spec: TraitSpec, _ type: ObjectType, _ warn: (String, Location) -> Void
    ) throws(Failure) -> Layer {
        let found = try type.description.property(named: parameter.key)
        if found.formerName {
            warn("'\(parameter.key)' is now called '\(found.property.name)'", parameter.keyLocation)
        }
        guard !found.property.isReadOnly else {
            throw Failure(.readOnly, "\(type.name).\(found.property.name) cannot be set: it is read only")
        }
        guard found.property.isTunable else {
            throw Failure(
                .readOnly, "\(type.name).\(found.property.name) is not tunable: its class does not let specs set it")
        }
        try type.description.checkTunable(found.property)
        var failures: [Failure] = []
        let wanted = Value.said(parameter.value, for: found.property, &failures)
        var value = Value.null
        if let wanted {
            do throws(Failure) { value = try found.property.check(wanted) } catch { failures += error.all }
        }
        failures = failures.map { parameter.value.masked($0, for: found.property) }
        if let failure = Failure.gathered(failures) { throw failure }
        return Layer(
            property: type.description.index(of: found.property), value: value,
            location: spec.location(of: parameter.value))
    }
}

extension SpecNode {
    /// The failure without the values of environment variables. Its path leads to the wrong part of the value.
    fileprivate func masked(_ failure: Failure, for property: Property) -> Failure {
        guard hasVariables else { return failure }
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
        return node.anyVariables?.masking(failure, expected: expected) ?? failure
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
        case .null: self = .null
        case .bool(let bool): self = .bool(bool)
        case .integer(let number): self = .int64(number)
        case .unsigned(let number): self = .uint64(number)
        case .number(let number): self = .double(number)
        case .text(let text):
            if let property, property.kind.isNumber, property.choices.isEmpty {
                guard let number = property.unit.flatMap({ TextReader.quantity(text, unit: $0) }) else {
                    let wanted = TextReader.wantedNumber(unit: property.unit)
                    throw Failure(.type, "expected \(wanted), got the text \(quoted(text))", at: node.location)
                }
                self = .double(number)
            } else if (property?.kind ?? kind) == .bool {
                throw Failure(.type, "expected true or false, got the text \(quoted(text))", at: node.location)
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

extension SpecNode {
    /// The content for a property or kind: a string with environment variables has the content that is requested.
    fileprivate func content(for property: Property?, _ kind: ValueKind?) -> Content {
        guard let text = variables?.text, let kind = property?.kind ?? kind else { return content }
        switch content {
        case .text where kind.isNumber || kind == .bool: return TextReader.plain(text) ?? content
        case .text, .list, .map: return content
        default: return kind == .string || kind == .bytes || property?.choices.isEmpty == false ? .text(text) : content
        }
    }
}
