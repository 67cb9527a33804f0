internal import CPlatform
internal import InvivoBase
internal import InvivoGraph
internal import InvivoObjects

/// Finding the object of a key: through aliases and choices, in its scope, or as a weak reference does.
extension Build {
    /// The object of a key with one lease for the caller; 0 if its factory returns null.
    func resolve(_ id: UInt32, _ arguments: [Value]) throws(Failure) -> UInt64 {
        let object = try find(id, arguments)
        noteUse(of: object)
        return object
    }

    private func find(_ id: UInt32, _ arguments: [Value]) throws(Failure) -> UInt64 {
        guard let cell = graph.cell(id), let recipe = graph.recipe(id) else {
            throw container.registry.unknownKey(id, in: graph)
        }
        guard frames.count < Self.deepest, iv_stack_left() > Self.leastStack else { throw tooDeep(recipe) }
        if case .alias(let target) = recipe.maker {
            let given = try passed(by: recipe, arguments) { (given) throws(Failure) in
                try values(of: recipe.slots.map(\.source), recipe, given)
            }
            return try resolve(target, given ?? [])
        }
        if case .dormant(let needs) = recipe.maker {
            throw Failure(
                .dormant, "'\(recipe.key)' lies dormant: it waits for \(Recipe.list(needs))", path: recipe.key,
                at: recipe.definition.place)
        }
        let arguments = try recipe.checked(arguments)
        if case .choice(let chooser, let options) = recipe.maker {
            return try choose(chooser, options, recipe, arguments)
        }
        switch recipe.scope {
        case .prototype, .graph:
            if !graph.isShown(recipe.id) {
                container.monitor.locked {
                    _ = cell.raw
                    container.current.show(cell, graph)
                }
            }
            // An alias leads to the recipe of what it names: both are one object.
            let id = recipe.id
            if let frame = frames.lastIndex(where: {
                $0.recipe.id == id && $0.cell == nil && Self.isSame($0.arguments, arguments)
            }) {
                return try inFlight(frame, recipe)
            }
            if recipe.scope == .graph,
                let entry = made.last(where: { $0.id == id && $0.cell == nil && Self.isSame($0.arguments, arguments) })
            {
                return try take(entry)
            }
            guard let made = try make(recipe, arguments, cell: nil) else { return 0 }
            return made.object
        case .context, .thread, .host:
            for _ in 0..<Self.mostTries {
                let placed = try container.registry.scopes.instance(cell, recipe, arguments, self)
                do throws(Failure) { return try shared(placed, recipe, arguments) } catch {
                    // The place may have ended meanwhile; what it had is gone, and it has another instance now.
                    guard error.code == .stale, container.monitor.locked({ placed.isOver }) else { throw error }
                }
            }
            throw Failure(
                .stale, "places of its scope end faster than they can be used", path: recipe.key,
                at: recipe.definition.place)
        case .lazySingleton, .singleton, .weakSingleton:
            return try shared(cell, recipe, arguments)
        }
    }

    /// How often a build backs off, or looks for a scope instance that has ended.
    static let mostTries = 100
    /// The longest chain of objects that need each other.
    static let deepest = 256
    /// The free stack that one more object and its host code need, and the comparison of arguments that are nested as deep as
    /// the chain is long.
    #if DEBUG
        // Frames of a debug build, and more so of one for a sanitizer, are several times as large.
        static let leastStack: UInt64 = 320 << 10
    #else
        static let leastStack: UInt64 = 160 << 10
    #endif

    private func tooDeep(_ recipe: Recipe) -> Failure {
        let depth = frames.count
        let why = depth < Self.deepest ? "the thread's stack is full" : "the wiring does not end"
        let path = path(to: recipe.key)
        var end = path.suffix(400)
        if end.startIndex > path.startIndex, let arrow = end.firstIndex(of: ">") { end = end[arrow...].dropFirst(2) }
        return Failure(
            .cycle, "\(why): \(depth) objects need each other: ... \(end)",
            path: recipe.key,
            at: recipe.definition.place)
    }

    /// A lease on an object that is under construction further up in the same build.
    func inFlight(_ index: Int, _ recipe: Recipe) throws(Failure) -> UInt64 {
        let bits = frames[index].object
        if frames[index].isNull { return 0 }
        if frames[index].awaitsDecoration { throw undecorated(index, recipe) }
        guard bits != 0 else {
            missingFrame = index
            missingFor = nil
            let circle = frames[index...].map(\.recipe.key) + [recipe.key]
            throw Failure(
                .cycle, "the wiring goes round in a circle through initializers: \(circle.joined(separator: " -> "))",
                path: recipe.key, at: recipe.definition.place)
        }
        hold(to: index)
        for frame in frames[index...] where frame.object != 0 {
            if let record = frame.record { ObjectCycles.mark(frame.object, record) }
        }
        guard ObjectTable.retain(bits) else { throw Failure(.stale, "the object is gone", path: recipe.key) }
        return bits
    }

    /// A lease on an object that was created earlier in the same outermost resolve.
    func take(_ entry: Entry) throws(Failure) -> UInt64 {
        if entry.low < frames.count { hold(to: entry.low) }
        if entry.cell == nil { for id in entry.made.dependencies { noteDependency(id) } }
        guard ObjectTable.retain(entry.object) else {
            throw Failure(.stale, "the object is gone", path: container.keyName(entry.id))
        }
        return entry.object
    }

    // MARK: aliases and choices

    /// The arguments that an alias passes on; nil if `values` is nil. Declared arguments are its own; otherwise its arguments
    /// are passed on behind its own values.
    func passed(
        by alias: Recipe, _ arguments: [Value], _ values: ([Value]) throws(Failure) -> [Value]?
    ) throws(Failure) -> [Value]? {
        // A choice whose option is known at compile time is an alias, too.
        let isWhole = alias.definition.body.parameters != nil || alias.definition.alias == nil
        let given = isWhole ? try alias.checked(arguments) : arguments
        guard let passed = try values(given) else { return nil }
        return isWhole ? passed : passed + given
    }

    private static func isSame(_ a: [Value], _ b: [Value]) -> Bool {
        a.isEmpty && b.isEmpty || ArgumentsKey(a) == ArgumentsKey(b)
    }

    /// The definition that a choice selects, and its arguments.
    struct Chosen {
        let id: UInt32
        let sources: [Recipe.Source]
        /// Whether the chooser returned its name.
        let isNamed: Bool
    }

    /// Resolves the first option that matches the value of the chooser.
    func choose(
        _ chooser: Recipe.Source, _ options: [(when: DefinitionChoice.When, use: Recipe.Source?)], _ recipe: Recipe,
        _ arguments: [Value]
    ) throws(Failure) -> UInt64 {
        guard iv_stack_left() > Self.leastStack else {
            throw Failure(.cycle, "the choice does not end", path: recipe.key, at: recipe.definition.place)
        }
        let value = try value(of: chooser, recipe, arguments)
        guard let chosen = try chosen(value, options, recipe) else { return 0 }
        // The choice's edges do not name it.
        if chosen.isNamed { noteDependency(chosen.id) }
        let bound = try values(of: chosen.sources, recipe, arguments)
        return try resolve(chosen.id, bound)
    }

    /// The first option that matches `value`; nil if it leads to nothing.
    func chosen(
        _ value: Value, _ options: [(when: DefinitionChoice.When, use: Recipe.Source?)], _ recipe: Recipe
    ) throws(Failure) -> Chosen? {
        guard let option = options.first(where: { $0.when.fits(value) }) else {
            throw noOption(value, options.map(\.when), recipe.definition, at: recipe.definition.place)
        }
        guard let use = option.use else {
            return Chosen(id: try id(named: value, for: recipe), sources: [], isNamed: true)
        }
        guard case .object(let id, let sources, _) = use else { return nil }
        return Chosen(id: id, sources: sources, isNamed: false)
    }

    private func id(named value: Value, for recipe: Recipe) throws(Failure) -> UInt32 {
        guard case .string(let name) = value else { return 0 }
        for key in DefinitionChoice.keys(named: name, besides: recipe.key) {
            if let id = container.monitor.locked({ container.keys.id(of: key) }), graph.isDefined(id) { return id }
        }
        let known = container.registry.keys(definedIn: graph)
        throw noDefinition(name, known, recipe.definition, at: recipe.definition.place)
    }

    // MARK: weak references

    /// The existing instance of a key with these arguments, with one lease for the caller; 0 if there is none. Creates nothing.
    func existing(_ id: UInt32, _ arguments: [Value]) throws(Failure) -> UInt64 {
        guard let cell = graph.cell(id), let recipe = graph.recipe(id) else {
            throw container.registry.unknownKey(id, in: graph)
        }
        guard iv_stack_left() > Self.leastStack else {
            throw Failure(
                .cycle, "what is named does not end", path: recipe.key, at: recipe.definition.place)
        }
        if case .alias(let target) = recipe.maker {
            guard
                let given = try passed(
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
                let chosen = try chosen(value, options, recipe),
                let bound = try existing(chosen.sources, recipe, arguments)
            else { return 0 }
            return try existing(chosen.id, bound)
        }
        if case .constant(let lease) = recipe.maker, !recipe.scope.isShared {
            try checkDomain(recipe.definition)
            // Decorators return another object each time.
            return recipe.decorators.isEmpty && ObjectTable.retain(lease.bits) ? lease.bits : 0
        }
        guard recipe.scope.isShared else { return 0 }
        try checkDomain(recipe.definition)
        guard recipe.scope.isPlaced else {
            return try built(recipe) { cell.known(arguments) }
        }
        guard let key = try container.registry.scopes.placeKey(recipe, arguments, self) else { return 0 }
        return try built(recipe) { cell.known(key) }
    }

    /// The same for a source; nil if an object in it does not exist.
    private func existing(_ source: Recipe.Source, _ recipe: Recipe, _ arguments: [Value])
        throws(Failure) -> Value?
    {
        guard source.names(nil) else { return try value(of: source, recipe, arguments) }
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
        case .list(let items): return try existing(items, recipe, arguments).map(Value.list)
        case .set(let items): return try existing(items, recipe, arguments).map { .list(Value.distinct($0)) }
        case .map(let pairs):
            guard let values = try existing(pairs.map(\.source), recipe, arguments) else { return nil }
            return .map(zip(pairs, values).map { ($0.name, $1) })
        // Each callable is a new one.
        default: return nil
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

    /// Gives a new handle to the instance of a weak singleton whose handles are all gone; nil if it is gone, too.
    func revive(_ weak: WeakInstance, _ recipe: Recipe, _ cell: Cell) throws(Failure) -> UInt64? {
        guard let instance = container.apart({ weak.load() }) else {
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

    /// Looks for the objects of weak singletons, in their domain and without the monitor, and forgets the arguments of those
    /// that are gone. One at a time: host code that the last reference runs may resolve the others.
    func forgetGone(_ asked: [Cell.Asked], of base: Cell) {
        for one in asked {
            guard let (weak, former) = container.monitor.locked({ one.cell.beginAsking(chain) }) else { continue }
            let instance = container.apart { weak.load() }
            container.monitor.locked {
                base.endAsking(one, former, isGone: instance == nil)
                container.monitor.broadcast()
            }
            if let instance { container.apart { weak.type.description.dispose(instance) } }
        }
    }

    /// The instance of a shared definition, if it is built. `find` looks for its cell under the monitor. Waits only for a thread
    /// that asks a weak reference whether a weak singleton still exists.
    private func built(_ recipe: Recipe, _ find: () -> Cell?) throws(Failure) -> UInt64 {
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
                guard !isExhausted, let weak = cell.beginReviving(chain) else {
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
                // It is gone for good.
                container.monitor.locked { cell.makeCold(nil, container.monitor) }
                return 0
            case .building(let other):
                if isOurs(other) {
                    defer { container.monitor.unlock() }
                    return madeHere(cell)
                }
                let thread = currentThread().identity
                guard cell.isReviving, container.waits.cycle(from: other, to: chain, on: thread, recipe.key) == nil
                else {
                    container.monitor.unlock()
                    return 0
                }
                container.waits.begin(Waits.Wait(of: chain, on: thread, for: cell, keys: root.keysInProgress))
                wait.once(container.domains, for: recipe.key, of: other)
                container.waits.end(chain, thread)
            }
        }
        container.monitor.unlock()
        return 0
    }

    /// The object that this build, or one whose hook it runs in, has created for a cell and that other builds do not see yet.
    private func madeHere(_ cell: Cell) -> UInt64 {
        var asked: Build? = self
        while let here = asked {
            if let entry = here.createdEntries.last(where: { $0.cell === cell }) {
                // An object that refers back to one under construction is not complete.
                guard here !== self || entry.low >= here.frames.count else { return 0 }
                return ObjectTable.retain(entry.object) ? entry.object : 0
            }
            asked = here.parent ?? here.outer
        }
        return 0
    }
}
