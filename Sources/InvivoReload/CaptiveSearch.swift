internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

/// Finds captive dependencies of a plan: a longer-lived object would hold a shorter-lived or thread-confined one. A provider holds
/// nothing.
struct CaptiveSearch {
    private let planner: Planner
    private let before: Snapshot
    private let definitions: DefinitionPlan
    private let compiled: Compiled

    init(_ planner: Planner, _ definitions: DefinitionPlan, _ compiled: Compiled) {
        (self.planner, self.definitions, self.compiled) = (planner, definitions, compiled)
        before = planner.before
    }

    /// Returns the compiled definition of a key after the plan. A plain alias stands for its target, whether both are new or not.
    private func recipe(_ id: UInt32) -> Recipe? {
        if let own = compiled.recipes[id], own.id == id, own.definition.alias == nil { return own }
        var id = id
        var seen: Set<UInt32> = [id]
        while let definition = planner.next(id, definitions), definition.isPlainAlias, let alias = definition.alias,
            let target = planner.names.id(of: alias), seen.insert(target).inserted
        {
            id = target
        }
        if let recipe = compiled.recipes[id] { return recipe }
        if let definition = definitions.changed[id], definition == nil { return nil }
        return planner.graph.recipe(id)
    }

    /// Adds a failure for each captive dependency, for each kept dependency on an exclusive definition, and for each cycle of owners.
    func find(_ failures: inout [Failure]) throws(Failure) {
        // Changed definitions and their holders.
        var holders = IDSet(compiled.recipes.keys)
        // If an unshared definition has another binding, its holders have other dependencies.
        var seen = IDSet(definitions.changed.keys).union(
            holders.filter { compiled.recipes[$0]?.scope.isShared == false })
        var queue = Array(seen)
        while let id = queue.popLast() {
            for alias in before.links.aliases[id] where seen.insert(alias) { queue.append(alias) }
            for (holder, edge) in before.links.dependents[id] where !edge.isDeferred && seen.insert(holder) {
                holders.insert(holder)
                // The holders of a definition that is not shared hold its dependencies, too.
                if recipe(holder)?.scope.isShared == false { queue.append(holder) }
            }
        }
        var loading = LoadSteps()
        var harmless: Set<UInt32> = []
        for id in try keepers() {
            try loading.step()
            guard let holder = recipe(id), holder.id == id else { continue }
            for target in holder.references.kept.sorted() {
                guard let exclusive = exclusive(behind: target, &harmless) else { continue }
                let through = exclusive.id == target ? "" : " of '\(planner.names.name(target))'"
                failures.append(
                    Failure(
                        .argument,
                        "'\(holder.key)' would keep the former '\(exclusive.key)'\(through) after a change (on_change: keep), "
                            + "but that one is exclusive: a reload stops it before it creates the new one; declare another "
                            + "on_change for its injection",
                        path: holder.key, at: holder.definition.location))
            }
        }
        try findOwnerCycles(&failures)
        for id in holders.sorted() {
            try loading.step()
            guard let holder = recipe(id), holder.id == id, holder.scope.isShared, !holder.isAbstract else { continue }
            var readers: [[Recipe]] = []
            let way = captive(of: holder, &readers)
            for reader in readers {
                failures += ContextNeeds(of: holder, through: reader, planner.registrations).failures
            }
            guard let way, let captive = way.last else { continue }
            let path = ([holder] + way).map(\.key).path()
            failures.append(
                Failure(
                    .captive,
                    "\(why(holder, captive)): \(path); inject a provider, or give them scopes and types that fit",
                    path: holder.key, at: holder.definition.location))
        }
    }

    /// Finds definitions that own themselves, directly or through others.
    private func findOwnerCycles(_ failures: inout [Failure]) throws(Failure) {
        var suspects = Set(compiled.recipes.filter { $0.value.references.owns }.map(\.key))
        if !before.links.owners.isEmpty {
            for id in IDSet(definitions.changed.keys).union(compiled.recipes.keys) {
                for name in [id] + before.links.allAliases(of: id) { suspects.formUnion(before.links.owners[name]) }
            }
        }
        var reported: Set<UInt32> = []
        var loading = LoadSteps()
        for id in suspects.sorted() where !reported.contains(id) {
            guard let first = recipe(id), first.id == id else { continue }
            var from: [UInt32: UInt32] = [:]
            var waiting = [first]
            while let owner = waiting.popLast() {
                try loading.step()
                // A choice stands for the definition that it selects.
                let isChoice = owner.definition.body.choice != nil
                for target in isChoice ? owner.references.dependencies : owner.references.owned {
                    guard let owned = recipe(target), from[owned.id] == nil else { continue }
                    from[owned.id] = owner.id
                    waiting.append(owned)
                }
            }
            guard from[id] != nil else { continue }
            var path = [id]
            repeat { path.insert(from[path[0]] ?? id, at: 0) } while path[0] != id
            reported.formUnion(path)
            failures.append(
                Failure(
                    .cycle,
                    "'\(first.key)' owns itself: \(path.map(planner.names.name).path()); an owner is set up again when "
                        + "what it owns changes: remove 'owns' from one of these injections",
                    path: first.key, at: first.definition.location))
        }
    }

    /// Returns the definitions that keep former dependencies and that a plan concerns: those that change or are bound to something else, and
    /// those that hold them, directly or through others.
    private func keepers() throws(Failure) -> [UInt32] {
        // A choice that depends on the configuration may select something else.
        let bound = compiled.recipes.filter { id, recipe in
            !compiled.reconfigured.contains(id)
                || planner.graph.recipe(id)?.references.hasSameEdges(as: recipe.references) != true
        }
        .map(\.key)
        var found = Set(bound.filter { compiled.recipes[$0]?.references.keep == true })
        guard !before.links.keepers.isEmpty else { return found.sorted() }
        var seen = IDSet(definitions.changed.keys).union(bound)
        var queue = Array(seen)
        var loading = LoadSteps()
        while let id = queue.popLast() {
            try loading.step()
            if before.links.keepers.contains(id) { found.insert(id) }
            for alias in before.links.aliases[id] where seen.insert(alias) { queue.append(alias) }
            for (holder, edge) in before.links.dependents[id] where !edge.isDeferred && seen.insert(holder) {
                queue.append(holder)
            }
        }
        return found.sorted()
    }

    /// Returns the exclusive definition that a key stands for, or that the objects behind it hold.
    /// `harmless`: the keys behind which there is none, as far as it is known.
    private func exclusive(behind id: UInt32, _ harmless: inout Set<UInt32>) -> Recipe? {
        var seen: Set<UInt32> = [id]
        var queue = [id]
        while let next = queue.popLast() {
            guard !harmless.contains(next), let found = recipe(next) else { continue }
            if found.isExclusive { return found }
            for target in found.references.dependencies where seen.insert(target).inserted { queue.append(target) }
        }
        harmless.formUnion(seen)
        return nil
    }

    private func why(_ holder: Recipe, _ captive: Recipe) -> String {
        if outlives(holder, captive) {
            return
                "'\(holder.key)' (\(holder.definition.scopeName)) would hold '\(captive.key)', of which there is one for each "
                + (captive.scope == .context
                    ? captive.definition.body.scopeName.map { "context of the kind '\($0)'" } ?? "context"
                    : captive.definition.scopeName)
        }
        return "'\(holder.type?.name ?? "")' is shared by all threads and would hold '\(captive.key)', a "
            + "'\(captive.type?.name ?? "")' that may only be touched in the domain '\(captive.type?.domain?.name ?? "")'"
    }

    /// Whether the holder outlives an object that belongs to one instance of a scope.
    private func outlives(_ holder: Recipe, _ held: Recipe) -> Bool {
        guard held.scope.isPlaced else { return false }
        guard holder.scope == .context, held.scope == .context else {
            return holder.scope != held.scope || holder.definition.scopeName != held.definition.scopeName
        }
        // Dependencies are looked up from the context in which the holder lives, and upward.
        guard let kind = holder.definition.body.scopeName, let other = held.definition.body.scopeName else {
            return false
        }
        return planner.registrations.isKind(other, inside: kind)
    }

    /// Whether it may not be held.
    private func isCaptive(_ held: Recipe, of holder: Recipe) -> Bool {
        if outlives(holder, held) { return true }
        guard holder.type?.domain == nil, let domain = held.type?.domain else { return false }
        return domain.thread != 0
    }

    /// Returns the path from a shared object to a captive dependency, through objects that are created for it alone. `readers` receives the
    /// paths to those that receive values of contexts.
    private func captive(of holder: Recipe, _ readers: inout [[Recipe]]) -> [Recipe]? {
        if holder.references.readsContexts { readers.append([]) }
        guard !holder.references.edges.isEmpty else { return nil }
        var seen: Set<UInt32> = [holder.id]
        func search(_ from: Recipe, _ way: [Recipe]) -> [Recipe]? {
            for (target, edge) in from.references.edges where !edge.isDeferred && seen.insert(target).inserted {
                guard let held = recipe(target) else { continue }
                if held.type != nil, isCaptive(held, of: holder) { return way + [held] }
                // Also the target of an alias with arguments or of a choice.
                guard !held.scope.isShared, way.count < 256 else { continue }
                if held.references.readsContexts { readers.append(way + [held]) }
                if let found = search(held, way + [held]) { return found }
            }
            return nil
        }
        return search(holder, [])
    }
}
