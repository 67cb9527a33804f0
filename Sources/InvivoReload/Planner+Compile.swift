internal import HashTreeCollections
internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

extension Planner {
    /// Recipes for everything that changes, and for what was bound by type to something that comes or goes.
    func compile(
        _ plan: inout Plan, _ rebased: Set<UInt32>, _ failures: inout [Failure]
    ) throws(Failure) {
        var asleep = before.blocked
        for id in plan.definitions.keys { asleep[id] = nil }
        wake(&plan, &asleep)
        // Whatever may be awake is taken to be, until something shows that it lacks what it needs; then who needs that is
        // looked at again.
        var found: [Failure] = []
        while true {
            found = []
            let lacking = try compile(&plan, asleep, &found)
            for id in lacking.keys where asleep[id] == nil && plan.definitions[id] == nil {
                plan.definitions[id] = kept(id, plan).map { .some($0) } ?? .none
            }
            let isSettled = lacking.allSatisfy { asleep[$0.key] != nil }
            asleep.merge(lacking) { _, needs in needs }
            if isSettled { break }
        }
        failures += found + coveredFailures(plan)
        plan.asleep = asleep
        if failures.isEmpty { assignDecorators(&plan, &failures) }
        try Loading.check()
        findCircles(&plan, &failures)
        try findCaptives(plan, &failures)
    }

    /// An override under another one keeps its parents too: it is all of the key when the other goes.
    private func coveredFailures(_ plan: Plan) -> [Failure] {
        plan.definitions.sorted { $0.key < $1.key }.flatMap { (id, base) -> [Failure] in
            guard let base, let covers = plan.overrides[id] ?? before.overrides[id], !covers.isEmpty else { return [] }
            return covers.dropLast().map(\.definition).compactMap { layer in
                guard let name = layer.body.parent, !layer.body.flags.contains(.waits) else { return nil }
                let parent = names.id(of: name)
                guard parent.flatMap({ plan.definitions[$0] ?? before.definitions[$0] }) == nil else { return nil }
                return Failure(
                    .notFound, "the parent '\(name)' of what is under the override of '\(base.key)' is not defined",
                    path: base.key, at: layer.place)
            }
        }
    }

    /// Compiles blocked definitions again that may no longer be blocked: those that are blocked on a change, and those that refer to
    /// one, because a definition that refers to it wrongly is refused whether it is blocked or not.
    private func wake(_ plan: inout Plan, _ blocked: inout TreeDictionary<UInt32, [String]>) {
        guard !blocked.isEmpty else { return }
        var queue = Array(plan.definitions.keys)
        func wake(_ holder: UInt32) {
            guard blocked.removeValue(forKey: holder) != nil, plan.definitions[holder] == nil else { return }
            plan.definitions[holder] = kept(holder, plan).map { .some($0) } ?? .none
            queue.append(holder)
        }
        for setting in plan.settingIDs { for holder in before.links.dependents.holders(of: setting) { wake(holder) } }
        while let id = queue.popLast() {
            for holder in before.links.dependents.holders(of: id) { wake(holder) }
            guard let definition = next(id, plan) else { continue }
            var holders = before.links.blockedOn[definition.key]
            if let type = typeNext(definition, plan) {
                for name in [type.name] + type.description.supertypes {
                    holders.formUnion(before.links.typeQueries[name])
                }
            }
            for holder in holders { wake(holder) }
        }
    }

    /// A definition that says what it said before.
    private func kept(_ id: UInt32, _ plan: Plan) -> Definition? { plan.moved[id] ?? before.definitions[id] }

    /// The same with what lies dormant by now. Answers what lacks something, and what that is.
    private func compile(
        _ plan: inout Plan, _ asleep: TreeDictionary<UInt32, [String]>, _ failures: inout [Failure]
    ) throws(Failure) -> [UInt32: [String]] {
        plan.recipes = [:]
        var changed = plan.definitions
        for (id, definition) in changed where definition != nil { changed[id] = .some(next(id, plan)) }
        let former = before.definitions
        let stacks = before.overrides
        let bases = plan.definitions
        let identify: (String) -> UInt32? = { name in names.id(of: name) }
        let described: (UInt32) -> Definition? = { id in
            if let definition = changed[id] { return definition }
            guard let stack = stacks[id], !stack.isEmpty else { return former[id] }
            return former[id].map { base in
                base.covered(by: stack) { name in identify(name).flatMap { bases[$0] ?? former[$0] } }
            }
        }
        var types = graph.types
        // To look through parents only; compiles nothing.
        let config = registrations.lookup(plan.config ?? before.config)
        let lookup = RecipeCompiler(types: types, described: described, identify: identify, knownKeys: { [] })
        var typeNames: Set<String> = []
        var replaced: [TypeIndex.Change] = []
        for (id, definition) in changed.sorted(by: { $0.key < $1.key }) {
            try Loading.check()
            let next = asleep[id] == nil ? definition.map(lookup.flat) : nil
            replaced.append(TypeIndex.Change(id: id, definition: next, former: typed(id)))
        }
        typeNames.formUnion(types.set(replaced))
        let moved = plan.moved.compactMap { (id, definition) -> Definition? in
            guard changed[id] == nil, let former = typed(id), former.body.order != definition.body.order
            else { return nil }
            return former.with { $0.order = definition.body.order }
        }
        if !moved.isEmpty { typeNames.formUnion(types.move(moved)) }
        plan.editor.types = types
        let planned = changed
        var compiler = RecipeCompiler(types: types, described: described, identify: identify) {
            // Not what goes.
            let staying = former.values.filter { planned.index(forKey: $0.id) == nil }
            return (staying.map(\.key) + planned.values.compactMap { $0?.key }).sorted()
        }
        compiler.asleep = { asleep[$0] }
        compiler.dormant = registrations.inactiveAssembly(of:)
        compiler.config = config
        compiler.scopeFailure = registrations.scopeFailure
        compiler.fillsNeeds = registrations.fillsNeeds
        for (id, definition) in changed.sorted(by: { $0.key < $1.key }) {
            guard let definition else { continue }
            try Loading.check()
            if let recipe = compiler.compile(definition, former: before.alias(id) == nil ? graph.recipe(id) : nil) {
                plan.recipes[id] = recipe
            }
        }
        try reconfigure(&plan, changed, &compiler)
        failures += compiler.ownFailures
        // A definition beneath an override is in force when that ends, so each change checks it. Definitions whose override ends
        // here, and removed ones, are compiled above.
        let covering = changed.isEmpty && plan.settings.isEmpty ? [:] : overridesNext(plan)
        for id in covering.keys.sorted() where covering[id]?.isEmpty == false {
            guard asleep[id] == nil, let base = bases[id] ?? former[id] else { continue }
            try Loading.check()
            var alone = compiler
            if alone.compile(base, former: nil) == nil { failures += alone.failures[compiler.failures.count...] }
        }
        try rebind(typeNames, changed, &plan, &compiler, &failures)
        plan.needs = compiler.needs
        return plan.recipes.compactMapValues { $0.waits.isEmpty ? nil : $0.waits }
    }

    /// What lookups by type found under a key until now.
    private func typed(_ id: UInt32) -> Definition? {
        guard before.blocked[id] == nil, let recipe = graph.recipe(id), recipe.id == id else { return nil }
        // Its place among all may have changed since the recipe was compiled.
        let definition = recipe.definition
        guard let order = before.definitions[id]?.body.order, order != definition.body.order else { return definition }
        return definition.with { $0.order = order }
    }

    /// Returns the overrides after the plan.
    private func overridesNext(_ plan: Plan) -> TreeDictionary<UInt32, [Override]> {
        var overrides = before.overrides
        for (id, stack) in plan.overrides { overrides[id] = stack }
        return overrides
    }

    /// Holders of what goes must do without it; what looks for a type of which there are others now is bound anew.
    private func rebind(
        _ typeNames: Set<String>, _ changed: [UInt32: Definition?], _ plan: inout Plan,
        _ compiler: inout RecipeCompiler, _ failures: inout [Failure]
    ) throws(Failure) {
        var holders: Set<UInt32> = []
        for name in typeNames { holders.formUnion(before.links.typeQueries[name]) }
        if !before.links.optionalReferences.isEmpty {
            for definition in changed.values {
                holders.formUnion(definition.flatMap { before.links.optionalReferences[$0.key] } ?? [])
            }
        }
        // What takes other runtime arguments may be given too many or too few.
        for (id, recipe) in plan.recipes {
            try Loading.check()
            let former = graph.recipe(id)
            // An alias is given any number.
            if former?.id != id || former.map({ $0.takesSameArguments(as: recipe) }) == false {
                // An alias may give arguments itself.
                holders.formUnion(before.links.dependents.holders(of: id))
                holders.formUnion(holdersByAnyName(of: id))
            }
            // What is of another type may not fit any more.
            if let former, former.type !== recipe.type { holders.formUnion(holdersByAnyName(of: id)) }
            // Nobody may need what is not made any more.
            if recipe.isAbstract, former?.id != id || former?.isAbstract == false {
                holders.formUnion(before.links.dependents.holders(of: id))
                holders.formUnion(before.links.aliases[id])
            }
            // Nobody may look for what nobody keeps any more, by whatever name. Whether a choice does depends on all its options.
            if recipe.definition.body.choice != nil
                || !recipe.mayBeKept && (former?.id != id || former?.mayBeKept == true)
            {
                var others: Set<UInt32> = [id]
                var queue = [id]
                while let name = queue.popLast() {
                    let found = before.links.dependents.holders(of: name)
                    holders.formUnion(found)
                    let choices = found.filter { next($0, plan).map { $0.body.choice != nil } == true }
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
                guard let definition = next(holder, plan) else { continue }
                if compiler.compile(definition, former: graph.recipe(holder)) == nil {
                    holders.remove(holder)
                    failures.append(
                        Failure(
                            .notFound, "'\(names.name(id))' cannot be removed: '\(definition.key)' needs it",
                            path: definition.key, at: definition.place))
                }
            }
            for child in before.links.children[id].sorted() where changed[child] == nil {
                failures.append(
                    Failure(
                        .notFound,
                        "'\(names.name(id))' cannot be removed: it is the parent of '\(names.name(child))'"
                    ))
            }
            for alias in before.links.aliases[id].sorted() where changed[alias] == nil {
                failures.append(
                    Failure(
                        .notFound,
                        "'\(names.name(id))' cannot be removed: the alias '\(names.name(alias))' names it"
                    ))
            }
        }
        let brought = plan.staged.set.processors
        for processor in processorsAfter(plan) where !brought.contains(where: { $0 === processor }) {
            guard let key = processor.key, let removed = changed[key.id], removed == nil else { continue }
            failures.append(
                Failure(
                    .notFound,
                    "'\(key.name)' cannot be removed: the processor '\(processor.name)' is for it; remove the processor too (unprocess)",
                    path: key.name, at: processor.place))
        }
        // What falls dormant is not there for whoever needs it.
        for id in changed.keys where compiler.asleep(id) != nil {
            holders.formUnion(before.links.dependents.holders(of: id))
            holders.formUnion(before.links.aliases[id])
        }
        for holder in holders.sorted() where changed[holder] == nil {
            try Loading.check()
            guard let definition = next(holder, plan), let former = graph.recipe(holder) else { continue }
            let before = compiler.failures.count
            if let recipe = compiler.compile(definition, former: former) {
                if recipe.bindings != former.bindings
                    || !recipe.hasSameEdges(as: former.undecorated ?? former)
                    || recipe.waits != former.waits
                {
                    plan.recipes[holder] = recipe
                    plan.reconfigured.remove(holder)
                }
            } else {
                failures += compiler.failures[before...]
            }
        }
    }

    /// Who needs a key, by its own name or by an alias.
    private func holdersByAnyName(of id: UInt32) -> Set<UInt32> {
        var others: Set<UInt32> = [id]
        var queue = [id]
        var holders: Set<UInt32> = []
        while let name = queue.popLast() {
            holders.formUnion(before.links.dependents.holders(of: name))
            for alias in before.links.aliases[name] where others.insert(alias).inserted { queue.append(alias) }
        }
        return holders.subtracting(others)
    }

    // MARK: circles

    /// Marks recipes that lead back to themselves; a circle of initializers alone can never be made.
    private func findCircles(_ plan: inout Plan, _ failures: inout [Failure]) {
        let recipes = plan.recipes
        let definitions = before.definitions
        let changed = plan.definitions
        let isWhole = failures.isEmpty
        func recipe(_ id: UInt32) -> Recipe? {
            if let recipe = recipes[id] { return recipe }
            // What goes leads nowhere, nor does what is wrong in itself: its former recipe is not meant any more.
            if let definition = changed[id], definition == nil || !isWhole { return nil }
            return graph.recipe(id)
        }
        func alias(_ id: UInt32) -> String? {
            let covers = plan.overrides[id] ?? before.overrides[id] ?? []
            if covers.isEmpty, changed[id] == nil { return definitions.alias(id) }
            guard let base = changed[id] ?? definitions[id] else { return nil }
            return (covers.last?.definition ?? base).alias
        }
        func targets(_ id: UInt32, _ edges: (Recipe) -> [UInt32]) -> [UInt32] {
            // A plain alias has no recipe of its own.
            if let alias = alias(id), recipes[id] != nil || graph.recipe(id)?.id != id {
                return names.id(of: alias).map { [$0] } ?? []
            }
            return recipe(id).map(edges) ?? []
        }
        let roots = recipes.keys.sorted()
        for circle in Circles.find(from: roots, { targets($0, \.held) }) {
            for id in circle {
                if let own = recipes[id] {
                    own.isInCircle = true
                } else if let known = graph.recipe(id), known.id == id, !known.isInCircle {
                    plan.editor.set(known.inCircle(), at: id)
                    plan.circled.insert(id)
                }
            }
        }
        for circle in Circles.find(from: roots, { targets($0, \.initializing) }) {
            let members = Set(circle)
            let start = circle.filter { recipes[$0] != nil }.min() ?? circle[0]
            let path = Circles.path(from: start, within: members) { targets($0, \.initializing) }.map(names.name)
            let place = recipe(start)?.definition.place ?? Place()
            let isMade = circle.contains { alias($0) == nil }
            failures.append(
                Failure(
                    .cycle,
                    "the wiring goes round in a circle: \(path.joined(separator: " -> "))"
                        + (isMade
                            ? ", all through initializers; inject one of them as a property, or by a provider" : ""),
                    path: names.name(start), at: place))
        }
    }
}
