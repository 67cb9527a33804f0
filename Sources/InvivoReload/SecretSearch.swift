internal import InvivoBase
internal import InvivoConfig

/// Finds paths that are declared as secret and most likely misspelled: nothing configures or reads them, and they resemble a path that
/// something does. The values at that path would be shown.
struct SecretSearch {
    private let planner: Planner
    private let wiring: NextWiring
    private let layers: ConfigLayers

    init(_ planner: Planner, _ wiring: NextWiring) {
        (self.planner, self.wiring) = (planner, wiring)
        layers = wiring.config.layers ?? planner.before.config
    }

    /// Returns the paths that are new, or that resemble a path that is. `certain`: it is no chance that the paths are similar.
    func misspelled() throws(Failure) -> [(entry: UnreadEntry, isCertain: Bool)] {
        let before = planner.before
        let assemblies = wiring.definitions.assemblies ?? before.assemblies
        let declared = Set(layers.declaredSecrets.all + assemblies.secrets)
        guard !declared.isEmpty, isConcerned else { return [] }
        let former = Set(before.config.declaredSecrets.all + before.assemblies.secrets)
        let search = InputSearch(planner, wiring)
        let bindings = wiring.bindings ?? before.constraints.bindings
        var found: [(entry: UnreadEntry, isCertain: Bool)] = []
        for path in declared.sorted().prefix(Self.most) {
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
    private static let most = 200

    /// Whether the plan changes anything that a secret path may mean.
    private var isConcerned: Bool {
        !wiring.config.changes.isEmpty || wiring.config.layers?.secrets != planner.before.config.secrets
            || !wiring.compiled.recipes.isEmpty || wiring.bindings != nil || wiring.definitions.assemblies != nil
    }

    /// Whether the plan is the first to configure or read a path.
    private func isNew(_ path: String) -> Bool {
        let before = planner.before
        guard before.config.tree.find(path) == nil else { return false }
        if wiring.set.functions.settings.added.contains(where: { $0.secrets.contains(path) }) { return true }
        if layers.tree.find(path) != nil { return true }
        guard let id = planner.names.id(ofConfig: path) else { return false }
        return before.links.dependents.holders(of: id).isEmpty
            && wiring.compiled.recipes.values.contains { $0.references.edges.contains { $0.id == id } }
    }
}
