internal import CInvivo
internal import InvivoBase
internal import InvivoGraph
internal import InvivoSpec
internal import InvivoTraits
internal import InvivoWiring

extension Planner {
    /// Definitions that are planned for another reason stand where their assembly puts them, too.
    func keepMoved(_ plan: inout Plan) {
        for (id, moved) in plan.moved {
            guard let planned = plan.definitions[id] ?? nil, planned.body.order != moved.body.order else { continue }
            plan.definitions[id] = .some(planned.with { $0.order = moved.body.order })
        }
    }

    /// Fills in `plan.definitions`; answers the keys of which only base values change.
    func planDefinitions(_ plan: inout Plan, _ failures: inout [Failure]) throws(Failure) -> Set<UInt32> {
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
            } else if let known = before.definitions[definition.id] {
                order = self.order(of: known, plan)
            } else {
                plan.lastNumber += 1
                order = DefinitionOrder(number: plan.lastNumber)
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
            guard let definition = plan.definitions[id] ?? before.definitions[id], let type = flatNext(id, plan)?.type
            else {
                failures.append(unknownKey(names.name(id)))
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
                if let original = plan.originals[id] ?? before.originals[id] {
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
            guard let base = plan.definitions[id] ?? before.definitions[id] else {
                failures.append(unknownKey(override.definition.key))
                continue
            }
            plan.overrides[id] = (plan.overrides[id] ?? before.overrides[id] ?? []) + [override]
            plan.definitions[id] = .some(base)
            rebased.remove(id)
        }
        for override in set.endedOverrides {
            let id = override.definition.id
            plan.overrides[id] = (plan.overrides[id] ?? before.overrides[id] ?? []).filter { $0 !== override }
            guard let base = plan.definitions[id] ?? before.definitions[id] else { continue }
            plan.definitions[id] = .some(base)
            rebased.remove(id)
        }
        // What has a changed parent is another definition too.
        var queue = plan.definitions.keys.filter { !rebased.contains($0) }.sorted()
        while let id = queue.popLast() {
            for child in before.links.children[id] where plan.definitions[child] == nil {
                guard let definition = before.definitions[child] else { continue }
                plan.definitions[child] = .some(definition)
                queue.append(child)
            }
        }
        return rebased
    }

    /// Plans the blocked definitions again whose types have been registered.
    func planTypes(_ plan: inout Plan) {
        for id in before.blocked.keys.sorted() where plan.definitions[id] == nil {
            guard let described = before.originals[id] ?? before.definitions[id], described.type == nil else {
                continue
            }
            let found = typed(described)
            guard found.type != nil else { continue }
            plan.definitions[id] = .some(found)
            plan.described.insert(id)
        }
    }
}
