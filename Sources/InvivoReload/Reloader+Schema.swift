internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

/// The permitted content of documents.
extension Reloader {
    /// Returns the facts of the newest generation. Waits for the reload that runs.
    func schemaFacts() throws(Failure) -> SchemaFacts {
        try turns.take()
        defer { turns.end() }
        let (snapshot, graph) = (generations.snapshot, container.currentGraph())
        var definitions: [(id: UInt32, base: Definition?, recipe: Recipe)] = []
        graph.forEachCell { id, _ in
            guard let recipe = graph.recipe(id) else { return }
            definitions.append((id, snapshot.definitions[id], recipe))
        }
        return schemaReader.facts(
            SchemaFactsReader.Generation(
                definitions: definitions, traits: snapshot.traits.types, uses: snapshot.traits.uses,
                targetTypes: snapshot.traits.targetTypes, bindings: snapshot.constraints.bindings,
                config: snapshot.config, documents: documents.open.map { ($0, $0.state) },
                manifest: manifest.withLock { $0 }))
    }

    /// Returns the facts of a planned generation. By the thread that has the turn.
    func schemaFacts(_ plan: Plan) -> SchemaFacts {
        let (wiring, snapshot) = (plan.wiring, generations.snapshot)
        var definitions: [(id: UInt32, base: Definition?, recipe: Recipe)] = []
        for (id, base) in wiring.definitions.changed {
            guard let base, let recipe = plan.editor.recipe(id) else { continue }
            definitions.append((id, base, recipe))
        }
        var targetTypes = snapshot.traits.targetTypes
        for target in wiring.set.targets.attached { targetTypes[target.id] = target.type }
        return schemaReader.facts(
            SchemaFactsReader.Generation(
                definitions: definitions, traits: wiring.traitTypes ?? snapshot.traits.types,
                uses: snapshot.traits.uses.applying(plan.findings.uses, inherited: plan.findings.inherited),
                targetTypes: targetTypes,
                bindings: wiring.bindings ?? snapshot.constraints.bindings,
                config: wiring.config.layers ?? snapshot.config,
                documents: wiring.staged.documents.map { ($0.document, $0.next) },
                manifest: manifest.withLock { $0 }))
    }

    private var schemaReader: SchemaFactsReader {
        SchemaFactsReader(container: container, allowsPendingTargets: options.allowsPendingTargets)
    }
}
