internal import InvivoBase
internal import InvivoGraph

/// The compiled injections of types whose objects have no definition, for one generation each.
final class OwnRecipes: Sendable {
    private struct Entry {
        let generation: UInt64
        let recipe: Recipe
    }

    private let entries: Guarded<[ObjectIdentifier: Entry]>
    private let registry: Registry

    /// `monitor` is the runtime's.
    init(_ monitor: Monitor, _ registry: Registry) {
        entries = .init([:], by: monitor)
        self.registry = registry
    }

    /// The injections for objects of a type that have no definition: the type's needs, and its hooks. Nil if it has
    /// neither. A reload sees a graph that is not published, and keeps nothing.
    func recipe(of type: ObjectType, in graph: Graph, isReload: Bool) throws(Failure) -> Recipe? {
        let functions = type.description.functions
        guard
            (!type.needs.isEmpty && registry.fillsNeeds) || functions.willInject != nil
                || functions.hasCompletionHook
        else { return nil }
        let former = entries.locked { $0[ObjectIdentifier(type)] }
        if !isReload, let former, former.generation == graph.generation { return former.recipe }
        let recipe = try compile(type, graph, former?.recipe)
        if !isReload {
            let entry = Entry(generation: graph.generation, recipe: recipe)
            let former = entries.locked { $0.updateValue(entry, forKey: ObjectIdentifier(type)) }
            withExtendedLifetime(former) {}
        }
        return recipe
    }

    private func compile(_ type: ObjectType, _ graph: Graph, _ former: Recipe?) throws(Failure) -> Recipe {
        let names = registry.names
        let definitions = DefinitionLookup(
            described: { graph.recipe($0)?.definition }, identify: { names.id(of: $0) },
            knownKeys: { [registry] in registry.keys(definedIn: graph) },
            inactiveAssembly: registry.assemblies.inactiveAssembly,
            missingDependencies: { id in graph.recipe(id).flatMap { $0.waits.isEmpty ? nil : $0.waits } })
        var compiler = RecipeCompiler(
            .init(
                definitions: definitions, types: graph.types, config: registry.configLookup(of: graph),
                scopeFailure: registry.scopes.failure, fillsNeeds: registry.fillsNeeds))
        var body = Definition.Body()
        (body.scope, body.type, body.isPartial) = (.prototype, type, true)
        let described = Definition(id: KeyTable.noKey, key: type.name, body)
        guard let recipe = compiler.compile(described, former: former) else {
            throw Failure.gathered(compiler.failures)
                ?? Failure(.internalFault, "the needs of the type '\(type.name)' cannot be compiled", path: type.name)
        }
        return recipe
    }

    /// Removes all. With the monitor held; the caller drops the result without it.
    func removeAll() -> [Recipe] {
        entries.held { entries in
            defer { entries = [:] }
            return entries.values.map(\.recipe)
        }
    }
}
