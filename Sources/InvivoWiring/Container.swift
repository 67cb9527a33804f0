internal import CPlatform
public import InvivoBase
internal import InvivoConfig
public import InvivoGraph
public import InvivoObjects

/// The engine's wiring: keys, types, domains, the current graph, and resolving.
///
/// One monitor coordinates everything slow (cold builds, jobs, reloads); nothing of it is held while host code runs. The
/// graph is published through `core`, which readers reach without any of this.
public final class Container: @unchecked Sendable {
    public let core: Core
    /// Whoever comes here without having been through `find` asks it before the monitor.
    public let home = HomeProcess()
    /// The core's tag while this runtime is open; it is the lower 28 bits of the upper half of its handles.
    public let tag: UInt64
    public let name: String
    public let monitor = Monitor()
    public let keys: KeyTable
    public let domains: DomainTable
    /// Runs start and stop hooks of shared objects in a commit.
    public let jobThreads: JobThreads
    /// Whether what types declare that they need is filled; set once, before the core is opened.
    public var fillsNeeds = true
    /// What runs reloads; set once, before the core is opened.
    public weak var owner: AnyObject?
    public let log: Log
    public let lifecycle: Lifecycle

    public let closing: Closing
    let types: TypeTable
    public let assemblies: AssemblyTable
    public let scopes: ScopeTable
    public let converters: ConverterTable
    public let configReads: ConfigReads
    public let reloadCall: CurrentReloadCall

    // Guarded by the monitor.
    public private(set) var graph: Graph
    public var builds = BuildRecords()
    /// Built for a graph that was gone meanwhile; their holds are dropped by the next reclaim.
    public var retiredWhileBuilding: [(object: UInt64, birth: UInt64)] = []
    /// Called with the monitor not held, when a commit concerns objects that its plan did not know.
    public var onLateBuild: (@Sendable ([UInt32: LateBuild]) -> Void)?
    let waits: Waits
    let resolvers: WorkerThreads
    /// What providers and lazies claim.
    let lates = LateTable()
    public let retiredObjects: RetiredObjects
    public let pendingDisposals: PendingDisposals
    /// How long a domain has to do a job of a commit.
    public var commitTimeout: UInt64 = 0
    /// For types whose objects are created without a definition: the compiled injections in the generation named. Guarded by the
    /// monitor.
    var ownRecipes: [ObjectIdentifier: (generation: UInt64, recipe: Recipe)] = [:]

    public init(core: Core, tag: UInt64, name: String, defaultDomain: Domain, log: Log) {
        self.core = core
        self.tag = tag
        self.name = name
        self.log = log
        resolvers = WorkerThreads(name: name)
        waits = Waits(monitor)
        domains = DomainTable(defaultDomain: defaultDomain, monitor: monitor, waits: waits, log: log)
        jobThreads = JobThreads(domains, name: name)
        retiredObjects = RetiredObjects(monitor, tag: tag, domains: domains, log: log)
        pendingDisposals = PendingDisposals(monitor)
        keys = KeyTable(owner: UInt32(truncatingIfNeeded: HandleKind.key.rawValue << 28 | tag))
        graph = Graph(generation: 0, keys: keys)
        closing = Closing(monitor)
        types = TypeTable(monitor, closing)
        assemblies = AssemblyTable(monitor, closing)
        scopes = ScopeTable(monitor, closing, home)
        converters = ConverterTable(monitor, closing)
        configReads = ConfigReads(monitor, keys)
        reloadCall = CurrentReloadCall(monitor, keys)
        lifecycle = Lifecycle(monitor, log: log)
        domains.connect(to: self)
        retiredObjects.connect(to: self)
        lifecycle.container = self
        Self.seams
    }

    /// What the base room is told once, before the first object is made.
    private static let seams: Void = {
        ObjectTable.dispose = { Container.dispose($0) }
        ObjectTable.lookForCircle = { Container.lookForCircle($0) }
        ThreadEnd.hear = { ScopeTable.end(thread: $0) }
    }()

    // MARK: handles

    public var handle: UInt64 { (HandleKind.runtime.rawValue << 28 | tag) << 32 }
    public func keyHandle(_ id: UInt32) -> UInt64 { UInt64(keys.owner) << 32 | UInt64(id) }

    /// The open container of a runtime or key handle. The reference keeps it alive.
    public static func find(_ bits: UInt64, _ kind: HandleKind) throws(Failure) -> Container {
        try Failure.refuseWhileAsking()
        let upper = bits >> 32
        guard upper >> 28 == kind.rawValue, kind != .runtime || UInt32(truncatingIfNeeded: bits) == 0,
            let core = iv_core_at(UInt32(truncatingIfNeeded: upper >> 16) & 0xfff)
        else {
            throw .badHandle(bits, kind)
        }
        guard let reader = Readers.enter(core, tag: upper & 0xfff_ffff) else {
            throw Failure(.closed, "the runtime is closed")
        }
        defer { Readers.leave(reader) }
        guard !Readers.isParents(core) else { throw .forked() }
        guard let engine = core.pointee.engine else { throw Failure(.closed, "the runtime is closed") }
        return Unmanaged<Container>.fromOpaque(engine).takeUnretainedValue()
    }

    // MARK: types and domains

    @discardableResult
    public func register(_ description: TypeDescription, needs: [Injection] = []) throws(Failure) -> ObjectType {
        try checkNeeds(needs, of: description)
        let domain: Domain?
        if description.isShared {
            domain = nil
        } else if description.domainBits == 0 {
            domain = domains.defaultDomain
        } else {
            domain = try domains.domain(description.domainBits)
        }
        let type = ObjectType(
            description, owner: self, keys: KeyNames(keys, guardedBy: monitor),
            access: domain.map { .init($0, thread: $0.thread, isKnownByThread: $0.isHere == nil) }, needs: needs)
        try monitor.locked { () throws(Failure) in
            try types.register(type)
            configReads.noteNeeds(of: type)
        }
        return type
    }

    public func type(named name: String) throws(Failure) -> ObjectType {
        try monitor.locked { () throws(Failure) -> ObjectType in try types.type(named: name) }
    }

    // MARK: keys

    /// The ids of keys and paths, for readers that do not hold the monitor.
    public var names: KeyNames { KeyNames(keys, guardedBy: monitor) }

    public func intern(_ name: String) throws(Failure) -> UInt32 { try names.intern(name) }

    public func keyName(_ id: UInt32) -> String { monitor.locked { keys.name(id) } }

    /// The key of an object, or its type.
    func name(of record: Record) -> String {
        record.pointee.key == 0 ? Self.type(record).name : keyName(record.pointee.key - 1)
    }

    /// Under the monitor, when a reload has replaced these cells: forgets the keys without an instance.
    public func forgetBuilt(_ cells: [Cell]) {
        for cell in cells where graph.cell(cell.id)?.isHeld() != true { builds.forget(cell.id, cell.scope) }
    }

    /// The id of a defined key; otherwise an error that names the nearest, where somebody reads it.
    public func definedKey(_ name: String, isRead: Bool = true) throws(Failure) -> UInt32 {
        let graph = visibleGraph
        return try monitor.locked { () throws(Failure) -> UInt32 in
            if let id = keys.id(of: name), graph.cell(id) != nil || graph.block(id) != nil { return id }
            throw unknownKey(name, in: graph, isRead: isRead)
        }
    }

    /// Under the monitor.
    func unknownKey(_ name: String, in graph: Graph, isRead: Bool = true) -> Failure {
        // A call that close overtook finds nothing any more.
        if isClosing { return Failure(.closed, "the runtime is closed") }
        if let failure = assemblies.failure(ofInactive: name) { return failure }
        guard isRead else { return Failure(.notFound, "no definition has the key '\(name)'", path: name) }
        var known: [String] = []
        for id in 0..<UInt32(keys.count) where graph.isDefined(id) { known.append(keys.name(id)) }
        return Failure(
            .notFound, "no definition has the key '\(name)'\(suggestion(for: name, among: known))", path: name)
    }

    /// The failure of a resolve that is optional, and would find nothing only because an assembly is not active.
    public func requireActive(_ id: UInt32) throws(Failure) {
        if let failure = monitor.locked({ assemblies.failure(ofInactive: keys.name(id)) }) { throw failure }
    }

    // MARK: graph

    public func currentGraph() -> Graph { monitor.locked { graph } }

    /// What the calling code sees: inside a build the graph that this one is of, which a reload has yet to publish.
    public var visibleGraph: Graph { innermostBuild?.graph ?? currentGraph() }

    /// Publishes the next graph; under the monitor, by the reload that holds the turn. Answers the former one, which
    /// must be kept until no reader is left in it.
    public func publish(_ next: Graph) -> Graph {
        let former = graph
        graph = next
        next.showAll()
        Readers.publish(core, graph: UnsafeRawPointer(next.raw), epoch: next.generation + 1)
        return former
    }

    /// After close, with no reader left: objects that live on are disposed wherever their last lease goes.
    /// Jobs that no thread took are dropped, and what they were to dispose is disposed here: nothing is left behind.
    public func detach() {
        pendingDisposals.detach()
        domains.detach()
        let records = pendingDisposals.takeAll().sorted { iv_record_order($0) > iv_record_order($1) }
        for record in records { Container.finish(record) }
    }

    /// After close: the last graph goes, and with it the cells and definitions.
    public func forget() {
        let scopes = monitor.locked { self.scopes.removeAll() }
        defer { withExtendedLifetime(scopes) {} }
        domains.forget()
        let former = monitor.locked {
            () -> (
                Graph, NameTable<ObjectType>, [NameTable<AssemblyDescription>], NameTable<TextConverter>,
                [Recipe], BuildRecords
            ) in
            defer {
                builds = BuildRecords()
                graph = Graph(generation: graph.generation, keys: keys)
            }
            // A recipe leads back to its type.
            let recipes = ownRecipes.values.map(\.recipe)
            ownRecipes = [:]
            return (graph, types.removeAll(), assemblies.removeAll(), converters.removeAll(), recipes, builds)
        }
        withExtendedLifetime(former) {}
    }

    /// With the monitor held: whether new builds, jobs and reloads are refused.
    public var isClosing: Bool { closing.hasBegun }

    /// With the monitor held: no new build, job or reload is begun from now on.
    public func beginClosing() {
        closing.begin()
        domains.close()
        retiredObjects.close()
        monitor.broadcast()
    }
}

extension Container: TypeRegistry {
    public func has(_ name: String) -> Bool { monitor.locked { types.find(name) != nil } }
    public func register(_ type: TypeDescription) throws(Failure) { let _: ObjectType = try register(type) }
    public func find(_ name: String) throws(Failure) -> TypeDescription { try type(named: name).description }
}
