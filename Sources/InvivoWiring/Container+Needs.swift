internal import InvivoBase
internal import InvivoGraph

/// What types declare that they need.
extension Container {
    /// At registration: every need names a property that can be set, once.
    func checkNeeds(_ needs: [Injection], of type: TypeDescription) throws(Failure) {
        var failures: [Failure] = []
        var names: NameSet = []
        for (index, need) in needs.enumerated() {
            do throws(Failure) {
                guard let name = need.name else {
                    throw Failure(.argument, "needs[\(index)] has no name: a need is a property")
                }
                let property = try type.property(named: name).property
                if property.isReadOnly {
                    throw Failure(.readOnly, "\(type.name).\(name) cannot be set: it is read only")
                }
                if property.isInBlock { throw Failure(.type, "the block property '\(name)' cannot be a need") }
                if !names.insert(property.name).inserted {
                    throw Failure(.exists, "the need '\(name)' is declared twice")
                }
                if need.source.usesArguments {
                    throw Failure(.argument, "the need '\(name)' takes runtime arguments, which its type has none of")
                }
            } catch { failures.append(error.under(type.name)) }
        }
        if let failure = Failure.gathered(failures) { throw failure }
    }

    /// How objects of a type are injected that have no definition: what the type needs, and its hooks. Nil when there is
    /// neither.
    func ownRecipe(of type: ObjectType, _ build: Build) throws(Failure) -> Recipe? {
        let functions = type.description.functions
        guard (!type.needs.isEmpty && fillsNeeds) || functions.willInject != nil || functions.hearsOfCompletion else {
            return nil
        }
        let graph = build.graph
        let former = monitor.locked { ownRecipes[ObjectIdentifier(type)] }
        if !build.isReload, let former, former.generation == graph.generation { return former.recipe }
        var compiler = RecipeCompiler(
            types: graph.types, described: { graph.recipe($0)?.definition },
            identify: { [self] name in monitor.locked { keys.id(of: name) } },
            knownKeys: { [self] in
                monitor.locked {
                    (0..<UInt32(keys.count)).filter { graph.isDefined($0) }.map { keys.name($0) }
                }
            })
        compiler.asleep = { id in graph.recipe(id).flatMap { $0.waits.isEmpty ? nil : $0.waits } }
        compiler.dormant = assemblies.inactiveAssembly
        compiler.config = configLookup(of: graph)
        compiler.scopeFailure = scopes.failure
        compiler.fillsNeeds = fillsNeeds
        var body = Definition.Body()
        (body.scope, body.type, body.isPartial) = (.prototype, type, true)
        let described = Definition(id: KeyTable.noKey, key: type.name, body)
        guard let recipe = compiler.compile(described, former: former?.recipe) else {
            throw Failure.gathered(compiler.failures)
                ?? Failure(.internalFault, "what a '\(type.name)' needs cannot be told", path: type.name)
        }
        if !build.isReload {
            let former = monitor.locked {
                ownRecipes.updateValue((graph.generation, recipe), forKey: ObjectIdentifier(type))
            }
            withExtendedLifetime(former) {}
        }
        return recipe
    }

    /// Fills what an object's type needs, with its hooks: of an object that is made without a definition.
    func fillNeeds(of type: ObjectType, in object: UInt64, _ record: Record) throws(Failure) {
        guard !type.needs.isEmpty, fillsNeeds else { return }
        try whole { (build) throws(Failure) in
            guard let recipe = try ownRecipe(of: type, build) else { return }
            try build.injectHostObject(recipe, object, record)
        }
        extra(record).hasNeeds = true
    }

    /// How many of a recipe's first steps are not for this object: what another definition made has got what it needs, as that
    /// definition says; and so has what was filled when it was made.
    func skippedNeeds(_ recipe: Recipe, _ record: Record, again: Bool = false) -> Int {
        guard recipe.needCount > 0 else { return 0 }
        guard record.pointee.key == 0 || record.pointee.key == recipe.id &+ 1 else { return recipe.needCount }
        return !again && recipe.takesForeignObjects && extra(record).hasNeeds ? recipe.needCount : 0
    }
}
