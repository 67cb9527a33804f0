public import InvivoBase
internal import InvivoGraph
public import InvivoReload
internal import InvivoSpec

/// The JSON Schema of the documents that an application accepts, as far as a schema can express it.
///
/// Conditions use `if` and `then`, so that an error has the path of the value at fault.
public struct DocumentSchema {
    /// The schema as formatted JSON.
    public let text: String

    /// Fails if a host gives a schema that is not valid JSON.
    public init(_ facts: SchemaFacts) throws(Failure) {
        var definitions = SchemaDefinitions()
        let root = try Self.root(facts, &definitions)
        var text = ""
        JsonText.object(root + [("$defs", .object(definitions.members))]).write(to: &text)
        self.text = text + "\n"
    }

    private static func root(
        _ facts: SchemaFacts, _ definitions: inout SchemaDefinitions
    ) throws(Failure) -> [JsonText.Member] {
        let variable = definitions.name("variable")
        definitions.define(
            variable,
            .object([
                ("description", .string("A string whose value depends on the environment or on a file.")),
                ("type", .string("string")), ("pattern", .string(SchemaPatterns.open)),
            ]))
        let open = definitions.name("open")
        definitions.define(
            open,
            .object([
                ("anyOf", .list([.object([("type", .string("null"))]), SchemaDefinitions.reference(variable)]))
            ]))
        let key = definitions.add("key", key(facts))
        var lists = TraitSchema(facts, key: key, &definitions)
        let traits = definitions.add("traits.keys", traits(facts, &lists, &definitions))
        let config = try ConfigSchema(facts, &definitions)
        let values = config.schema(&definitions)
        var conditions = config.requirements
        if !facts.permitsOtherKeys { conditions.insert(onlyKnownKeys(key, &definitions), at: 0) }
        let name = facts.application.split(separator: "/").last.map { " of \($0)" } ?? ""
        return [
            ("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
            ("title", .string("Spec file" + name)), ("type", .string("object")),
            ("not", .object([("required", .strings(["traits", "specs"]))])),
            (
                "properties",
                .object([
                    ("include", include), ("config", values), ("traits", traits),
                    (
                        "specs",
                        .object(
                            [("description", .string("'traits' in the form of the Traits library."))] + traits.members)
                    ),
                    ("wiring", wiring(facts, &definitions)),
                ])
            ), ("additionalProperties", .bool(false)),
        ] + (conditions.isEmpty ? [] : [("allOf", .list(conditions))])
    }

    private static let include = JsonText.object([
        ("description", .string("Other spec files, which lie below this one: a path, or a list of paths.")),
        ("type", .strings(["array", "string"])), ("minLength", .integer(1)),
        ("items", .object([("type", .string("string")), ("minLength", .integer(1))])),
    ])

    // MARK: traits

    /// A key under `traits:`.
    private static func key(_ facts: SchemaFacts) -> [JsonText.Member] {
        var forms: [JsonText] = []
        let names = facts.targets.map(\.key) + free(facts).filter { !$0.hasPrefix(".") }
        if !names.isEmpty { forms.append(.object([("enum", .strings(names))])) }
        forms.append(.object([("pattern", .string(#"^\."#))]))
        forms += facts.entries.map { .object([("pattern", .string(pattern($0)))]) }
        return [("type", .string("string")), ("anyOf", .list(forms))]
    }

    /// The keys without targets whose traits other keys inherit.
    private static func free(_ facts: SchemaFacts) -> [String] {
        guard !facts.inherited.isEmpty else { return [] }
        let known = Set(facts.targets.map(\.key))
        return facts.inherited.filter { !known.contains($0) }
    }

    private static func pattern(_ entries: SchemaFacts.Entries) -> String {
        #"^\#(SchemaPatterns.escaped(entries.before))\[.+\]\#(SchemaPatterns.escaped(entries.after))$"#
    }

    private static func traits(
        _ facts: SchemaFacts, _ lists: inout TraitSchema, _ definitions: inout SchemaDefinitions
    ) -> [JsonText.Member] {
        var keys: [JsonText.Member] = []
        for target in facts.targets {
            let names = target.types.map(\.name).joined(separator: ", ")
            let list = lists.list(for: target.types, &definitions)
            keys.append(
                (target.key, .object((names.isEmpty ? [] : [("description", .string(names))]) + list.members)))
        }
        // Inherited traits are checked with the targets that inherit them.
        keys += free(facts).map { ($0, lists.open) }
        var patterns: [JsonText.Member] = [(#"^\."#, lists.open)]
        for entries in facts.entries {
            patterns.append((pattern(entries), lists.list(for: entries.types, &definitions)))
        }
        return [
            ("description", .string("The traits of each key.")), ("type", .string("object")),
            ("properties", .object(keys)), ("patternProperties", .object(patterns)),
            ("additionalProperties", lists.open),
        ]
    }

    /// Refuses unknown keys, unless the document inherits from an unknown key: a schema cannot compare the names.
    private static func onlyKnownKeys(_ key: JsonText, _ definitions: inout SchemaDefinitions) -> JsonText {
        func map(_ name: String, _ value: JsonText) -> JsonText {
            .object([
                ("type", .string("object")), ("required", .strings([name])), ("properties", .object([(name, value)])),
            ])
        }
        let another = JsonText.object([("type", .string("string")), ("not", key)])
        let names = JsonText.object([
            ("anyOf", .list([another, .object([("type", .string("array")), ("contains", another)])]))
        ])
        let list = definitions.name("inheritsFromAnother")
        let reference = SchemaDefinitions.reference(list)
        let branches = JsonText.object([("anyOf", .list([map("traits", reference), map("otherwise", reference)]))])
        func named(_ type: String, _ parameters: JsonText) -> [JsonText] {
            let long = map("type", .object([("const", .string(type))]))
            return [map(type, parameters), .object([("allOf", .list([long, parameters]))])]
        }
        let items = named(TraitSpec.inherit, map("traits", names)) + named(TraitSpec.when, branches)
        definitions.define(
            list,
            .object([("type", .string("array")), ("contains", .object([("anyOf", .list(items))]))]))
        let all = JsonText.object([("additionalProperties", .object([("not", reference)]))])
        let known = JsonText.object([("propertyNames", key)])
        return .object([
            ("if", .object([("properties", .object([("traits", all), ("specs", all)]))])),
            ("then", .object([("properties", .object([("traits", known), ("specs", known)]))])),
        ])
    }

    // MARK: wiring

    private static func wiring(_ facts: SchemaFacts, _ definitions: inout SchemaDefinitions) -> JsonText {
        let open = SchemaDefinitions.reference("variable")
        let keys = facts.definitions.map(\.key)
        let target = definitions.add(
            "wiring.key",
            [
                ("description", .string("The key becomes another name of this definition.")),
                ("type", .string("string")), ("minLength", .integer(1)),
                ("anyOf", .list([.object([("enum", .strings(keys))]), open])),
            ])
        let scopes = ManifestScope.spellings + facts.scopes
        let scope = definitions.add(
            "wiring.scope",
            [
                ("description", .string("The scope of the definition.")), ("type", .string("string")),
                ("anyOf", .list([.object([("enum", .strings(scopes))]), open])),
            ])
        func decision(_ more: [JsonText.Member]) -> [JsonText.Member] {
            [
                ("type", .strings(["object", "null"])), ("minProperties", .integer(1)), ("maxProperties", .integer(1)),
            ] + PropertySchema.closed([("alias", target)] + more)
        }
        let plain = definitions.add("wiring.alias", decision([]))
        let creating = definitions.add("wiring.definition", decision([("scope", scope)]))
        let entries: [JsonText.Member] = facts.definitions.map { definition in
            var schema = definition.hasScope ? creating : plain
            if let options = definition.choice {
                let value = JsonText.object(
                    [("description", .string("The value of an option."))] + options.chosen(open))
                schema = definitions.add("wiring.\(definition.key)", decision([("choose", value)]))
            }
            let own = JsonText.object([("alias", .object([("not", .object([("const", .string(definition.key))]))]))])
            return (definition.key, .object(schema.members + [("properties", own)]))
        }
        return .object(
            [("description", .string("Decisions about definitions.")), ("type", .string("object"))]
                + [("properties", .object(entries)), ("additionalProperties", .bool(facts.permitsOtherKeys))])
    }
}

extension [DefinitionChoice.When] {
    /// The values that select an option; nil if other values select one, too.
    var scalars: [JsonText]? {
        var values: [JsonText] = []
        for option in self {
            switch option {
            case .equal(let value):
                guard let value = JsonText(value) else { return nil }
                values.append(value)
            case .named, .otherwise: return nil
            case .exact, .kind: continue
            }
        }
        return values
    }

    /// The schema of `choose` under `wiring:`.
    fileprivate func chosen(_ open: JsonText) -> [JsonText.Member] {
        let suggested = compactMap { option in
            if case .equal(let value) = option { JsonText(value) } else { nil }
        }
        guard let values = scalars else {
            let isOpen = contains { if case .otherwise = $0 { true } else { false } }
            let scalar = JsonText.object([
                ("type", isOpen ? .strings(["string", "number", "boolean", "null"]) : .string("string"))
            ])
            return [("anyOf", .list([.object([("enum", .list(suggested))]), scalar]))]
        }
        return [("anyOf", .list([.object([("enum", .list(values))]), open]))]
    }
}
