internal import HashTreeCollections
internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

extension Planner {
    /// Compiles the definitions that change, and those that were bound by type to an added or removed one.
    func compile(
        _ definitions: inout DefinitionPlan, _ config: ConfigPlan, _ processors: [Processor],
        _ editor: inout GraphEditor,
        _ failures: inout [Failure]
    ) throws(Failure) -> Compiled {
        var compiled = Compiled()
        var blockedSoFar = before.blocked
        if !blockedSoFar.isEmpty { for id in definitions.changed.keys { blockedSoFar[id] = nil } }
        wake(&definitions, config, &blockedSoFar)
        // Each definition that may be unblocked is compiled as such. If one turns out to lack a dependency, its holders are compiled again.
        var found: [Failure] = []
        while true {
            found = []
            let lacking = try compile(&compiled, definitions, config, processors, blockedSoFar, &editor, &found)
            for id in lacking.keys where blockedSoFar[id] == nil && definitions.changed[id] == nil {
                definitions.changed[id] = kept(id, definitions).map { .some($0) } ?? .none
            }
            let isSettled = lacking.allSatisfy { blockedSoFar[$0.key] != nil }
            blockedSoFar.merge(lacking) { _, needs in needs }
            if isSettled { break }
        }
        failures += found + coveredFailures(definitions)
        compiled.blocked = blockedSoFar
        if failures.isEmpty { assignDecorators(&definitions, &compiled, &failures) }
        try Loading.check()
        findCycles(&compiled, definitions, &editor, &failures)
        try CaptiveSearch(self, definitions, compiled).find(&failures)
        return compiled
    }

    /// Returns the errors that the definitions would have without overrides. Otherwise these might never end. An override below
    /// another one may be unsuitable: it can end first.
    func failuresBelowOverrides(
        _ definitions: DefinitionPlan, _ config: ConfigPlan, _ processors: [Processor]
    ) throws(Failure) -> [Failure] {
        guard hasCovers(definitions), !definitions.isNothing || !config.changes.isEmpty else { return [] }
        var below = definitions
        var overridden: [UInt32] = []
        for id in before.covers.overridden.union(definitions.covers.keys) {
            guard let covers = covers(id, definitions), !covers.overrides.isEmpty,
                let base = definitions.changed[id] ?? before.definitions[id]
            else { continue }
            below.changed[id] = .some(base)
            below.covers[id] = Covers(wiring: covers.wiring)
            overridden.append(id)
        }
        guard !overridden.isEmpty else { return [] }
        var rebased: Set<UInt32> = []
        addChildren(of: overridden.sorted(), &below, &rebased)
        var failures: [Failure] = []
        var editor = GraphEditor(graph)
        _ = try compile(&below, config, processors, &editor, &failures)
        return failures.map { failure in
            var failure = failure
            failure.message += "; this is the definition below an override, which applies when the override ends"
            return failure
        }
    }

    /// Returns errors of overrides below others: each must keep its parents, because it is in force when those above end.
    private func coveredFailures(_ definitions: DefinitionPlan) -> [Failure] {
        guard hasCovers(definitions) else { return [] }
        return definitions.changed.sorted { $0.key < $1.key }.flatMap { (id, base) -> [Failure] in
            guard let base, let covers = covers(id, definitions) else { return [] }
            return covers.overrides.dropLast().map(\.definition).compactMap { layer in
                guard let name = layer.body.parent, !layer.body.flags.contains(.waits) else { return nil }
                let parent = names.id(of: name)
                guard parent.flatMap({ definitions.changed[$0] ?? before.definitions[$0] }) == nil else { return nil }
                return Failure(
                    .notFound, "the parent '\(name)' of an overridden definition of '\(base.key)' is not defined",
                    path: base.key, at: layer.location)
            }
        }
    }

    /// Compiles blocked definitions again that may no longer be blocked: those that are blocked on a change, and those that refer to
    /// one, because a definition that refers to it wrongly is refused whether it is blocked or not.
    private func wake(
        _ definitions: inout DefinitionPlan, _ config: ConfigPlan, _ blocked: inout TreeDictionary<UInt32, [String]>
    ) {
        guard !blocked.isEmpty else { return }
        var queue = Array(definitions.changed.keys)
        func wake(_ holder: UInt32) {
            guard blocked.removeValue(forKey: holder) != nil, definitions.changed[holder] == nil else { return }
            definitions.changed[holder] = kept(holder, definitions).map { .some($0) } ?? .none
            queue.append(holder)
        }
        for setting in config.changedIDs { for holder in before.links.dependents.holders(of: setting) { wake(holder) } }
        while let id = queue.popLast() {
            for holder in before.links.dependents.holders(of: id) { wake(holder) }
            guard let definition = next(id, definitions) else { continue }
            var holders = before.links.blockedOn[definition.key]
            if let type = typeNext(definition, definitions) {
                for name in [type.name] + type.description.supertypes {
                    holders.formUnion(before.links.typeQueries[name])
                }
            }
            for holder in holders { wake(holder) }
        }
    }

    /// Returns a definition that has the same content as before.
    private func kept(_ id: UInt32, _ definitions: DefinitionPlan) -> Definition? {
        definitions.moved[id] ?? before.definitions[id]
    }

    /// Compiles everything with the definitions that are blocked so far. Returns the blocked ones with their missing dependencies.
    private func compile(
        _ compiled: inout Compiled, _ definitions: DefinitionPlan, _ config: ConfigPlan, _ processors: [Processor],
        _ blockedSoFar: TreeDictionary<UInt32, [String]>, _ editor: inout GraphEditor, _ failures: inout [Failure]
    ) throws(Failure) -> [UInt32: [String]] {
        compiled.recipes = [:]
        var changed = definitions.changed
        if hasCovers(definitions) {
            for (id, definition) in changed where definition != nil { changed[id] = .some(next(id, definitions)) }
        }
        let former = before.definitions
        let covers = before.covers
        let bases = definitions.changed
        let identify: (String) -> UInt32? = { name in names.id(of: name) }
        let described: (UInt32) -> Definition? = { id in
            if let definition = changed[id] { return definition }
            guard let own = covers[id], !own.isEmpty else { return former[id] }
            return former[id].map { base in
                own.wired(base) { name in
                    identify(name).flatMap { id in (bases[id] ?? former[id])?.wired(by: covers[id]?.wiring) }
                }
            }
        }
        var types = graph.types
        let planned = changed
        let lookup = DefinitionLookup(
            described: described, identify: identify,
            knownKeys: {
                // Without removed ones.
                let staying = former.values.filter { !planned.contains($0.id) }
                return (staying.map(\.key) + planned.values.compactMap { $0?.key }).sorted()
            },
            inactiveAssembly: registrations.inactiveAssembly(of:), missingDependencies: { blockedSoFar[$0] })
        var typeNames: Set<String> = []
        var replaced: [TypeIndex.Change] = []
        let ordered = changed.sorted { $0.key < $1.key }
        replaced.reserveCapacity(ordered.count)
        var loading = LoadSteps()
        for (id, definition) in ordered {
            try loading.step()
            let next = blockedSoFar.isEmpty || blockedSoFar[id] == nil ? definition.map(lookup.flat) : nil
            replaced.append(TypeIndex.Change(id: id, definition: next, former: typed(id)))
        }
        typeNames.formUnion(types.set(replaced))
        let moved = definitions.moved.compactMap { (id, definition) -> Definition? in
            guard changed[id] == nil, let former = typed(id), former.body.order != definition.body.order
            else { return nil }
            return former.with { $0.order = definition.body.order }
        }
        if !moved.isEmpty { typeNames.formUnion(types.move(moved)) }
        editor.types = types
        var compiler = RecipeCompiler(
            .init(
                definitions: lookup, types: types, config: registrations.lookup(config.layers ?? before.config),
                scopeFailure: registrations.scopeFailure, fillsNeeds: registrations.fillsNeeds))
        for (id, definition) in ordered {
            guard let definition else { continue }
            // A converter of the host may take long.
            try Loading.check()
            let former = graph.recipe(id).flatMap { before.alias(id) == nil ? $0 : nil }
            if let recipe = compiler.compile(definition, former: former) {
                compiled.recipes[id] = recipe
            }
        }
        try reconfigure(&compiled, definitions, config, &compiler)
        failures += compiler.ownFailures
        // A covered definition is in force when what covers it ends, so each change that concerns it checks it. Definitions whose
        // override ends here, and removed ones, are compiled above.
        compiled.covered = [:]
        for id in concernedCovers(definitions, config) {
            guard blockedSoFar[id] == nil, let base = bases[id] ?? former[id], let own = self.covers(id, definitions)
            else {
                continue
            }
            var sound: [(Definition, Recipe)] = []
            defer { compiled.covered[id] = CoveredReferences.found(sound) }
            for layer in own.covered(base) {
                try Loading.check()
                var alone = compiler
                if let recipe = alone.compile(layer, former: nil) {
                    sound.append((layer, recipe))
                    continue
                }
                // The definition in force may have the same error, at the line of the decision about it.
                failures += alone.failures(after: compiler.failureCount).filter { failure in
                    !compiler.ownFailures.contains { $0.isSameElsewhere(as: failure) }
                }
            }
        }
        try rebind(typeNames, changed, definitions, processors, &compiled, &compiler, &failures)
        compiled.needs = compiler.needs
        var blocked: [UInt32: [String]] = [:]
        for (id, recipe) in compiled.recipes where !recipe.waits.isEmpty { blocked[id] = recipe.waits }
        return blocked
    }

    /// Returns the definition that lookups by type have found under a key until now.
    private func typed(_ id: UInt32) -> Definition? {
        guard let recipe = graph.recipe(id), recipe.id == id, before.blocked[id] == nil else { return nil }
        // Its position may have changed since it was compiled.
        let definition = recipe.definition
        guard let order = before.definitions[id]?.body.order, order != definition.body.order else { return definition }
        return definition.with { $0.order = order }
    }

    /// Returns the covered keys whose definitions the plan concerns, in order: those that change, and those that depend on a change under
    /// any name.
    private func concernedCovers(_ definitions: DefinitionPlan, _ config: ConfigPlan) -> [UInt32] {
        guard hasCovers(definitions), !definitions.changed.isEmpty || !config.changes.isEmpty else { return [] }
        var seen = Set(definitions.changed.keys)
        var queue = Array(seen)
        if !before.covers.isEmpty {
            while let id = queue.popLast() {
                for next in before.links.dependents.holders(of: id) where seen.insert(next).inserted {
                    queue.append(next)
                }
                for next in before.links.aliases[id] where seen.insert(next).inserted { queue.append(next) }
            }
        }
        let found = before.covers.references.concerned(by: seen.union(config.changedIDs)).union(definitions.covers.keys)
        return found.union(definitions.changed.keys.filter { before.covers[$0] != nil }).sorted()
    }

    /// Compiles the holders of removed definitions, and the definitions with a type query that has other candidates now.
    private func rebind(
        _ typeNames: Set<String>, _ changed: IDTable<Definition?>, _ definitions: DefinitionPlan,
        _ processors: [Processor],
        _ compiled: inout Compiled, _ compiler: inout RecipeCompiler, _ failures: inout [Failure]
    ) throws(Failure) {
        var holders: Set<UInt32> = []
        for name in typeNames { holders.formUnion(before.links.typeQueries[name]) }
        if !before.links.optionalReferences.isEmpty {
            for definition in changed.values {
                holders.formUnion(definition.flatMap { before.links.optionalReferences[$0.key] } ?? [])
            }
        }
        // A definition with other runtime arguments may be given too many or too few.
        var loading = LoadSteps()
        for (id, recipe) in compiled.recipes {
            try loading.step()
            let former = graph.recipe(id)
            // An alias accepts any number of arguments.
            if former?.id != id || former.map({ $0.takesSameArguments(as: recipe) }) == false {
                // An alias may bind arguments itself.
                holders.formUnion(before.links.dependents.holders(of: id))
                holders.formUnion(holdersByAnyName(of: id))
            }
            // An object of another type may not fit any more.
            if let former, former.type !== recipe.type { holders.formUnion(holdersByAnyName(of: id)) }
            // Nothing may depend on a definition that has become abstract. One that no longer is takes the arguments that it declares.
            if recipe.isAbstract
                ? former?.id != id || former?.isAbstract == false : former?.id == id && former?.isAbstract == true
            {
                holders.formUnion(before.links.dependents.holders(of: id))
                holders.formUnion(before.links.aliases[id])
            }
            // Nothing may look up objects that are not kept any more, under any name. For a choice this depends on all options.
            if recipe.definition.body.choice != nil
                || !recipe.mayBeKept && (former?.id != id || former?.mayBeKept == true)
            {
                var others: Set<UInt32> = [id]
                var queue = [id]
                while let name = queue.popLast() {
                    let found = before.links.dependents.holders(of: name)
                    holders.formUnion(found)
                    let choices = found.filter { next($0, definitions).map { $0.body.choice != nil } == true }
                    for other in choices + before.links.aliases[name] where others.insert(other).inserted {
                        queue.append(other)
                    }
                }
            }
        }
        for (id, definition) in changed where definition?.alias != nil { holders.formUnion(holdersByAnyName(of: id)) }
        for (id, definition) in changed.sorted(by: { $0.key < $1.key }) where definition == nil {
            try Loading.check()
            for holder in before.links.dependents.holders(of: id).sorted() where changed[holder] == nil {
                holders.insert(holder)
                guard let definition = next(holder, definitions) else { continue }
                if compiler.compile(definition, former: graph.recipe(holder)) == nil {
                    holders.remove(holder)
                    failures.append(
                        Failure(
                            .notFound, "\(shown(id)) cannot be removed: '\(definition.key)' needs it",
                            path: definition.key, at: definition.location))
                }
            }
            for child in before.links.children[id].sorted() where changed[child] == nil {
                failures.append(
                    Failure(
                        .notFound,
                        "\(shown(id)) cannot be removed: it is the parent of '\(names.name(child))'"
                    ))
            }
            for alias in before.links.aliases[id].sorted() where changed[alias] == nil {
                failures.append(
                    Failure(
                        .notFound,
                        "\(shown(id)) cannot be removed: the alias '\(names.name(alias))' names it"
                    ))
            }
        }
        for processor in processorsAfter(definitions) where !processors.contains(where: { $0 === processor }) {
            guard let key = processor.key, let removed = changed[key.id], removed == nil else { continue }
            failures.append(
                Failure(
                    .notFound,
                    "'\(key.name)' cannot be removed: the processor '\(processor.name)' is for it; remove the processor too (unprocess)",
                    path: key.name, at: processor.location))
        }
        // Dependents of a definition that becomes blocked are compiled again.
        for id in changed.keys where compiler.context.definitions.isBlocked(id) {
            holders.formUnion(before.links.dependents.holders(of: id))
            holders.formUnion(before.links.aliases[id])
        }
        for holder in holders.sorted() where changed[holder] == nil {
            try Loading.check()
            guard let definition = next(holder, definitions), let former = graph.recipe(holder) else { continue }
            let before = compiler.failureCount
            if let recipe = compiler.compile(definition, former: former) {
                if recipe.references.bindings != former.references.bindings
                    || !recipe.references.hasSameEdges(as: (former.undecorated ?? former).references)
                    || recipe.waits != former.waits
                {
                    compiled.recipes[holder] = recipe
                    compiled.reconfigured.remove(holder)
                }
            } else {
                failures += compiler.failures(after: before)
            }
        }
    }

    /// A key for messages. That of a binding is internal.
    private func shown(_ id: UInt32) -> String {
        let key = names.name(id)
        return Definition.settings(of: key).map { "the settings '\($0)'" } ?? "'\(key)'"
    }

    /// Returns the holders of a key, by its own name or by an alias.
    private func holdersByAnyName(of id: UInt32) -> Set<UInt32> {
        if before.links.aliases[id].isEmpty {
            let holders = before.links.dependents.holders(of: id)
            return holders.isEmpty ? [] : Set(holders).subtracting(CollectionOfOne(id))
        }
        var others: Set<UInt32> = [id]
        var queue = [id]
        var holders: Set<UInt32> = []
        while let name = queue.popLast() {
            holders.formUnion(before.links.dependents.holders(of: name))
            for alias in before.links.aliases[name] where others.insert(alias).inserted { queue.append(alias) }
        }
        return holders.subtracting(others)
    }

    // MARK: cycles

    /// Marks compiled definitions in a cycle. A cycle of initializers alone is an error.
    private func findCycles(
        _ compiled: inout Compiled, _ planned: DefinitionPlan, _ editor: inout GraphEditor,
        _ failures: inout [Failure]
    ) {
        let recipes = compiled.recipes
        let definitions = before.definitions
        let changed = planned.changed
        let isWhole = failures.isEmpty
        func recipe(_ id: UInt32) -> Recipe? {
            if let recipe = recipes[id] { return recipe }
            // A removed definition leads nowhere. The former compiled definition of an invalid one does not apply any more.
            if let definition = changed[id], definition == nil || !isWhole { return nil }
            return graph.recipe(id)
        }
        func alias(_ id: UInt32) -> String? {
            let covers = covers(id, planned)
            if covers == nil, changed[id] == nil { return definitions.alias(id) }
            guard let base = changed[id] ?? definitions[id] else { return nil }
            return covers?.alias(over: base) ?? (covers == nil ? base.alias : nil)
        }
        func targets(_ id: UInt32, _ edges: (Recipe) -> [UInt32]) -> [UInt32] {
            if let own = recipes[id], own.id == id, own.definition.alias == nil { return edges(own) }
            // A plain alias has no recipe of its own.
            if let alias = alias(id), recipes[id] != nil || graph.recipe(id)?.id != id {
                return names.id(of: alias).map { [$0] } ?? []
            }
            return recipe(id).map(edges) ?? []
        }
        let roots = recipes.keys.sorted()
        for cycle in Cycles.find(from: roots, { targets($0, \.references.held) }) {
            for id in cycle {
                if let own = recipes[id] {
                    compiled.recipes[id] = own.inCycle()
                } else if let known = graph.recipe(id), known.id == id, !known.isInCycle {
                    editor.set(known.inCycle(), at: id)
                    compiled.cyclic.insert(id)
                }
            }
        }
        for cycle in Cycles.find(from: roots, { targets($0, \.initializing) }) {
            let members = Set(cycle)
            let start = cycle.filter { recipes[$0] != nil }.min() ?? cycle[0]
            let path = Cycles.path(from: start, within: members) { targets($0, \.initializing) }.map(names.name)
            let location = recipe(start)?.definition.location ?? Location()
            let isMade = cycle.contains { alias($0) == nil }
            failures.append(
                Failure(
                    .cycle,
                    "cyclic dependency: \(path.path())"
                        + (isMade
                            ? ", all through initializers; inject one of them as a property, or by a provider" : ""),
                    path: names.name(start), at: location))
        }
    }
}
