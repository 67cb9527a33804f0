internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoTraits

/// Rules over the values of a plan.
extension Planner {
    /// Returns the rules after the plan; nil if they stay.
    func planRules(_ changes: NamedChanges<Rule>, _ failures: inout [Failure]) -> RuleTable? {
        guard !changes.isEmpty else { return nil }
        var next = before.rules
        for name in changes.removed {
            if next[name] == nil {
                let near = suggestion(for: name, among: next.names.sorted())
                failures.append(Failure(.notFound, "no rule has the name '\(name)'\(near)", path: name))
            }
            next.remove(name)
        }
        for rule in changes.added {
            next.insert(rule)
            for input in rule.inputs { _ = registrations.noteRead(RuleTable.path(input)) }
        }
        return next
    }

    /// Returns the rules to run: the new ones, and those of which the value of an input changes. The cost is proportional to
    /// the change. Throws if one of them reads a property whose values it cannot check.
    func ruleChecks(_ wiring: NextWiring, _ effects: Effects) throws(Failure) -> [RuleCheck] {
        let rules = wiring.rules ?? before.rules
        guard !rules.isEmpty else { return [] }
        let added = RuleTable.Names(wiring.set.functions.rules.added.map { Name($0.name) })
        let concerned = added.union(rulesConcerned(by: wiring, effects, rules))
        guard !concerned.isEmpty else { return [] }
        let former = RuleValues(graph, before.config.tree, names) { before.definitions[$0] }
        let next = RuleValues(effects.editor, (wiring.config.layers ?? before.config).tree, names) { id in
            self.next(id, wiring.definitions)
        }
        var failures: [Failure] = []
        var checks: [RuleCheck] = []
        for rule in rules.rules(named: concerned) {
            let inputs = rule.inputs.map(next.input)
            for (name, input) in zip(rule.inputs, inputs) {
                guard let obstacle = input.obstacle else { continue }
                failures.append(
                    Failure(
                        .spec, "the rule '\(rule.name)' reads a property that \(obstacle.rawValue)", path: name,
                        at: input.origin.location))
            }
            let changed = zip(rule.inputs, inputs).enumerated().first { _, pair in
                !former.input(pair.0).value.isSame(as: pair.1.value)
            }
            guard changed != nil || added.contains(Name(rule.name)) else { continue }
            checks.append(RuleCheck(rule: rule, inputs: inputs, changed: changed?.offset ?? 0))
        }
        if let failure = Failure.gathered(failures) { throw failure }
        return checks
    }

    /// The rules with an input that the plan may change.
    private func rulesConcerned(by wiring: NextWiring, _ effects: Effects, _ rules: RuleTable) -> RuleTable.Names {
        var found: RuleTable.Names = []
        for change in wiring.config.changes { found.formUnion(rules.rules(reading: change.path)) }
        var touched = effects.store.touched
        touched.formUnion(wiring.definitions.changed.keys)
        touched.formUnion(wiring.compiled.recipes.keys)
        touched.formUnion(effects.store.retunedBlocks)
        // Properties with other values.
        touched.formUnion(effects.changes.compactMap { names.id(of: $0.key) })
        touched.formUnion(effects.store.aliased.map(\.id))
        if !before.links.aliases.isEmpty {
            for id in touched { touched.formUnion(before.links.allAliases(of: id)) }
        }
        if touched.count < rules.keyCount {
            for id in touched { found.formUnion(rules.rules(about: names.name(id))) }
        } else {
            for key in rules.keys where names.id(of: key.text).map(touched.contains) == true {
                found.formUnion(rules.rules(about: key.text))
            }
        }
        return found
    }
}

/// The content of a graph that rules read.
private protocol RuleGraph {
    func recipe(_ id: UInt32) -> Recipe?
    func block(_ id: UInt32) -> Block?
    func configuration(_ id: UInt32) -> (any Configuration)?
}

extension Graph: RuleGraph {}
extension GraphEditor: RuleGraph {}

/// The values of inputs in one generation.
private struct RuleValues {
    private let graph: any RuleGraph
    private let config: ConfigTree
    private let names: KeyNames
    /// The definition of a key as it is described.
    private let described: (UInt32) -> Definition?

    init(
        _ graph: any RuleGraph, _ config: ConfigTree, _ names: KeyNames, described: @escaping (UInt32) -> Definition?
    ) {
        self.described = described
        self.graph = graph
        self.config = config
        self.names = names
    }

    /// The value of an input: of a property, if a key whose type has it is meant, otherwise of the configuration.
    func input(_ name: String) -> RuleCheck.Input {
        for (key, property) in RuleTable.properties(name) {
            if let id = names.id(of: key), let found = self.property(property, of: id) { return found }
        }
        guard let node = config.find(RuleTable.path(name)) else { return RuleCheck.Input() }
        return RuleCheck.Input(value: node.value, origin: .at(node.location), isSecret: node.hasSecret)
    }

    /// Nil if the key has no such property. The value is null if no layer sets the property, or the field in it.
    private func property(_ path: [String], of key: UInt32) -> RuleCheck.Input? {
        let recipe = graph.recipe(key)
        // An alias shows the object of its target.
        let id = recipe?.id ?? key
        let layers = graph.configuration(id) as? TargetLayers
        guard let type = layers?.type ?? recipe?.type, let index = type.description.index(ofProperty: path[0]) else {
            return nil
        }
        let property = type.description.properties[index]
        let layer = layers?.effective[index]
        var input = RuleCheck.Input()
        // Also if another layer lies above a secret: a value of a struct may come from both.
        input.isSecret =
            property.origin(layer?.location.variables)?.isSecret == true
            || recipe.map { given(property, $0.definition).contains(where: \.hasSecret) } == true
        if let layer {
            input.origin = .trait(layer.location)
            input.obstacle = layer.ramp != nil ? .moves : layer.isRelative && !property.isInBlock ? .isRelative : nil
        } else if property.isInBlock, let recipe {
            input.origin = .at(location(of: property, index, recipe.definition))
        }
        if property.isInBlock {
            guard let block = graph.block(id) else { return input }
            input.value = property.read(block.bytes)
        } else if let layer {
            input.value = layer.value
        }
        for field in path.dropFirst() { input.value = input.value[field] ?? .null }
        return input
    }

    /// The configuration values that a definition, or one that it inherits from, injects into a property.
    private func given(_ property: Property, _ definition: Definition) -> [ConfigNode] {
        var seen: Set<UInt32> = []
        var holder = described(definition.id)
        while let found = holder, seen.insert(found.id).inserted {
            if let injection = found.body.properties.last(where: { $0.name.isSameName(as: property.name) }) {
                let paths = injection.source.configPaths.flatMap { ConfigPath.candidates($0, for: definition) }
                return paths.compactMap { config.find($0) }
            }
            holder = found.body.parent.flatMap(names.id(of:)).flatMap(described)
        }
        return []
    }

    /// Where the value of a block is given that no trait sets: in the configuration, or in the definition.
    private func location(of property: Property, _ index: Int, _ definition: Definition) -> Location {
        guard definition.base[index] == nil else { return definition.location }
        var seen: Set<UInt32> = []
        var holder = described(definition.id)
        while let found = holder, seen.insert(found.id).inserted {
            if let injection = found.body.properties.last(where: { $0.name.isSameName(as: property.name) }) {
                let paths = injection.source.configPaths.flatMap { ConfigPath.candidates($0, for: definition) }
                return paths.lazy.compactMap { config.find($0)?.location }.first
                    ?? injection.source.documentLocation ?? found.location
            }
            holder = found.body.parent.flatMap(names.id(of:)).flatMap(described)
        }
        return definition.location
    }
}
