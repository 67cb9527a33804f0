public import InvivoBase
public import InvivoGraph
public import InvivoTraits

/// The changes as the authors of a set write them. A reload reads the parts of the set.
extension ChangeSet {
    public var definitions: [Definition] {
        get { keys.definitions }
        _modify { yield &keys.definitions }
    }

    public var removed: [KeyChanges.Removal] {
        get { keys.removed }
        _modify { yield &keys.removed }
    }

    /// New base values: key, property, value.
    public var bases: [(id: UInt32, property: String, value: Value)] {
        get { keys.bases }
        _modify { yield &keys.bases }
    }

    /// Whether the set adds a processor with this name.
    public func processes(named name: String) -> Bool {
        functions.adds(Processor.self, name)
    }

    public mutating func process(_ processor: Processor) { functions.add(processor) }

    /// Removes the processor with this name, which the set may have added.
    public mutating func unprocess(_ name: String) { functions.remove(Processor.self, name) }

    /// Whether the set adds a rule with this name.
    public func rules(contain name: String) -> Bool { functions.adds(Rule.self, name) }

    public mutating func add(_ rule: Rule) { functions.add(rule) }

    /// Removes the rule with this name, which the set may have added.
    public mutating func removeRule(_ name: String) { functions.remove(Rule.self, name) }

    /// Whether the set adds a trait type with this name.
    public func adds(traitNamed name: String) -> Bool { functions.adds(TraitType.self, name) }

    public mutating func add(_ trait: TraitType) { functions.add(trait) }

    /// Removes the trait type with this name, which the set may have added.
    public mutating func removeTrait(_ name: String) { functions.remove(TraitType.self, name) }

    /// Whether the set adds a binding with this name.
    public func binds(settingsNamed name: String) -> Bool { functions.adds(SettingsBinding.self, name) }

    public mutating func bind(_ settings: SettingsBinding) { functions.add(settings) }

    /// Removes the binding with this name, which the set may have added.
    public mutating func unbindSettings(_ name: String) { functions.remove(SettingsBinding.self, name) }

    /// The same without bindings of settings.
    public var withoutSettings: ChangeSet {
        var rest = self
        rest.functions.removeAll(SettingsBinding.self)
        return rest
    }

    /// Drops the shared instances of a key, alone or with those of all its dependencies.
    public mutating func reset(_ id: UInt32, _ key: String, withDependencies: Bool) {
        rebuilds.append(.key(id: id, key: key, withDependencies: withDependencies))
    }

    /// Drops the shared instances of all keys with this scope.
    public mutating func reset(_ scope: Scope) { rebuilds.append(.scope(scope)) }

    /// Makes the set bring the content of a former generation back. It changes nothing else then.
    public mutating func restore(_ generation: UInt64) {
        rebuilds.append(.content(generation: generation))
        if cause.isEmpty { cause = Cause(.rollback, String(generation)) }
    }

    /// Measures the reload from now on, instead of from the creation of the set.
    public mutating func started() {
        let now = monotonicNow()
        events = now...now
    }

    /// Sets the content of the document in memory with this name. The last call wins.
    public mutating func say(_ content: Content, in name: String) { documents.say(content, in: name) }

    /// Opens a document with the set: its content is part of the same reload.
    public mutating func open(_ document: NewDocument) { documents.open(document) }

    /// Opens a document below the documents of `open`, and above those that were opened below before.
    public mutating func openBelow(_ document: NewDocument) { documents.openBelow(document) }

    /// Removes a key that the set has defined: drops that definition, with the definitions that are inline in it.
    public mutating func removeDefined(_ removal: KeyChanges.Removal) { keys.remove([removal]) }
}
