internal import InvivoBase

extension Definition {
    /// Whether two definitions are equal. Instances are kept when a key is defined again with an equal definition.
    ///
    /// The source location, the order and the effect of change sets on base values are ignored. Every other field of
    /// `Body` is compared here.
    public func isSame(as other: Definition) -> Bool {
        let (a, b) = (body, other.body)
        return key.isSameName(as: other.key) && a.scope == b.scope && a.scopeName.isSameName(as: b.scopeName)
            && a.flags == b.flags
            && a.rank == b.rank
            && a.startTimeout == b.startTimeout && a.stopTimeout == b.stopTimeout
            && a.onChange == b.onChange && a.onChangeReason.isSameName(as: b.onChangeReason)
            && a.type === b.type && a.typeName.isSameName(as: b.typeName) && a.alias.isSameName(as: b.alias)
            && a.parent.isSameName(as: b.parent)
            && a.owner.isSameName(as: b.owner) && a.origin.isSameName(as: b.origin)
            && same(a.choice, b.choice) { $0.isSame(as: $1) }
            && a.generic.isSameName(as: b.generic) && a.blockImage == b.blockImage && a.each.isSameName(as: b.each)
            && a.entry.isSameName(as: b.entry) && a.specKey.isSameName(as: b.specKey)
            && a.constant?.bits == b.constant?.bits && Self.areSame(a.parameters, b.parameters)
            && same(a.factory, b.factory) { $0.isSame(as: $1) } && same(a.keepAlive, b.keepAlive) { $0.isSame(as: $1) }
            && same(a.inject, b.inject) { $0.isSame(as: $1) }
            && same(a.maker, b.maker) {
                $0.object == $1.object && Self.areSame([$0.invocation], [$1.invocation])
            }
            && Self.areSame(a.initializer, b.initializer) && Self.areSame(a.properties, b.properties)
            && Self.areSame(a.methods, b.methods) && Self.areSame(a.before, b.before)
            && Self.areSame(a.after, b.after) && Self.areSame(a.afterAll, b.afterAll)
    }

    /// Whether the base values that change sets have set are the same.
    public func hasSameBase(as other: Definition) -> Bool {
        base.count == other.base.count && base.allSatisfy { other.base[$0.key]?.isSame(as: $0.value) == true }
    }

    /// Joins two equal definitions, of which one is not shared yet: their user data is owned once.
    public func join(_ other: Definition) {
        if let own = body.keepAlive, let kept = other.body.keepAlive { own.join(kept) }
    }

    private static func areSame(_ a: Signature?, _ b: Signature?) -> Bool {
        same(a?.parameters, b?.parameters) { a, b in
            a.elementsEqual(b) {
                $0.name.isSameName(as: $1.name) && $0.kind == $1.kind && $0.isOptional == $1.isOptional
                    && $0.typeName.isSameName(as: $1.typeName)
                    && same($0.defaultValue, $1.defaultValue) { $0.isSame(as: $1) }
            }
        }
    }

    private static func areSame(_ a: [Injection], _ b: [Injection]) -> Bool {
        a.elementsEqual(b) {
            $0.name.isSameName(as: $1.name) && $0.listeners == $1.listeners && $0.onChange == $1.onChange
                && $0.owns == $1.owns
                && $0.source == $1.source
        }
    }

    private static func areSame(_ a: [Invocation], _ b: [Invocation]) -> Bool {
        a.elementsEqual(b) { $0.method.isSameName(as: $1.method) && areSame($0.arguments, $1.arguments) }
    }
}

private func same<Thing>(_ a: Thing?, _ b: Thing?, _ compare: (Thing, Thing) -> Bool) -> Bool {
    switch (a, b) {
    case (nil, nil): true
    case (let a?, let b?): compare(a, b)
    case (nil, _), (_, nil): false
    }
}

extension DefinitionChoice {
    func isSame(as other: DefinitionChoice) -> Bool {
        chooser == other.chooser
            && options.elementsEqual(other.options) {
                $0.when.isSame(as: $1.when) && $0.use == $1.use
            }
    }
}

extension DefinitionChoice.When {
    func isSame(as other: DefinitionChoice.When) -> Bool {
        switch (self, other) {
        case (.equal(let a), .equal(let b)): a.isSame(as: b)
        case (.exact(let a), .exact(let b)), (.kind(let a), .kind(let b)): a.isSameName(as: b)
        case (.named, .named), (.otherwise, .otherwise): true
        case (.equal, _), (.exact, _), (.kind, _), (.named, _), (.otherwise, _): false
        }
    }
}
