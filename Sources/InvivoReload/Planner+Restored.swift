internal import InvivoBase
internal import InvivoGraph

/// A rollback: definitions and assemblies of a former generation become changes of the current ones.
extension Planner {
    /// Fills in the definitions that a rollback brings back, and those that it removes. Processors visit them as if they were described
    /// now. Returns the keys of which only base values change.
    func planRestored(
        _ definitions: inout DefinitionPlan, _ content: FormerContent, _ failures: inout [Failure]
    ) throws(Failure) -> Set<UInt32> {
        if let assemblies = content.assemblies {
            definitions.assemblies = assemblies
            definitions.changedAssemblies = Set(before.assemblies.names + assemblies.names).filter { name in
                guard let now = before.assemblies[name], let next = assemblies[name] else { return true }
                return !now.isSame(as: next)
            }.sorted()
        }
        var rebased: Set<UInt32> = []
        var loading = LoadSteps()
        for id in content.definitions.keys.sorted() {
            try loading.step()
            guard let former = content.definitions[id] ?? nil else {
                if before.definitions[id] != nil { definitions.changed[id] = .some(nil) }
                continue
            }
            guard let typed = withType(former, &failures) else { continue }
            // Not that of the live definition.
            let assembly = former.body.assembly
            let next = typed.body.assembly.isSameName(as: assembly) ? typed : typed.with { $0.assembly = assembly }
            guard let live = before.definitions[id], let now = before.described(id), now.isSame(as: next),
                now.body.isPattern == next.body.isPattern, !losesValue(now, next)
            else {
                definitions.changed[id] = .some(next)
                definitions.described.insert(id)
                continue
            }
            if live.location != next.location || live.body.order != next.body.order
                || !live.body.assembly.isSameName(as: next.body.assembly)
            {
                definitions.moved[id] = live.with { body in
                    body.order = next.body.order
                    body.assembly = next.body.assembly
                    body.location = next.location
                }
            }
            guard !now.hasSameBase(as: next) else { continue }
            definitions.changed[id] = .some((definitions.moved[id] ?? live).with { $0.base = next.base })
            if before.originals[id] != nil { definitions.originals[id] = .some(next) }
            rebased.insert(id)
        }
        removeHeld(&definitions)
        return rebased
    }

    /// Whether a property of objects loses its base value. Its value from before is not known any more, so they are created again.
    /// Blocks are computed from the definition.
    private func losesValue(_ now: Definition, _ next: Definition) -> Bool {
        let lost = now.base.keys.filter { next.base[$0] == nil }
        guard !lost.isEmpty else { return false }
        guard let properties = graph.recipe(now.id)?.type?.description.properties else { return true }
        return lost.contains { $0 >= properties.count || !properties[$0].isInBlock }
    }

    /// Removes the definitions that are inline in a removed one, and those of the entries of a pattern that is none any more.
    private func removeHeld(_ definitions: inout DefinitionPlan) {
        var queue = definitions.changed.keys.sorted()
        while let id = queue.popLast() {
            let next = definitions.changed[id] ?? nil
            guard next == nil || before.definitions[id]?.body.each != nil && next?.body.each == nil else { continue }
            for held in before.links.inlines[id].sorted() where definitions.changed[held] == nil {
                guard next == nil || before.definitions[held]?.body.entry != nil else { continue }
                definitions.changed[held] = .some(nil)
                queue.append(held)
            }
        }
    }
}
