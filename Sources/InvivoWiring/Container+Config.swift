internal import CPlatform
public import InvivoBase
public import InvivoConfig
public import InvivoGraph

/// Reading the configuration while objects are created.
extension Container {
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
