internal import InvivoBase
internal import InvivoWiring

/// Captives: what a shared object of any thread holds and only one thread may touch. A provider holds nothing.
extension Engine {
    func findCaptives(_ plan: Plan, _ graph: Graph, _ failures: inout [Failure]) {
        func recipe(_ id: UInt32) -> Recipe? {
            var id = id
            // An alias without arguments has no recipe of its own.
            for _ in 0..<64 {
                if let recipe = plan.recipes[id] { return recipe }
                guard let alias = next(id, plan)?.alias,
                    let target = container.monitor.locked({ container.keys.id(of: alias) })
                else { break }
                id = target
            }
            if let definition = plan.definitions[id], definition == nil { return nil }
            return graph.recipe(id)
        }
        // What changes, and whoever holds it.
        var holders = Set(plan.recipes.keys)
        var queue = Array(plan.definitions.keys)
        var seen = Set(queue)
        while let id = queue.popLast() {
            for (holder, edge) in dependents[id] ?? [:] where edge != .late && seen.insert(holder).inserted {
                holders.insert(holder)
                // What is not shared is held by whoever holds it.
                if recipe(holder)?.scope.isShared == false { queue.append(holder) }
            }
        }
        for id in holders.sorted() {
            guard let holder = recipe(id), holder.id == id, holder.scope.isShared, let type = holder.type,
                type.domain == nil, !holder.isAbstract
            else { continue }
            guard let way = captive(of: holder, recipe) else { continue }
            let captive = way[way.count - 1]
            let domain = captive.type?.domain?.name ?? ""
            let path = way.map(\.key).joined(separator: " -> ")
            failures.append(
                Failure(
                    .captive,
                    "'\(type.name)' is shared by all threads and would hold '\(captive.key)', a '\(captive.type?.name ?? "")' "
                        + "that may only be touched in the domain '\(domain)': \(holder.key) -> \(path); "
                        + "inject a provider, or make one of the types the other's kind",
                    path: holder.key, at: holder.definition.place))
        }
    }

    /// The way from a shared object to something confined that it would hold, itself or in what is made for it alone.
    private func captive(of holder: Recipe, _ recipe: (UInt32) -> Recipe?) -> [Recipe]? {
        var seen: Set<UInt32> = [holder.id]
        func search(_ holder: Recipe, _ way: [Recipe]) -> [Recipe]? {
            for (target, edge) in holder.edges where edge != .late && seen.insert(target).inserted {
                guard let held = recipe(target), let type = held.type else { continue }
                if let domain = type.domain, domain.thread != 0 { return way + [held] }
                if !held.scope.isShared, way.count < 256, let found = search(held, way + [held]) { return found }
            }
            return nil
        }
        return search(holder, [])
    }
}
