internal import InvivoBase
internal import InvivoReload
internal import InvivoSpec
internal import InvivoTraits

/// The schemas of the lists of traits that objects accept: one for each type.
struct TraitSchema {
    private let traits: [SchemaFacts.Trait]
    /// The references to the lists, by type.
    private var lists: [ObjectIdentifier: JsonText] = [:]
    /// The references to the parameters of the trait types of the host.
    private var hostBodies: [String: Body] = [:]
    /// The list of traits for objects whose type is unknown.
    private(set) var open = JsonText.object([])
    /// The parameters of `Inherit`.
    private var inherit = Body(short: .object([]), long: .object([]))

    /// The schemas of the parameters of a trait: `short` for `NAME: PARAMETERS`, `long` for parameters beside `type`.
    private struct Body {
        let short: JsonText
        let long: JsonText
        var needsParameters = false
    }

    /// `key` refers to the schema of a key from which traits can be inherited.
    init(_ facts: SchemaFacts, key: JsonText, _ definitions: inout SchemaDefinitions) {
        traits = facts.traits
        inherit = body(
            TraitSpec.inherit,
            [
                ("description", .string("Stands for the traits of other keys.")), ("type", .string("object")),
                ("required", .strings(["traits"])),
                (
                    "properties",
                    .object([
                        (
                            "traits",
                            .object([
                                ("type", .strings(["array", "string"])), ("minLength", .integer(1)),
                                (
                                    "items",
                                    .object([
                                        ("type", .string("string")), ("minLength", .integer(1)),
                                        ("anyOf", .list([key, .object([])])),
                                    ])
                                ),
                            ])
                        )
                    ])
                ),
            ], needsParameters: true, &definitions)
        for trait in traits { hostBodies[trait.name] = body(of: trait, &definitions) }
        let anything = Body(short: .object([("type", .strings(["object", "null"]))]), long: .object([]))
        open = list("traits", &definitions) { _, _ in
            BuiltInTrait.allCases.map { ($0.rawValue, anything) } + facts.traits.map { ($0.name, anything) }
        }
    }

    /// Returns the schema of lists of traits that objects of all these types accept.
    mutating func list(for types: [TypeDescription], _ definitions: inout SchemaDefinitions) -> JsonText {
        guard let first = types.first else { return open }
        guard types.count == 1 else {
            return .object([("allOf", .list(types.map { list(for: [$0], &definitions) }))])
        }
        if let known = lists[ObjectIdentifier(first)] { return known }
        let (traits, hostBodies) = (traits, hostBodies)
        let reference = list("traits.\(first.name)", &definitions) { definitions, schema in
            schema.builtIn(first, &definitions)
                + traits.filter { $0.targets.accepts(first) }.compactMap { trait in
                    hostBodies[trait.name].map { (trait.name, $0) }
                }
        }
        lists[ObjectIdentifier(first)] = reference
        return reference
    }

    /// Defines the schema of a list, and of `When`, whose branches are such lists.
    private func list(
        _ wanted: String, _ definitions: inout SchemaDefinitions,
        _ bodies: (inout SchemaDefinitions, TraitSchema) -> [(name: String, body: Body)]
    ) -> JsonText {
        let name = definitions.name(wanted)
        let reference = SchemaDefinitions.reference(name)
        let all =
            bodies(&definitions, self) + [
                (TraitSpec.inherit, inherit), (TraitSpec.when, when(reference, wanted, &definitions)),
            ]
        definitions.define(
            name, .object([("type", .string("array")), ("items", definitions.add("\(wanted).item", item(all)))]))
        return reference
    }

    /// The schema of one trait, in both forms.
    private func item(_ bodies: [(name: String, body: Body)]) -> [JsonText.Member] {
        let long: [JsonText] = bodies.map { name, body in
            .object([
                ("if", .object([("properties", .object([("type", .object([("const", .string(name))]))]))])),
                ("then", body.long),
            ])
        }
        let names = JsonText.object([("type", .string("string")), ("enum", .strings(bodies.map(\.name)))])
        return [
            ("type", .string("object")), ("minProperties", .integer(1)),
            ("if", .object([("required", .strings(["type"]))])),
            ("then", .object([("properties", .object([("type", names)])), ("allOf", .list(long))])),
            (
                "else",
                .object(
                    [("maxProperties", .integer(1))]
                        + PropertySchema.closed(
                            bodies.map { name, body in
                                (name, body.short)
                            }))
            ),
        ]
    }

    /// Defines the parameters of a trait, in both forms.
    private func body(
        _ wanted: String, _ members: [JsonText.Member], needsParameters: Bool = false,
        _ definitions: inout SchemaDefinitions
    ) -> Body {
        let properties = JsonText.object(members)["properties"]?.members ?? []
        let kind = JsonText.strings(["object", "null"])
        // Null means no parameters.
        let typed = members.map { member in
            member.name == "type" && !needsParameters ? (name: "type", value: kind) : member
        }
        func closed(_ properties: [JsonText.Member]) -> [JsonText.Member] {
            typed.filter { $0.name != "properties" } + PropertySchema.closed(properties)
        }
        guard properties.contains(where: { $0.name == "type" }) else {
            let long = definitions.add(wanted, closed(properties + [("type", .bool(true))]))
            let noType = JsonText.object([("type", JsonText.never)])
            return Body(short: .object(long.members + [("properties", noType)]), long: long)
        }
        // In the long form, the parameter 'type' is the name of the trait.
        let rest = properties.filter { $0.name != "type" }
        return Body(
            short: definitions.add(wanted, closed(properties)),
            long: definitions.add("\(wanted).long", closed(rest + [("type", .bool(true))])))
    }

    // MARK: built-in traits

    private func builtIn(_ type: TypeDescription, _ definitions: inout SchemaDefinitions) -> [(
        name: String, body: Body
    )] {
        let schema = PropertySchema(place: .trait)
        let tunable = type.properties.filter { type.allowsLayers(on: $0) }
        let numbers = tunable.filter(\.hasNumbers)
        let values = tunable.flatMap { schema.members($0) }
        func relative(_ isFactor: Bool) -> [JsonText.Member] {
            numbers.flatMap { property in
                property.names.map { ($0, schema.relative(property, isFactor: isFactor)) }
            }
        }
        let movable = tunable.filter(\.canMove)
        let name = type.name
        let moving = definitions.add(
            "Ramp.\(name).values",
            [("type", .string("object"))]
                + PropertySchema.closed(movable.flatMap { schema.members($0, hasDefault: false) }))
        func members(_ trait: BuiltInTrait) -> [JsonText.Member] {
            switch trait {
            case .set: Self.described("Sets properties of \(name).") + [("properties", .object(values))]
            case .scale:
                Self.described("Multiplies the values below.") + [("properties", .object(relative(true)))]
            case .offset: Self.described("Adds to the values below.") + [("properties", .object(relative(false)))]
            case .ramp:
                Self.described("Sets values, to which the properties move.")
                    + [
                        ("required", .strings(["to", "over"])),
                        ("properties", .object([("to", moving), ("over", Self.time), ("from", moving)])),
                    ] + Self.startsWithEnds(movable.flatMap(\.names))
            }
        }
        return BuiltInTrait.allCases.map { trait in
            (
                trait.rawValue,
                body(
                    "\(trait.rawValue).\(name)", members(trait), needsParameters: trait == .ramp, &definitions)
            )
        }
    }

    /// Refuses a start value without an end value.
    private static func startsWithEnds(_ names: [String]) -> [JsonText.Member] {
        guard !names.isEmpty else { return [] }
        let conditions = names.map { name in
            let ends = JsonText.object([("type", .string("object")), ("required", .strings([name]))])
            return JsonText.object([
                (
                    "if",
                    .object([("required", .strings(["to"])), ("properties", .object([("to", ends)]))])
                ),
                (
                    "else",
                    .object([
                        (
                            "properties",
                            .object([("from", .object([("properties", .object([(name, JsonText.never)]))]))])
                        )
                    ])
                ),
            ])
        }
        return [("allOf", .list(conditions))]
    }

    private static func described(_ text: String) -> [JsonText.Member] {
        [("description", .string(text)), ("type", .string("object"))]
    }

    private static let time = JsonText.object([
        ("description", .string("A time: a number of seconds, or with a unit. At most one day.")),
        ("examples", .strings(["2 s", "300 ms"])), ("type", .strings(["number", "string"])), ("minimum", .integer(0)),
        ("maximum", .integer(Ramp.longest)),
        ("pattern", .string(SchemaPatterns.any(SchemaPatterns.quantities("s") + [SchemaPatterns.open]))),
    ])

    /// `When`, with branches of the list that contains it.
    private func when(_ list: JsonText, _ wanted: String, _ definitions: inout SchemaDefinitions) -> Body {
        func one(_ name: String) -> JsonText { .object([("required", .strings([name]))]) }
        return body(
            "When.\(wanted)",
            Self.described("Stands for traits under a condition.")
                + [
                    ("oneOf", .list([one("config"), one("profile")])),
                    ("anyOf", .list([one("traits"), one("otherwise")])),
                    ("if", one("profile")), ("then", .object([("properties", .object([("is", JsonText.never)]))])),
                    (
                        "properties",
                        .object([
                            (
                                "config",
                                .object([
                                    ("description", .string("A path of the configuration.")),
                                    ("type", .string("string")),
                                    (
                                        "pattern",
                                        .string(SchemaPatterns.any([SchemaPatterns.path, SchemaPatterns.open]))
                                    ),
                                ])
                            ), ("is", .bool(true)),
                            (
                                "profile",
                                .object([
                                    ("description", .string("The name of a profile.")), ("type", .string("string")),
                                    ("minLength", .integer(1)),
                                ])
                            ), ("traits", list), ("otherwise", list),
                        ])
                    ),
                ], needsParameters: true, &definitions)
    }

    private func body(of trait: SchemaFacts.Trait, _ definitions: inout SchemaDefinitions) -> Body {
        let schema = PropertySchema(place: .trait)
        let fields = trait.fields.properties
        let given = fields.indices.filter { trait.fields.isRequired($0) }.map { fields[$0] }
        let required = given.filter { $0.was.isEmpty }.map(\.name)
        let renamed = given.filter { !$0.was.isEmpty }.map { field in
            JsonText.object([
                ("anyOf", .list(field.names.map { .object([("required", .strings([$0]))]) }))
            ])
        }
        let properties = fields.enumerated().flatMap { index, field in
            schema.members(field, hasDefault: !trait.fields.isRequired(index))
        }
        return body(
            "trait.\(trait.name)",
            Self.described(trait.text ?? "The trait \(trait.name).")
                + (required.isEmpty ? [] : [("required", .strings(required))])
                + (renamed.isEmpty ? [] : [("allOf", .list(renamed))]) + [("properties", .object(properties))],
            needsParameters: !given.isEmpty, &definitions)
    }
}
