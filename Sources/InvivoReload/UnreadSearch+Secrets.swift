internal import InvivoBase
internal import InvivoConfig

/// Paths that are declared as secret and most likely misspelled: nothing configures or reads them, and they resemble a path that
/// something does. The values at that path would be shown.
extension UnreadSearch {
    /// Returns the paths that are new, or that resemble a path that is. `isCertain`: the similarity is no coincidence.
    func misspelledSecrets() throws(Failure) -> [(entry: UnreadEntry, isCertain: Bool)] {
        guard !config.secrets.isEmpty else { return [] }
        let former = before.config.secrets
        let declared =
            (wiring.definitions.assemblies?.secrets(since: before.assemblies).begun ?? [])
            + config.declaredSecrets.subtracting(before.config.declaredSecrets)
        var resembling = SecretPaths.Resembling(budget: Self.searched)
        for path in try configuredOrRead() { resembling.find(path, in: config.secrets) }
        let concerned = resembling.found.union(declared.filter { !former.declares($0) })
        guard !concerned.isEmpty else { return [] }
        let search = InputSearch(planner, wiring)
        let bindings = wiring.bindings ?? before.constraints.bindings
        let fields = bindings.secrets
        var found: [(entry: UnreadEntry, isCertain: Bool)] = []
        for path in concerned.sorted().prefix(Self.mostSecrets) {
            try Loading.check()
            guard let near = search.near(secret: path, among: fields), !former.declares(path) || isNew(near)
            else { continue }
            let entry = UnreadEntry(
                path: path, location: wiring.set.location(ofSecret: path), near: near, kind: .secret)
            let isPartOfSection = ConfigPath.around(path).dropLast().contains { !bindings.bindings(at: $0).isEmpty }
            found.append(
                (entry, !isPartOfSection && misspelledName(of: path, among: CollectionOfOne(near)) != nil))
        }
        return found
    }

    /// The number of paths that one plan searches for.
    private static let mostSecrets = 200

    /// The paths that the plan is the first to configure or read.
    private func configuredOrRead() throws(Failure) -> [String] {
        let configured = wiring.config.changes.filter { $0.node != nil && before.config.tree.find($0.path) == nil }
        return configured.map(\.path) + wiring.set.functions.settings.added.flatMap(\.secrets) + (try newPaths())
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
