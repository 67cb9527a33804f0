internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoTraits

/// The content of a graph that rules read.
protocol RuleGraph {
    func recipe(_ id: UInt32) -> Recipe?
    func block(_ id: UInt32) -> Block?
    func configuration(_ id: UInt32) -> (any Configuration)?
}

extension Graph: RuleGraph {}

extension GraphEditor: RuleGraph {}

/// The values of inputs in one generation.
struct RuleValues {
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
            || recipe.flatMap { given(property, $0.definition)?.nodes.contains(where: \.hasSecret) } == true
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

    /// The value that a definition, or the nearest one that it inherits from, injects into a property.
    private struct Given {
        let holder: Definition
        let source: Injection.Source
        /// The configuration values that are a part of it.
        let nodes: [ConfigNode]
    }

    private func given(_ property: Property, _ definition: Definition) -> Given? {
        var seen: Set<UInt32> = []
        var holder = described(definition.id)
        while let found = holder, seen.insert(found.id).inserted {
            if let injection = found.body.properties.last(where: { $0.name.isSameName(as: property.name) }) {
                let paths = injection.source.configPaths.flatMap { ConfigPath.candidates($0, for: definition) }
                return Given(holder: found, source: injection.source, nodes: paths.compactMap { config.find($0) })
            }
            holder = found.body.parent.flatMap(names.id(of:)).flatMap(described)
        }
        return nil
    }

    /// Where the value of a block is given that no trait sets: in the configuration, or in the definition.
    private func location(of property: Property, _ index: Int, _ definition: Definition) -> Location {
        guard definition.base[index] == nil, let given = self.given(property, definition) else {
            return definition.location
        }
        return given.nodes.first?.location ?? given.source.documentLocation ?? given.holder.location
    }
}
