internal import CInvivo
internal import InvivoBase
internal import InvivoSpec
internal import InvivoTraits
internal import InvivoWiring

extension Engine {
    /// Works out the next graph and what must be redone for it. Touches nothing that anybody sees; finds all errors.
    func plan(_ staged: Staged, _ warnings: inout [(String, Place)]) throws(Failure) -> Plan {
        let graph = container.currentGraph()
        var plan = Plan(staged: staged, editor: GraphEditor(graph))
        var failures: [Failure] = []
        let rebased = try planDefinitions(&plan, &failures)
        planProcessors(&plan, &failures)
        processDefinitions(&plan, rebased, &failures)
        try planConfig(&plan, graph, &failures)
        try planEach(&plan, &failures)
        keepMoved(&plan)
        try compile(&plan, graph, rebased, &failures)
        nameFindings(&failures, plan)
        validateTargets(plan, graph, &failures)
        checkResets(plan, &failures)
        if !failures.isEmpty { checkTraits(plan, graph, &failures) }
        if let failure = Failure.gathered(failures) { throw failure }
        plan.misspelled = try misspelled(plan, graph)
        warnings += plan.misspelled.map { ($0.text, $0.place) }
        try planCells(&plan, graph, rebased)
        try planLayers(&plan, graph, &warnings, &failures)
        if let failure = Failure.gathered(failures) { throw failure }
        try planAliases(&plan)
        try planSettings(&plan, graph)
        plan.changes += staged.set.cleared.map(\.change)
        // A converter of the host may have taken long.
        try Loading.check()
        return plan
    }

    /// The definition of a key after the plan, as described, or as it is overridden.
    func next(_ id: UInt32, _ plan: Plan) -> Definition? {
        let planned = plan.definitions
        guard let base = planned[id] ?? definitions[id] else { return nil }
        // Without the plan itself, which would be copied for it.
        return covered(base, by: plan.overrides[id] ?? overrides[id] ?? []) { name in
            container.monitor.locked { container.keys.id(of: name) }.flatMap { planned[$0] ?? definitions[$0] }
        }
    }

    /// The same with what it takes over from its parents.
    func flatNext(_ id: UInt32, _ plan: Plan) -> Definition? {
        guard let definition = next(id, plan), definition.alias == nil else { return next(id, plan) }
        return plan.recipes[id]?.definition ?? plan.editor.recipe(id)?.definition ?? definition
    }

    // MARK: definitions

    /// Definitions that are planned for another reason stand where their assembly puts them, too.
    private func keepMoved(_ plan: inout Plan) {
        for (id, moved) in plan.moved {
            guard let planned = plan.definitions[id] ?? nil, planned.body.order != moved.body.order else { continue }
            plan.definitions[id] = .some(planned.with { $0.order = moved.body.order })
        }
    }

    /// Fills in `plan.definitions`; answers the keys of which only base values change.
    private func planDefinitions(_ plan: inout Plan, _ failures: inout [Failure]) throws(Failure) -> Set<UInt32> {
        let set = plan.staged.set
        let assembled = planAssemblies(&plan, &failures)
        let again = Set(assembled.definitions.map(\.id))
        for described in assembled.definitions + set.definitions {
            try Loading.check()
            guard let definition = withType(described, &failures) else { continue }
            if let other = plan.definitions[definition.id], let other {
                failures.append(AssemblyDescription.twice(definition.key, other, definition))
                continue
            }
            // Its place among all stays when it is defined anew.
            let order: DefinitionOrder
            if again.contains(definition.id) {
                order = definition.body.order
            } else if let known = definitions[definition.id] {
                order = self.order(of: known, plan)
            } else {
                definitionCount += 1
                order = DefinitionOrder(number: definitionCount)
            }
            plan.definitions[definition.id] = .some(definition.with { $0.order = order })
            plan.described.insert(definition.id)
        }
        if set.looksForTypes { planTypes(&plan) }
        for (id, key) in assembled.removed + set.removed where !again.contains(id) {
            if next(id, plan) == nil {
                if !set.withdrawn.contains(id) { failures.append(unknownKey(key)) }
            } else {
                plan.definitions[id] = .some(nil)
            }
        }
        removeInlines(&plan, except: assembled.same)
        var rebased: Set<UInt32> = []
        for (id, name, value) in set.bases {
            guard let definition = plan.definitions[id] ?? definitions[id], let type = flatNext(id, plan)?.type else {
                failures.append(unknownKey(container.keyName(id)))
                continue
            }
            do throws(Failure) {
                let found = try type.description.property(named: name)
                guard !found.property.isReadOnly else {
                    throw Failure(.readOnly, "\(type.name).\(name) cannot be set: it is read only")
                }
                try type.description.checkTunable(found.property)
                var base = definition.base
                base[type.description.index(of: found.property)] = try found.property.check(value)
                if plan.definitions[id] == nil || rebased.contains(id) { rebased.insert(id) }
                if let original = plan.originals[id] ?? originals[id] {
                    plan.originals[id] = .some(original.with { $0.base = base })
                }
                plan.definitions[id] = .some(definition.with { $0.base = base })
            } catch {
                var failure = error
                failure.path = "\(definition.key).\(name)"
                failures.append(failure)
            }
        }
        for override in set.overrides {
            let id = override.definition.id
            guard let base = plan.definitions[id] ?? definitions[id] else {
                failures.append(unknownKey(override.definition.key))
                continue
            }
            plan.overrides[id] = (plan.overrides[id] ?? overrides[id] ?? []) + [override]
            plan.definitions[id] = .some(base)
            rebased.remove(id)
        }
        for override in set.endedOverrides {
            let id = override.definition.id
            plan.overrides[id] = (plan.overrides[id] ?? overrides[id] ?? []).filter { $0 !== override }
            guard let base = plan.definitions[id] ?? definitions[id] else { continue }
            plan.definitions[id] = .some(base)
            rebased.remove(id)
        }
        // What has a changed parent is another definition too.
        var queue = plan.definitions.keys.filter { !rebased.contains($0) }.sorted()
        while let id = queue.popLast() {
            for child in children[id] ?? [] where plan.definitions[child] == nil {
                guard let definition = definitions[child] else { continue }
                plan.definitions[child] = .some(definition)
                queue.append(child)
            }
        }
        return rebased
    }

    func unknownKey(_ key: String, _ plan: Plan? = nil) -> Failure {
        let coming = plan?.definitions.values.compactMap { $0?.key } ?? []
        let known = Set(definitions.values.map(\.key) + coming).sorted()
        return Failure(.notFound, "no definition has the key '\(key)'\(suggestion(for: key, among: known))", path: key)
    }
}
