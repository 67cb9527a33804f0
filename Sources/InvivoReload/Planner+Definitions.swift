internal import CInvivo
internal import InvivoBase
internal import InvivoGraph
internal import InvivoSpec
internal import InvivoTraits
internal import InvivoWiring

extension Planner {
    /// Gives planned definitions the position that their assembly has for them.
    func keepMoved(_ definitions: inout DefinitionPlan) {
        for (id, moved) in definitions.moved {
            guard let planned = definitions.changed[id] ?? nil, planned.body.order != moved.body.order else { continue }
            definitions.changed[id] = .some(planned.with { $0.order = moved.body.order })
        }
    }

    /// Fills in the changed definitions. Returns the keys of which only base values change.
    func planDefinitions(
        _ definitions: inout DefinitionPlan, _ staged: Staged, _ documents: DocumentsNext, _ failures: inout [Failure]
    ) throws(Failure) -> Set<UInt32> {
        var rebased: Set<UInt32>
        if let restored = staged.restored {
            rebased = try planRestored(&definitions, restored, &failures)
        } else {
            rebased = try planDescribed(&definitions, staged.set, &failures)
        }
        rebased.subtract(planWiring(&definitions, documents))
        addHeirs(to: &rebased, &definitions)
        addChildren(of: definitions.changed.keys.filter { !rebased.contains($0) }.sorted(), &definitions, &rebased)
        return rebased
    }

    /// Children inherit the base values that change. Objects of shared types are not changed in place: their keys are rebuilt.
    private func addHeirs(to rebased: inout Set<UInt32>, _ definitions: inout DefinitionPlan) {
        var queue = rebased.sorted()
        while let id = queue.popLast() {
            for child in before.links.children[id].sorted() where definitions.changed[child] == nil {
                guard let definition = before.definitions[child] else { continue }
                definitions.changed[child] = .some(definition)
                guard let type = next(child, definitions).flatMap({ flat($0, definitions).type }),
                    !type.description.isShared
                else { continue }
                rebased.insert(child)
                queue.append(child)
            }
        }
    }

    /// Children of a changed definition change with it, also those of which otherwise only base values change.
    func addChildren(of ids: [UInt32], _ definitions: inout DefinitionPlan, _ rebased: inout Set<UInt32>) {
        var queue = ids
        while let id = queue.popLast() {
            for child in before.links.children[id] {
                if definitions.changed[child] == nil {
                    guard let definition = before.definitions[child] else { continue }
                    definitions.changed[child] = .some(definition)
                    let base = base(of: definition, for: flat(definition, definitions).type)
                    if !definition.base.isEmpty, !definition.with({ $0.base = base }).hasSameBase(as: definition) {
                        setBase(base, of: definition, &definitions)
                    }
                } else if rebased.remove(child) == nil {
                    continue
                }
                queue.append(child)
            }
        }
    }

    private func planDescribed(
        _ definitions: inout DefinitionPlan, _ set: ChangeSet, _ failures: inout [Failure]
    ) throws(Failure) -> Set<UInt32> {
        let assembled = planAssemblies(&definitions, set, &failures)
        let count = assembled.definitions.count + set.keys.definitions.count
        definitions.changed.reserveCapacity(count)
        definitions.described.reserveCapacity(count)
        var loading = LoadSteps()
        for described in assembled.definitions {
            try loading.step()
            guard let definition = withType(described, &failures) else { continue }
            plan(definition, definition.body.order, &definitions, &failures)
        }
        for described in set.keys.definitions {
            try loading.step()
            guard let definition = withType(described, &failures) else { continue }
            // A definition that is replaced keeps its position.
            let order: DefinitionOrder
            if let known = before.definitions[definition.id] {
                order = self.order(of: known, definitions)
            } else {
                definitions.lastNumber += 1
                order = DefinitionOrder(number: definitions.lastNumber)
            }
            plan(definition, order, &definitions, &failures)
        }
        if set.rebuilds.includeBlockedOnTypes { planTypes(&definitions) }
        let removed = assembled.removed + set.keys.removed
        let again = removed.isEmpty ? [] : Set(assembled.definitions.map(\.id))
        let withdrawn = Set(set.keys.removed.lazy.filter(\.isWithdrawn).map(\.id))
        for removal in removed where !again.contains(removal.id) {
            if next(removal.id, definitions) != nil {
                definitions.changed[removal.id] = .some(nil)
            } else if !withdrawn.contains(removal.id) {
                failures.append(unknownKey(removal.key))
            }
        }
        removeInlines(&definitions, except: assembled.same)
        var rebased: Set<UInt32> = []
        for (id, name, value) in set.keys.bases {
            let described = definitions.changed[id] ?? before.definitions[id]
            // The decisions of documents are not known yet (checkBases).
            if let described, described.alias != nil || described.body.choice != nil { continue }
            // An override may have another type.
            guard let definition = described, let type = flat(definition, definitions).type
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
                var base = definitions.changed[id] == nil ? base(of: definition, for: type) : definition.base
                base[type.description.index(of: found.property)] = try found.property.check(value)
                if definitions.changed[id] == nil || rebased.contains(id) { rebased.insert(id) }
                setBase(base, of: definition, &definitions)
            } catch {
                var failure = error
                failure.path = "\(definition.key).\(name)"
                failures.append(failure)
            }
        }
        for override in set.overrides.begun {
            let id = override.definition.id
            guard let base = definitions.changed[id] ?? before.definitions[id] else {
                failures.append(unknownKey(override.definition.key))
                continue
            }
            definitions.covers[id, default: before.covers[id] ?? Covers()].overrides.append(override)
            definitions.changed[id] = .some(base)
            rebased.remove(id)
        }
        for override in set.overrides.ended {
            let id = override.definition.id
            definitions.covers[id, default: before.covers[id] ?? Covers()].overrides.removeAll { $0 === override }
            guard let base = definitions.changed[id] ?? before.definitions[id] else { continue }
            definitions.changed[id] = .some(base)
            rebased.remove(id)
        }
        return rebased
    }

    private func setBase(_ base: [Int: Value], of definition: Definition, _ definitions: inout DefinitionPlan) {
        let id = definition.id
        if let original = definitions.originals[id] ?? before.originals[id] {
            definitions.originals[id] = .some(original.with { $0.base = base })
        }
        definitions.changed[id] = .some(definition.with { $0.base = base })
    }

    /// Returns the base values of a live definition for a type, which differs from the former one if it is inherited.
    private func base(of definition: Definition, for type: ObjectType?) -> [Int: Value] {
        guard !definition.base.isEmpty, definition.type == nil else { return definition.base }
        let former = flat(definition, DefinitionPlan(lastNumber: before.lastNumber)).type
        return Definition.base(definition.base, of: former, for: type)
    }

    /// Refuses base values for aliases and choices. All decisions of documents are known; former errors about these values did not know them.
    func checkBases(_ set: ChangeSet, _ definitions: DefinitionPlan, _ failures: inout [Failure]) {
        for (id, property, _) in set.keys.bases {
            guard let decided = decided(id, definitions) else { continue }
            let what: String
            if let target = decided.alias {
                what = "is an alias and creates no object of its own; set the property for '\(target)'"
            } else if decided.body.choice != nil {
                what =
                    "is a choice and creates no object of its own; set the property for the definitions that it selects"
            } else {
                continue
            }
            let path = "\(decided.key).\(property)"
            failures.removeAll { $0.path == path }
            failures.append(Failure(.argument, "'\(decided.key)' \(what)", path: path))
        }
    }

    /// Returns the definition of a key as documents have decided about it, below overrides.
    private func decided(_ id: UInt32, _ definitions: DefinitionPlan) -> Definition? {
        (definitions.changed[id] ?? before.definitions[id])?.wired(by: covers(id, definitions)?.wiring)
    }

    /// Plans a described definition at its position. A second one for the key is an error.
    private func plan(
        _ definition: Definition, _ order: DefinitionOrder, _ definitions: inout DefinitionPlan,
        _ failures: inout [Failure]
    ) {
        if let other = definitions.changed[definition.id], let other {
            failures.append(AssemblyDescription.twice(definition.key, other, definition))
            return
        }
        definitions.changed[definition.id] = .some(definition.at(order))
        definitions.described.insert(definition.id)
    }

    /// Plans the blocked definitions again whose types have been registered.
    func planTypes(_ definitions: inout DefinitionPlan) {
        for id in before.blocked.keys.sorted() where definitions.changed[id] == nil {
            guard let described = before.originals[id] ?? before.definitions[id], described.type == nil else {
                continue
            }
            let found = typed(described)
            guard found.type != nil else { continue }
            definitions.changed[id] = .some(found)
            definitions.described.insert(id)
        }
    }
}
