internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

/// Plans the kept objects that are set up again, and those that are called after the commit.
struct KeptObjects {
    let observed: any Observed
    let graph: Graph
    let links: Links

    /// Returns the objects that a plan concerns.
    ///
    /// An owner of a changed child, or of an injected object, is set up again. A tracked object whose own definition changes is treated like a child. Objects into which
    /// something new is injected, and attached objects of changed keys, are refreshed. Throws if a child that its owner keeps
    /// could be none by its next definition.
    func concerned(by effects: Effects, _ wiring: NextWiring) throws(Failure) -> Owners.Concerned {
        guard observed.hasCalledObjects else { return Owners.Concerned() }
        let steps = effects.steps
        let hasOwners = observed.hasOwners
        var changed: [UInt64] = []
        var refreshed: [UInt64] = []
        var settable: Set<UInt64> = []
        // Keys whose objects stay, and received all of their dependencies again.
        var followed: Set<UInt32> = []
        for (id, objects, isWhole) in steps.followed {
            guard let recipe = effects.editor.recipe(id) else { continue }
            let isCreatedAsBefore = graph.recipe(id).map { recipe.hasSameInitializer(as: $0) } == true
            if isCreatedAsBefore, recipe.references.rebuilding.allSatisfy({ !steps.rebuilt.contains($0) }) {
                followed.insert(id)
            }
            guard let functions = recipe.type?.description.functions else { continue }
            for object in objects.map(\.object) {
                if isWhole, functions.setup != nil || hasOwners {
                    changed.append(object)
                    if functions.setup != nil { settable.insert(object) }
                }
                if functions.areNotifiedOfCommits { refreshed.append(object) }
            }
        }
        if hasOwners {
            changed += observed.children(of: steps.rebuilt.filter { !followed.contains($0) })
        }
        let owners = owners(of: steps.rebuilt, wiring)
        for (id, _) in steps.reinjected where isNotified(id) { refreshed += observed.objects(id) }
        for id in steps.rebuilt {
            refreshed += observed.targets(id).filter { $0.type.description.functions.areNotifiedOfCommits }.map(
                \.object)
        }
        var concerned =
            changed.isEmpty && owners.isEmpty && !observed.hasUnfinished
            ? Owners.Concerned()
            : observed.concerned(
                by: changed, owners: owners, settable: settable, rebuilt: steps.rebuilt, allOwners(of:))
        for child in concerned.kept {
            guard let id = observed.key(of: child) else { continue }
            if let recipe = effects.editor.recipe(id) {
                try recipe.requireChild(recipe.key)
            } else if let former = graph.recipe(id) {
                throw Failure(
                    .notFound,
                    "the definition '\(former.key)' cannot be removed: its object is the child of an object that keeps its children",
                    path: former.key, at: former.definition.location)
            }
        }
        var seen = Set(concerned.setUp + concerned.retried)
        concerned.refreshed = (refreshed + concerned.refreshed).filter { seen.insert($0).inserted }
        return concerned
    }

    /// The definitions whose objects own something that the plan replaces, adds or removes.
    private func owners(of rebuilt: IDSet, _ wiring: NextWiring) -> [UInt32] {
        var found = links.owners.isEmpty ? [] : rebuilt.sorted().flatMap { links.owners[$0] }
        let bound = wiring.compiled.recipes.filter { id, recipe in
            guard recipe.references.owns || !links.owners.isEmpty, !rebuilt.contains(id),
                wiring.definitions.changed[id] == nil, let former = graph.recipe(id)
            else { return false }
            return recipe.references.owned != former.references.owned
        }
        found += bound.map(\.key).sorted()
        return found
    }

    /// The definitions whose objects own those of a key: also under its other names, and through choices.
    private func allOwners(of id: UInt32) -> [UInt32] {
        guard !links.owners.isEmpty else { return [] }
        var found: [UInt32] = []
        var seen: Set<UInt32> = [id]
        var names = [id]
        while let name = names.popLast() {
            found += links.owners[name]
            names += links.aliases[name].filter { seen.insert($0).inserted }
            names += links.dependents.holders(of: name).filter {
                graph.recipe($0)?.definition.body.choice != nil && seen.insert($0).inserted
            }
        }
        return found
    }

    private func isNotified(_ id: UInt32) -> Bool {
        graph.recipe(id)?.type?.description.functions.areNotifiedOfCommits == true
    }
}
