internal import InvivoBase
internal import InvivoWiring

/// Letting go of shared instances, so that they are made anew when somebody asks.
extension Engine {
    /// The keys that a change set resets and that hold something, in their order. Costs what is held.
    func resetKeys(_ plan: Plan, _ graph: Graph) -> [UInt32] {
        let set = plan.staged.set
        var found: Set<UInt32> = []
        for scope in set.resetScopes { found.formUnion(container.monitor.locked { container.builtKeys(scope) }) }
        for (id, _, withDependencies) in set.resets {
            var queue = [id]
            var seen: Set<UInt32> = [id]
            while let id = queue.popLast() {
                // Of an alias without arguments: that of the key it names.
                guard let recipe = plan.editor.recipe(id) else { continue }
                found.insert(recipe.id)
                guard withDependencies else { continue }
                let resolved = container.monitor.locked { container.dynamicDependencies[recipe.id] ?? [] }
                queue += (recipe.edges.map(\.id) + resolved).filter { seen.insert($0).inserted }
            }
        }
        return found.filter { isHeldShared($0, graph) }.sorted()
    }

    /// Every key that is to be reset is one.
    func checkResets(_ plan: Plan, _ failures: inout [Failure]) {
        for (id, key, _) in plan.staged.set.resets where next(id, plan) == nil { failures.append(unknownKey(key)) }
    }

    private func isHeldShared(_ id: UInt32, _ graph: Graph) -> Bool {
        guard let cell = graph.cell(id), graph.recipe(id)?.scope.isShared == true else { return false }
        return container.monitor.locked { cell.isHeld() }
    }
}
