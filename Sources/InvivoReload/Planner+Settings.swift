internal import InvivoBase
internal import InvivoGraph
internal import InvivoSpec

extension Planner {
    /// Returns the bindings after the plan; nil if they do not change.
    func planBindings(_ changes: NamedChanges<SettingsBinding>, _ failures: inout [Failure]) -> BindingTable? {
        guard !changes.isEmpty else { return nil }
        let former = before.constraints.bindings
        for name in changes.removed where former[name] == nil {
            let near = suggestion(for: name, among: former.names.sorted())
            failures.append(Failure(.notFound, "no binding of settings has the name '\(name)'\(near)", path: name))
        }
        for binding in changes.added { _ = registrations.noteRead(binding.path) }
        return former.applying(changes)
    }

    /// Reads the sections that the plan changes, and those of new bindings. The cost is proportional to the change.
    func readSections(_ wiring: NextWiring, _ failures: inout [Failure]) throws(Failure) -> [SettingsCheck] {
        let bindings = wiring.bindings ?? before.constraints.bindings
        guard !bindings.isEmpty else { return [] }
        var read = wiring.set.functions.settings.added
        for change in wiring.config.changes {
            read += bindings.bindings(at: change.path).filter { found in !read.contains { $0 === found } }
        }
        guard !read.isEmpty else { return [] }
        let layers = wiring.config.layers ?? before.config
        let lookup = registrations.lookup(layers)
        var checks: [SettingsCheck] = []
        var incomplete: [SettingsBinding] = []
        for binding in read.sorted(by: { $0.name < $1.name }) {
            try Loading.check()
            let node = binding.path.isEmpty ? layers.tree.root : layers.tree.find(binding.path)
            let check = SettingsCheck(binding, node)
            do throws(Failure) { try check.readFields(lookup.converter) } catch {
                failures += error.all
                if error.all.contains(where: { $0.code == .notConfigured }) { incomplete.append(binding) }
                continue
            }
            checks.append(check)
        }
        let calls = checks.filter(\.binding.callsHost)
        if !calls.isEmpty {
            let refused = try call(calls)
            failures += refused.flatMap(\.failure.all)
            incomplete += refused.compactMap { fault in
                guard case .refused(let call, _, _) = fault, let check = call as? SettingsCheck else { return nil }
                return check.hasSection ? nil : check.binding
            }
        }
        if !incomplete.isEmpty { failures += try misspelledSections(of: incomplete, wiring) }
        return checks
    }

    /// The entries that nothing reads, and that most likely are the sections of bindings that lack values.
    private func misspelledSections(
        of bindings: [SettingsBinding], _ wiring: NextWiring
    ) throws(Failure) -> [Failure] {
        try UnreadSearch(self, wiring).misspelled().filter { entry in
            guard let near = entry.near else { return false }
            return bindings.contains { "\($0.path).".hasPrefix("\(near).") }
        }.map(\.failure)
    }

    /// Stores the values of sections in the next generation.
    func planBound(_ sections: [SettingsCheck], _ wiring: NextWiring, _ editor: inout GraphEditor) throws(Failure) {
        for name in wiring.set.functions.settings.removed {
            guard let id = names.id(ofConfig: KeyTable.path(ofSettings: name)) else { continue }
            editor.set(nil as SettingsValue?, at: id)
        }
        for section in sections {
            editor.set(section.value, at: try names.intern(config: KeyTable.path(ofSettings: section.binding.name)))
        }
    }
}
