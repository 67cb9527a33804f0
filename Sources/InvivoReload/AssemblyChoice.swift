internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

/// The assemblies that are active after a change set, and their collaborators. Used by the reload that has the turn.
struct AssemblyChoice {
    private let before: Snapshot
    /// The assemblies that were described, active or not.
    private let described: NameTable<AssemblyDescription>
    private(set) var next: ActiveAssemblies
    /// The names of `next` in the order in which their collaborators are bound. The given ones come first.
    private(set) var order: [String] = []
    private var given: [String] = []
    private var gone: NameSet = []
    private var companions: NameTable<AssemblyDescription> = [:]
    /// The names whose assembly is added, replaced or removed, or has other collaborators.
    private(set) var changed: NameSet = []
    private(set) var failures: [Failure] = []

    init(_ before: Snapshot, _ described: NameTable<AssemblyDescription>) {
        self.before = before
        self.described = described
        next = before.assemblies
    }

    func isChanged(_ name: String) -> Bool { changed.contains(name) }

    // MARK: requested changes

    mutating func take(_ change: AssemblyChange) {
        switch change {
        case .deactivate(let name):
            guard next[name] != nil else {
                let hint = suggestion(for: name, among: next.names.sorted())
                failures.append(Failure(.notFound, "no assembly '\(name)' is active\(hint)", path: name))
                return
            }
            next[name] = nil
            given.removeAll { $0.isSameName(as: name) }
            gone.insert(name)
            changed.insert(name)
        case .activate(let activation): activate(activation)
        }
    }

    private mutating func activate(_ activation: AssemblyChange.Activation) {
        let name = activation.name
        for companion in activation.companions { companions[companion.name] = companion }
        guard var description = activation.description ?? described[name] else {
            // The description was dropped after it was activated: activating it again is a no-op.
            if next[name] != nil { return }
            failures.append(
                Failure(
                    .notFound,
                    "no assembly '\(name)' is described\(suggestion(for: name, among: described.keys.sorted()))",
                    path: name))
            return
        }
        if let known = described[description.name], known !== description, known.isSame(as: description) {
            description.join(known)
            description = known
        }
        let former = next[name]
        let added = description.definitions
        if activation.extends, let former { description = former.description.extended(by: description) }
        var active = ActiveAssembly(name: name, description: description, remaps: activation.remaps)
        gone.remove(name)
        if !given.contains(where: name.isSameName(as:)) { given.append(name) }
        if activation.extends, let former { active.alone = former.alone.subtracting(missing(added)) }
        if let former, former.isSame(as: active), active.alone.count == former.alone.count || !activation.extends {
            description.join(former.description)
            return
        }
        if activation.isNew, let former {
            failures.append(
                Failure(
                    .exists,
                    "another assembly is active as '\(name)', declared at \(former.description.location.text)",
                    path: name, at: description.location))
            return
        }
        // Under one name an assembly replaces what it was before, not another one.
        if !activation.extends, let former, !former.description.name.isSameName(as: description.name) {
            let own = former.description.name
            failures.append(
                Failure(
                    .exists,
                    (own.isSameName(as: name) ? "the assembly '\(own)' is active" : "the assembly '\(own)' is mounted")
                        + " under this name, declared at \(former.description.location.text): '\(description.name)' needs another "
                        + "name, or to take that away first",
                    path: name, at: description.location))
            return
        }
        active.bound = [:]
        next[name] = active
        changed.insert(name)
    }

    /// Returns the added definitions that were removed alone since an assembly with the same content was activated.
    /// They are added again.
    private func missing(_ added: DefinitionList) -> [UInt32] {
        added.map(\.id).filter { before.definitions[$0] == nil }
    }

    // MARK: collaborators

    /// Binds the collaborators of all assemblies, and activates those that are not active yet.
    mutating func bind() {
        let named = NameSet(given)
        order = given + next.collaborating.lazy.map(\.text).filter { !named.contains($0) }.sorted()
        var position = 0
        while position < order.count {
            let name = order[position]
            position += 1
            guard var assembly = next[name] else { continue }
            var bound: NameTable<String> = [:]
            for collaborator in assembly.description.collaborators
            where !assembly.remaps.contains(where: { $0.from.isSameName(as: collaborator.prefix) }) {
                if let found = find(collaborator, for: assembly) { bound[collaborator.prefix] = found }
            }
            if bound != assembly.bound {
                changed.insert(name)
                assembly.bound = bound
                next[name] = assembly
            }
        }
    }

    private mutating func find(_ collaborator: AssemblyDescription.Collaborator, for asking: ActiveAssembly) -> String?
    {
        func fitting(_ names: [String]) -> (exact: [String], derived: [String]) {
            let all = names.filter {
                $0.isSameName(as: collaborator.wanted) || next[$0]?.description.isKind(of: collaborator.wanted) == true
            }
            return (
                all.filter(collaborator.wanted.isSameName(as:)), all.filter { !$0.isSameName(as: collaborator.wanted) }
            )
        }
        // A working binding stays, unless the set activates its assembly again with a possible replacement.
        let former = asking.bound[collaborator.prefix] ?? before.assemblies[asking.name]?.bound[collaborator.prefix]
        let kept = former.flatMap { fitting([$0].filter { next[$0] != nil }) }.flatMap {
            $0.exact.first ?? $0.derived.first
        }
        if let kept, !given.contains(where: asking.name.isSameName(as:)) { return kept }
        let explicit = fitting(given.filter { !$0.isSameName(as: asking.name) })
        if !explicit.derived.isEmpty { return only(explicit.derived, collaborator, asking) }
        if let found = explicit.exact.first ?? kept { return found }
        let active = fitting(next.names.filter { !$0.isSameName(as: asking.name) }.sorted())
        if let exact = active.exact.first { return exact }
        if !active.derived.isEmpty { return only(active.derived, collaborator, asking) }
        if let dormant = dormant(collaborator) {
            next[dormant.name] = ActiveAssembly(name: dormant.name, description: dormant, remaps: [])
            changed.insert(dormant.name)
            order.append(dormant.name)
            return dormant.name
        }
        if !collaborator.isOptional { unmet(collaborator, asking) }
        return nil
    }

    /// Returns an inactive assembly that fits: a described one, or a companion of the change.
    private func dormant(_ collaborator: AssemblyDescription.Collaborator) -> AssemblyDescription? {
        let known = described.filter {
            !gone.contains($0.key) && next[$0.key] == nil
        }
        if let exact = known[collaborator.wanted] { return exact }
        let derived = known.values.filter { $0.isKind(of: collaborator.wanted) }
        if derived.count == 1 { return derived[0] }
        guard let name = collaborator.table, !gone.contains(name), next[name] == nil else { return nil }
        return companions[name] ?? known[name]
    }

    private mutating func only(
        _ names: [String], _ collaborator: AssemblyDescription.Collaborator, _ asking: ActiveAssembly
    ) -> String? {
        if names.count == 1 { return names[0] }
        failures.append(
            Failure(
                .ambiguous,
                "the collaborator '\(collaborator.prefix)' is to be a '\(collaborator.wanted)', and several assemblies are: "
                    + "\(names.sorted().listed()); name one",
                path: asking.name, at: asking.description.location))
        return nil
    }

    private mutating func unmet(_ collaborator: AssemblyDescription.Collaborator, _ asking: ActiveAssembly) {
        let there = next.names.filter { $0 != asking.name }.sorted()
        failures.append(
            Failure(
                .notFound,
                "'\(asking.name)' needs the collaborator '\(collaborator.prefix)', an assembly that is '\(collaborator.wanted)', and none is "
                    + "given, active or described; there are: "
                    + (there.isEmpty ? "none" : there.listed()),
                path: asking.name, at: asking.description.location))
    }
}
