internal import CPlatform
internal import InvivoBase
public import InvivoConfig
public import InvivoGraph

/// Reading the configuration while objects are created.
extension Container {
    /// A callable that answers what the configuration says when it is called.
    func callable(for setting: ConfigSetting) -> Callable {
        Callable("configuration '\(setting.path)'") { [weak self] (_) throws(Failure) -> Value in
            guard let self else { throw Failure(.closed, "the runtime is closed", path: setting.path) }
            let graph = innermostBuild?.graph ?? currentGraph()
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
            intern: { [self] path in monitor.locked { configReads.id(of: path) ?? .max } },
            converter: { [self] name in converters.find(name).map(noted) },
            converters: { [self] in converters.names })
    }

    /// A converter of the host whose calls are noted while a reload is planned: those that wait for the reload name it.
    private func noted(_ converter: TextConverter) -> TextConverter {
        guard converter.isHosts else { return converter }
        return converter.within { [self] (call) throws(Failure) in
            guard currentThread().pointee.load_deadline != 0 else { return try call() }
            let former = reloadCall.note(.converter(converter.name))
            defer { reloadCall.note(former) }
            return try call()
        }
    }
}
