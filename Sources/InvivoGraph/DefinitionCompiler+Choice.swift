public import InvivoBase

/// Compiles choices. Conditions on known values are evaluated here, the others at each resolve.
extension DefinitionCompiler {
    mutating func compile(_ choice: DefinitionChoice) -> Recipe? {
        refuseMaking()
        let chooser = source(choice.chooser, .initializer, "the chooser")
        guard let value = chooser.constant else {
            var options: [(when: DefinitionChoice.When, use: Recipe.Source?)] = []
            for (index, option) in choice.options.enumerated() {
                options.append((option.when, option.use.map { use($0, .initializer, index) }))
            }
            return recipe(.choice(chooser, options), slots: [])
        }
        guard let index = choice.options.firstIndex(where: { $0.when.fits(value) }) else {
            let failure = noOption(value, choice.options.map(\.when), definition, at: placeOfValue(choice.chooser))
            report(node(of: choice.chooser)?.masked(failure, expected: "the value of an option") ?? failure)
            return nil
        }
        // Options that are not selected now must be defined, too.
        for (other, option) in choice.options.enumerated() where other != index {
            if let use = option.use { _ = self.use(use, .deferred, other) }
        }
        let chosen: Recipe.Source
        if let use = choice.options[index].use {
            chosen = self.use(use, .initializer, index)
        } else {
            guard let key = named(value, choice.chooser) else { return nil }
            chosen = use(.reference(key), .initializer, index)
        }
        guard case .object(let id, let arguments, _) = chosen else { return nil }
        let slots = arguments.enumerated().map { Recipe.Slot(position: $0, source: $1, parameter: nil) }
        return recipe(.alias(id), slots: slots)
    }

    private mutating func use(_ source: Injection.Source, _ edge: Edge, _ index: Int) -> Recipe.Source {
        let what = "option \(index)"
        let before = wrong
        let compiled = self.source(source, edge, what)
        switch compiled {
        case .object(let id, _, _):
            if let type = definition.type { checkType(compiled, type.name, what) }
            if id == definition.id { fail(.cycle, "\(what) refers to the choice itself") }
        case .value(.null), .arguments: if wrong == before { fail(.argument, "\(what) gives nothing") }
        default: fail(.argument, "\(what) must be a key or a type: a choice selects another definition")
        }
        return compiled
    }

    /// The key of the definition that a value names: of the same assembly, or a whole one.
    private mutating func named(_ value: Value, _ chooser: Injection.Source) -> String? {
        guard case .string(let name) = value else { return nil }
        for key in DefinitionChoice.keys(named: name, besides: definition.key) {
            if definitions.definition(of: key) != nil { return key }
        }
        let failure = noDefinition(name, definitions.knownKeys(), definition, at: placeOfValue(chooser))
        report(node(of: chooser)?.masked(failure, expected: "the name of a definition") ?? failure)
        return nil
    }

    private mutating func refuseMaking() {
        let body = definition.body
        let makes: String? =
            body.scope != nil
            ? "a scope"
            : body.factory != nil || body.maker != nil || body.constant != nil || body.inject != nil
                || !body.initializer.isEmpty
                ? "a way of making"
                : !body.properties.isEmpty || !body.methods.isEmpty
                    ? "injections"
                    : !(body.before + body.after + body.afterAll).isEmpty
                        ? "hooks" : body.parent != nil ? "a parent" : nil
        if let makes {
            fail(
                .argument,
                "a choice creates no object itself, so it cannot have \(makes); move this to the selected definitions")
        }
    }
}

/// The error for a name that no definition has: with the options that other values select.
public func noDefinition(_ name: String, _ keys: [String], _ definition: Definition, at location: Location) -> Failure {
    let assembly = definition.key.lastIndex(of: ".").map { definition.key[...$0] } ?? ""
    let known = keys.filter { $0.hasPrefix(assembly) }.map { String($0.dropFirst(assembly.count)) } + keys
    let options = (definition.body.choice?.options ?? []).compactMap { option in
        if case .equal(let value) = option.when { value } else { nil }
    }
    let names = options.compactMap { if case .string(let name) = $0 { name } else { nil } }
    let values = options.map { "\($0)" }
    let near = suggestion(for: name, among: names + known)
    let others = values.isEmpty ? "" : "; there are options for \(values.listed()), and for the names of definitions"
    return Failure(
        .notFound, "the chooser names the definition '\(name)', which is not there\(near.isEmpty ? others : near)",
        path: definition.key, at: location)
}

/// The error for a value that no option is for.
public func noOption(
    _ value: Value, _ options: [DefinitionChoice.When], _ definition: Definition, at location: Location
)
    -> Failure
{
    let known = options.map(\.text).listed()
    return Failure(
        .range, "no option is for \(value); there are options for \(known.isEmpty ? "nothing" : known)",
        path: definition.key, at: location)
}
