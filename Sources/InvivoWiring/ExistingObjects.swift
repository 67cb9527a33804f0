internal import CPlatform
internal import InvivoBase
internal import InvivoGraph
internal import InvivoObjects

/// Finds objects for a build without creating any.
struct ExistingObjects {
    let build: Build
    private let container: Container
    private let graph: Graph

    init(of build: Build) { (self.build, container, graph) = (build, build.container, build.graph) }

    /// The existing instance of a key with these arguments, with one lease for the caller; 0 if there is none. Creates nothing.
    func existing(_ id: UInt32, _ arguments: [Value]) throws(Failure) -> UInt64 {
        guard let cell = graph.cell(id), let recipe = graph.recipe(id) else {
            throw container.registry.unknownKey(id, in: graph)
        }
        guard iv_stack_left() > Build.leastStack else {
            throw Failure(
                .cycle, "the references refer to each other without end", path: recipe.key,
                at: recipe.definition.location)
        }
        if case .alias(let target) = recipe.maker {
            guard
                let given = try build.passed(
                    by: recipe, arguments,
                    { (given) throws(Failure) in
                        try existing(recipe.slots.map(\.source), recipe, given)
                    })
            else { return 0 }
            return try existing(target, given)
        }
        if case .dormant = recipe.maker { return 0 }
        let arguments = try recipe.checked(arguments)
        if case .choice(let chooser, let options) = recipe.maker {
            guard let value = try existing(chooser, recipe, arguments),
                let chosen = try build.chosen(value, options, recipe),
                let bound = try existing(chosen.sources, recipe, arguments)
            else { return 0 }
            return try existing(chosen.id, bound)
        }
        if case .constant(let lease) = recipe.maker, !recipe.scope.isShared {
            try build.checkDomain(recipe.definition)
            // Decorators return another object each time.
            return recipe.decorators.isEmpty && ObjectTable.retain(lease.bits) ? lease.bits : 0
        }
        guard recipe.scope.isShared else { return 0 }
        try build.checkDomain(recipe.definition)
        guard recipe.scope.isPlaced else {
            return try built(recipe) { cell.known(arguments) }
        }
        guard let key = try container.registry.scopes.placeKey(recipe, arguments, build) else { return 0 }
        return try built(recipe) { cell.known(key) }
    }

    /// The same for a source; nil if an object in it does not exist.
    private func existing(_ source: Recipe.Source, _ recipe: Recipe, _ arguments: [Value])
        throws(Failure) -> Value?
    {
        guard source.names(nil) else { return try build.value(of: source, recipe, arguments) }
        switch source {
        case .object(let id, let sources, _):
            guard let given = try existing(sources, recipe, arguments) else { return nil }
            let object = try existing(id, given)
            return object == 0 ? nil : .object(ObjectLease(owning: object))
        case .path(let object, let path, let isOptional):
            guard let start = try existing(object, recipe, arguments) else { return nil }
            return try recipe.follow(path, from: start, isOptional: isOptional)
        case .config(_, let source): return try existing(source, recipe, arguments)
        case .all(let ids):
            let each = ids.map { Recipe.Source.object($0, arguments: [], isOptional: false) }
            return try existing(each, recipe, arguments).map(Value.list)
        case .context(let wanted, let otherwise):
            if let found = try build.contextValue(wanted, recipe, isNeeded: otherwise == nil) { return found }
            return try otherwise.flatMap { (source) throws(Failure) in try existing(source, recipe, arguments) }
        case .list(let items): return try existing(items, recipe, arguments).map(Value.list)
        case .set(let items): return try existing(items, recipe, arguments).map { .list(Value.distinct($0)) }
        case .map(let pairs):
            guard let values = try existing(pairs.map(\.source), recipe, arguments) else { return nil }
            return .map(zip(pairs, values).map { ($0.name, $1) })
        case .value, .argument, .arguments, .asker: return try build.value(of: source, recipe, arguments)
        // Each callable is a new one.
        case .deferred, .resolver, .setting: return nil
        }
    }

    private func existing(_ sources: [Recipe.Source], _ recipe: Recipe, _ arguments: [Value])
        throws(Failure) -> [Value]?
    {
        var values: [Value] = []
        for source in sources {
            guard let value = try existing(source, recipe, arguments) else { return nil }
            values.append(value)
        }
        return values
    }

    // MARK: weak singletons

    /// Gives a new handle to the instance of a weak singleton whose handles have all ended; nil if the instance has
    /// ended, too.
    func revive(_ weak: WeakInstance, _ recipe: Recipe, _ cell: Cell) throws(Failure) -> UInt64? {
        guard let instance = container.detached({ weak.load() }) else {
            container.monitor.locked {
                cell.isReviving = false
                container.monitor.broadcast()
            }
            return nil
        }
        // The reference that came with it is the new record's.
        let object = try container.wrap(weak.type, instance, key: recipe.id)
        container.monitor.locked {
            if let record = ObjectTable.record(object) {
                record.pointee.thread = weak.type.raw.pointee.thread
                cell.sequence = iv_record_order(record)
            }
            container.builds.noteBuilt(cell)
            cell.weakObject = object
            cell.isReviving = false
            cell.becomeBuilt()
            container.monitor.broadcast()
        }
        return object
    }

    /// Looks for the objects of weak singletons, in their domain and without the monitor, and removes the cells of
    /// those that have ended. One at a time: host code that the last reference runs may resolve the others.
    func forgetGone(_ asked: [Cell.Variants.Asked], of base: Cell) {
        for one in asked {
            guard let (weak, former) = container.monitor.locked({ one.cell.beginAsking(build.chain) }) else { continue }
            let instance = container.detached { weak.load() }
            container.monitor.locked {
                base.endAsking(one, former, isGone: instance == nil)
                container.monitor.broadcast()
            }
            if let instance { container.detached { weak.type.description.dispose(instance) } }
        }
    }

    /// The instance of a shared definition, if it is built. `find` looks for its cell under the monitor. Waits only for a thread
    /// that asks a weak reference whether a weak singleton still exists.
    func built(_ recipe: Recipe, _ find: () -> Cell?) throws(Failure) -> UInt64 {
        var wait = LongWait()
        defer { wait.end(container.domains) }
        container.monitor.lock()
        while let cell = find() {
            switch cell.state {
            case .cold:
                container.monitor.unlock()
                return 0
            case .built:
                let bits = recipe.scope == .weakSingleton ? cell.weakObject : cell.object
                if recipe.scope == .weakSingleton
                    ? container.retiredObjects.receiveWeak(cell) != nil : ObjectTable.retain(bits)
                {
                    container.monitor.unlock()
                    return bits
                }
                let isExhausted = ObjectTable.isExhausted(bits)
                guard !isExhausted, let weak = cell.beginReviving(build.chain) else {
                    container.monitor.unlock()
                    if isExhausted { throw .exhausted(path: recipe.key) }
                    return 0
                }
                container.monitor.unlock()
                do throws(Failure) {
                    if let revived = try revive(weak, recipe, cell) { return revived }
                } catch {
                    container.monitor.locked { cell.makeCold(nil, container.monitor) }
                    throw error
                }
                // The object has ended.
                container.monitor.locked { cell.makeCold(nil, container.monitor) }
                return 0
            case .building(let other):
                if build.isOurs(other) {
                    defer { container.monitor.unlock() }
                    return madeHere(cell)
                }
                let thread = currentThread().identity
                guard cell.isReviving,
                    container.waits.cycle(from: other, to: build.chain, on: thread, recipe.key) == nil
                else {
                    container.monitor.unlock()
                    return 0
                }
                container.waits.begin(
                    Waits.Wait(of: build.chain, on: thread, for: cell, keys: build.root.keysInProgress))
                wait.once(container.domains, for: recipe.key, of: other)
                container.waits.end(build.chain, thread)
            }
        }
        container.monitor.unlock()
        return 0
    }

    /// The object that this build, or one whose hook it runs in, has created for a cell and that other builds do not see yet.
    private func madeHere(_ cell: Cell) -> UInt64 {
        var asked: Build? = build
        while let here = asked {
            if let entry = here.createdEntries.last(where: { $0.cell === cell }) {
                // An object that refers back to one under construction is not complete.
                guard here !== build || entry.low >= here.frames.count else { return 0 }
                return ObjectTable.retain(entry.object) ? entry.object : 0
            }
            asked = here.caller.around
        }
        return 0
    }
}
