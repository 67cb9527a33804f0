internal import InvivoBase
internal import InvivoWiring

extension Planner {
    /// Checks that documents tune each object under one key only: its own, if it is a shared instance.
    func validateTargets(_ wiring: NextWiring, _ failures: inout [Failure]) {
        let attached = wiring.set.targets.attached
        let detached = wiring.set.targets.detached
        for target in attached {
            for own in sharedKeys(of: target.object)
            where wiring.definitions.changed[own] == nil && wiring.compiled.recipes[own] == nil {
                guard let key = graph.recipe(own)?.definition.specKey,
                    !key.isSameName(as: target.key) || own != target.id
                else { continue }
                failures.append(
                    Failure(
                        .exists,
                        "the object is the shared instance of '\(names.name(own))' and cannot be attached to '\(target.key)' "
                            + "too: documents tune it as '\(key)'", path: target.key))
            }
        }
        for (id, recipe) in wiring.compiled.recipes.sorted(by: { $0.key < $1.key }) where recipe.constantObject != 0 {
            let object = recipe.constantObject
            let isDetached = detached.contains { $0.object == object }
            let known = isDetached ? nil : observed.attachment(of: object)
            guard let target = attached.first(where: { $0.object == object }) ?? known,
                let specKey = recipe.definition.specKey, target.id != id || !specKey.isSameName(as: target.key)
            else { continue }
            failures.append(
                Failure(
                    .exists,
                    "the object is attached to '\(target.key)', by which documents tune it, and cannot be that of "
                        + "'\(recipe.key)' too: detach it first", path: recipe.key, at: recipe.definition.location))
        }
    }

    /// The keys whose shared instance an object is.
    private func sharedKeys(of object: UInt64) -> [UInt32] {
        var found = before.links.constantKeys[object]
        if let own = observed.key(of: object), observed.sharedObject(own) == object, before.alias(own) == nil {
            found.insert(own)
        }
        return found.sorted()
    }
}
