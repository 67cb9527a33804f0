internal import CInvivo
internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

extension Planner {
    /// Plans the affected set: exactly the dependents of the changes, along the reverse edges.
    func planCells(
        _ wiring: NextWiring, _ rebased: Set<UInt32>, _ effects: inout Effects,
        _ restarts: inout PendingRestarts.Changes, _ failures: inout [Failure],
        _ warnings: inout [Report.Warning]
    ) throws(Failure) -> KeptDependencies.Changes {
        var affected: [UInt32] = []
        var seen: IDSet = []
        var reinjected: Set<UInt32> = []
        // Holders that are not built: they get a new slot, so that objects built during the commit belong to the next graph.
        var cold: Set<UInt32> = []
        func isDeclared(_ id: UInt32) -> Bool { wiring.definitions.changed[id] != nil && !rebased.contains(id) }
        let resets = Set(resetKeys(wiring, effects.editor))
        var queue: [UInt32] = []
        var unaffected: Set<UInt32> = []
        for id in wiring.definitions.changed.keys.sorted() {
            if !resets.contains(id), planRestart(id, wiring, &effects, &restarts, &failures) { continue }
            if !resets.contains(id), isUnaffected(id, wiring) {
                unaffected.insert(id)
                continue
            }
            if !rebased.contains(id) { queue.append(id) }
        }
        queue += wiring.config.changedIDs.sorted()
        var followers = Followers(self, wiring.definitions.changed, unaffected: unaffected.union(rebased))
        // Keys that are bound to something else now: rebuilt if they received it through the initializer.
        let rebound = wiring.compiled.recipes.filter { id, recipe in
            (wiring.definitions.changed[id] == nil || rebased.contains(id) && isBoundAnew(recipe))
                && !wiring.compiled.reconfigured.contains(id)
        }
        for (id, recipe) in rebound.sorted(by: { $0.key < $1.key }) {
            effects.store.touched.insert(id)
            // The object has the references of its own definition.
            if waiting(id) != nil, recipe.waits.isEmpty { continue }
            if let former = graph.recipe(id), isHeld(id), followers.stays(id, bound: recipe, after: former) { continue }
            if let former = graph.recipe(id), former.hasSameInitializer(as: recipe), isHeld(id),
                isChangedInPlace(id) || isNotifiedOfChange(former, recipe)
            {
                effects.steps.rebound.insert(id)
            } else {
                queue.append(id)
                if !isHeld(id) { cold.insert(id) }
                // Tracked objects stay.
                if recipe.isTracked { effects.steps.rebound.insert(id) }
            }
        }
        seen.reserveCapacity(queue.count)
        seen.formUnion(queue)
        let reset = resets.filter { !seen.contains($0) }
        queue += reset.sorted()
        seen.formUnion(reset)
        var next = 0
        var loading = LoadSteps()
        while next < queue.count {
            try loading.step()
            let id = queue[next]
            next += 1
            if !wiring.config.changedIDs.contains(id) { affected.append(id) }
            let aliases = before.links.aliases[id]
            if !aliases.isEmpty { for alias in aliases.sorted() where seen.insert(alias) { queue.append(alias) } }
            for (holder, edge) in before.links.dependents[id].sorted(by: { $0.key < $1.key }) where !edge.isDeferred {
                if wiring.config.changedIDs.contains(id), let recipe = wiring.compiled.recipes[holder],
                    graph.recipe(holder)?.isSameChoice(as: recipe) == true
                {
                    continue
                }
                let isHeld = isHeld(holder)
                var edge = edge
                if let waiting = waiting(holder) {
                    guard let own = waiting.references.edges.first(where: { $0.id == id }), !own.edge.isDeferred else {
                        continue
                    }
                    // It is rebuilt from the current definition, or stays.
                    edge = Edge(.initializer, own.edge.onChange, owns: own.edge.owns)
                }
                if isHeld && followers.stays(holder, edge.onChange, when: id) { continue }
                if edge.way == .injection && edge.onChange == .follow && isHeld && isChangedInPlace(holder, [id]) {
                    reinjected.insert(holder)
                } else if seen.insert(holder) {
                    queue.append(holder)
                    if !isHeld { cold.insert(holder) }
                }
            }
            for holder in observed.recordedDependents(of: id).sorted()
            where isHeld(holder) && seen.insert(holder) {
                queue.append(holder)
            }
        }
        failures += followers.failures((wiring.config.layers ?? before.config).tree)
        effects.steps.rebuilt = seen
        effects.store.touched = effects.store.touched.isEmpty ? seen : effects.store.touched.union(seen)
        for id in affected {
            try loading.step()
            planReplacement(
                id, wiring, &effects, isDeclared: isDeclared(id), isCold: cold.contains(id),
                isReset: reset.contains(id))
        }
        for id in rebased where !seen.contains(id) { rebase(id, wiring, &effects) }
        // Rebuilt keys have their compiled definition with their slot.
        for (id, recipe) in wiring.compiled.recipes where !seen.contains(id) || wiring.config.changedIDs.contains(id) {
            // An object that is being built keeps its equal definition, so that no commit overtakes it. A definition with values of the
            // configuration that change has other constants.
            if unaffected.contains(id), recipe.definition.body.choice == nil,
                !recipe.references.edges.contains(where: { wiring.config.changedIDs.contains($0.id) })
            {
                continue
            }
            effects.editor.set(recipe, at: id)
        }
        for id in reinjected.union(effects.steps.rebound).sorted() where !seen.contains(id) {
            guard let cell = graph.cell(id), !observed.objects(id).isEmpty else { continue }
            effects.steps.reinjected.append((id, cell))
            effects.changes.append(Report.Change(key: names.name(id), what: INVIVO_CHANGED_REINJECTED))
        }
        return planKept(followers.kept, wiring, &effects, &warnings)
    }

    /// Whether objects do not depend on a change of a definition, because it lies below an override or a decision of a document, or is
    /// a decision that leads to the same definition as before. An override that begins or ends always replaces the object.
    private func isUnaffected(_ id: UInt32, _ wiring: NextWiring) -> Bool {
        let (above, aboveNext) = (before.covers[id], covers(id, wiring.definitions))
        guard above != nil || aboveNext != nil, above?.overrides.last === aboveNext?.overrides.last,
            let next = next(id, wiring.definitions)
        else { return false }
        if next.isPlainAlias, let former = before.inForce(id), former.isPlainAlias {
            return former.alias.isSameName(as: next.alias)
        }
        guard let former = graph.recipe(id), former.id == id, let recipe = wiring.compiled.recipes[id], recipe.id == id,
            former.waits.isEmpty, recipe.waits.isEmpty, recipe.takesSameArguments(as: former)
        else { return false }
        if recipe.isSameChoice(as: former) { return true }
        let (own, other) = (recipe.undecorated ?? recipe, former.undecorated ?? former)
        return own.definition.isSame(as: other.definition) && own.definition.hasSameBase(as: other.definition)
            && hasSameKeys(own.references, other.references)
            && own.references.bindings == other.references.bindings
            && recipe.hasSameDecorators(as: former.decorators)
    }

    /// Whether a definition refers to other keys than before. Of a key of which only base values change, another change is the reason.
    private func isBoundAnew(_ recipe: Recipe) -> Bool {
        guard let former = graph.recipe(recipe.id), former.id == recipe.id else { return false }
        let (own, other) = (recipe.undecorated ?? recipe, former.undecorated ?? former)
        return recipe.waits != former.waits || !hasSameKeys(own.references, other.references)
            || own.references.bindings != other.references.bindings
            || !recipe.hasSameDecorators(as: former.decorators)
    }

    /// Whether both refer to the same keys in the same ways. Changes of the configuration reach their readers as always.
    private func hasSameKeys(_ one: Recipe.References, _ other: Recipe.References) -> Bool {
        if one.hasSameEdges(as: other) { return true }
        func isKey(_ id: UInt32) -> Bool { names.configPath(id) == nil }
        return one.edges.filter { isKey($0.id) }.elementsEqual(other.edges.filter { isKey($0.id) }) {
            $0.id == $1.id && $0.edge == $1.edge
        }
    }

    /// Plans a changed definition that is declared `restart`: its object stays, and keeps its slot. Returns false if it does not.
    private func planRestart(
        _ id: UInt32, _ wiring: NextWiring, _ effects: inout Effects, _ restarts: inout PendingRestarts.Changes,
        _ failures: inout [Failure]
    ) -> Bool {
        guard let cell = graph.cell(id), cell.waitsForRestart, cell.id == id, isHeld(id),
            before.covers[id]?.overrides.isEmpty != false, wiring.definitions.covers[id]?.overrides.isEmpty != false,
            let definition = next(id, wiring.definitions), let recipe = wiring.compiled.recipes[id]
        else { return false }
        let former = cell.recipe
        let differing: String? =
            if !recipe.waits.isEmpty {
                "activation"
            } else if recipe.type !== former.type || definition.alias != nil || definition.body.choice != nil {
                "type"
            } else if recipe.scope != former.scope {
                "scope"
            } else {
                recipe.isExclusive != former.isExclusive ? "flag 'exclusive'" : nil
            }
        if let differing {
            failures.append(
                Failure(
                    .refused,
                    "'\(definition.key)' is declared restart, and its object exists: its \(differing) cannot change meanwhile; "
                        + "reset the key in the same change set, or restart the program",
                    path: definition.key, at: definition.location))
            return true
        }
        // Rank and visibility take effect at once.
        let atOnce: Definition.Flags = [.hiddenClass, .hiddenInterface]
        let comparable = recipe.definition.with { body in
            body.rank = former.definition.body.rank
            body.flags = body.flags.subtracting(atOnce).union(former.definition.body.flags.intersection(atOnce))
        }
        let isBack = comparable.isSame(as: former.definition) && comparable.hasSameBase(as: former.definition)
        restarts[id, default: .init()].definition = !isBack
        effects.store.touched.insert(id)
        if !isBack {
            effects.changes.append(
                Report.Change(
                    key: definition.key, what: INVIVO_CHANGED_PENDING, at: definition.location,
                    from: origin(of: definition, wiring.definitions, wiring.origins)))
        }
        return true
    }

    /// The compiled definition that the existing object of a key was created from, if a change of its definition waits for a restart.
    private func waiting(_ id: UInt32) -> Recipe? {
        guard before.restarts.since(id) != nil, let cell = graph.cell(id), cell.id == id, isHeld(id) else { return nil }
        return cell.recipe
    }

    /// Plans the holders that keep dependencies that the plan replaces.
    private func planKept(
        _ kept: [UInt32: Set<UInt32>], _ wiring: NextWiring, _ effects: inout Effects,
        _ warnings: inout [Report.Warning]
    ) -> KeptDependencies.Changes {
        var changes: KeptDependencies.Changes = [:]
        var rebuilt = effects.steps.rebuilt
        func catchUp(_ id: UInt32, _ changed: IDSet?, isWhole: Bool = false) {
            guard let recipe = effects.editor.recipe(id) else { return }
            let caughtUp = recipe.keptKeys(injectedWith: changed, isWhole: isWhole)
            if isWhole {
                changes[id] = .init(remaining: recipe.references.kept.subtracting(caughtUp))
            } else if !caughtUp.isEmpty {
                changes[id] = .init(caughtUp: caughtUp)
            }
        }
        // Tracked objects stay. If their own definition changes, everything is injected again.
        for (id, _, isWhole) in effects.steps.followed {
            if !isWhole { rebuilt.remove(id) }
            catchUp(id, effects.steps.changed(for: id), isWhole: isWhole)
        }
        for (id, _) in effects.steps.reinjected { catchUp(id, effects.steps.changed(for: id)) }
        for (id, dependencies) in kept.sorted(by: { $0.key < $1.key }) where !rebuilt.contains(id) {
            guard let recipe = graph.recipe(id) else { continue }
            // Objects that are created from now on receive the new ones.
            if !recipe.scope.isShared { effects.store.reshaped.insert(id) }
            var ids = dependencies.subtracting(changes[id]?.caughtUp ?? [])
            if let remaining = changes[id]?.remaining { ids.formIntersection(remaining) }
            let objects = recipe.isTracked ? observed.trackedObjects(id).map(\.object) : observed.objects(id)
            guard !objects.isEmpty else { continue }
            let values = settings(ids, wiring)
            for (dependency, value) in values.next where before.kept.have(value, of: dependency, id, objects) {
                changes[id, default: .init()].returned.insert(dependency)
                changes[id]?.objects = objects
                ids.remove(dependency)
            }
            guard !ids.isEmpty else { continue }
            changes[id, default: .init()].begun = ids
            changes[id]?.values = values.former
            changes[id]?.objects = objects
            let definition = recipe.definition
            effects.changes.append(
                Report.Change(
                    key: names.name(id), what: INVIVO_CHANGED_KEPT, at: definition.location,
                    from: origin(of: definition, wiring.definitions, wiring.origins)))
            let list = ids.map { dependency in
                names.configPath(dependency).map { "value of '\($0)'" } ?? "'\(names.name(dependency))'"
            }.sorted().listed()
            let isUsual = definition.body.onChange == nil && definition.body.flags.contains(.restart)
            warnings.append(
                Report.Warning(
                    .kept,
                    "'\(definition.key)' keeps the former \(list) until it is rebuilt (\(isUsual ? "restart" : "on_change: keep"))",
                    at: definition.location))
        }
        return changes
    }

    /// The values before and after the plan of those ids that are configuration paths with a value that is no list or map.
    private func settings(_ ids: Set<UInt32>, _ wiring: NextWiring) -> (former: [UInt32: Value], next: [UInt32: Value])
    {
        var (former, next): ([UInt32: Value], [UInt32: Value]) = ([:], [:])
        for id in ids {
            guard let path = names.configPath(id) else { continue }
            if case .value(let value)? = before.config.tree.find(path)?.content { former[id] = value }
            if case .value(let value)? = (wiring.config.layers ?? before.config).tree.find(path)?.content {
                next[id] = value
            }
        }
        return (former, next)
    }

    /// Plans a key that is added, removed, or rebuilt.
    private func planReplacement(
        _ id: UInt32, _ wiring: NextWiring, _ effects: inout Effects, isDeclared: Bool, isCold: Bool, isReset: Bool
    ) {
        let former = graph.cell(id)
        let definition = next(id, wiring.definitions)
        let wasBuilt = former != nil && observed.isHeld(id)
        let wasAlias = former != nil && before.alias(id) != nil
        if let former, !wasAlias { effects.store.replaced.append(former) }
        let key = definition?.key ?? names.name(id)
        func note(_ what: Int) {
            effects.changes.append(
                Report.Change(
                    key: key, what: what, at: definition?.location ?? Location(),
                    from: origin(of: definition, wiring.definitions, wiring.origins)))
        }
        guard let definition else {
            effects.editor.set(nil as Cell?, at: id)
            effects.editor.set(nil as Recipe?, at: id)
            effects.editor.set(nil as Block?, at: id)
            return note(INVIVO_CHANGED_REMOVED)
        }
        // The block of a former target, or of a former type; a plain alias gets that of its target.
        if wasAlias || definition.alias != nil || (definition.type?.description.blockSize ?? 0) == 0,
            effects.editor.block(id) != nil
        {
            effects.editor.set(nil as Block?, at: id)
        }
        guard let recipe = wiring.compiled.recipes[id] ?? (definition.alias == nil ? effects.editor.recipe(id) : nil)
        else {
            return note(isDeclared ? INVIVO_CHANGED_DEFINED : INVIVO_CHANGED_REMADE)
        }
        if definition.alias != nil {
            effects.editor.setWithItsRecipe(Cell(recipe), at: id)
            return note(isDeclared ? INVIVO_CHANGED_DEFINED : INVIVO_CHANGED_REMADE)
        }
        let cell = Cell(recipe)
        effects.editor.setWithItsRecipe(cell, at: id)
        effects.steps.created.append(cell)
        if recipe.isTracked, !wasAlias {
            let objects = observed.trackedObjects(id)
            if !objects.isEmpty {
                effects.steps.followed.append((id, objects, isWhole: isDeclared))
            }
        }
        guard !isCold else { return }
        guard recipe.waits.isEmpty else { return note(INVIVO_CHANGED_DORMANT) }
        let hasInstance = recipe.type.map { !$0.isBlockOnly } ?? false
        let isEager = recipe.scope == .singleton && !recipe.isAbstract
        // Objects that are shared weakly or by arguments are rebuilt when they are resolved.
        let isAlone = recipe.scope == .lazySingleton && !recipe.needsArguments
        let isRebuilt = wasBuilt && !wasAlias && isAlone && observed.sharedObject(id) != 0
        let isBeingBuilt = wasBuilt && isAlone && observed.isBuilding(id)
        // A reset object is rebuilt when it is resolved. An exclusive one is rebuilt at once, so that it is never missing.
        let waitsForAsking = isReset && !recipe.isExclusive
        if hasInstance && !recipe.isAbstract && (isEager || !waitsForAsking && (isRebuilt || isBeingBuilt)) {
            effects.steps.builds.append((id, cell))
        }
        note(former == nil || !wasBuilt && isDeclared ? INVIVO_CHANGED_DEFINED : INVIVO_CHANGED_REMADE)
    }

    /// Plans a key of which only base values change: a built object is kept.
    private func rebase(_ id: UInt32, _ wiring: NextWiring, _ effects: inout Effects) {
        effects.store.touched.insert(id)
        guard let cell = graph.cell(id), let recipe = wiring.compiled.recipes[id], !observed.isHeld(id)
        else { return }
        effects.store.replaced.append(cell)
        let fresh = Cell(recipe)
        effects.editor.setWithItsRecipe(fresh, at: id)
        effects.steps.created.append(fresh)
    }

    /// Whether a shared instance is changed in place: one of a confined type is injected again in its domain. One of a shared type may be
    /// read by any thread at any time, and is rebuilt.
    private func isChangedInPlace(_ id: UInt32, _ changed: IDSet = []) -> Bool {
        // An object of thread scope is touched by its thread alone.
        guard let recipe = graph.recipe(id), recipe.scope.isShared, recipe.scope != .thread else { return false }
        return recipe.type?.domain != nil || !changed.isEmpty && recipe.isNotified(of: changed)
    }

    /// Whether only lists differ whose holder is notified of added and removed elements.
    private func isNotifiedOfChange(_ former: Recipe, _ recipe: Recipe) -> Bool {
        recipe.scope.isShared && recipe.isNotified(of: [])
            && former.references.unnotifiedBindings == recipe.references.unnotifiedBindings
    }

    /// Whether an object of the key may be in use: built or being built if shared. Objects of other scopes are always taken to be in use.
    private func isHeld(_ id: UInt32) -> Bool {
        guard graph.cell(id) != nil, let recipe = graph.recipe(id) else { return false }
        return !recipe.scope.isShared || observed.isHeld(id)
    }

    /// Plans the plain aliases of changed keys: they share the slot of their target.
    func planAliases(_ wiring: NextWiring, _ effects: inout Effects) throws(Failure) {
        let definitions = wiring.definitions
        guard
            hasCovers(definitions) || !before.links.aliases.isEmpty
                || definitions.changed.values.contains(where: { $0?.alias != nil })
        else { return }
        var changed = effects.store.touched.union(wiring.definitions.changed.keys)
        // Keys that were bound to something else, or found in a cycle, have another compiled definition and the same object.
        for id in wiring.compiled.cyclic.union(wiring.compiled.recipes.keys) {
            changed.formUnion(before.links.allAliases(of: id))
        }
        for id in changed.sorted() {
            try Loading.check()
            guard let definition = next(id, wiring.definitions), definition.isPlainAlias,
                let target = target(of: id, wiring.definitions)
            else { continue }
            effects.store.aliased.append((id, target.id))
            effects.editor.set(effects.editor.recipe(target.id), at: id)
            effects.editor.set(effects.editor.block(target.id), at: id)
        }
        // Aliases share blocks that were only tuned, too.
        for id in effects.store.retunedBlocks {
            for alias in before.links.allAliases(of: id) where target(of: alias, definitions)?.id == id {
                effects.editor.set(effects.editor.block(id), at: alias)
            }
        }
    }

    /// Returns the definition of a key; that of its target for a plain alias, or nil if it has none.
    private func target(of id: UInt32, _ definitions: DefinitionPlan) -> Definition? {
        var definition = next(id, definitions)
        var seen: Set<UInt32> = [id]
        while let alias = definition?.alias, definition?.isPlainAlias == true {
            guard let target = names.id(of: alias), seen.insert(target).inserted else { return nil }
            definition = next(target, definitions)
        }
        return definition
    }
}
