internal import InvivoBase
internal import InvivoSpec

/// A schema of a section that the host gives, embedded in the schema of documents.
///
/// Null removes a value of a map, so it is accepted there. It is refused in lists, whose items no other document can remove.
struct HostSchema {
    /// Whether an item of a list surrounds a value.
    private enum Level: String {
        case map
        case list
        /// In one of several alternatives, which its required fields select.
        case alternative
    }

    private let root: JsonText
    private let definitions: [JsonText.Member]

    init(_ text: String, of binding: String) throws(Failure) {
        do throws(Failure) {
            root = JsonText(try SpecReader.read(text, file: binding, format: .json).root)
        } catch {
            throw Failure(
                .argument, "the schema of the settings '\(binding)' is not valid JSON: \(error.message)", path: binding)
        }
        definitions = root["$defs"]?.members ?? []
    }

    /// The schema of the section itself, with its references resolved.
    var section: JsonText { resolved(root) }

    private func resolved(_ schema: JsonText) -> JsonText {
        var schema = schema
        // The limit ends a cycle of references, which describes nothing.
        for _ in 0..<8 {
            if let found = definition(of: schema) {
                schema = found
            } else if schema["if"]?["type"]?.text == "null", let other = schema["else"] {
                schema = other
            } else {
                break
            }
        }
        return schema
    }

    /// The definition that a schema refers to.
    private func definition(of schema: JsonText) -> JsonText? {
        name(schema).flatMap { target in definitions.first { $0.name == target }?.value }
    }

    /// The name of the definition that a schema refers to.
    private func name(_ schema: JsonText) -> String? {
        let prefix = "#/$defs/"
        guard let text = schema["$ref"]?.text, text.hasPrefix(prefix) else { return nil }
        return String(text.dropFirst(prefix.count))
    }

    // MARK: embedding

    /// Returns a reference to the embedded schema.
    ///
    /// `isWhole`: no other document gives a part of a section. `hidesDefaults`: one of them may contain a secret.
    func embed(
        as wanted: String, isWhole: Bool, hidesDefaults: Bool, _ target: inout SchemaDefinitions
    ) -> JsonText {
        var embedding = Embedding(
            host: self, prefix: wanted, isWhole: isWhole, hidesDefaults: hidesDefaults, names: [:])
        // Describe the result itself, not a definition that it refers to.
        if root["$ref"] != nil {
            var last = root
            for _ in 0..<8 {
                guard let found = definition(of: last), name(found) != nil else { break }
                last = found
            }
            return SchemaDefinitions.reference(embedding.definition(last, .map, &target))
        }
        let members = root.members.filter { $0.name != "$defs" && $0.name != "$schema" }
        return target.add(wanted, embedding.schema(.object(members), .map, &target).members)
    }

    private struct Embedding {
        let host: HostSchema
        let prefix: String
        let isWhole: Bool
        let hidesDefaults: Bool
        /// The names of embedded definitions, by level and name.
        var names: [String: String]

        mutating func schema(_ schema: JsonText, _ level: Level, _ target: inout SchemaDefinitions) -> JsonText {
            guard case .object(let members) = schema else { return schema }
            var found: [JsonText.Member] = []
            for (name, value) in members {
                switch name {
                case "$ref":
                    found.append((name, .string("#/$defs/\(definition(schema, level, &target))")))
                case "required" where level == .map: continue
                case "default" where hidesDefaults: continue
                case "properties" where level == .alternative:
                    let required = (schema["required"]?.items ?? []).compactMap(\.text)
                    found.append(
                        (
                            name,
                            .object(
                                value.members.map { member in
                                    let isNeeded = required.contains(member.name)
                                    let inner = wrapped(member.value, level, &target)
                                    let present = ("not", JsonText.object([("type", .string("null"))]))
                                    return (member.name, isNeeded ? .object(inner.members + [present]) : inner)
                                })
                        ))
                case "properties", "patternProperties":
                    found.append(
                        (name, .object(value.members.map { ($0.name, wrapped($0.value, level, &target)) })))
                case "additionalProperties": found.append((name, wrapped(value, level, &target)))
                case "items": found.append((name, wrapped(value, .list, &target)))
                case "prefixItems":
                    found.append((name, .list(value.items.map { wrapped($0, .list, &target) })))
                case "anyOf", "oneOf":
                    let inner = level == .map && isWhole ? Level.alternative : level
                    found.append((name, .list(value.items.map { self.schema($0, inner, &target) })))
                case "allOf":
                    found.append((name, .list(value.items.map { self.schema($0, level, &target) })))
                case "if", "then", "else", "not": found.append((name, self.schema(value, level, &target)))
                default: found.append((name, value))
                }
            }
            return .object(found)
        }

        /// The schema of a value, which may also be a string with variables, or null.
        private mutating func wrapped(
            _ schema: JsonText, _ level: Level, _ target: inout SchemaDefinitions
        ) -> JsonText {
            guard case .object(let members) = schema else { return schema }
            let shown = ["title", "description", "default", "examples", "deprecated"]
            let annotations = members.filter {
                shown.contains($0.name) && !(hidesDefaults && $0.name == "default")
            }
            let rest = self.schema(.object(members.filter { !shown.contains($0.name) }), level, &target)
            guard !rest.isEmpty else { return .object(annotations) }
            let open = SchemaDefinitions.reference(level == .list ? "variable" : "open")
            return .object(annotations + [("if", open), ("else", rest)])
        }

        /// Returns the name of the embedded definition that a schema refers to.
        mutating func definition(
            _ schema: JsonText, _ level: Level, _ target: inout SchemaDefinitions
        ) -> String {
            let name = host.name(schema) ?? ""
            let key = "\(level.rawValue) \(name)"
            if let known = names[key] { return known }
            let embedded = target.name("\(prefix).\(name)" + (level == .map ? "" : ".\(level.rawValue)"))
            names[key] = embedded
            let found = host.definitions.first { $0.name == name }?.value ?? .object([])
            target.define(embedded, self.schema(found, level, &target))
            return embedded
        }
    }

    // MARK: required fields

    /// Requires the fields that a map and the maps in it need. Nil if there are none. `given` has the values of other layers.
    func requirements(given: Value) -> JsonText? { requirements(section, given, depth: 0) }

    /// Only a type that contains itself nests maps deeper than this.
    private static let deepest = 8

    private func requirements(_ schema: JsonText, _ given: Value, depth: Int) -> JsonText? {
        guard depth < Self.deepest else { return nil }
        func isGiven(_ name: String) -> Bool { given[name].map { !$0.isNull } ?? false }
        let required = (schema["required"]?.items ?? []).compactMap(\.text).filter { !isGiven($0) }
        var properties: [JsonText.Member] = []
        for (name, value) in schema["properties"]?.members ?? [] {
            let inner = requirements(resolved(value), given[name] ?? .null, depth: depth + 1)
            let members = (required.contains(name) ? ConfigSchema.present.members : []) + (inner?.members ?? [])
            if !members.isEmpty { properties.append((name, .object(members))) }
        }
        guard !required.isEmpty || !properties.isEmpty else { return nil }
        return .object(
            (required.isEmpty ? [] : [("required", .strings(required))])
                + (properties.isEmpty ? [] : [("properties", .object(properties))]))
    }
}
