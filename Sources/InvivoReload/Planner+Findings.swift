internal import InvivoBase
internal import InvivoWiring

/// Errors of the wiring get the name of their rule and the path from a dependent.
extension Planner {
    func nameFindings(_ failures: inout [Failure], _ wiring: NextWiring) {
        guard !failures.isEmpty else { return }
        let dependents = dependents(wiring)
        for index in failures.indices {
            failures[index].finding = failures[index].finding ?? Finding(failures[index].code)
            if index < Failure.most, let decision = decision(behind: failures[index], wiring) {
                failures[index].message +=
                    "; the decision about '\(decision.key)' applies (\(decision.location.text))"
            }
            // Messages about cycles and captive dependencies contain the path already.
            guard failures[index].finding != .cycle, !failures[index].isChained, index < Failure.most else { continue }
            let id = names.id(of: failures[index].path)
            if let id { failures[index].neededBy = way(to: id, dependents).map(names.name) }
        }
    }

    /// Returns the decision of a document that an error of another definition most likely follows from: the nearest one that the plan
    /// changes, among the definition and its dependencies.
    private func decision(behind failure: Failure, _ wiring: NextWiring) -> WiringDecision? {
        let definitions = wiring.definitions
        guard wiring.documents.changeDecisions, failure.finding != nil, let first = names.id(of: failure.path) else {
            return nil
        }
        var seen: Set<UInt32> = [first]
        var queue = [first]
        var at = 0
        while at < queue.count {
            let id = queue[at]
            at += 1
            if let decision = definitions.covers[id]?.wiring, !decision.isDescribed {
                return decision.location == failure.location ? nil : decision
            }
            let targets =
                (next(id, definitions)?.names.compactMap(names.id(of:)) ?? [])
                + ((wiring.compiled.recipes[id] ?? graph.recipe(id))?.references.edges.map(\.id) ?? [])
            for target in targets where seen.insert(target).inserted { queue.append(target) }
        }
        return nil
    }

    /// Returns the holders of each key after the plan, as far as they are known.
    private func dependents(_ wiring: NextWiring) -> [UInt32: Set<UInt32>] {
        var dependents: [UInt32: Set<UInt32>] = [:]
        before.links.dependents.forEach { target, holders in
            for holder in holders.map(\.key) where wiring.definitions.changed[holder] == nil {
                dependents[target, default: []].insert(holder)
            }
        }
        for (holder, recipe) in wiring.compiled.recipes {
            for (target, _) in recipe.references.edges { dependents[target, default: []].insert(holder) }
        }
        for (holder, targets) in wiring.compiled.needs {
            for target in targets { dependents[target, default: []].insert(holder) }
        }
        return dependents
    }

    /// Returns the shortest path to a key from a definition without holders, excluding the key. In a cycle, from the farthest member.
    private func way(to id: UInt32, _ dependents: [UInt32: Set<UInt32>]) -> [UInt32] {
        var next: [UInt32: UInt32] = [:]
        var seen: Set<UInt32> = [id]
        var queue = [id]
        var at = 0
        var outermost = id
        while at < queue.count {
            outermost = queue[at]
            at += 1
            let above = (dependents[outermost] ?? []).sorted()
            if above.isEmpty && outermost != id { break }
            for holder in above where seen.insert(holder).inserted {
                next[holder] = outermost
                queue.append(holder)
            }
        }
        var way: [UInt32] = []
        while outermost != id, let step = next[outermost] {
            way.append(outermost)
            outermost = step
        }
        return way
    }
}
