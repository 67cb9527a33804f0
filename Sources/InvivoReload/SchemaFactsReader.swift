internal import HashTreeCollections
internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoTraits
internal import InvivoWiring

/// Collects the permitted content of documents for the current generation, or for a planned one.
struct SchemaFactsReader {
    /// The parts of a generation.
    struct Generation {
        /// Each key with its base definition, as it was described, and with its compiled definition.
        var definitions: [(id: UInt32, base: Definition?, recipe: Recipe)] = []
        let traits: TraitTypes
        let uses: TraitUses
        let targetTypes: TreeDictionary<UInt32, ObjectType>
        let bindings: BindingTable
        let config: ConfigLayers
        /// The open documents, in any order.
        let documents: [(document: Document, state: Document.State)]
        let manifest: String
    }

    let container: Container
    let allowsPendingTargets: Bool

    func facts(_ generation: Generation) -> SchemaFacts {
        var facts = SchemaFacts()
        facts.application = generation.manifest
        facts.permitsOtherKeys = allowsPendingTargets
        facts.scopes = container.registry.scopes.names.filter { $0 != "thread" }.sorted()
        facts.traits = generation.traits.names.sorted().compactMap { generation.traits[$0] }.map {
            .init(name: $0.name, text: $0.text, targets: $0.targets, fields: $0.fields)
        }
        readDefinitions(generation, &facts)
        readConfig(generation, &facts)
        return facts
    }

    // MARK: keys

    private func readDefinitions(_ generation: Generation, _ facts: inout SchemaFacts) {
        var targets: [String: [TypeDescription]] = [:]
        func add(_ key: String, _ type: TypeDescription?) {
            let known = targets[key, default: []]
            targets[key] = known + [type].compactMap { $0 }.filter { type in !known.contains { $0 === type } }
        }
        let patterns = generation.definitions.compactMap { $0.recipe.definition.body.each == nil ? nil : $0.recipe.key }
        for (id, base, recipe) in generation.definitions {
            let key = container.keyName(id)
            // An alias without arguments has the compiled definition of its target.
            let definition = recipe.id == id ? recipe.definition : nil
            let type = recipe.type?.description ?? definition?.type?.description
            if let definition, definition.alias == nil {
                if let key = definition.specKey { add(key, type) }
                let isPattern = definition.body.isPattern || definition.body.each != nil
                if isPattern, definition.specKey == key, let owner = patterns.first(where: { Self.isPart(key, of: $0) })
                {
                    facts.entries.append(
                        .init(before: owner, after: String(key.dropFirst(owner.count)), types: [type].compactMap { $0 })
                    )
                }
            } else {
                add(key, nil)
            }
            let described = base ?? recipe.definition
            guard described.body.each == nil, !described.body.isPattern else { continue }
            let createsNone =
                described.alias != nil || described.body.choice != nil || described.body.constant != nil
            facts.definitions.append(
                .init(key: key, choice: described.body.choice?.options.map(\.when), hasScope: !createsNone))
        }
        for (id, type) in generation.targetTypes { add(container.keyName(id), type.description) }
        facts.targets = targets.map { .init(key: $0.key, types: $0.value) }.sorted { $0.key < $1.key }
        facts.entries.sort { ($0.before, $0.after) < ($1.before, $1.after) }
        facts.definitions.sort { $0.key < $1.key }
    }

    private static func isPart(_ key: String, of pattern: String) -> Bool {
        key.hasPrefix(pattern) && (key.count == pattern.count || key.dropFirst(pattern.count).first == ".")
    }

    // MARK: configuration

    private func readConfig(_ generation: Generation, _ facts: inout SchemaFacts) {
        // The configuration in the manifest lies below the documents.
        let sources = generation.documents.filter {
            $0.state.isOpen && $0.document.role != .value
                && ($0.document.name != generation.manifest || $0.document.path != nil)
        }
        facts.hasOtherDocuments = sources.count > 1
        // The schema of a single document refers to the keys in that document.
        if facts.hasOtherDocuments { facts.inherited = generation.uses.inherited.sorted() }
        var others = generation.config
        // Fails only after the time limit of a load.
        _ = try? others.apply(documents: sources.map { ($0.state.order, nil) }, settings: [])
        let tree = others.tree
        func given(_ path: String) -> Value { (path.isEmpty ? tree.root : tree.find(path))?.value ?? .null }
        facts.sections = generation.bindings.names.sorted().compactMap { generation.bindings[$0] }.map { binding in
            let all = SecretPaths(binding.secrets)
            return .init(
                name: binding.name, path: binding.path, form: binding.schemaForm, given: given(binding.path),
                secrets: all.parts(of: binding.path) + generation.config.secrets.parts(of: binding.path))
        }
        for (id, base, recipe) in generation.definitions {
            // A choice has the compiled definition of the chosen option, which a document may have decided.
            if let base, let choice = base.body.choice, case .config(let path, _, _) = choice.chooser.kind {
                facts.readings.append(
                    .init(
                        paths: ConfigPath.candidates(path.text, for: base),
                        receiver: .choice(key: base.key, choice.options.map(\.when))))
            } else if recipe.id == id {
                facts.readings += Self.readings(recipe.definition, recipe.type ?? recipe.definition.type)
            }
        }
        let kinds = container.monitor.locked { container.registry.configReads.hostKinds }
        for (id, kinds) in kinds {
            guard let path = container.names.configPath(id) else { continue }
            facts.readings.append(.init(paths: [path], receiver: .host(kinds)))
        }
        // The search ends at the first path that another layer gives.
        facts.readings = facts.readings.map { reading in
            guard let end = reading.paths.firstIndex(where: { tree.find($0) != nil }) else { return reading }
            return .init(paths: Array(reading.paths[...end]), receiver: reading.receiver)
        }
        facts.readings.sort { $0.paths.joined(separator: " ") < $1.paths.joined(separator: " ") }
    }

    /// The configuration values that a definition reads for receivers of known kinds.
    private static func readings(_ definition: Definition, _ type: ObjectType?) -> [SchemaFacts.Reading] {
        var found: [SchemaFacts.Reading] = []
        func add(_ source: Injection.Source, _ receiver: SchemaFacts.Reading.Receiver?) {
            guard case .config(let path, _, let kind) = source.kind else { return }
            let names = ConfigPath.names(ConfigPath.whole(path.text))
            guard !names.isEmpty, !names.contains("") else { return }
            guard let receiver = receiver ?? (kind == .any ? nil : .kind(kind)) else { return }
            found.append(
                .init(paths: ConfigPath.candidates(path.text, for: definition), receiver: receiver))
        }
        func receiver(_ parameter: Signature.Parameter?) -> SchemaFacts.Reading.Receiver? {
            // A converter of the host may read a value of a named type.
            guard let parameter, parameter.kind != .any, parameter.typeName == nil else { return nil }
            return .kind(parameter.kind)
        }
        let body = definition.body
        let parameters = body.factory == nil ? type?.description.signature.parameters ?? [] : []
        for (index, injection) in body.initializer.enumerated() {
            let named = injection.name.flatMap { name in parameters.first { $0.name.isSameName(as: name) } }
            let isPositional = injection.name == nil && body.initializer.allSatisfy { $0.name == nil }
            add(
                injection.source,
                receiver(named ?? (isPositional && index < parameters.count ? parameters[index] : nil)))
        }
        for injection in body.properties {
            guard let name = injection.name, let property = try? type?.description.property(named: name).property else {
                continue
            }
            add(injection.source, property.kind == .any ? nil : .property(property))
        }
        for call in body.methods + body.before + body.after + body.afterAll {
            let parameters = (try? type?.description.method(named: call.method))?.signature.parameters ?? []
            for (parameter, argument) in zip(parameters, call.arguments) { add(argument.source, receiver(parameter)) }
        }
        if let path = body.each {
            found.append(.init(paths: ConfigPath.candidates(path, for: definition), receiver: .entries))
        }
        return found
    }
}

extension SettingsBinding {
    fileprivate var schemaForm: SchemaFacts.Section.Form {
        switch form {
        case .fields(let fields, _): .fields(fields)
        case .host: .host(schema)
        }
    }
}
