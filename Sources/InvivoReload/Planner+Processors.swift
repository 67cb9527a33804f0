internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

/// Processors, which change definitions before they are compiled, and decorators, which replace objects when they are created.
extension Planner {
    /// The processors after the plan, in their order.
    func processorsAfter(_ definitions: DefinitionPlan) -> [Processor] { definitions.processors ?? before.processors }

    /// Fills in the processors, if they change.
    func planProcessors(
        _ definitions: inout DefinitionPlan, _ changes: NamedChanges<Processor>, _ failures: inout [Failure]
    ) {
        guard !changes.isEmpty else { return }
        var next = before.processors
        for name in changes.removed {
            guard next.contains(where: { $0.name.isSameName(as: name) }) else {
                let near = suggestion(for: name, among: next.map(\.name).sorted())
                failures.append(Failure(.notFound, "no processor has the name '\(name)'\(near)", path: name))
                continue
            }
            next.removeAll { $0.name.isSameName(as: name) }
        }
        for processor in changes.added {
            next.removeAll { $0.name.isSameName(as: processor.name) }
            next.append(processor)
        }
        let ordered = next.enumerated().sorted {
            ($0.element.priority, $0.offset) < ($1.element.priority, $1.offset)
        }
        definitions.processors = ordered.map(\.element)
        for processor in changes.added {
            guard let key = processor.key, self.next(key.id, definitions) == nil else { continue }
            var failure = unknownKey(key.name, definitions)
            failure.location = processor.location
            failure.message = "the processor '\(processor.name)': \(failure.message)"
            failures.append(failure)
        }
    }

    // MARK: definitions

    /// Lets the processors visit the changed definitions, and those that added or removed processors apply to. Each starts from the
    /// description. Keys of which only base values change are visited for an added or removed processor, and are then no longer in
    /// `rebased`.
    func processDefinitions(
        _ definitions: inout DefinitionPlan, _ rebased: inout Set<UInt32>, _ failures: inout [Failure]
    ) {
        let active = processorsAfter(definitions).filter { $0.process != nil }
        let former = before.processors.filter { $0.process != nil }
        guard !active.isEmpty || !former.isEmpty else { return }
        let moved =
            active.filter { new in !former.contains { $0 === new } }
            + former.filter { old in !active.contains { $0 === old } }
        let based = rebased
        var ids = Set(definitions.changed.keys.filter { !based.contains($0) })
        func isVisited(_ id: UInt32) -> Bool { definitions.changed[id] == nil || based.contains(id) }
        if !moved.isEmpty {
            let keys = moved.map(\.key)
            let candidates =
                keys.contains { $0 == nil }
                ? Array(before.definitions.values) : keys.compactMap { $0.flatMap { before.definitions[$0.id] } }
            for definition in candidates where isVisited(definition.id) {
                let id = definition.id
                let type = flat(before.originals[id] ?? definition, definitions).type
                if moved.contains(where: { $0.concerns(id, type) }) { ids.insert(id) }
            }
            // Children of a changed definition change with it.
            var queue = Array(ids)
            while let id = queue.popLast() {
                for child in before.links.children[id]
                where isVisited(child) && ids.insert(child).inserted {
                    queue.append(child)
                }
            }
        }
        rebased.subtract(ids)
        for id in ids.sorted() {
            guard let current = definitions.changed[id] ?? before.definitions[id] else {
                definitions.originals[id] = .some(nil)
                continue
            }
            // The definition of an entry follows its pattern, which was visited, and is compiled again with its parent.
            guard current.body.entry == nil else {
                definitions.changed[id] = .some(current)
                continue
            }
            var described =
                definitions.described.contains(id)
                ? current : (definitions.originals[id] ?? before.originals[id]) ?? current
            let order = (definitions.moved[id] ?? current).body.order
            if described.body.order != order { described = described.with { $0.order = order } }
            var result = described
            do throws(Failure) {
                for processor in active where processor.concerns(id, flat(result, definitions).type) {
                    guard let process = processor.process else { continue }
                    do throws(Failure) { result = try process(result) } catch {
                        throw Failure(
                            error.code, "the processor '\(processor.name)': \(error.message)", path: described.key,
                            at: described.location)
                    }
                }
            } catch { failures.append(error) }
            definitions.originals[id] = .some(result === described ? nil : described)
            definitions.changed[id] = .some(result)
        }
    }

    /// Returns a definition with the content that it inherits in the plan.
    func flat(_ definition: Definition, _ definitions: DefinitionPlan) -> Definition {
        guard definition.body.parent != nil else { return definition }
        let changed = definitions.changed
        let known = before.definitions
        return DefinitionLookup(
            described: { id in changed[id] ?? known[id] }, identify: { name in names.id(of: name) }
        ).flat(definition)
    }

    // MARK: objects

    /// Assigns decorators to compiled definitions. The dependencies of a decorator's component are not decorated by it, nor are objects
    /// that are decorated on the way there. So earlier decorators are available to later ones, and no cycle arises.
    func assignDecorators(
        _ definitions: inout DefinitionPlan, _ compiled: inout Compiled, _ failures: inout [Failure]
    ) {
        let next = processorsAfter(definitions).filter { $0.decorator != nil }
        let former = before.processors.filter { $0.decorator != nil }
        guard !next.isEmpty || !former.isEmpty else { return }
        let recipes = compiled.recipes
        let changed = definitions.changed
        func recipe(_ id: UInt32) -> Recipe? {
            if let recipe = recipes[id] { return recipe }
            if let definition = changed[id], definition == nil { return nil }
            return graph.recipe(id)
        }
        var reaches: [Set<UInt32>] = []
        func decorates(_ index: Int, _ recipe: Recipe) -> Bool {
            next[index].decorates(recipe) && !reaches[index].contains(recipe.id)
        }
        for processor in next {
            var reach: Set<UInt32> = []
            var queue = processor.componentID.map { [$0] } ?? []
            if let id = processor.componentID { check(processor, recipe(id), definitions, &failures) }
            while let id = queue.popLast() {
                guard let recipe = recipe(id), reach.insert(recipe.id).inserted else { continue }
                if let target = recipe.aliased { queue.append(target) }
                queue += (recipe.undecorated ?? recipe).references.dependencies
                for index in reaches.indices where decorates(index, recipe) {
                    if let component = next[index].componentID { queue.append(component) }
                }
            }
            reaches.append(reach)
        }
        var candidates = Set(recipes.keys)
        let moved =
            next.filter { new in !former.contains { $0 === new } }
            + former.filter { old in !next.contains { $0 === old } }
        if !moved.isEmpty || definitions.processors != nil { candidates.formUnion(before.definitions.keys) }
        for (processor, reach) in zip(next, reaches) {
            candidates.formUnion(reach.symmetricDifference(before.decoratorReaches[ObjectIdentifier(processor)] ?? []))
        }
        definitions.decoratorReaches = Dictionary(
            zip(next.map { ObjectIdentifier($0) }, reaches), uniquingKeysWith: { first, _ in first })
        for id in candidates.sorted() {
            guard let recipe = recipe(id), recipe.id == id else { continue }
            let list = next.indices.filter { decorates($0, recipe) }.map { next[$0] }
            if !recipe.hasSameDecorators(as: list) { compiled.recipes[id] = recipe.decorated(by: list) }
            // Then more has changed than configuration values.
            if graph.recipe(id)?.hasSameDecorators(as: list) == false { compiled.reconfigured.remove(id) }
        }
    }

    private func check(
        _ processor: Processor, _ recipe: Recipe?, _ definitions: DefinitionPlan, _ failures: inout [Failure]
    ) {
        guard case .component(_, let name, let method)? = processor.decorator else { return }
        func fail(_ code: Status, _ message: String) {
            var failure = Failure(
                code, "the processor '\(processor.name)' \(message)", path: name, at: processor.location)
            // The processor is the dependent.
            failure.isChained = true
            failures.append(failure)
        }
        guard let recipe else {
            let there =
                before.definitions.values.filter { next($0.id, definitions) != nil }
                + definitions.changed.values.compactMap { $0 }
            let near = suggestion(for: name, among: Set(there.map(\.key)).sorted())
            return fail(.notFound, "needs '\(name)', which is not defined\(near)")
        }
        checkArguments(of: recipe, given: method == nil ? 1 : 0) {
            fail(
                .arity,
                "gives \(method == nil ? "the object as one argument" : "no argument") to '\(name)', which \($0)")
        }
        guard let method, let type = recipe.type else { return }
        do throws(Failure) { _ = try type.description.method(named: method) } catch {
            fail(error.code, "calls a method of '\(name)': \(error.message)")
        }
    }

    /// A component is resolved with as many runtime arguments as it declares.
    private func checkArguments(of component: Recipe, given: Int, _ fail: (String) -> Void) {
        guard let parameters = component.definition.body.parameters else {
            if given > 0 && component.aliased == nil { fail("declares no runtime arguments (parameters)") }
            return
        }
        if given < parameters.leastCount || given > parameters.parameters.count { fail("takes \(parameters.text)") }
    }
}
