internal import InvivoBase
internal import InvivoGraph
internal import InvivoTraits

/// The functions of the host that a change set adds and removes by their names, and the secrets that it declares.
struct FunctionChanges: Sendable {
    var processors = NamedChanges<Processor>()
    var rules = NamedChanges<Rule>()
    var traits = NamedChanges<TraitType>()
    var settings = NamedChanges<SettingsBinding>()
    /// The configuration paths that become secret, or cease to be, in order.
    var secrets: [(path: String, isSecret: Bool)] = []

    var isEmpty: Bool {
        processors.isEmpty && rules.isEmpty && traits.isEmpty && settings.isEmpty && secrets.isEmpty
    }

    /// Adds later changes. Where both change the same, the later one wins.
    mutating func join(_ later: FunctionChanges) {
        processors.join(later.processors)
        rules.join(later.rules)
        traits.join(later.traits)
        settings.join(later.settings)
        secrets += later.secrets
    }
}

/// A part of a runtime that is added, replaced and removed by its name.
protocol Named: Sendable {
    var name: String { get }
}

extension Processor: Named {}

/// The named parts of one kind that a change set adds and removes. All removals come before the additions.
struct NamedChanges<Part: Named>: Sendable {
    private(set) var added: [Part] = []
    private(set) var removed: [String] = []
    /// The names of `added`.
    private var names: Set<Name> = []

    var isEmpty: Bool { added.isEmpty && removed.isEmpty }

    func adds(_ name: String) -> Bool { names.contains(Name(name)) }

    mutating func add(_ part: Part) {
        added.append(part)
        names.insert(Name(part.name))
    }

    /// Removes the part with this name, before all additions, and drops its addition.
    mutating func remove(_ name: String) {
        if names.remove(Name(name)) != nil { added.removeAll { $0.name.isSameName(as: name) } }
        removed.append(name)
    }

    /// Adds later changes. Where both concern the same name, the later one wins.
    mutating func join(_ later: NamedChanges) {
        guard !later.isEmpty else { return }
        let changed = later.names.union(later.removed.map(Name.init))
        added.removeAll { changed.contains(Name($0.name)) }
        removed.removeAll { later.names.contains(Name($0)) }
        names = names.subtracting(changed).union(later.names)
        added += later.added
        removed += later.removed
    }
}

extension ChangeSet {
    /// Declares a configuration path as secret, or revokes that.
    public mutating func declare(secret path: String, _ isSecret: Bool) {
        functions.secrets.append((path, isSecret))
    }

    /// Declares the secrets that the other set declares, and those of its bindings.
    public mutating func declareSecrets(of other: ChangeSet) {
        functions.secrets += other.functions.secrets
        for binding in other.functions.settings.added {
            for path in binding.secrets { declare(secret: path, true) }
        }
    }

    /// The configuration paths that the set makes secret: those that it declares, and those of its bindings and assemblies.
    var secretPaths: [String] {
        let described = assemblies.flatMap { change -> [String] in
            if case .activate(let activation) = change { activation.description?.secrets ?? [] } else { [] }
        }
        return functions.secrets.filter(\.isSecret).map(\.path) + functions.settings.added.flatMap(\.secrets)
            + described
    }
}
