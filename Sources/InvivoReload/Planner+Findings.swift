internal import InvivoBase
internal import InvivoWiring

/// What a check of the wiring found, told with a name that stays and with who needs what is wrong.
extension Planner {
    func nameFindings(_ failures: inout [Failure], _ plan: Plan) {
        guard !failures.isEmpty else { return }
        let needers = needers(plan)
        for index in failures.indices {
            failures[index].finding = failures[index].finding ?? Finding(failures[index].code)
            // A circle and a captive say the way themselves.
            guard failures[index].finding != .cycle, !failures[index].isChained, index < Failure.most else { continue }
            let id = names.id(of: failures[index].path)
            if let id { failures[index].neededBy = way(to: id, needers).map(names.name) }
        }
    }

    /// Who names whom after the plan, as far as it goes.
    private func needers(_ plan: Plan) -> [UInt32: Set<UInt32>] {
        var needers: [UInt32: Set<UInt32>] = [:]
        before.links.dependents.forEach { target, holders in
            for holder in holders.map(\.key) where plan.definitions[holder] == nil {
                needers[target, default: []].insert(holder)
            }
        }
        for (holder, recipe) in plan.recipes {
            for (target, _) in recipe.edges { needers[target, default: []].insert(holder) }
        }
        for (holder, targets) in plan.needs {
            for target in targets { needers[target, default: []].insert(holder) }
        }
        return needers
    }

    /// The shortest way from a definition that nobody needs to one that is needed, which is not part of it. Of a part
    /// where everybody is needed, from the farthest.
    private func way(to id: UInt32, _ needers: [UInt32: Set<UInt32>]) -> [UInt32] {
        var next: [UInt32: UInt32] = [:]
        var seen: Set<UInt32> = [id]
        var queue = [id]
        var at = 0
        var outermost = id
        while at < queue.count {
            outermost = queue[at]
            at += 1
            let above = (needers[outermost] ?? []).sorted()
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
