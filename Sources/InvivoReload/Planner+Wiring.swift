internal import InvivoBase
internal import InvivoGraph
internal import InvivoSpec
internal import InvivoWiring

/// The decisions of documents about definitions (`wiring:`). They lie above the base definitions and below overrides.
extension Planner {
    /// Plans the existing definitions about which documents decide otherwise than before. Returns them.
    func planWiring(_ definitions: inout DefinitionPlan, _ documents: DocumentsNext) -> Set<UInt32> {
        guard documents.changeDecisions else { return [] }
        var changed: Set<UInt32> = []
        for id in documents.decidedKeys.compactMap({ names.id(of: $0) }).sorted() {
            guard decide(documents.decision(about: names.name(id)), id, &definitions) else { continue }
            guard let base = definitions.changed[id] ?? before.definitions[id] else { continue }
            definitions.changed[id] = .some(base)
            changed.insert(id)
        }
        return changed
    }

    /// Sets the decision about a key. Returns whether it differs from the former one.
    private func decide(_ decision: WiringDecision?, _ id: UInt32, _ definitions: inout DefinitionPlan) -> Bool {
        var covers = definitions.covers[id] ?? before.covers[id] ?? Covers()
        let former = covers.wiring
        guard decision != nil || former != nil else { return false }
        covers.wiring = decision
        definitions.covers[id] = covers
        guard let decision, let former else { return true }
        return !decision.isSame(as: former)
    }

    /// Applies decisions to definitions that are new, and checks all decisions that the plan concerns. All definitions are known.
    func finishWiring(
        _ definitions: inout DefinitionPlan, _ documents: DocumentsNext, _ failures: inout [Failure],
        _ warnings: inout [Report.Warning]
    ) throws(Failure) {
        guard documents.haveDecisions, documents.changeDecisions || !definitions.changed.isEmpty else { return }
        var known: [String]?
        var steps = LoadSteps()
        for key in concernedDecisions(definitions, documents).sorted() {
            try steps.step()
            guard let decision = documents.entry(about: key) else { continue }
            let id = names.id(of: key)
            let planned = id.flatMap { definitions.changed[$0] }
            if let id, let base = planned ?? before.definitions[id] {
                guard !decision.isDescribed else { continue }
                if planned != nil { _ = decide(decision, id, &definitions) }
                guard let failure = check(decision, base, definitions, &known) else { continue }
                failures.append(failure)
                // The compiler would find the same error.
                definitions.covers[id]?.wiring = before.covers[id]?.wiring
            } else if limits.allowsPendingTargets {
                warnings.append(
                    Report.Warning(
                        .noTarget, "no definition has the key '\(decision.key)' yet; its wiring waits for one",
                        at: decision.location))
            } else {
                failures.append(
                    decision.failure(
                        .notFound,
                        "no definition has the key '\(decision.key)'\(near(decision.key, definitions, &known)) "
                            + "(pending_targets, or --wait, permits keys that are defined later)"))
            }
        }
    }

    /// The keys with decisions that the plan concerns: those in changed documents, those of changed definitions, and those that are
    /// aliases of something that leads to a changed definition.
    private func concernedDecisions(_ definitions: DefinitionPlan, _ documents: DocumentsNext) -> NameSet {
        var concerned = documents.decidedKeys
        var queue = Array(definitions.changed.keys)
        var seen = Set(queue)
        for id in queue { concerned.insert(names.name(id)) }
        guard documents.haveAliases else { return concerned }
        while let id = queue.popLast() {
            concerned.formUnion(documents.keys(leadingTo: names.name(id)))
            for next in [before.links.aliases[id], before.links.children[id]].joined()
            where seen.insert(next).inserted { queue.append(next) }
        }
        return concerned
    }

    /// Returns the error of a decision that does not fit its definition. The compiler checks the result.
    private func check(
        _ decision: WiringDecision, _ base: Definition, _ definitions: DefinitionPlan, _ known: inout [String]?
    ) -> Failure? {
        // Only its type is known: the manifest is checked for other errors.
        if base.body.isPartial, base.alias == nil { return nil }
        guard base.body.each == nil, !base.body.isPattern else {
            return decision.failure(
                .argument,
                "'\(base.key)' is the pattern of the definitions for entries: name one of these, as in '\(base.key)[a]'"
            )
        }
        switch decision.kind {
        case .alias(let target):
            guard !target.isSameName(as: base.key) else {
                return decision.failure(.cycle, "'\(base.key)' would be an alias of itself")
            }
            if let found = names.id(of: target).flatMap({ next($0, definitions) }) {
                return checkType(decision, base, found, definitions)
            }
            guard !base.body.flags.contains(.waits) else { return nil }
            return decision.failure(
                .notFound,
                decision.variables.map { "no definition has the key that is \($0)" }
                    ?? "no definition has the key \(quoted(target))\(near(target, definitions, &known))")
        case .choose(let value):
            guard let choice = base.body.choice else {
                return decision.failure(
                    .argument, "'\(base.key)' is not a choice; 'alias' makes it another name of a definition")
            }
            return check(decision, value, choice, base, definitions)
        case .scope(let scope, let name):
            // The compiler would name it.
            if let name, let variables = decision.variables, let failure = registrations.scopeFailure(scope, name) {
                return decision.failure(failure.code, "no scope is registered whose name is \(variables)")
            }
            if let type = type(of: base, definitions), type.hasOnlyValues, !scope.isForValues {
                return decision.failure(
                    .argument,
                    "'\(base.key)' is of the type '\(type.name)', which has only a block, and no instances: the scope "
                        + "'\(name ?? scope.name)' would have no effect")
            }
            guard base.alias == nil, base.body.choice == nil, base.body.constant == nil else {
                let kind = base.alias != nil ? "an alias" : base.body.choice != nil ? "a choice" : "a constant object"
                return decision.failure(
                    .argument, "'\(base.key)' is \(kind) and creates no object, so it has no scope")
            }
            return nil
        case .described: return nil
        }
    }

    /// Readers of the key expect an object of its type: the target has this type, or a common supertype. A block has exactly the
    /// fields of the key's own type.
    private func checkType(
        _ decision: WiringDecision, _ base: Definition, _ target: Definition, _ definitions: DefinitionPlan
    ) -> Failure? {
        guard let found = type(of: target, definitions) else { return nil }
        let expected = expectedTypes(base, definitions)
        if expected.isEmpty || expected.contains(where: { found.description.canStand(for: $0.description) }) {
            return nil
        }
        let names = expected.map { "'\($0.name)'" }.joined(separator: " or ")
        let hasBlock = expected.contains { $0.description.blockSize > 0 }
        return decision.failure(
            .type,
            "\(decision.variables ?? "'\(target.key)'") is of type '\(found.name)', and '\(base.key)' of type \(names): an alias leads to the "
                + (hasBlock
                    ? "same type, because it has a block" : "same type, a subtype, or a type with a common supertype"))
    }

    /// The types that a key may have without the decision: that of its definition, or those of the options of a choice.
    private func expectedTypes(_ base: Definition, _ definitions: DefinitionPlan) -> [ObjectType] {
        if let own = type(of: base, definitions) { return [own] }
        return base.body.choice?.options.compactMap { option in
            guard case .reference(let name, _)? = option.use?.kind else { return nil }
            return names.id(of: name.text).flatMap { next($0, definitions) }.flatMap { type(of: $0, definitions) }
        } ?? []
    }

    /// The type of a definition: its own, that of its parent, or that of the target of an alias.
    private func type(of definition: Definition, _ definitions: DefinitionPlan) -> ObjectType? {
        var found = definition
        var seen: Set<UInt32> = []
        while seen.insert(found.id).inserted {
            if let type = found.type { return type }
            guard let name = found.alias ?? found.body.parent,
                let next = names.id(of: name).flatMap({ next($0, definitions) })
            else { return nil }
            found = next
        }
        return nil
    }

    private func check(
        _ decision: WiringDecision, _ value: Value, _ choice: DefinitionChoice, _ base: Definition,
        _ definitions: DefinitionPlan
    ) -> Failure? {
        guard let option = choice.options.first(where: { $0.when.fits(value) }) else {
            var failure = noOption(value, choice.options.map(\.when), base, at: decision.location)
            if let variables = decision.variables { failure.message = "no option is for \(variables)" }
            failure.path = decision.path
            return failure
        }
        guard option.use == nil, case .string(let name) = value else { return nil }
        let isThere = DefinitionChoice.keys(named: name, besides: base.key).contains { key in
            names.id(of: key).flatMap { next($0, definitions) } != nil
        }
        guard !isThere else { return nil }
        if let variables = decision.variables {
            return decision.failure(.notFound, "no definition has the key that is \(variables)")
        }
        var failure = noDefinition(name, keys(definitions), base, at: decision.location)
        failure.path = decision.path
        return failure
    }

    private func near(_ key: String, _ definitions: DefinitionPlan, _ known: inout [String]?) -> String {
        let keys = known ?? keys(definitions)
        known = keys
        return suggestion(nearestKey(to: key, among: keys))
    }

    /// The keys of all definitions after the plan.
    func keys(_ definitions: DefinitionPlan) -> [String] {
        let staying = before.definitions.values.filter { definitions.changed[$0.id] == nil }
        return Set(staying.map(\.key) + definitions.changed.values.compactMap { $0?.key }).sorted()
    }
}
