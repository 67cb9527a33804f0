internal import CPlatform
public import InvivoBase
public import InvivoConfig
public import InvivoContexts
public import InvivoGraph

/// The registrations of a runtime: the names of its keys, types, assemblies, scopes and converters. They outlive the
/// generations. Any thread.
public final class Registry: Sendable {
    /// The monitor of the runtime. It guards `keys`.
    private let monitor: Monitor
    public let keys: KeyTable
    public let closing: Closing
    let types: TypeTable
    public let assemblies: AssemblyTable
    public let scopes: ScopeTable
    public let converters: ConverterTable
    public let configReads: ConfigReads
    /// Whether the properties that types declare as needs are injected.
    public let fillsNeeds: Bool
    public let reloadCall: CurrentReloadCall
    public let contexts: Contexts
    public let contextObjects: ContextObjects

    init(
        _ monitor: Monitor, _ keys: KeyTable, _ home: HomeProcess, fillsNeeds: Bool, _ contexts: Contexts
    ) {
        self.contexts = contexts
        self.monitor = monitor
        self.keys = keys
        reloadCall = CurrentReloadCall(monitor, keys)
        self.fillsNeeds = fillsNeeds
        closing = Closing(monitor)
        types = TypeTable(monitor, closing)
        assemblies = AssemblyTable(monitor, closing)
        contextObjects = ContextObjects(monitor)
        scopes = ScopeTable(monitor, closing, home, contexts)
        converters = ConverterTable(monitor, closing)
        configReads = ConfigReads(monitor, keys)
    }

    // MARK: types

    /// Registers a type. Fails if a need names no property that can be set, or one twice.
    func register(_ type: ObjectType) throws(Failure) {
        try monitor.locked { () throws(Failure) in
            try types.register(type)
            configReads.noteNeeds(of: type)
        }
    }

    public func type(named name: String) throws(Failure) -> ObjectType {
        try monitor.locked { () throws(Failure) -> ObjectType in try types.type(named: name) }
    }

    func hasType(_ name: String) -> Bool { monitor.locked { types.find(name) != nil } }

    /// Whether the host checks values of a property of a type, while a change is planned. With the monitor held.
    public var typesAreVerifiedByHost: Bool { types.areVerifiedByHost }

    // MARK: keys

    public func intern(_ name: String) throws(Failure) -> UInt32 { try names.intern(name) }

    /// The ids of keys and paths, for readers that do not hold the monitor.
    public var names: KeyNames { KeyNames(keys, guardedBy: monitor) }

    /// The id of a key that `graph` defines. Otherwise throws an error, which names the nearest key if `isRead`.
    func definedKey(_ name: String, in graph: Graph, isRead: Bool) throws(Failure) -> UInt32 {
        try monitor.locked { () throws(Failure) -> UInt32 in
            if let id = keys.id(of: name), graph.cell(id) != nil || graph.block(id) != nil { return id }
            throw unknownKey(name, in: graph, isRead: isRead)
        }
    }

    /// The error for a key that `graph` does not define.
    func unknownKey(_ id: UInt32, in graph: Graph) -> Failure {
        monitor.locked { unknownKey(keys.name(id), in: graph) }
    }

    /// With the monitor held.
    func unknownKey(_ name: String, in graph: Graph, isRead: Bool = true) -> Failure {
        // Close has removed the definitions.
        if closing.hasBegun { return Failure(.closed, "the runtime is closed") }
        if let failure = assemblies.failure(ofInactive: name) { return failure }
        guard isRead else { return Failure(.notFound, "no definition has the key '\(name)'", path: name) }
        return Failure(
            .notFound, "no definition has the key '\(name)'\(suggestion(for: name, among: definedKeys(in: graph)))",
            path: name)
    }

    /// The names of the keys that `graph` defines. With the monitor held.
    func definedKeys(in graph: Graph) -> [String] {
        (0..<UInt32(keys.count)).filter { graph.isDefined($0) }.map { keys.name($0) }
    }

    /// Fails for a key that an inactive assembly would define. For an optional resolve, which finds nothing without an error
    /// otherwise.
    public func requireActive(_ id: UInt32) throws(Failure) {
        if let failure = monitor.locked({ assemblies.failure(ofInactive: keys.name(id)) }) { throw failure }
    }

    /// The same for callers that do not hold the monitor.
    func keys(definedIn graph: Graph) -> [String] { monitor.locked { definedKeys(in: graph) } }

    /// The failure of a lookup by type, if a definition of an inactive assembly would create one.
    func failure(ofInactiveType type: String) -> Failure? {
        monitor.locked { assemblies.failure(ofInactiveType: type, among: types) }
    }

    // MARK: configuration

    /// The lookup of configuration values in the generation of `graph`. Paths that are looked up are noted as read.
    func configLookup(of graph: Graph) -> ConfigLookup {
        let root = monitor.locked { keys.id(ofConfig: "") }.flatMap { graph.setting($0) }
        return configLookup(root.map { ConfigTree(root: $0.node) } ?? ConfigTree(), graph.secrets, { _ in nil })
    }

    public func configLookup(_ layers: ConfigLayers) -> ConfigLookup {
        configLookup(layers.tree, layers.secrets, layers.placeOfNull)
    }

    private func configLookup(
        _ tree: ConfigTree, _ secrets: SecretPaths, _ placeOfNull: @escaping (String) -> Location?
    ) -> ConfigLookup {
        ConfigLookup(
            tree: tree, secrets: secrets, placeOfNull: placeOfNull,
            intern: { [self] path in monitor.locked { configReads.id(of: path) ?? .max } },
            converter: { [self] name in converters.find(name).map(noted) },
            converters: { [self] in converters.names })
    }

    /// A converter of the host whose calls are noted while a reload is planned: threads that wait for the reload report it.
    private func noted(_ converter: TextConverter) -> TextConverter {
        guard converter.isHosts else { return converter }
        return converter.within { [reloadCall] (call) throws(Failure) in
            guard currentThread().pointee.load_deadline != 0 else { return try call() }
            let former = reloadCall.note(.converter(converter.name))
            defer { reloadCall.note(former) }
            return try call()
        }
    }

    // MARK: close

    /// Calls `body` with the leases of everything that is registered, some more than once. With the monitor held.
    func forEachLease(_ body: (ObjectLease) -> Void) {
        assemblies.forEachDescribedDefinition { $0.forEachLease(body) }
        types.forEachNeed { $0.forEachLease(body) }
    }

    /// Everything that was registered, except scopes. Released without the monitor.
    struct Removed: Sendable {
        fileprivate let types: NameTable<ObjectType>
        fileprivate let assemblies: [NameTable<AssemblyDescription>]
        fileprivate let converters: NameTable<TextConverter>
    }

    /// With the monitor held.
    func removeAll() -> Removed {
        Removed(types: types.removeAll(), assemblies: assemblies.removeAll(), converters: converters.removeAll())
    }
}
