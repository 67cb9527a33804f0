internal import InvivoBase
internal import InvivoGraph
internal import InvivoTraits

/// The addition or removal of a function of the host that has a name: a processor, a rule or a trait type.
enum FunctionChange: Sendable {
    case addProcessor(Processor)
    case removeProcessor(String)
    case addRule(Rule)
    case removeRule(String)
    case addTrait(TraitType)
    case removeTrait(String)
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
    var processorChanges: NamedChanges<Processor> {
        get {
            NamedChanges(
                added: functions.compactMap { if case .addProcessor(let part) = $0 { part } else { nil } },
                removed: functions.compactMap { if case .removeProcessor(let name) = $0 { name } else { nil } })
        }
        set { setFunctions(newValue, ruleChanges, traitChanges) }
    }

    var ruleChanges: NamedChanges<Rule> {
        get {
            NamedChanges(
                added: functions.compactMap { if case .addRule(let part) = $0 { part } else { nil } },
                removed: functions.compactMap { if case .removeRule(let name) = $0 { name } else { nil } })
        }
        set { setFunctions(processorChanges, newValue, traitChanges) }
    }

    var traitChanges: NamedChanges<TraitType> {
        get {
            NamedChanges(
                added: functions.compactMap { if case .addTrait(let part) = $0 { part } else { nil } },
                removed: functions.compactMap { if case .removeTrait(let name) = $0 { name } else { nil } })
        }
        set { setFunctions(processorChanges, ruleChanges, newValue) }
    }

    private mutating func setFunctions(
        _ processors: NamedChanges<Processor>, _ rules: NamedChanges<Rule>, _ traits: NamedChanges<TraitType>
    ) {
        functions =
            processors.removed.map { .removeProcessor($0) } + processors.added.map { .addProcessor($0) }
            + rules.removed.map { .removeRule($0) } + rules.added.map { .addRule($0) }
            + traits.removed.map { .removeTrait($0) } + traits.added.map { .addTrait($0) }
    }
}
