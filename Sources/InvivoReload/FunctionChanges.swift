internal import InvivoBase
internal import InvivoGraph
internal import InvivoTraits

/// The addition or removal of a function of the host that has a name: a processor, a rule, a trait type or
/// a binding of settings. Or the declaration of a secret.
enum FunctionChange: Sendable {
    case addProcessor(Processor)
    case removeProcessor(String)
    case addRule(Rule)
    case removeRule(String)
    case addTrait(TraitType)
    case removeTrait(String)
    case bind(SettingsBinding)
    case unbind(String)
    /// A configuration path becomes secret, or ceases to be.
    case declareSecret(path: String, isSecret: Bool)
}

/// A part of a runtime that is added, replaced and removed by its name.
protocol Named: Sendable {
    var name: String { get }
}

extension Processor: Named {}

/// The named parts of one kind that a change set adds and removes. All removals come before the additions.
struct NamedChanges<Part: Named> {
    private(set) var added: [Part] = []
    private(set) var removed: [String] = []

    init(added: [Part], removed: [String]) {
        self.added = added
        self.removed = removed
    }

    var isEmpty: Bool { added.isEmpty && removed.isEmpty }

    func adds(_ name: String) -> Bool { added.contains { $0.name.isSameName(as: name) } }

    mutating func add(_ part: Part) { added.append(part) }

    /// Removes the part with this name, before all additions, and drops its addition.
    mutating func remove(_ name: String) {
        added.removeAll { $0.name.isSameName(as: name) }
        removed.append(name)
    }

    /// Adds later changes. Where both concern the same name, the later one wins.
    mutating func join(_ later: NamedChanges) {
        for part in later.added {
            added.removeAll { $0.name.isSameName(as: part.name) }
            removed.removeAll { $0.isSameName(as: part.name) }
        }
        for name in later.removed { added.removeAll { $0.name.isSameName(as: name) } }
        added += later.added
        removed += later.removed
    }
}

extension ChangeSet {
    /// The configuration paths that become secret, or cease to be, in order.
    var secrets: [(path: String, isSecret: Bool)] {
        functions.compactMap { change in
            if case .declareSecret(let path, let isSecret) = change { (path, isSecret) } else { nil }
        }
    }

    /// Declares a configuration path as secret, or revokes that.
    public mutating func declare(secret path: String, _ isSecret: Bool) {
        functions.append(.declareSecret(path: path, isSecret: isSecret))
    }

    /// Declares the secrets that the other set declares, and those of its bindings.
    public mutating func declareSecrets(of other: ChangeSet) {
        functions += other.secrets.map { .declareSecret(path: $0.path, isSecret: $0.isSecret) }
        for binding in other.bindingChanges.added { for path in binding.secrets { declare(secret: path, true) } }
    }

    var processorChanges: NamedChanges<Processor> {
        get {
            changes {
                if case .addProcessor(let part) = $0 { part } else { nil }
            } removed: {
                if case .removeProcessor(let name) = $0 { name } else { nil }
            }
        }
        set {
            replace(newValue, FunctionChange.addProcessor, FunctionChange.removeProcessor) {
                switch $0 {
                case .addProcessor, .removeProcessor: true
                default: false
                }
            }
        }
    }

    var ruleChanges: NamedChanges<Rule> {
        get {
            changes {
                if case .addRule(let part) = $0 { part } else { nil }
            } removed: {
                if case .removeRule(let name) = $0 { name } else { nil }
            }
        }
        set {
            replace(newValue, FunctionChange.addRule, FunctionChange.removeRule) {
                switch $0 {
                case .addRule, .removeRule: true
                default: false
                }
            }
        }
    }

    var traitChanges: NamedChanges<TraitType> {
        get {
            changes {
                if case .addTrait(let part) = $0 { part } else { nil }
            } removed: {
                if case .removeTrait(let name) = $0 { name } else { nil }
            }
        }
        set {
            replace(newValue, FunctionChange.addTrait, FunctionChange.removeTrait) {
                switch $0 {
                case .addTrait, .removeTrait: true
                default: false
                }
            }
        }
    }

    var bindingChanges: NamedChanges<SettingsBinding> {
        get {
            changes {
                if case .bind(let part) = $0 { part } else { nil }
            } removed: {
                if case .unbind(let name) = $0 { name } else { nil }
            }
        }
        set {
            replace(newValue, FunctionChange.bind, FunctionChange.unbind) {
                switch $0 {
                case .bind, .unbind: true
                default: false
                }
            }
        }
    }

    private func changes<Part: Named>(
        _ added: (FunctionChange) -> Part?, removed: (FunctionChange) -> String?
    ) -> NamedChanges<Part> {
        NamedChanges(added: functions.compactMap(added), removed: functions.compactMap(removed))
    }

    /// Replaces the changes of one kind.
    private mutating func replace<Part: Named>(
        _ changes: NamedChanges<Part>, _ add: (Part) -> FunctionChange, _ remove: (String) -> FunctionChange,
        where isOfKind: (FunctionChange) -> Bool
    ) {
        functions.removeAll(where: isOfKind)
        functions += changes.removed.map(remove) + changes.added.map(add)
    }
}
