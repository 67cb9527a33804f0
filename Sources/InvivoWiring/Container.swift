internal import CInvivo
internal import CPlatform
public import InvivoBase
internal import InvivoConfig
internal import InvivoContexts
public import InvivoGraph
public import InvivoObjects

/// The engine's wiring: keys, types, domains, the current graph, and resolving.
///
/// One monitor coordinates everything slow (cold builds, jobs, reloads); nothing of it is held while host code runs. The
/// graph is published through `core`, which readers reach without any of this.
public final class Container: @unchecked Sendable {
    public let core: Core
    /// Callers that did not use `find` check it before they lock the monitor.
    public let home = HomeProcess()
    /// The core's tag while this runtime is open; it is the lower 28 bits of the upper half of its handles.
    public let tag: UInt64
    public let monitor = Monitor()
    public let domains: DomainTable
    /// The engine, which runs reloads; set once, before the core is opened.
    public weak var owner: AnyObject?
    /// The options in force that can change.
    public let options: LiveOptions
    public let life: LifeServices

    public let registry: Registry

    public let current: CurrentGraph
    public let builds: BuildRecords
    /// The claims of providers, lazies and weak references.
    public let deferred: DeferredTable
    public let retiredObjects: RetiredObjects
    public let pendingDisposals: PendingDisposals
    let ownRecipes: OwnRecipes

    public init(
        core: Core, tag: UInt64, name: String, defaultDomain: Domain, options: LiveOptions, fillsNeeds: Bool
    ) {
        self.core = core
        self.tag = tag
        self.options = options
        domains = DomainTable(defaultDomain: defaultDomain, monitor: monitor, waits: Waits(monitor), log: options.log)
        retiredObjects = RetiredObjects(monitor, tag: tag, domains: domains, options: options)
        pendingDisposals = PendingDisposals(monitor)
        let keys = KeyTable(owner: RuntimeHandle(tag: tag).keyOwner)
        current = CurrentGraph(Graph(generation: 0, keys: keys), monitor)
        builds = BuildRecords(monitor)
        deferred = DeferredTable(monitor, keys)
        let contexts = Contexts(core, tag: tag, names: KeyNames(keys, guardedBy: monitor), log: options.log)
        registry = Registry(monitor, keys, home, fillsNeeds: fillsNeeds, contexts)
        ownRecipes = OwnRecipes(monitor, registry)
        life = LifeServices(domains, name: name, options: options)
        domains.connect(to: self)
        retiredObjects.connect(to: self)
        Self.seams
    }

    /// Functions that the modules below need of this one. Set once, before the first object is created.
    private static let seams: Void = {
        ObjectTable.dispose = { Disposal.dispose($0) }
        ObjectTable.lookForCycle = { ObjectCycles.search(from: $0) }
        ThreadEnd.handler = {
            Contexts.leaveAll()
            ScopeTable.end(thread: $0)
        }
    }()

    public var log: Log { options.log }
    var waits: Waits { domains.waits }
    public var lifecycle: Lifecycle { Lifecycle(container: self) }

    // MARK: handles

    var runtimeHandle: RuntimeHandle { RuntimeHandle(tag: tag) }
    public var handle: UInt64 { runtimeHandle.bits }
    public func keyHandle(_ id: UInt32) -> UInt64 { runtimeHandle.key(id) }

    /// The open container of a runtime or key handle. The reference keeps it alive.
    public static func find(_ bits: UInt64, _ kind: HandleKind) throws(Failure) -> Container {
        try Failure.refuseWhileAsking()
        let handle = HandleBits(bits)
        guard handle.kind == kind.rawValue, kind != .runtime || handle.index == 0, let core = handle.core else {
            throw .badHandle(bits, kind)
        }
        try Failure.refuseInRule(of: handle.tag)
        guard let reader = Readers.enter(core, tag: handle.tag) else {
            throw Failure(.closed, "the runtime is closed")
        }
        defer { Readers.leave(reader) }
        guard !Readers.isParents(core) else { throw .forked() }
        guard let engine = core.pointee.engine else { throw Failure(.closed, "the runtime is closed") }
        return Unmanaged<Container>.fromOpaque(engine).takeUnretainedValue()
    }

    // MARK: types

    @discardableResult
    public func register(_ description: TypeDescription, needs: [Injection] = []) throws(Failure) -> ObjectType {
        try description.check(needs: needs)
        let domain: Domain?
        if description.isShared {
            domain = nil
        } else if description.domainBits == 0 {
            domain = domains.defaultDomain
        } else {
            domain = try domains.domain(description.domainBits)
        }
        let type = ObjectType(
            description, owner: self, keys: names,
            access: domain.map { .init($0, thread: $0.thread, isKnownByThread: $0.isHere == nil) }, needs: needs)
        life.owners.note(description.functions)
        try registry.register(type)
        return type
    }

    // MARK: keys

    public var keys: KeyTable { registry.keys }

    /// The ids of keys and paths, for readers that do not hold the monitor.
    public var names: KeyNames { registry.names }

    public func intern(_ name: String) throws(Failure) -> UInt32 { try names.intern(name) }

    public func keyName(_ id: UInt32) -> String { monitor.locked { keys.name(id) } }

    /// The key of an object, or its type.
    public func name(of record: Record) -> String {
        record.pointee.key == 0 ? ObjectType.of(record).name : keyName(record.pointee.key - 1)
    }

    /// The id of a key that is defined. Otherwise throws an error, which names the nearest key if `isRead`.
    public func definedKey(_ name: String, isRead: Bool = true) throws(Failure) -> UInt32 {
        try registry.definedKey(name, in: visibleGraph, isRead: isRead)
    }

    // MARK: graph

    public func currentGraph() -> Graph { current.value }

    /// The graph that the calling code sees: inside a build the build's, which a reload may not have published yet; in a pin that of
    /// its generation.
    public var visibleGraph: Graph { heldGraph ?? currentGraph() }

    /// The graph of the calling code's build or pin, which need not be the current one; nil in neither. Takes no lock.
    var heldGraph: Graph? { innermostBuild?.graph ?? pinnedGraph }

    /// The graph that the calling code sees with an open view: inside a build the build's, otherwise the view's.
    public func visibleGraph(in view: Graph) -> Graph { innermostBuild?.graph ?? view }

    /// The graph that reads of the calling thread begin with: that of its innermost pin, or the current one.
    var readGraph: Graph { pinnedGraph ?? currentGraph() }

    private var pinnedGraph: Graph? {
        Pins.graph(core).flatMap { Graph.read(UnsafeRawPointer($0).assumingMemoryBound(to: invivo_graph.self)) }
    }

    /// Calls `body` with the leases of the current graph and of everything that is registered, some more than once. Called with
    /// the monitor held.
    public func forEachLease(_ body: (ObjectLease) -> Void) {
        current.forEachLease(body)
        registry.forEachLease(body)
    }

    /// After close, with no reader left: objects that are still in use are disposed of where their last lease is released.
    /// Jobs that no thread took are dropped, and their objects are disposed of here.
    public func detach() {
        pendingDisposals.detach()
        domains.detach()
        let records = pendingDisposals.takeAll().compactMap(ObjectTable.record).sorted {
            iv_record_order($0) > iv_record_order($1)
        }
        for record in records { Disposal.finish(record) }
    }

    /// After close: releases the last graph, with its cells and definitions.
    public func forget() {
        let scopes = monitor.locked { registry.scopes.removeAll() }
        defer { withExtendedLifetime(scopes) {} }
        domains.forget()
        let former = monitor.locked {
            // A recipe leads back to its type.
            (current.removeAll(keys), registry.removeAll(), ownRecipes.removeAll(), builds.removeAll())
        }
        withExtendedLifetime(former) {}
    }

    /// With the monitor held: whether new builds, jobs and reloads are refused.
    public var isClosing: Bool { registry.closing.hasBegun }

    /// With the monitor held: no new build, job or reload is begun from now on.
    public func beginClosing() {
        registry.closing.begin()
        domains.close()
        retiredObjects.close()
        monitor.broadcast()
    }
}

extension Container: TypeRegistry {
    public func has(_ name: String) -> Bool { registry.hasType(name) }
    public func register(_ type: TypeDescription) throws(Failure) { let _: ObjectType = try register(type) }
    public func find(_ name: String) throws(Failure) -> TypeDescription { try registry.type(named: name).description }
}
