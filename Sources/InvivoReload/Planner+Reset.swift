internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

/// Resets: shared instances are dropped, and created again by the next resolve.
extension Planner {
    /// The keys that a change set resets and that have instances, in order. The cost is proportional to the instances.
    func resetKeys(_ wiring: NextWiring, _ editor: GraphEditor) -> [UInt32] {
        let rebuilds = wiring.set.rebuilds
        var found: Set<UInt32> = []
        for scope in rebuilds.scopes {
            found.formUnion(observed.builtKeys(scope).filter { graph.recipe($0)?.scope == scope })
        }
        for (id, _, withDependencies) in rebuilds.keys {
            var queue = [id]
            var seen: Set<UInt32> = [id]
            while let id = queue.popLast() {
                // For an alias without arguments, that of its target.
                guard let recipe = editor.recipe(id) else { continue }
                found.insert(recipe.id)
                guard withDependencies else { continue }
                let resolved = observed.recordedDependencies(of: recipe.id)
                queue += (recipe.references.edges.map(\.id) + resolved).filter { seen.insert($0).inserted }
            }
        }
        // A weak reference may find an outdated object that nothing holds.
        let outdated = rebuilds.overtaken.filter { id, overtaken in
            overtaken.outdated.map { graph.cell(id) === $0 } ?? false
        }
        return Set(found.filter { isHeldShared($0) }).union(outdated.keys).sorted()
    }

    /// Reports each reset of an undefined key.
    func checkResets(_ wiring: NextWiring, _ failures: inout [Failure]) {
        for (id, key, _) in wiring.set.rebuilds.keys where next(id, wiring.definitions) == nil {
            failures.append(unknownKey(key))
        }
    }

    private func isHeldShared(_ id: UInt32) -> Bool {
        graph.recipe(id)?.scope.isShared == true && observed.isHeld(id)
    }
}
