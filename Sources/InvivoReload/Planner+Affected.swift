internal import CInvivo
internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

extension Planner {
    /// The affected set: exactly the dependents of what changes, along the reverse edges.
    func planCells(_ plan: inout Plan, _ rebased: Set<UInt32>) throws(Failure) {
        var remade: [UInt32] = []
        var seen: Set<UInt32> = []
        var reinjected: Set<UInt32> = []
        // Holders that nobody has yet: they get a fresh cell, so that what is built during the commit is the next graph's.
        var cold: Set<UInt32> = []
        let declared = Set(plan.definitions.keys.filter { !rebased.contains($0) })
        var queue = declared.sorted() + plan.settingIDs.sorted()
        // What is bound to something else now: remade when that goes through the initializer.
        for (id, recipe) in plan.recipes.sorted(by: { $0.key < $1.key })
        where plan.definitions[id] == nil && !plan.reconfigured.contains(id) {
            plan.touched.insert(id)
            if let former = graph.recipe(id), former.hasSameInitializer(as: recipe), isHeld(id),
                isChangedInPlace(id) || hearsOfChange(former, recipe)
            {
                plan.rebound.insert(id)
            } else {
                queue.append(id)
                if !isHeld(id) { cold.insert(id) }
            }
        }
        seen.formUnion(queue)
        let reset = Set(resetKeys(plan)).subtracting(seen)
        queue += reset.sorted()
        seen.formUnion(reset)
        var next = 0
        while next < queue.count {
            try Loading.check()
            let id = queue[next]
            next += 1
            if !plan.settingIDs.contains(id) { remade.append(id) }
            plan.touched.insert(id)
            for alias in before.links.aliases[id].sorted() where seen.insert(alias).inserted {
                queue.append(alias)
            }
            for (holder, edge) in before.links.dependents[id].sorted(by: { $0.key < $1.key }) where edge != .late {
                let isHeld = isHeld(holder)
                if edge == .injection && isHeld && isChangedInPlace(holder, [id]) {
                    reinjected.insert(holder)
                } else if seen.insert(holder).inserted {
                    queue.append(holder)
                    if !isHeld { cold.insert(holder) }
                }
            }
            for holder in observed.recordedDependents(of: id).sorted()
            where isHeld(holder) && seen.insert(holder).inserted {
                queue.append(holder)
            }
        }
        plan.remade = seen
        for id in remade {
            try Loading.check()
            remake(
                id, &plan, isDeclared: declared.contains(id), isCold: cold.contains(id),
                isReset: reset.contains(id))
        }
        for id in rebased { rebase(id, &plan) }
        // What is made anew has its recipe with its cell.
        let anew = Set(remade)
        for (id, recipe) in plan.recipes where !anew.contains(id) { plan.editor.set(recipe, at: id) }
        for id in reinjected.union(plan.rebound).sorted() where !seen.contains(id) {
            guard let cell = graph.cell(id), !observed.objects(id).isEmpty else { continue }
            plan.reinjected.append((id, cell))
            plan.changes.append(
                Report.Change(key: names.name(id), what: UInt32(INVIVO_CHANGED_REINJECTED), property: ""))
        }
    }

    /// A key whose shared instance is made anew, or that comes or goes.
    private func remake(
        _ id: UInt32, _ plan: inout Plan, isDeclared: Bool, isCold: Bool, isReset: Bool
    ) {
        let former = graph.cell(id)
        let definition = next(id, plan)
        let wasBuilt = observed.isHeld(id)
        let wasAlias = before.alias(id) != nil
        if let former, !wasAlias { plan.replaced.append(former) }
        let key = names.name(id)
        func note(_ what: Int) { plan.changes.append(Report.Change(key: key, what: UInt32(what), property: "")) }
        guard let definition else {
            plan.editor.set(nil as Cell?, at: id)
            plan.editor.set(nil as Recipe?, at: id)
            plan.editor.set(nil as Block?, at: id)
            return note(INVIVO_CHANGED_REMOVED)
        }
        guard let recipe = plan.recipes[id] ?? (definition.alias == nil ? plan.editor.recipe(id) : nil) else {
            return note(isDeclared ? INVIVO_CHANGED_DEFINED : INVIVO_CHANGED_REMADE)
        }
        if definition.alias != nil {
            plan.editor.setWithItsRecipe(Cell(recipe), at: id)
            return note(isDeclared ? INVIVO_CHANGED_DEFINED : INVIVO_CHANGED_REMADE)
        }
        let cell = Cell(recipe)
        plan.editor.setWithItsRecipe(cell, at: id)
        plan.created.append(cell)
        if recipe.isTracked, !wasAlias {
            let objects = observed.trackedObjects(id)
            if !objects.isEmpty {
                plan.followed.append((id, objects, isDeclared ? nil : plan.remade))
            }
        }
        guard !isCold else { return }
        guard recipe.waits.isEmpty else { return note(INVIVO_CHANGED_DORMANT) }
        let hasInstance = recipe.type.map { !$0.isBlockOnly } ?? false
        let isEager = recipe.scope == .singleton && !recipe.isAbstract
        // What is shared by arguments or weakly is made anew when somebody asks.
        let isAlone = recipe.scope == .lazySingleton && !recipe.needsArguments
        let isRebuilt = wasBuilt && !wasAlias && isAlone && observed.sharedObject(id) != 0
        let isBeingBuilt = wasBuilt && isAlone && observed.isBuilding(id)
        // What is reset waits until somebody asks; what can exist only once is never left without the one.
        let waitsForAsking = isReset && !recipe.isExclusive
        if hasInstance && !recipe.isAbstract && (isEager || !waitsForAsking && (isRebuilt || isBeingBuilt)) {
            plan.builds.append((id, cell))
        }
        note(former == nil || !wasBuilt && isDeclared ? INVIVO_CHANGED_DEFINED : INVIVO_CHANGED_REMADE)
    }

    /// A key of which only base values change: what is built is kept.
    private func rebase(_ id: UInt32, _ plan: inout Plan) {
        plan.touched.insert(id)
        guard let cell = graph.cell(id), let recipe = plan.recipes[id], !observed.isHeld(id)
        else { return }
        plan.replaced.append(cell)
        let fresh = Cell(recipe)
        plan.editor.setWithItsRecipe(fresh, at: id)
        plan.created.append(fresh)
    }

    /// Whether a shared instance follows where it is: one of a confined type is injected into again in its domain. One of a
    /// shared type may be read by any thread at any time, and is made anew.
    private func isChangedInPlace(_ id: UInt32, _ changed: Set<UInt32> = []) -> Bool {
        // What a thread has for itself is touched by that thread alone.
        guard let recipe = graph.recipe(id), recipe.scope.isShared, recipe.scope != .thread else { return false }
        return recipe.type?.domain != nil || !changed.isEmpty && recipe.hears(of: changed)
    }

    /// Whether only lists are other ones whose holder hears of what comes and goes.
    private func hearsOfChange(_ former: Recipe, _ recipe: Recipe) -> Bool {
        recipe.scope.isShared && recipe.hears(of: []) && former.deafBindings == recipe.deafBindings
    }

    /// Whether somebody may hold what the key made: built (or being built) if shared; of other scopes holders always count.
    private func isHeld(_ id: UInt32) -> Bool {
        guard graph.cell(id) != nil, let recipe = graph.recipe(id) else { return false }
        return !recipe.scope.isShared || observed.isHeld(id)
    }

    /// Plain aliases lead to what they name.
    func planAliases(_ plan: inout Plan) throws(Failure) {
        var changed = plan.touched.union(plan.definitions.keys)
        // What was bound anew or found to be in a circle has another recipe, and stays who it is.
        for id in plan.circled.union(plan.recipes.keys) { changed.formUnion(before.links.allAliases(of: id)) }
        for id in changed.sorted() {
            try Loading.check()
            guard let definition = next(id, plan), definition.isPlainAlias, let target = target(of: id, plan)
            else { continue }
            plan.aliased.append((id, target.id))
            plan.editor.set(plan.editor.recipe(target.id), at: id)
            plan.editor.set(plan.editor.block(target.id), at: id)
        }
        // Blocks that were only tuned show through their aliases, too.
        for id in plan.retunedBlocks {
            for alias in before.links.allAliases(of: id) { plan.editor.set(plan.editor.block(id), at: alias) }
        }
    }

    /// The definition behind a key, plain aliases followed.
    private func target(of id: UInt32, _ plan: Plan) -> Definition? {
        var definition = next(id, plan)
        var seen: Set<UInt32> = [id]
        while let alias = definition?.alias, definition?.isPlainAlias == true,
            let target = names.id(of: alias)
        {
            guard seen.insert(target).inserted else { return nil }
            definition = next(target, plan)
        }
        return definition
    }
}
