internal import InvivoBase
internal import InvivoReload
internal import InvivoSpec

/// The schema of the values under `config:`.
struct ConfigSchema {
    /// Accepts every value but null.
    static let present = JsonText.object([("not", .object([("type", .string("null"))]))])

    /// A node of the tree of paths: the schemas that are known for its value and for the values below it.
    private struct Node {
        let path: String
        var constraints: [JsonText] = []
        var children: [(name: String, index: Int)] = []
        var indices: [String: Int] = [:]
    }

    private var nodes = [Node(path: "")]
    /// The schemas of values, by their text.
    private var shared: [String: JsonText] = [:]
    /// The schema that applies while other paths have no value.
    private var conditions: [JsonText] = []
    /// Keys at the top that are paths into a section.
    private var patterns: [JsonText.Member] = []
    /// The schema of the configuration that other parts of the document add.
    private(set) var requirements: [JsonText] = []

    init(_ facts: SchemaFacts, _ definitions: inout SchemaDefinitions) throws(Failure) {
        addProfiles()
        for section in facts.sections { try add(section, facts, &definitions) }
        var seen: Set<String> = []
        for reading in facts.readings { add(reading, &seen, &definitions) }
    }

    /// The names of the active profiles, which conditions of traits read.
    private mutating func addProfiles() {
        nodes[node(at: [TraitSpec.profiles])].constraints.append(
            .object([
                ("description", .string("The active profiles: a list of names, or one name.")),
                ("type", .strings(["array", "string", "null"])), ("items", .object([("type", .string("string"))])),
            ]))
        patterns.append((#"^\#(TraitSpec.profiles)\."#, JsonText.never))
    }

    // MARK: sections

    private mutating func add(
        _ section: SchemaFacts.Section, _ facts: SchemaFacts, _ definitions: inout SchemaDefinitions
    ) throws(Failure) {
        let names = Self.names(section.path)
        let properties: [JsonText.Member]
        let isClosed: Bool
        let needed: JsonText?
        let reference: JsonText
        switch section.form {
        case .fields(let table):
            let schema = PropertySchema(place: .configuration)
            let fields = table.properties
            properties = fields.enumerated().flatMap { index, field in
                schema.members(field, hasDefault: !table.isRequired(index) && !section.hides(field.name))
            }
            isClosed = true
            needed = Self.requirements(table, section.given)
            reference = definitions.add(
                "settings.\(section.name)",
                [("title", .string(section.name)), ("type", .strings(["object", "null"]))]
                    + PropertySchema.closed(properties))
        case .host(let text):
            guard let text else { return }
            let host = try HostSchema(text, of: section.name)
            properties = host.section["properties"]?.members ?? []
            if case .bool(false)? = host.section["additionalProperties"] { isClosed = true } else { isClosed = false }
            needed = host.requirements(given: section.given)
            reference = host.embed(
                as: "settings.\(section.name)", isWhole: !facts.hasOtherDocuments,
                hidesDefaults: !section.secrets.isEmpty, &definitions)
        }
        let isOpen = SchemaDefinitions.reference("open")
        if names.isEmpty {
            // Keys of the root may be paths. The section would refuse them, so they are described here.
            let found = properties.map(\.name)
            if isClosed { patterns.append((Self.others(than: found, below: ""), JsonText.never)) }
            for name in found { nodes[node(at: [name])].constraints.append(Self.member(name, of: reference)) }
        } else {
            nodes[node(at: names)].constraints.append(.object([("if", isOpen), ("else", reference)]))
            let prefix = section.path + "."
            if isClosed { patterns.append((Self.others(than: properties.map(\.name), below: prefix), JsonText.never)) }
            for (name, _) in properties {
                patterns.append(
                    ("^\(SchemaPatterns.escaped(prefix + name))$", Self.member(name, of: reference)))
            }
        }
        if let needed, !facts.hasOtherDocuments { require(needed, at: names) }
    }

    /// A pattern for the keys below a prefix that begin with none of these names.
    private static func others(than names: [String], below prefix: String) -> String {
        let known = names.map(SchemaPatterns.escaped).joined(separator: "|")
        return "^\(SchemaPatterns.escaped(prefix))" + (known.isEmpty ? "" : #"(?!(?:\#(known))(?:\.|$))"#)
    }

    /// A reference to the schema of a property.
    private static func member(_ name: String, of reference: JsonText) -> JsonText {
        let text = reference["$ref"]?.text ?? ""
        return .object([("$ref", .string("\(text)/properties/\(pointer(name))"))])
    }

    /// A name as a part of a reference.
    static func pointer(_ name: String) -> String {
        name.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "~"): "~0"
            case UInt8(ascii: "/"): "~1"
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x30...0x39,
                UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                String(UnicodeScalar(byte))
            default: "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }.joined()
    }

    private static func requirements(_ table: FieldTable, _ given: Value) -> JsonText? {
        let required = table.properties.indices.filter { index in
            let field = table.properties[index]
            let isGiven = field.names.contains { given[$0].map { !$0.isNull } ?? false }
            return table.isRequired(index) && !isGiven && field.was.isEmpty
        }.map { table.properties[$0].name }
        guard !required.isEmpty else { return nil }
        return .object([
            ("required", .strings(required)), ("properties", .object(required.map { ($0, present) })),
        ])
    }

    /// Requires the fields of a section, unless keys at the top are paths into it, or the document includes others.
    private mutating func require(_ needed: JsonText, at names: [String]) {
        let path = names.joined(separator: ".")
        var schema = needed
        for name in names.reversed() {
            schema = .object([
                ("required", .strings([name])),
                ("properties", .object([(name, .object(Self.present.members + schema.members))])),
            ])
        }
        var isWritten: [JsonText.Member] = [("not", .object([("required", .strings(["include"]))]))]
        let dotted =
            names.count > 1 ? #"\#(SchemaPatterns.escaped(path))(?:\.|$)"# : SchemaPatterns.escaped(path) + #"\."#
        let others = JsonText.object([
            (
                "propertyNames",
                .object([("not", .object([("pattern", .string(names.isEmpty ? #"\."# : "^" + dotted))]))])
            )
        ])
        isWritten.append(("properties", .object([("config", others)])))
        requirements.append(
            .object([
                ("if", .object(isWritten)),
                (
                    "then",
                    .object([
                        ("required", .strings(["config"])), ("properties", .object([("config", schema)])),
                    ])
                ),
            ]))
    }

    // MARK: values

    private mutating func add(
        _ reading: SchemaFacts.Reading, _ seen: inout Set<String>, _ definitions: inout SchemaDefinitions
    ) {
        guard let value = schema(reading.receiver, &definitions) else { return }
        if case .choice(let key, _) = reading.receiver { return choose(key, reading.paths, value) }
        for (index, path) in reading.paths.enumerated() {
            let above = reading.paths[..<index]
            guard seen.insert(([path] + above).joined(separator: " ") + " \(value["$ref"]?.text ?? "")").inserted else {
                continue
            }
            let names = Self.names(path)
            if above.isEmpty {
                nodes[node(at: names)].constraints.append(value)
            } else {
                conditions.append(Self.condition(path, above, value))
            }
        }
    }

    /// The schema of a path that applies if the paths above it have no value.
    private static func condition(_ path: String, _ above: ArraySlice<String>, _ value: JsonText) -> JsonText {
        let here = JsonText.object([("properties", .object(spellings(names(path)) { inner($0, value) }))])
        guard !above.isEmpty else { return here }
        let found = JsonText.object([("anyOf", .list(above.flatMap { has(names($0)) }))])
        return .object([("if", .object([("not", found)])), ("then", here)])
    }

    /// A choice reads its value unless the document chooses.
    private mutating func choose(_ key: String, _ paths: [String], _ value: JsonText) {
        let all = paths.enumerated().map { index, path in Self.condition(path, paths[..<index], value) }
        let chosen = ["choose", key, "wiring"].reduce(JsonText.object([])) { inner, name in
            .object([
                ("type", .string("object")), ("required", .strings([name])),
                ("properties", .object([(name, inner)])),
            ])
        }
        requirements.append(
            .object([
                ("if", .object([("not", chosen)])),
                ("then", .object([("properties", .object([("config", .object([("allOf", .list(all))]))]))])),
            ]))
    }

    private mutating func schema(
        _ receiver: SchemaFacts.Reading.Receiver, _ definitions: inout SchemaDefinitions
    ) -> JsonText? {
        let schema = PropertySchema(place: .configuration)
        let found: JsonText
        switch receiver {
        case .property(let property): found = schema.value(property, hasDefault: false)
        case .kind(let kind): found = schema.value(kind)
        case .host(let kinds):
            let host = PropertySchema(place: .host)
            let all = kinds.sorted { $0.rawValue < $1.rawValue }.map(host.value)
            found = all.count == 1 ? all[0] : .object([("allOf", .list(all))])
        case .entries:
            found = .object([("type", .strings(["object", "array", "null"]))])
        case .choice(_, let options):
            guard let values = options.scalars else { return nil }
            found = .object([
                (
                    "anyOf",
                    .list([.object([("enum", .list(values + [.null]))]), SchemaDefinitions.reference("variable")])
                )
            ])
        }
        guard !found.isEmpty else { return nil }
        var text = ""
        found.write(to: &text)
        if let known = shared[text] { return known }
        let reference = definitions.add("value", found.members)
        shared[text] = reference
        return reference
    }

    // MARK: paths

    private static func names(_ path: String) -> [String] {
        path.split(separator: ".", omittingEmptySubsequences: true).map(String.init)
    }

    private mutating func node(at names: [String]) -> Int {
        var index = 0
        for name in names {
            if let known = nodes[index].indices[name] {
                index = known
                continue
            }
            let next = nodes.count
            nodes.append(Node(path: index == 0 ? name : "\(nodes[index].path).\(name)"))
            nodes[index].children.append((name, next))
            nodes[index].indices[name] = next
            index = next
        }
        return index
    }

    /// The top-level keys of the configuration that lead to a path, each with the schema for the rest of the path.
    private static func spellings(_ names: [String], _ inner: (ArraySlice<String>) -> JsonText) -> [JsonText.Member] {
        names.indices.map { index in
            (names[...index].joined(separator: "."), inner(names[(index + 1)...]))
        }
    }

    /// A schema for the value at a path.
    private static func inner(_ names: ArraySlice<String>, _ value: JsonText) -> JsonText {
        names.reversed().reduce(value) { inner, name in .object([("properties", .object([(name, inner)]))]) }
    }

    /// Schemas of the configurations that have a value at a path.
    private static func has(_ names: [String]) -> [JsonText] {
        spellings(names) { rest in
            rest.reversed().reduce(present) { inner, name in
                .object([
                    ("type", .string("object")), ("required", .strings([name])),
                    ("properties", .object([(name, inner)])),
                ])
            }
        }.map { name, inner in
            .object([("required", .strings([name])), ("properties", .object([(name, inner)]))])
        }
    }

    // MARK: the result

    /// The schema of the map under `config:`.
    func schema(_ definitions: inout SchemaDefinitions) -> JsonText {
        var dotted: [JsonText.Member] = []
        let top = nodes[0].children.map { name, index in
            (name, value(index, isTop: true, &dotted, &definitions))
        }
        var members: [JsonText.Member] = [
            ("description", .string("Values of the configuration, by assembly. Null removes a value.")),
            ("type", .string("object")),
            ("propertyNames", .object([("pattern", .string(SchemaPatterns.configKey))])),
        ]
        if !top.isEmpty { members.append(("properties", .object(top))) }
        var merged: [JsonText.Member] = []
        var indices: [String: Int] = [:]
        for (pattern, schema) in dotted + patterns {
            if let index = indices[pattern] {
                merged[index].value = .object([("allOf", .list([merged[index].value, schema]))])
            } else {
                indices[pattern] = merged.count
                merged.append((pattern, schema))
            }
        }
        if !merged.isEmpty { members.append(("patternProperties", .object(merged))) }
        if !conditions.isEmpty { members.append(("allOf", .list(conditions))) }
        return .object(members)
    }

    /// The schema of the value at a node. A top-level key may be the whole path.
    private func value(
        _ index: Int, isTop: Bool, _ dotted: inout [JsonText.Member], _ definitions: inout SchemaDefinitions
    ) -> JsonText {
        let node = nodes[index]
        var found: JsonText
        if node.children.isEmpty, node.constraints.count == 1 {
            found = node.constraints[0]
        } else {
            var members: [JsonText.Member] = []
            if !node.children.isEmpty {
                members.append(
                    (
                        "properties",
                        .object(
                            node.children.map { name, child in
                                (name, value(child, isTop: false, &dotted, &definitions))
                            })
                    ))
            }
            if !node.constraints.isEmpty { members.append(("allOf", .list(node.constraints))) }
            found = .object(members)
        }
        guard !isTop else { return found }
        if found["$ref"] == nil { found = definitions.add("config.\(node.path)", found.members) }
        dotted.append(("^\(SchemaPatterns.escaped(node.path))$", found))
        return found
    }
}

extension SchemaFacts.Section {
    /// Whether the default of a field is not shown, because it has a secret part.
    fileprivate func hides(_ field: String) -> Bool {
        secrets.contains { $0.isEmpty || $0 == field || $0.hasPrefix(field + ".") }
    }
}
