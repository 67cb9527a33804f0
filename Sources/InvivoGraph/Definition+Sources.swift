public import InvivoBase

/// The sources in a definition. Every search and every change of them uses these two functions.
extension Definition.Body {
    /// Calls `body` with each source, without nested ones.
    func forEachSource(_ body: (Injection.Source) -> Void) {
        for injection in initializer { body(injection.source) }
        for injection in properties { body(injection.source) }
        for calls in [methods, before, after, afterAll] {
            for call in calls { for argument in call.arguments { body(argument.source) } }
        }
        if let maker {
            body(maker.object)
            for argument in maker.invocation.arguments { body(argument.source) }
        }
        if let choice {
            body(choice.chooser)
            for option in choice.options { if let use = option.use { body(use) } }
        }
    }

    /// Replaces each source by the result of `change`.
    mutating func mapSources(_ change: (Injection.Source) -> Injection.Source) {
        initializer = initializer.map { $0.with(change($0.source)) }
        properties = properties.map { $0.with(change($0.source)) }
        guard creation != nil else { return }
        methods = methods.map { $0.mapSources(change) }
        before = before.map { $0.mapSources(change) }
        after = after.map { $0.mapSources(change) }
        afterAll = afterAll.map { $0.mapSources(change) }
        maker = maker.map { MakerMethod(object: change($0.object), invocation: $0.invocation.mapSources(change)) }
        choice = choice.map { choice in
            DefinitionChoice(
                chooser: change(choice.chooser), options: choice.options.map { .init($0.when, use: $0.use.map(change)) }
            )
        }
    }
}

extension Definition {
    /// Returns a copy under another key, in which `rename` has replaced every key: references, parent, alias, owner, spec key. With
    /// `assembly`, the copy belongs to that one.
    public func renamed(
        id: UInt32, key: String, assembly: String? = nil, _ rename: (String) -> String
    ) -> Definition {
        var body = body
        body.mapSources { $0.renamed(rename) }
        body.alias = body.alias.map(rename)
        if key != self.key { body.origin = body.origin ?? self.key }
        body.parent = body.parent.map(rename)
        body.owner = body.owner.map(rename)
        body.specKey = body.specKey.map(rename)
        if let assembly { body.assembly = assembly }
        return Definition(id: id, key: key, body, details: details)
    }

    /// Every key in it, in the order in which `renamed` visits them.
    public var names: [String] {
        var found: [String] = []
        let hasReferences = contains { source in
            source.contains { if case .reference = $0.kind { true } else { false } }
        }
        guard hasReferences || body.alias != nil || body.parent != nil || body.owner != nil else { return found }
        _ = renamed(id: id, key: key) { name in
            found.append(name)
            return name
        }
        return found
    }

    /// Whether a source is a runtime argument.
    public var usesArguments: Bool { contains(where: \.usesArguments) }

    /// Whether a source is the key for which the object is created.
    var usesAsker: Bool { contains(where: \.usesAsker) }

    /// Whether it contains a configuration path with this spelling.
    public func reads(config path: String) -> Bool { body.each == path || contains { $0.configPaths.contains(path) } }

    private func contains(where isMeant: (Injection.Source) -> Bool) -> Bool {
        var found = false
        body.forEachSource { if !found && isMeant($0) { found = true } }
        return found
    }

    /// Calls `see` with the lease of each object in it: the constant and the injected values.
    ///
    /// They belong to the runtime as long as it keeps the definition, also while an override, a processor or another definition
    /// is in force.
    public func forEachLease(_ see: (ObjectLease) -> Void) {
        if let constant = body.constant { see(constant) }
        body.forEachSource { $0.forEachLease(see) }
        for option in body.choice?.options ?? [] {
            if case .equal(let value) = option.when { value.forEachLease(see) }
        }
        for value in body.base.values { value.forEachLease(see) }
        for parameter in body.parameters?.parameters ?? [] { parameter.defaultValue?.forEachLease(see) }
    }
}
