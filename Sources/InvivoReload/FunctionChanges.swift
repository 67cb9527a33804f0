internal import InvivoBase
internal import InvivoGraph
internal import InvivoTraits

/// An owner of functions of the host, which messages name: a processor, a rule, a trait type, a binding of settings, or a property.
protocol Named: Sendable {
    var name: String { get }
}

extension Processor: Named {}

/// The functions of the host that a change set adds and removes by their names.
struct FunctionChanges: Sendable {
    private var kinds: [ObjectIdentifier: Kind] = [:]

    /// The changes of one kind. A name is added or removed, not both.
    private struct Kind: Sendable {
        var added: [any Named] = []
        var removed: [String] = []
        /// The names of `added`.
        var names: Set<Name> = []

        mutating func remove(_ name: String) {
            if names.remove(Name(name)) != nil { added.removeAll { $0.name.isSameName(as: name) } }
            removed.append(name)
        }

        mutating func join(_ later: Self) {
            let changed = later.names.union(later.removed.map(Name.init))
            added.removeAll { changed.contains(Name($0.name)) }
            removed.removeAll { later.names.contains(Name($0)) }
            names = names.subtracting(changed).union(later.names)
            added += later.added
            removed += later.removed
        }
    }

    var isEmpty: Bool { kinds.isEmpty }

    var processors: NamedChanges<Processor> { changes() }
    var rules: NamedChanges<Rule> { changes() }
    var traits: NamedChanges<TraitType> { changes() }
    var settings: NamedChanges<SettingsBinding> { changes() }

    private func changes<Part: Named>() -> NamedChanges<Part> {
        guard let kind = kinds[ObjectIdentifier(Part.self)] else { return NamedChanges() }
        return NamedChanges(added: kind.added.compactMap { $0 as? Part }, removed: kind.removed)
    }

    func adds<Part: Named>(_ kind: Part.Type, _ name: String) -> Bool {
        kinds[ObjectIdentifier(kind)]?.names.contains(Name(name)) ?? false
    }

    mutating func add<Part: Named>(_ part: Part) {
        let id = ObjectIdentifier(Part.self)
        kinds[id, default: Kind()].added.append(part)
        kinds[id, default: Kind()].names.insert(Name(part.name))
    }

    /// Removes the part with this name, before all additions, and drops its addition.
    mutating func remove<Part: Named>(_ kind: Part.Type, _ name: String) {
        kinds[ObjectIdentifier(kind), default: Kind()].remove(name)
    }

    mutating func removeAll<Part: Named>(_ kind: Part.Type) { kinds[ObjectIdentifier(kind)] = nil }

    /// Adds later changes. Where both concern the same name, the later one wins.
    mutating func join(_ later: FunctionChanges) {
        for (id, changes) in later.kinds { kinds[id, default: Kind()].join(changes) }
    }
}

/// The changes of one kind. All removals come before the additions.
struct NamedChanges<Part: Named> {
    var added: [Part] = []
    var removed: [String] = []

    var isEmpty: Bool { added.isEmpty && removed.isEmpty }
}
