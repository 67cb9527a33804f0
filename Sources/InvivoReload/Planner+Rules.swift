internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoTraits

/// Rules over the values of a plan.
extension Planner {
    /// Returns the rules after the plan; nil if they stay.
    func planRules(_ changes: NamedChanges<Rule>, _ failures: inout [Failure]) -> RuleTable? {
        guard !changes.isEmpty else { return nil }
        var next = before.rules
        for name in changes.removed {
            if next[name] == nil {
                let near = suggestion(for: name, among: next.names.sorted())
                failures.append(Failure(.notFound, "no rule has the name '\(name)'\(near)", path: name))
            }
            next.remove(name)
        }
        for rule in changes.added {
            next.insert(rule)
            for input in rule.inputs { _ = registrations.noteRead(RuleTable.path(input)) }
        }
        return next
    }

    /// Returns the rules to run: the new ones, and those of which the value of an input changes. The cost is proportional to
    /// the change. Throws if one of them reads a property whose values it cannot check.
    func ruleChecks(_ wiring: NextWiring, _ effects: Effects) throws(Failure) -> [RuleCheck] {
        let rules = wiring.rules ?? before.rules
        guard !rules.isEmpty else { return [] }
        let added = RuleTable.Names(wiring.set.functions.rules.added.map { Name($0.name) })
        let concerned = added.union(rulesConcerned(by: wiring, effects, rules))
        guard !concerned.isEmpty else { return [] }
        let former = RuleValues(graph, before.config.tree, names) { before.definitions[$0] }
        let next = RuleValues(effects.editor, (wiring.config.layers ?? before.config).tree, names) { id in
            self.next(id, wiring.definitions)
        }
        var failures: [Failure] = []
        var checks: [RuleCheck] = []
        for rule in rules.rules(named: concerned) {
            let inputs = rule.inputs.map(next.input)
            for (name, input) in zip(rule.inputs, inputs) {
                guard let obstacle = input.obstacle else { continue }
                failures.append(
                    Failure(
                        .spec, "the rule '\(rule.name)' reads a property that \(obstacle.rawValue)", path: name,
                        at: input.origin.location))
            }
            let changed = zip(rule.inputs, inputs).enumerated().first { _, pair in
                !former.input(pair.0).value.isSame(as: pair.1.value)
            }
            guard changed != nil || added.contains(Name(rule.name)) else { continue }
            checks.append(RuleCheck(rule: rule, inputs: inputs, changed: changed?.offset ?? 0))
        }
        if let failure = Failure.gathered(failures) { throw failure }
        return checks
    }

    /// The rules with an input that the plan may change.
    private func rulesConcerned(by wiring: NextWiring, _ effects: Effects, _ rules: RuleTable) -> RuleTable.Names {
        var found: RuleTable.Names = []
        for change in wiring.config.changes { found.formUnion(rules.rules(reading: change.path)) }
        var touched = effects.store.touched
        touched.formUnion(wiring.definitions.changed.keys)
        touched.formUnion(wiring.compiled.recipes.keys)
        touched.formUnion(effects.store.retunedBlocks)
        // Properties with other values.
        touched.formUnion(effects.changes.compactMap { names.id(of: $0.key) })
        touched.formUnion(effects.store.aliased.map(\.id))
        if !before.links.aliases.isEmpty {
            for id in touched { touched.formUnion(before.links.allAliases(of: id)) }
        }
        if touched.count < rules.keyCount {
            for id in touched { found.formUnion(rules.rules(about: names.name(id))) }
        } else {
            for key in rules.keys where names.id(of: key.text).map(touched.contains) == true {
                found.formUnion(rules.rules(about: key.text))
            }
        }
        return found
    }
}
