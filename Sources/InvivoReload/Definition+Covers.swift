internal import InvivoBase
internal import InvivoGraph

extension Definition {
    /// Returns the definition as a document has decided. A decision that does not fit leaves it as it is; the plan refuses it.
    func wired(by decision: WiringDecision?) -> Definition {
        guard let decision else { return self }
        switch decision.kind {
        case .alias(let target):
            var alias = Body()
            alias.alias = target
            alias.flags = body.flags.intersection([.hiddenClass, .hiddenInterface, .waits])
            (alias.location, alias.order, alias.assembly) = (decision.location, body.order, body.assembly)
            (alias.owner, alias.entry, alias.isPattern) = (body.owner, body.entry, body.isPattern)
            alias.rank = body.rank
            return Definition(id: id, key: key, alias)
        case .choose(let value):
            guard let choice = body.choice else { return self }
            return with { body in
                body.choice = DefinitionChoice(
                    chooser: .value(value), options: choice.options)
                body.location = decision.location
            }
        case .scope(let scope, let name):
            guard body.alias == nil, body.choice == nil else { return self }
            return with { body in
                (body.scope, body.scopeName) = (scope, name)
                body.location = decision.location
            }
        case .described: return self
        }
    }

    /// Returns the definition in force when `stack` overrides this base definition. `described` returns other base definitions:
    /// scope, type and runtime arguments that a key inherits stay.
    func covered(by stack: [Override], _ described: (String) -> Definition?) -> Definition {
        guard let top = stack.last else { return self }
        let base = self
        var scope = (base.body.scope, base.body.scopeName)
        var timeouts = (start: base.body.startTimeout, stop: base.body.stopTimeout)
        var parameters = base.body.parameters
        var type = base.body.type
        var specKey = base.body.specKey
        var parent = base.body.parent
        var seen: NameSet = [base.key]
        while let name = parent, seen.insert(name).inserted, let next = described(name) {
            if scope.0 == nil { scope = (next.body.scope, next.body.scopeName) }
            if timeouts.start == 0 { timeouts.start = next.body.startTimeout }
            if timeouts.stop == 0 { timeouts.stop = next.body.stopTimeout }
            parameters = parameters ?? next.body.parameters
            type = type ?? next.body.type
            specKey = specKey ?? next.body.specKey
            parent = next.body.parent
        }
        return top.definition.with { body in
            let makesItself = body.constant == nil && body.alias == nil && body.choice == nil
            if base.alias == nil, base.body.choice == nil {
                // A definition without a scope has graph scope, whatever parent the override has.
                (body.scope, body.scopeName) = (scope.0 ?? .graph, scope.1)
            } else if body.scope == nil, body.parent == nil, makesItself || body.constant != nil {
                // An alias or a choice has no scope to keep. The holders of the key share one object.
                body.scope = .lazySingleton
            }
            if timeouts.start > 0 { body.startTimeout = timeouts.start }
            if timeouts.stop > 0 { body.stopTimeout = timeouts.stop }
            // A shared object that takes runtime arguments still does.
            if body.alias == nil { body.parameters = body.parameters ?? parameters }
            body.type = body.type ?? type
            if body.alias == nil && body.choice == nil { body.specKey = body.specKey ?? specKey }
            body.rank = base.body.rank
            body.order = base.body.order
            var kept: Definition.Flags = [.hiddenClass, .hiddenInterface, .exclusive, .tracked]
            // An override is not exclusive if its objects are not started and stopped, and not tracked if its type is
            // shared: such objects are never changed.
            if !makesItself || body.type?.canBeExclusive == false { kept.remove(.exclusive) }
            if !makesItself || body.type?.domain == nil { kept.remove(.tracked) }
            // It takes effect at once, and ends at once.
            body.flags = body.flags.subtracting([.hiddenClass, .hiddenInterface, .restart]).union(
                base.body.flags.intersection(kept))
        }
    }
}
