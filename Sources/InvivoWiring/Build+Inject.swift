internal import CInvivo
internal import CPlatform
internal import InvivoBase
internal import InvivoContexts
internal import InvivoGraph

/// The values that a build injects: into initializers, properties, methods and hooks.
extension Build {
    /// An object that receives injections, with the recipe and the runtime arguments that it was created from.
    struct Recipient {
        let recipe: Recipe
        let arguments: [Value]
        let object: UInt64
        let record: Record
    }

    // MARK: values

    /// The values for an initializer, by position.
    struct InitializerValues {
        var all: [Value] = []
        /// Those that hold references to objects.
        var injected: [Value] = []
        /// `invivo_build.given`: a bit for each value that is not left out.
        var given: UInt64 = 0
    }

    func initializerValues(_ recipe: Recipe, _ arguments: [Value]) throws(Failure) -> InitializerValues {
        var values = InitializerValues()
        for slot in recipe.slots {
            let value = try value(of: slot.source, recipe, arguments)
            // An optional runtime argument that was not given is left out here too.
            if case .argument(let index) = slot.source, index >= arguments.count {
            } else {
                values.given |= GivenArguments.bit(of: slot.position)
            }
            if value.isNull, let parameter = slot.parameter, !parameter.isOptional,
                case .object(let id, _, let isOptional) = slot.source, !isOptional
            {
                throw missing(id, for: "the initializer parameter '\(parameter.name)'", recipe)
            }
            if value.holdsReference { values.injected.append(value) }
            while values.all.count < slot.position { values.all.append(.null) }
            values.all.append(value)
        }
        return values
    }

    /// The error for a required value whose source returned null.
    private func missing(_ id: UInt32, for use: String, _ recipe: Recipe) -> Failure {
        Failure(
            .null,
            "\(use) of '\(recipe.key)' needs '\(container.keyName(id))', whose factory returned null; declare it optional",
            path: recipe.key, at: recipe.definition.location)
    }

    func value(of source: Recipe.Source, _ recipe: Recipe, _ arguments: [Value]) throws(Failure) -> Value {
        switch source {
        case .value(let value): return value.holdsReference ? try value.leasedAnew() : value
        case .object(let id, let sources, _):
            let given = try values(of: sources, recipe, arguments)
            let object = try resolve(id, given)
            return object == 0 ? .null : .object(ObjectLease(owning: object))
        case .all(let ids):
            var found: [Value] = []
            for id in ids {
                let object = try resolve(id, [])
                if object != 0 { found.append(.object(ObjectLease(owning: object))) }
            }
            return .list(found)
        case .argument(let index):
            guard index < arguments.count else { return .null }
            return arguments[index].holdsReference ? try arguments[index].leasedAnew() : arguments[index]
        case .arguments:
            let all = Value.list(arguments)
            return all.holdsReference ? try all.leasedAnew() : all
        case .path(let object, let path, let isOptional):
            return try recipe.follow(path, from: try value(of: object, recipe, arguments), isOptional: isOptional)
        case .list(let items): return .list(try values(of: items, recipe, arguments))
        case .set(let items): return .list(Value.distinct(try values(of: items, recipe, arguments)))
        case .map(let pairs):
            var values: [(name: String, value: Value)] = []
            for pair in pairs { values.append((pair.name, try value(of: pair.source, recipe, arguments))) }
            return .map(values)
        case .deferred(let id, let sources, let kind):
            guard let id else { return .null }
            return .callable(
                Callable.deferred(
                    kind, id, try values(of: sources, recipe, arguments), in: container, home: startingContext))
        case .config(_, let source): return try value(of: source, recipe, arguments)
        case .setting(let setting): return .callable(Callable.setting(setting, in: container))
        case .context(let wanted, let otherwise):
            if let found = try contextValue(wanted, recipe, isNeeded: otherwise == nil) { return found }
            return try otherwise.map { (source) throws(Failure) in try value(of: source, recipe, arguments) } ?? .null
        case .resolver: return .callable(Callable.resolver(in: container, home: startingContext))
        case .asker: return requester(of: frames.count - 1).map { .string($0.key) } ?? .null
        }
    }

    func values(of sources: [Recipe.Source], _ recipe: Recipe, _ arguments: [Value]) throws(Failure) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(sources.count)
        for source in sources { values.append(try value(of: source, recipe, arguments)) }
        return values
    }

    // MARK: injection

    /// Injects everything into an existing instance, in the order that wiring.h states. `index`: its frame.
    func inject(_ recipient: Recipient, _ index: Int) throws(Failure) {
        let (recipe, record) = (recipient.recipe, recipient.record)
        guard let type = recipe.type, let instance = record.pointee.instance else { return }
        do throws(Failure) { try type.description.willInject(instance) } catch {
            throw graph.withoutSecrets(error, of: recipe.id, container.names)
        }
        for position in recipe.before.indices {
            try run(recipe.named(position, in: recipe.before, "before "), recipient, index)
        }
        var hasCalledMethods = false
        for (position, step) in recipe.steps.enumerated().dropFirst(recipe.skippedNeeds(of: record)) {
            if case .method = step, !hasCalledMethods {
                hasCalledMethods = true
                try setBaseValues(recipe, record)
            }
            try run(recipe.named(position, in: recipe.steps, ""), recipient, index)
        }
        if !hasCalledMethods { try setBaseValues(recipe, record) }
        if let injector = recipe.definition.body.inject {
            var description = description(of: recipe, type, at: index)
            try injector.run(recipe.key, instance, &description, recipient.arguments)
        }
        for position in recipe.after.indices {
            try run(recipe.named(position, in: recipe.after, "after "), recipient, index)
        }
    }

    /// The build of a frame's object, as host code sees it.
    func description(of recipe: Recipe, _ type: ObjectType?, at index: Int) -> invivo_build {
        invivo_build(
            struct_size: MemoryLayout<invivo_build>.size, runtime: invivo_runtime(bits: container.handle),
            key: invivo_key(bits: container.keyHandle(recipe.id)),
            type: invivo_type(bits: type?.description.handleBits ?? 0),
            asker: invivo_key(bits: requester(of: index).map { container.keyHandle($0.id) } ?? 0), given: 0,
            flags: recipe.scope.isShared ? UInt32(INVIVO_BUILD_SHARED) : 0, reserved: 0,
            former: invivo_object(bits: frames[index].former?.lease.bits ?? 0),
            former_instance: UnsafeRawPointer(frames[index].former?.instance))
    }

    /// Runs one step. If it needs an object further up whose initializer has not returned, it is deferred until then.
    private func run(_ step: Recipe.NamedStep, _ recipient: Recipient, _ index: Int) throws(Failure) {
        missing = nil
        let mark = mark
        do throws(Failure) {
            try apply(step, to: recipient)
        } catch {
            guard error.code == .cycle, let missing, missing.frame < index || isOwnReference(missing, index) else {
                throw configured(error, step.step.sources)
            }
            self.missing = nil
            // It will be run again from its beginning.
            rollBack(to: mark)
            deferrals += 1
            frames[missing.frame].deferred.append(
                Deferred(
                    recipe: recipient.recipe, arguments: recipient.arguments,
                    lease: try ObjectLease.retaining(recipient.object), step: step, requester: requester(of: index),
                    number: deferrals))
            hold(to: missing.frame)
        }
    }

    /// Runs a deferred step: the instance that it needs exists now. It is run as if its own object were just being created.
    private func run(_ deferred: Deferred) throws(Failure) {
        guard let record = ObjectTable.record(deferred.lease.bits) else { return }
        let index = frames.count
        let recipient = Recipient(
            recipe: deferred.recipe, arguments: deferred.arguments, object: deferred.lease.bits, record: record)
        var frame = Frame(recipient, mark: made.count, low: index)
        frame.requester = deferred.requester
        frames.append(frame)
        defer {
            let ended = frames.removeLast()
            frames[index - 1].low = min(frames[index - 1].low, ended.low)
        }
        try apply(deferred.step, to: recipient)
    }

    /// Runs the steps of other objects that were deferred until the object of a frame exists.
    func runDeferred(_ index: Int) throws(Failure) {
        let deferred = frames[index].deferred
        frames[index].deferred = []
        for step in deferred { try run(step) }
    }

    /// `isCovered`: whether a property must not be set, because something else lies over it.
    func apply(
        _ named: Recipe.NamedStep, to recipient: Recipient,
        isCovered: (Int, Value) throws(Failure) -> Bool = { (_, _) in false }
    ) throws(Failure) {
        let (recipe, record) = (recipient.recipe, recipient.record)
        guard let type = recipe.type, let instance = record.pointee.instance else { return }
        let kept: Value
        switch named.step {
        case .candidates(let property, let ids, let added, let removed):
            let list = Recipe.CandidateList(property: property, ids: ids, added: added, removed: removed)
            return try list.inject(named.name, recipe, record, self)
        case .property(let index, let source):
            let property = type.property(index, for: record)
            if case .value(let value) = source {
                if try !isCovered(index, value) { try property.set(instance, value) }
                return InjectedReferences.forget(named.name, record)
            }
            let value = try value(of: source, recipe, recipient.arguments)
            if value.isNull, case .object(let id, _, false) = source {
                throw missing(id, for: "the property '\(property.name)'", recipe)
            }
            let checked = try property.check(value)
            if try !isCovered(index, checked) { try property.set(instance, checked) }
            kept = value
        case .method(let index, let sources):
            let method = type.method(index, for: record)
            let values = try values(of: sources, recipe, recipient.arguments)
            for (position, value) in values.enumerated() where value.isNull {
                if case .object(let id, _, false) = sources[position], !method.signature.parameters[position].isOptional
                {
                    throw missing(
                        id, for: "the argument '\(method.signature.parameters[position].name)' of '\(method.name)'",
                        recipe
                    )
                }
            }
            _ = try method.call(instance, values)
            kept = .list(values)
        }
        let remembered = kept.holdsReference || named.step.sources.contains { $0.names(nil) } ? kept : nil
        InjectedReferences.remember(remembered, named.name, record)
    }

    /// Sets base values of change sets, and values of documents that take effect at creation.
    private func setBaseValues(_ recipe: Recipe, _ record: Record) throws(Failure) {
        guard let type = recipe.type, let instance = record.pointee.instance else { return }
        for (index, value) in recipe.definition.base.sorted(by: { $0.key < $1.key }) {
            let property = type.property(index, for: record)
            if !property.isInBlock { try property.set(instance, value) }
        }
        for (index, value) in (graph.configuration(recipe.id)?.atCreation ?? [:]).sorted(by: { $0.key < $1.key }) {
            let property = type.property(index, for: record)
            if !property.isInBlock { try property.set(instance, value) }
        }
    }

    // MARK: objects of the host

    /// Runs injection and hooks for an object that the host created. With a cell, whose shared instance it becomes, the values
    /// of documents are applied too. Without `completes` the caller adds the hooks for the complete graph itself.
    func injectHostObject(
        _ recipe: Recipe, _ object: UInt64, _ record: Record, cell: Cell? = nil, completes: Bool = true
    ) throws(Failure) {
        let index = frames.count
        let mark = mark
        let recipient = Recipient(recipe: recipe, arguments: [], object: object, record: record)
        frames.append(Frame(recipient, cell: cell, mark: mark.made, low: index))
        do throws(Failure) {
            if recipe.isInCycle { ObjectCycles.mark(object, record) }
            try inject(recipient, index)
            if cell != nil { try graph.configuration(recipe.id)?.configure(record) }
            if completes { try awaitCompletion(recipient, for: nil) }
        } catch {
            frames.removeLast()
            rollBack(to: mark)
            throw located(error, recipe.definition)
        }
        let ended = frames.removeLast()
        guard cell != nil else { return }
        finish(
            ended, at: index,
            Made(object: object, record: record, dependencies: Set(ended.dependencies), isForeign: true))
    }

    // MARK: the complete graph

    /// Notes an object whose last hooks run when the whole graph is complete. False: it has none.
    @discardableResult
    func awaitCompletion(_ recipient: Recipient, for requester: Recipe?) throws(Failure) -> Bool {
        let recipe = recipient.recipe
        guard !recipe.afterAll.isEmpty || recipe.type?.description.functions.hasCompletionHook == true else {
            return false
        }
        let lease = try ObjectLease.retaining(recipient.object)
        completed.append(
            Completion(
                recipe: recipe, arguments: recipient.arguments, lease: lease, requester: requester,
                home: startingContext))
        return true
    }

    /// Runs the hooks for the complete graph, children before parents, each once.
    func complete() throws(Failure) {
        while !completed.isEmpty {
            // Hooks may resolve: the graphs of these complete by themselves.
            let queue = completed
            completed = []
            for completion in queue {
                // The hooks run when the graph of the requester is complete, and are code of their own object.
                try Contexts.working(in: completion.home, container.core) { () throws(Failure) in try run(completion) }
            }
        }
    }

    private func run(_ completion: Completion) throws(Failure) {
        let recipe = completion.recipe
        guard let type = recipe.type, let record = ObjectTable.record(completion.lease.bits),
            let instance = record.pointee.instance
        else { return }
        let recipient = Recipient(
            recipe: recipe, arguments: completion.arguments, object: completion.lease.bits, record: record)
        let hooks = Build(
            container, graph: graph,
            caller: Caller(parent: self, isReload: isReload, requester: completion.requester))
        do throws(Failure) {
            try container.building(hooks) { () throws(Failure) in
                for position in recipe.afterAll.indices {
                    // The objects that its arguments resolve form a graph of their own.
                    try container.whole { (build) throws(Failure) in
                        try build.apply(recipe.named(position, in: recipe.afterAll, "afterAll "), to: recipient)
                    }
                }
                try type.description.takeRuntime(instance, container.handle)
                try type.description.didInject(instance)
            }
        } catch {
            throw located(graph.withoutSecrets(error, of: recipe.id, container.names), recipe.definition)
        }
    }
}

/// The bits of `invivo_build.given`.
enum GivenArguments {
    static func bit(of position: Int) -> UInt64 { 1 << UInt64(min(position, 63)) }
    static func all(_ count: Int) -> UInt64 { count >= 64 ? .max : (1 << UInt64(count)) - 1 }
}
