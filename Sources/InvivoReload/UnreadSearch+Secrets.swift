internal import InvivoBase
internal import InvivoConfig

/// Paths that are declared as secret and most likely misspelled: nothing configures or reads them, and they resemble a path that
/// something does. The values at that path would be shown.
extension UnreadSearch {
    /// Returns the paths that are new, or that resemble a path that is. `certain`: it is no chance that the paths are similar.
    func misspelledSecrets() throws(Failure) -> [(entry: UnreadEntry, isCertain: Bool)] {
        let assemblies = wiring.definitions.assemblies ?? before.assemblies
        let layers = wiring.config.layers ?? before.config
        let declared = Set(layers.declaredSecrets.all + assemblies.secrets)
        guard !declared.isEmpty else { return [] }
        let former = Set(before.config.declaredSecrets.all + before.assemblies.secrets)
        let concerned = try hasNewPaths() ? declared : declared.subtracting(former)
        guard !concerned.isEmpty else { return [] }
        let search = InputSearch(planner, wiring)
        let bindings = wiring.bindings ?? before.constraints.bindings
        var found: [(entry: UnreadEntry, isCertain: Bool)] = []
        for path in concerned.sorted().prefix(Self.mostSecrets) {
            try Loading.check()
            guard let near = search.near(secret: path, among: bindings.secrets),
                !former.contains(path) || isNew(near)
            else { continue }
            var entry = UnreadEntry(path: path, location: wiring.set.location(ofSecret: path), near: near)
            entry.isSecret = true
            let isPartOfSection = ConfigPath.around(path).dropLast().contains { !bindings.bindings(at: $0).isEmpty }
            found.append(
                (entry, !isPartOfSection && misspelledName(of: path, among: CollectionOfOne(near)) != nil))
        }
        return found
    }

    /// The number of paths that one plan searches for.
    private static let mostSecrets = 200

    /// Whether the plan is the first to configure or read any path.
    private func hasNewPaths() throws(Failure) -> Bool {
        if wiring.config.changes.contains(where: { $0.node != nil && before.config.tree.find($0.path) == nil }) {
            return true
        }
        if wiring.bindings != nil { return true }
        return !(try newPaths().isEmpty)
    }

    /// Whether the plan is the first to configure or read a path.
    private func isNew(_ path: String) -> Bool {
        guard before.config.tree.find(path) == nil else { return false }
        if wiring.set.functions.settings.added.contains(where: { $0.secrets.contains(path) }) { return true }
        if tree.find(path) != nil { return true }
        guard let id = names.id(ofConfig: path) else { return false }
        return before.links.dependents.holders(of: id).isEmpty
            && wiring.compiled.recipes.values.contains { $0.references.edges.contains { $0.id == id } }
    }
}
