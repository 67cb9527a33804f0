internal import CPlatform
internal import InvivoBase
internal import InvivoContexts
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
                .dormant, "'\(recipe.key)' is blocked on missing dependencies: \(Recipe.list(needs))", path: recipe.key,
                at: recipe.definition.location)
        }
        if recipe.isExclusive, !isReload, container.monitor.locked({ cell.isRetired }) {
            return try resolveNewest(recipe.id, arguments)
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
            // An alias leads to the compiled definition of its target: both have one object.
            let id = recipe.id
            // Objects in other contexts have one of their own.
            let home = startingContext?.bits ?? 0
            if let frame = frames.lastIndex(where: {
                $0.recipe.id == id && $0.cell == nil && $0.home == home && Self.isSame($0.arguments, arguments)
            }) {
                return try inFlight(frame, recipe)
            }
            if recipe.scope == .graph,
                let entry = made.last(where: {
                    $0.id == id && $0.cell == nil && $0.home == home && Self.isSame($0.arguments, arguments)
                })
            {
                return try take(entry)
            }
            guard let made = try make(recipe, arguments, cell: nil) else { return 0 }
            return made.object
        case .context: return try resolve(cell, recipe, inContextOf: arguments)
        case .thread, .host:
            for _ in 0..<Self.mostTries {
                let placed = try container.registry.scopes.instance(cell, recipe, arguments, self)
                do throws(Failure) { return try shared(placed, recipe, arguments) } catch {
                    // The scope instance may have ended meanwhile, and its object with it: the next try creates another one.
                    guard error.code == .stale, container.monitor.locked({ placed.isOver }) else { throw error }
                }
            }
            throw Failure(
                .stale, "its scope instances end before they can be used", path: recipe.key,
                at: recipe.definition.location)
        case .lazySingleton, .singleton, .weakSingleton:
            return try shared(cell, recipe, arguments)
        }
    }

    /// The object of a definition with one instance for each context: in the nearest context of its kind.
    private func resolve(
        _ cell: Cell, _ recipe: Recipe, inContextOf arguments: [Value]
    ) throws(Failure) -> UInt64 {
        let scopes = container.registry.scopes
        guard let home = try scopes.context(of: recipe, self) else {
            let kind = recipe.definition.body.scopeName.map { " of the kind '\($0)'" } ?? ""
            throw Failure(
                .notReady,
                "'\(recipe.key)' has one instance for each context\(kind), and the calling code is in no context: resolve it in one, or enter one",
                path: recipe.key, at: recipe.definition.location)
        }
        if let object = try container.built(cell, arguments, in: home) { return object }
        return try staying(in: home, for: recipe) { (stay) throws(Failure) in
            stay.noteObjects()
            let placed = try scopes.instance(cell, arguments, in: home)
            return try shared(placed, recipe, arguments)
        }
    }

    /// The object of a key in the current generation, for a build in a former one: only one of them exists at a time.
    private func resolveNewest(_ id: UInt32, _ arguments: [Value]) throws(Failure) -> UInt64 {
        let newest = Build(container, graph: container.currentGraph(), caller: Build.Caller(parent: self))
        return try container.whole(
            newest, { (build) throws(Failure) in try build.resolve(id, arguments) },
            { _ = ObjectTable.release($0) })
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
        let why = depth < Self.deepest ? "the thread's stack is full" : "the chain of dependencies does not end"
        return Failure(
            .cycle, "\(why): \(depth) objects need each other: \(path(to: recipe.key))", path: recipe.key,
            at: recipe.definition.location)
    }

    /// A lease on an object that is under construction further up in the same build.
    func inFlight(_ index: Int, _ recipe: Recipe) throws(Failure) -> UInt64 {
        let bits = frames[index].object
        if frames[index].isNull { return 0 }
        if frames[index].awaitsDecoration { throw undecorated(index, recipe) }
        guard bits != 0 else {
            missing = Missing(frame: index)
            let cycle = frames[index...].map(\.recipe.key) + [recipe.key]
            throw Failure(
                .cycle, "cyclic dependency through initializers: \(cycle.path())",
                path: recipe.key, at: recipe.definition.location)
        }
        hold(to: index)
        for frame in frames[index...] where frame.object != 0 {
            if let record = frame.record { ObjectCycles.mark(frame.object, record) }
        }
        guard ObjectTable.retain(bits) else { throw Failure(.stale, "the object has ended", path: recipe.key) }
        return bits
    }

    /// A lease on an object that was created earlier in the same outermost resolve.
    func take(_ entry: Entry) throws(Failure) -> UInt64 {
        if entry.low < frames.count { hold(to: entry.low) }
        if entry.cell == nil { for id in entry.made.dependencies { noteDependency(id) } }
        guard ObjectTable.retain(entry.object) else {
            throw Failure(.stale, "the object has ended", path: container.keyName(entry.id))
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
            throw Failure(
                .cycle, "the choice refers to itself without end", path: recipe.key, at: recipe.definition.location)
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
            throw noOption(value, options.map(\.when), recipe.definition, at: recipe.definition.location)
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
        throw noDefinition(name, known, recipe.definition, at: recipe.definition.location)
    }

    // MARK: values of contexts

    /// The value that a lookup finds from the context in which the object is created; nil if there is none, or if it is hidden. An error
    /// if it is needed then.
    func contextValue(_ wanted: Recipe.ContextValue, _ recipe: Recipe, isNeeded: Bool) throws(Failure) -> Value? {
        guard let start = startingContext else {
            throw Failure(
                .notReady,
                "'\(recipe.key)' receives the value '\(wanted.key)' of a context, and is created in no context: resolve it in one, or enter one",
                path: recipe.key, at: recipe.definition.location)
        }
        let scopes = container.registry.scopes
        note(ScopeInstance(scope: scopes.contexts, instance: start.bits))
        do throws(Failure) {
            guard let from = try home(wanted.kind, from: start, isNeeded: isNeeded) else { return nil }
            var key = wanted.id
            if key == nil { key = try container.intern(wanted.key) }
            if let key, let found = try Contexts.value(of: container.keyHandle(key), in: from) { return found }
            guard isNeeded else { return nil }
            throw Failure(
                .notFound,
                "'\(recipe.key)' receives the value '\(wanted.key)' of a context, and \(Contexts.chain(of: from)) has none",
                path: recipe.key, at: recipe.definition.location)
        } catch { throw error.named(recipe.key, recipe.definition.location) }
    }

    /// The nearest context of a kind. Nil if there is none and none is needed.
    private func home(_ kind: String?, from start: ContextHandle, isNeeded: Bool) throws(Failure) -> ContextHandle? {
        guard let kind else { return start }
        let index = try container.registry.contexts.kinds.index(named: kind)
        do throws(Failure) { return try Contexts.home(from: start, kind: index) } catch {
            guard isNeeded || error.code != .notReady else { return nil }
            throw error
        }
    }
}
