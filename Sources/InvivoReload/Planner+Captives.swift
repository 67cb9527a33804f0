internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

/// Captives: what a shared object of any thread holds and only one thread may touch, and what it holds beyond its place.
/// A provider holds nothing.
extension Planner {
    func findCaptives(_ plan: Plan, _ failures: inout [Failure]) throws(Failure) {
        func recipe(_ id: UInt32) -> Recipe? {
            var id = id
            var seen: Set<UInt32> = [id]
            // A plain alias is what it names, whether both are new or not.
            while let definition = next(id, plan), definition.isPlainAlias, let alias = definition.alias,
                let target = names.id(of: alias), seen.insert(target).inserted
            {
                id = target
            }
            if let recipe = plan.recipes[id] { return recipe }
            if let definition = plan.definitions[id], definition == nil { return nil }
            return graph.recipe(id)
        }
        // What changes, and whoever holds it.
        var holders = Set(plan.recipes.keys)
        // What is not shared and bound anew may lead whoever holds it to something else.
        var seen = Set(plan.definitions.keys).union(holders.filter { plan.recipes[$0]?.scope.isShared == false })
        var queue = Array(seen)
        while let id = queue.popLast() {
            for alias in before.links.aliases[id] where seen.insert(alias).inserted { queue.append(alias) }
            for (holder, edge) in before.links.dependents[id] where edge != .late && seen.insert(holder).inserted {
                holders.insert(holder)
                // What is not shared is held by whoever holds it.
                if recipe(holder)?.scope.isShared == false { queue.append(holder) }
            }
        }
        for id in holders.sorted() {
            try Loading.check()
            guard let holder = recipe(id), holder.id == id, holder.scope.isShared, !holder.isAbstract,
                let way = captive(of: holder, recipe), let captive = way.last
            else { continue }
            let path = ([holder] + way).map(\.key).joined(separator: " -> ")
            failures.append(
                Failure(
                    .captive,
                    "\(why(holder, captive)): \(path); inject a provider, or give them scopes and types that fit",
                    path: holder.key, at: holder.definition.place))
        }
    }

    private func why(_ holder: Recipe, _ captive: Recipe) -> String {
        if Self.outlives(holder, captive) {
            return
                "'\(holder.key)' (\(holder.definition.scopeName)) would hold '\(captive.key)', of which there is one for each "
                + "\(captive.definition.scopeName)"
        }
        return "'\(holder.type?.name ?? "")' is shared by all threads and would hold '\(captive.key)', a "
            + "'\(captive.type?.name ?? "")' that may only be touched in the domain '\(captive.type?.domain?.name ?? "")'"
    }

    /// Whether the one is for all places of a scope of which the other is for one.
    private static func outlives(_ holder: Recipe, _ held: Recipe) -> Bool {
        held.scope.isPlaced && (holder.scope != held.scope || holder.definition.scopeName != held.definition.scopeName)
    }

    /// Whether it may not be held.
    private static func isCaptive(_ held: Recipe, of holder: Recipe) -> Bool {
        if outlives(holder, held) { return true }
        guard holder.type?.domain == nil, let domain = held.type?.domain else { return false }
        return domain.thread != 0
    }

    /// The way from a shared object to something that it would hold and must not, itself or in what is made for it alone.
    private func captive(of holder: Recipe, _ recipe: (UInt32) -> Recipe?) -> [Recipe]? {
        var seen: Set<UInt32> = [holder.id]
        func search(_ from: Recipe, _ way: [Recipe]) -> [Recipe]? {
            for (target, edge) in from.edges where edge != .late && seen.insert(target).inserted {
                guard let held = recipe(target) else { continue }
                if held.type != nil, Self.isCaptive(held, of: holder) { return way + [held] }
                // Also what an alias with arguments or a choice leads to.
                if !held.scope.isShared, way.count < 256, let found = search(held, way + [held]) { return found }
            }
            return nil
        }
        return search(holder, [])
    }
}
