internal import CPlatform
public import InvivoBase
public import InvivoConfig
public import InvivoGraph

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
        guard let chosen = try chosen(value, options, recipe, chain) else { return 0 }
        // The choice's edges do not name it.
        if chosen.isNamed { chain.noteDependency(chosen.id) }
        let bound = try values(of: chosen.sources, recipe, arguments, chain)
        return try resolve(chosen.id, bound, chain)
    }

    /// The definition that a choice is, and what is given to it.
    struct Chosen {
        let id: UInt32
        let sources: [Recipe.Source]
        /// Whether what the chooser gave is its name.
        let isNamed: Bool
    }

    /// What the first option says that fits `value`; nil when that is nothing.
    func chosen(
        _ value: Value, _ options: [(when: DefinitionChoice.When, use: Recipe.Source?)], _ recipe: Recipe,
        _ chain: BuildChain
    ) throws(Failure) -> Chosen? {
        guard let option = options.first(where: { $0.when.fits(value) }) else {
            throw noOption(value, options.map(\.when), recipe.definition, at: recipe.definition.place)
        }
        guard let use = option.use else {
            return Chosen(id: try id(named: value, for: recipe, chain), sources: [], isNamed: true)
        }
        guard case .object(let id, let sources, _) = use else { return nil }
        return Chosen(id: id, sources: sources, isNamed: false)
    }

    private func id(named value: Value, for recipe: Recipe, _ chain: BuildChain) throws(Failure) -> UInt32 {
        guard case .string(let name) = value else { return 0 }
        for key in DefinitionChoice.keys(named: name, besides: recipe.key) {
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
                ?? ConfigTree(), { _ in nil })
    }

    public func configLookup(_ layers: ConfigLayers) -> ConfigLookup {
        configLookup(layers.tree, layers.placeOfNull)
    }

    private func configLookup(_ tree: ConfigTree, _ placeOfNull: @escaping (String) -> Place?) -> ConfigLookup {
        ConfigLookup(
            tree: tree, placeOfNull: placeOfNull,
            intern: { [self] path in monitor.locked { soughtID(path) ?? .max } },
            converter: { [self] name in monitor.locked { converters[name] }.map(noted) },
            converters: { [self] in monitor.locked { converters.keys.sorted() } })
    }

    // MARK: converters

    /// A converter of the host whose calls are noted while a reload is planned: those that wait for the reload name it.
    private func noted(_ converter: TextConverter) -> TextConverter {
        guard converter.isHosts else { return converter }
        return converter.within { [self] (call) throws(Failure) in
            guard currentThread().pointee.load_deadline != 0 else { return try call() }
            let former = noteReloadCall(.converter(converter.name))
            defer { noteReloadCall(former) }
            return try call()
        }
    }

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
