internal import CPlatform
public import InvivoBase

/// Choosing, and reading the configuration, while objects are made.
extension Container {
    /// What the first option gives that fits what the chooser gives.
    func choose(
        _ chooser: Recipe.Source, _ options: [(when: DefinitionChoice.When, use: Recipe.Source?)], _ recipe: Recipe,
        _ arguments: [Value], _ chain: BuildChain
    ) throws(Failure) -> UInt64 {
        guard iv_stack_left() > Self.leastStack else {
            throw Failure(.cycle, "the choice does not end", path: recipe.key, at: recipe.definition.place)
        }
        let value = try value(of: chooser, recipe, arguments, chain)
        guard let option = options.first(where: { $0.when.fits(value) }) else {
            throw noOption(value, options.map(\.when), recipe.definition, at: recipe.definition.place)
        }
        // Declared arguments are the choice's own; what it is gets what the option says.
        let passed = recipe.definition.body.parameters == nil ? arguments : []
        guard let use = option.use else {
            let id = try id(named: value, for: recipe, chain)
            // The choice's edges do not name it.
            chain.noteDependency(id)
            return try resolve(id, passed, chain)
        }
        guard case .object(let target, let sources, _) = use else { return 0 }
        var bound: [Value] = []
        for source in sources { bound.append(try self.value(of: source, recipe, arguments, chain)) }
        return try resolve(target, bound + passed, chain)
    }

    /// The keys that a name may mean to a definition: of its own assembly, from the inside out, then whole.
    static func keys(named name: String, besides key: String) -> [String] {
        var found: [String] = []
        var scope = key[...]
        while let dot = scope.lastIndex(of: ".") {
            scope = scope[..<dot]
            found.append("\(scope).\(name)")
        }
        return found + [name]
    }

    private func id(named value: Value, for recipe: Recipe, _ chain: BuildChain) throws(Failure) -> UInt32 {
        guard case .string(let name) = value else { return 0 }
        for key in Self.keys(named: name, besides: recipe.key) {
            if let id = monitor.locked({ keys.id(of: key) }), chain.graph.isDefined(id) { return id }
        }
        let known = monitor.locked {
            (0..<UInt32(keys.count)).filter { chain.graph.isDefined($0) }.map { keys.name($0) }
        }
        throw noDefinition(name, known, recipe.definition, at: recipe.definition.place)
    }

    /// A callable that answers what the configuration says when it is called.
    func callable(for setting: ConfigSetting) -> Callable {
        Callable("configuration '\(setting.path)'") { [weak self] (_) throws(Failure) -> Value in
            guard let self else { throw Failure(.closed, "the runtime is closed", path: setting.path) }
            let graph = currentChain?.graph ?? currentGraph()
            for id in setting.ids {
                if let found = graph.setting(id) { return found.node.value }
            }
            if let otherwise = setting.otherwise { return otherwise }
            throw Failure(.notConfigured, "the configuration says nothing at '\(setting.path)'", path: setting.path)
        }
    }

    /// What the configuration of a generation says.
    func configLookup(of graph: Graph) -> ConfigLookup {
        configLookup(
            monitor.locked { keys.id(ofConfig: "") }.flatMap { graph.setting($0) }.map { ConfigTree(root: $0.node) }
                ?? ConfigTree())
    }

    public func configLookup(_ tree: ConfigTree) -> ConfigLookup {
        ConfigLookup(
            tree: tree,
            intern: { [self] path in monitor.locked { (try? keys.intern(config: path)) ?? .max } },
            converter: { [self] name in monitor.locked { converters[name] } },
            converters: { [self] in monitor.locked { converters.keys.sorted() } })
    }

    // MARK: converters

    public func register(_ converter: TextConverter) throws(Failure) {
        try monitor.locked { () throws(Failure) in
            guard !isClosing else { throw Failure(.closed, "the runtime is closing") }
            guard converters[converter.name] == nil else {
                throw Failure(
                    .exists, "the converter '\(converter.name)' is registered already; unregister it first",
                    path: converter.name)
            }
            converters[converter.name] = converter
        }
    }

    public func unregisterConverter(_ name: String) throws(Failure) {
        let former = try monitor.locked { () throws(Failure) -> TextConverter? in
            guard let former = converters.removeValue(forKey: name) else { throw unknownConverter(name) }
            return former
        }
        // Its end may run code of the host, outside of the lock.
        withExtendedLifetime(former) {}
    }

    public func converter(_ name: String) throws(Failure) -> TextConverter {
        try monitor.locked { () throws(Failure) -> TextConverter in
            guard let found = converters[name] else { throw unknownConverter(name) }
            return found
        }
    }

    /// Under the monitor.
    private func unknownConverter(_ name: String) -> Failure {
        if isClosing { return Failure(.closed, "the runtime is closed") }
        return Failure(
            .notFound, "there is no converter '\(name)'\(suggestion(for: name, among: converters.keys.sorted()))",
            path: name)
    }
}
