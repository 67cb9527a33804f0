internal import InvivoBase

/// Compiles one definition.
struct DefinitionCompiler {
    let context: RecipeCompiler.Context
    /// The definition with all inherited parts. Values of block properties are stored in it.
    var definition: Definition
    /// The former compiled form, whose bindings stay in force while they are valid.
    let former: Recipe?
    private(set) var errors: [RecipeCompiler.Error] = []
    /// The missing dependencies of a definition that may be blocked on them.
    private var lacks: [String] = []
    /// The references of the definition, as far as it is compiled.
    var references = Recipe.References()
    /// The number of lookups by type at each index. A method that is called twice has each of its lookups twice.
    var lookups: NameTable<Int> = [:]
    /// The last lookup found no object of the type, and its element is omitted.
    var isLeftOut = false

    init(_ described: Definition, former: Recipe?, _ context: RecipeCompiler.Context) {
        self.context = context
        self.former = former
        definition = described
    }

    var definitions: DefinitionLookup { context.definitions }
    var types: TypeIndex { context.types }
    var config: ConfigLookup { context.config }

    // MARK: errors

    /// Reports a missing dependency: an error, unless the definition may be blocked on it.
    mutating func lack(_ name: String, isKey: Bool, waits: Bool = false, as code: Status = .notFound, _ message: String)
    {
        guard waits || definition.body.flags.contains(.waits) else { return fail(code, message) }
        if !lacks.contains(name) { lacks.append(name) }
        if isKey { references.awaitedKeys.insert(name) }
    }

    mutating func fail(_ code: Status, _ message: String) {
        report(Failure(code, message, path: definition.key, at: definition.location))
    }

    /// Reports an error. `value` identifies the value of a document that caused it.
    mutating func report(_ failure: Failure, value: String? = nil) {
        errors.append(RecipeCompiler.Error(id: definition.id, failure: failure, value: value))
    }

    /// The number of errors and missing dependencies so far.
    var wrong: Int { errors.count + lacks.count }

    // MARK: references

    /// The edge of what an injection refers to. Methods that receive candidates receive each change.
    func edge(_ way: Edge.Way, of injection: Injection) -> Edge {
        let body = definition.body
        let usual = body.onChange ?? (body.flags.contains(.restart) ? .keep : .follow)
        return Edge(
            way, injection.listeners != nil ? .follow : injection.onChange ?? usual, owns: injection.owns)
    }

    /// Checks that there are objects to which the declarations apply.
    private mutating func checkOnChange(_ described: Definition) {
        let body = definition.body
        if body.onChange != nil, body.alias != nil || body.choice != nil {
            fail(
                .argument,
                "on_change is declared, but \(body.alias != nil ? "an alias" : "a choice") creates no object: declare it for "
                    + "the definition that receives '\(definition.key)', or for its injection")
        }
        if let specKey = described.body.specKey, body.alias != nil || body.choice != nil {
            fail(
                .argument,
                "spec_key is '\(specKey)', but \(body.alias != nil ? "an alias" : "a choice") creates no object: declare it for the "
                    + "definition that does")
        }
        checkOwned()
        if body.flags.contains(.restart), body.alias != nil || body.choice != nil || body.constant != nil {
            let kind = body.alias != nil ? "an alias" : body.choice != nil ? "a choice" : "a constant"
            fail(.argument, "restart is declared, but \(kind) creates no object that could stay as it is")
        }
        if references.edges.contains(where: { $0.edge.onChange == .refuse }), !definition.scope.isShared,
            !body.flags.contains(.tracked), !definition.isAbstract
        {
            fail(
                .argument,
                "on_change: refuse is for shared and tracked definitions: the objects of scope \(definition.scope.name) "
                    + "are not known")
        }
    }

    /// Checks that there are owners whose objects are known, and objects that they own.
    private mutating func checkOwned() {
        let body = definition.body
        func has(_ condition: (Injection) -> Bool) -> Bool {
            func have(_ invocations: [Invocation]) -> Bool {
                invocations.contains { $0.arguments.contains(where: condition) }
            }
            return body.initializer.contains(where: condition) || body.properties.contains(where: condition)
                || have(body.methods) || have(body.before) || have(body.after) || have(body.afterAll)
                || body.maker?.invocation.arguments.contains(where: condition) == true
        }
        guard has(\.owns) else { return }
        if has({ $0.owns && !$0.source.refers }) {
            fail(
                .argument,
                "owns is declared for an injection that refers to no key: nothing would set the object up again")
        }
        if !definition.scope.isShared, !body.flags.contains(.tracked), !definition.isAbstract {
            fail(
                .argument,
                "owns is for shared and tracked definitions: the objects of scope \(definition.scope.name) are not known"
            )
        }
        if references.edges.contains(where: { $0.edge.owns && $0.edge.isKept }) {
            fail(.argument, "owns with on_change: keep: the object would be set up again for what it does not receive")
        }
    }

    // MARK: compiling

    /// The compiled definition; nil after an error.
    mutating func compile() -> Recipe? {
        let described = definition
        // Without a valid parent, further checks are impossible.
        let isOrphan = !checkParents()
        if described.body.parent != nil { checkProperties() }
        definition = definitions.flat(described)
        let recipe = isOrphan ? nil : definition.alias == nil ? compileMaking() : compileAlias()
        checkOnChange(described)
        guard errors.isEmpty, !isOrphan || !lacks.isEmpty else { return nil }
        return lacks.isEmpty ? recipe : blockedRecipe()
    }

    /// The compiled definition of a blocked definition. The existing dependencies are its edges, so that it is compiled
    /// again when one of them is removed.
    private func blockedRecipe() -> Recipe {
        Recipe(definition, maker: .dormant(lacks), slots: [], references: references.merged().deferred())
    }

    /// Checks that the definition's flags can be satisfied.
    private mutating func checkLife(_ type: ObjectType) {
        let flags = definition.body.flags
        if flags.contains(.exclusive) {
            let takesArguments = definition.body.parameters?.parameters.isEmpty == false
            if takesArguments || (definition.scope != .singleton && definition.scope != .lazySingleton) {
                fail(
                    .argument,
                    "exclusive is for singletons and lazy singletons without runtime arguments, not "
                        + (takesArguments ? "one for each of them" : "of scope \(definition.scope.name)"))
            }
            if !type.canBeExclusive {
                fail(
                    .argument,
                    "exclusive needs a type with start and stop functions, and '\(type.name)' does not have both")
            }
        }
        if flags.contains(.restart) {
            let takesArguments = definition.body.parameters?.parameters.isEmpty == false
            if takesArguments || (definition.scope != .singleton && definition.scope != .lazySingleton) {
                fail(
                    .argument,
                    "restart is for singletons and lazy singletons without runtime arguments, not "
                        + (takesArguments ? "one for each of them" : "of scope \(definition.scope.name)"))
            }
            if type.description.blockSize > 0 {
                fail(
                    .argument,
                    "restart is for types without a block, and '\(type.name)' has one, which is read without the object: "
                        + "declare restart for its properties")
            }
        }
        if flags.contains(.tracked) {
            if definition.scope.isShared {
                fail(.argument, "shared instances are followed anyway: tracked is for prototypes and graph scope")
            }
            if !type.isConfined {
                fail(.argument, "objects of the shared type '\(type.name)' are never changed, so none can be tracked")
            }
        }
    }

    /// The values of a block exist once for each key, so that no other scope has an effect.
    private mutating func checkBlockScope(_ type: ObjectType) {
        guard type.hasOnlyValues, !definition.body.isPartial, let scope = definition.body.scope, !scope.isForValues
        else {
            return
        }
        fail(
            .argument,
            "the type '\(type.name)' has only a block, and no instances: the scope '\(definition.scopeName)' would have no "
                + "effect; leave it out")
    }

    /// Returns false when one of the parents is invalid. Errors further up the chain are reported there.
    private mutating func checkParents() -> Bool {
        guard definition.body.parent != nil else { return true }
        var line: [UInt32] = [definition.id]
        var seen: Set<UInt32> = [definition.id]
        var current = definition
        while let name = current.body.parent {
            let isOwn = line.count == 1
            guard let id = definitions.identify(name), let parent = definitions.described(id) else {
                if isOwn || current.body.flags.contains(.waits) {
                    lack(
                        name, isKey: true,
                        "the parent '\(name)' is not defined\(definitions.hint(for: name, besides: definition.key))")
                }
                return false
            }
            if parent.alias != nil {
                if isOwn { fail(.argument, "the parent '\(name)' is an alias") }
                return false
            }
            guard seen.insert(id).inserted else {
                // One definition of the cycle reports it.
                if id == definition.id, id == line.min() {
                    let way = (line + [id]).map { definitions.described($0)?.key ?? definition.key }
                    fail(.cycle, "the parents form a cycle: \(way.path())")
                }
                return false
            }
            if definitions.isSound(id) { break }
            line.append(id)
            current = parent
        }
        definitions.addSound(line.dropFirst())
        return true
    }

    /// A child sets each property once. The second one would be lost if the parent sets it, too.
    private mutating func checkProperties() {
        var seen: NameSet = []
        for name in definition.body.properties.compactMap(\.name) where !seen.insert(name).inserted {
            fail(.exists, "the property '\(name)' is set twice")
        }
    }

    private mutating func compileAlias() -> Recipe? {
        let name = definition.alias ?? ""
        guard let target = definitions.present(name) else {
            // An alias of a blocked definition is blocked, too.
            let isTargetBlocked = definitions.identify(name).map(definitions.isBlocked) ?? false
            lack(
                name, isKey: true, waits: isTargetBlocked,
                "the alias needs \(definitions.missing(name, besides: definition.key))")
            return nil
        }
        // A plain alias has no object of its own: a reference to it is a reference to its target.
        if !definition.isPlainAlias { references.add(target, .initializer) }
        let named = definitions.whole(target)
        if let named { checkMade(named, "the alias") }
        let wanted = named?.body.parameters
        let slots = definition.body.initializer.enumerated().map { index, injection in
            Recipe.Slot(
                position: index,
                source: argument(injection.source, index, of: wanted, .initializer, "argument \(index)"),
                parameter: nil)
        }
        // An alias with its own parameters gives all arguments of its target, another one the first of them.
        if definition.body.parameters != nil, let named {
            check(slots.count, named, "the alias")
        } else if !slots.isEmpty, let named {
            check(slots.count, named, "the alias", orMore: true)
        }
        return recipe(.alias(target), slots: slots)
    }

    private mutating func compileMaking() -> Recipe? {
        if let choice = definition.body.choice { return compile(choice) }
        guard let type = definition.type else {
            guard let name = definition.body.typeName else {
                fail(.argument, "a definition needs a type, or a parent with a type")
                return nil
            }
            lack(name, isKey: false, "no type '\(name)' is registered")
            return nil
        }
        if definition.scope == .singleton, let count = definition.body.parameters?.parameters.count, count > 0 {
            fail(.arity, "an eager singleton takes no runtime arguments; '\(definition.key)' declares \(count)")
        }
        checkLife(type)
        checkBlockScope(type)
        if let failure = context.scopeFailure(definition.scope, definition.body.scopeName) {
            fail(failure.code, failure.message)
        }
        let maker: Recipe.Maker
        let slots: [Recipe.Slot]
        if let constant = definition.body.constant {
            if let made = constant.type, !made.isKind(of: type.name) {
                fail(.type, "the object is of type '\(made.name)'; expected '\(type.name)'")
            }
            if !definition.body.initializer.isEmpty || !definition.body.properties.isEmpty
                || !definition.body.methods.isEmpty || definition.body.factory != nil
                || definition.body.maker != nil
            {
                fail(.argument, "a constant object is neither created nor injected")
            }
            return recipe(.constant(constant), slots: [])
        }
        if let method = definition.body.maker {
            let object = source(method.object, edge(.initializer, of: Injection(name: nil, method.object)), "the maker")
            maker = .method(object, name: method.invocation.method)
            slots = makerSlots(method.invocation, self.method(method.invocation.method, of: object))
        } else {
            maker =
                definition.isAbstract
                ? .abstract : type.isBlockOnly ? .block : definition.body.factory.map { .factory($0) } ?? .initializer
            slots = initializer(type)
        }
        var set = NameSet()
        var steps: [Recipe.Step] = []
        for need in needs(of: type, besides: definition.body.properties) {
            if let step = property(need, type, &set) { steps.append(step) }
        }
        let needCount = steps.count
        for injection in definition.body.properties {
            if let step = property(injection, type, &set) { steps.append(step) }
        }
        steps += invocations(definition.body.methods, type)
        // Compiled before the recipe is created, because their references are edges of the recipe.
        let before = invocations(definition.body.before, type)
        let after = invocations(definition.body.after, type)
        let afterAll = invocations(definition.body.afterAll, type)
        return recipe(
            maker, slots: slots, steps: steps, needCount: needCount, before: before, after: after, afterAll: afterAll)
    }

    /// The dependencies that the type declares and the definition does not set itself.
    private func needs(of type: ObjectType, besides own: [Injection]) -> [Injection] {
        guard !type.needs.isEmpty, context.fillsNeeds else { return [] }
        func property(_ injection: Injection) -> String? {
            injection.name.flatMap { try? type.description.property(named: $0).property.name }
        }
        let injected = Set(own.compactMap(property))
        return type.needs.filter { need in property(need).map { !injected.contains($0) } ?? true }
    }

    func recipe(
        _ maker: Recipe.Maker, slots: [Recipe.Slot], steps: [Recipe.Step] = [], needCount: Int = 0,
        before: [Recipe.Step] = [], after: [Recipe.Step] = [], afterAll: [Recipe.Step] = []
    ) -> Recipe {
        Recipe(
            definition, maker: maker, slots: slots, steps: steps, needCount: needCount, before: before, after: after,
            afterAll: afterAll, references: references.merged())
    }
}
