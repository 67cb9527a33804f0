internal import CInvivo
internal import CPlatform
public import InvivoBase
internal import InvivoConfig
public import InvivoContexts
internal import InvivoGraph
internal import InvivoLoop
internal import InvivoObjects
public import InvivoPools
internal import InvivoTraits
public import InvivoWiring

/// One runtime: its wiring, its documents, and the change sets that change both.
///
/// Any thread may call. Files are followed on the loop thread and staged on the worker; both are started when they are first needed.
public final class Engine: Sendable {
    public let container: Container
    public let pools: Pools
    public let modules: ModuleTable
    public let options: FixedOptions
    let loop: LoopThread
    let reclaimer: Reclaimer
    let announcer: Announcer
    let targets: Targets
    let turns: Turns
    let documents: Documents
    let generations: GenerationStore
    let reloader: Reloader
    let handles: HostHandles
    public let pinWatch: PinWatch
    /// Used by the ABI.
    public let asyncResolver: AsyncResolver

    /// Functions that the modules below need of this one. Set once, by the first runtime.
    private static let seams: Void = {
        Loading.isAskedToClose = { engine in
            let container = Unmanaged<Container>.fromOpaque(engine).takeUnretainedValue()
            return container.registry.closing.isRequested
        }
        Tuning.onMoving = { (container, record, id) in
            guard let engine = container.owner as? Engine else { return }
            engine.reloader.ramps.begin(
                ObjectTable.handle(record), id, in: ObjectType.of(record).domain, Tuning.runs(of: record))
        }
        PropertyTextReading.set { text, property in
            do throws(Failure) { return .success(try PropertyText.value(text, of: property)) } catch {
                return .failure(error)
            }
        }
        RuntimeLookup.lookup = { (bits) throws(Failure) in try Container.find(bits, .runtime) }
        ContextTypes.set { bits, name in
            guard let record = ObjectTable.record(bits) else { return false }
            let type = ObjectType.of(record)
            return type.description.isKind(of: name) || type.container.isLaterKind(type.name, of: name)
        }
        ObjectLease.typeOf = { bits in ObjectTable.record(bits).map { ObjectType.of($0).description } }
    }()

    private init(_ container: Container, _ options: FixedOptions, running: Loop?) {
        self.container = container
        self.options = options
        pools = Pools(container)
        modules = ModuleTable(container, options)
        handles = HostHandles(container)
        asyncResolver = AsyncResolver(container, name: options.name)
        loop = LoopThread(container, name: options.name, running: running)
        announcer = Announcer(container)
        reclaimer = Reclaimer(container, loop, announcer)
        pinWatch = PinWatch(container, loop, announcer)
        targets = Targets(container)
        turns = Turns(container, name: options.name) { [weak container] in
            (container?.owner as? Engine)?.reloader.workerStep() ?? false
        }
        documents = Documents(container, options, reclaimer, announcer) { [weak container] set, areSmall in
            (container?.owner as? Engine)?.reloader.filesChanged(set, areSmall: areSmall)
        }
        generations = GenerationStore(container, documents, targets, reclaimer, announcer)
        let restores = PendingRestores(container, targets)
        let ramps = Ramps(container, loop, turns, generations, restores, tick: options.rampTick)
        reloader = Reloader(
            container, options, turns, documents, targets, generations, reclaimer, announcer, restores, ramps)
    }

    // MARK: open

    public static func open(_ given: EngineOptions) throws(Failure) -> Engine {
        let options = given.fixed
        guard Readers.canReclaim else {
            throw Failure(
                .unsupported, "this kernel has no membarrier(PRIVATE_EXPEDITED); Linux 4.14 or later is needed")
        }
        let copy = Environment.copy()
        let environment = try ContentQuoting.allowedForAll(options.quotesContent) { () throws(Failure) in
            ConfigLayers.NewEnvironment(
                copy, try EnvironmentLayer.node(copy, options.environmentPrefix, given.changeable.specLimits))
        }
        guard let (core, tag) = Readers.takeCore() else {
            throw Failure(.tooLarge, "\(IV_CORES) runtimes are open in this process; close one first")
        }
        ErrorBox.prepare()
        let loop: LoopBox?
        let domain: Domain
        if options.isLoopDefault {
            let started: Loop
            do throws(Failure) { started = try Loop(name: options.name) } catch {
                Readers.freeCore(core)
                throw error
            }
            let box = LoopBox(started)
            loop = box
            domain = Domain(
                name: "loop",
                kind: .posted(anyThread: false) { job throws(Failure) in
                    guard box.loop.post({ _ = job.run() }) else { throw Failure(.closed, "the loop has ended") }
                })
            started.post { domain.fixedThread = currentThread().identity }
            box.barrier()
        } else {
            loop = nil
            domain = Domain(name: "opener", kind: .thread(identity: currentThread().identity))
        }
        let container = Container(
            core: core, tag: tag, name: options.name, defaultDomain: domain,
            options: LiveOptions(given.changeable, log: given.log), fillsNeeds: options.fillsNeeds)
        let engine = Engine(container, options, running: loop?.loop)
        container.owner = engine
        container.registry.contexts.connect(life: ContextEnds(container))
        container.registry.contexts.connect(observers: engine.announcer.observers.contexts) { [weak engine] in
            engine?.freeContextsSoon()
        }
        container.registry.converters.registerStandard(StandardConverters.all)
        container.domains.events.longWait = { [weak engine] failure in engine?.announcer.keep(failure) }
        container.domains.events.longWaitIsOver = { [weak engine] message in engine?.announcer.forget(message) }
        container.retiredObjects.onWaiting = { [weak engine] in engine?.reclaimer.scheduleLook() }
        Self.seams
        container.domains.events.jobWaits = { [weak container] domain in
            container?.log(.debug, "a job waits for the domain '\(domain.name)'; its thread must poll the runtime")
        }
        container.builds.connect { [weak engine] overtaken in
            var set = ChangeSet(Cause(.overtaken))
            set.rebuilds = [.overtaken(overtaken)]
            engine?.reloader.submitUnasked(set)
        }
        core.pointee.engine = Unmanaged.passRetained(container).toOpaque()
        engine.keepAlive()
        // Fails only if the memory for names is exhausted.
        let graph = (try? engine.generations.begin(environment)) ?? container.currentGraph()
        _ = container.monitor.locked { container.current.publish(graph, to: core) }
        iv_store_u64(iv_core_tag(core), tag)
        _ = iv_add_u64(iv_live_runtimes(), 1)
        return engine
    }

    /// The engine of a handle of its runtime.
    public static func find(_ bits: UInt64, _ kind: HandleKind = .runtime) throws(Failure) -> Engine {
        let container = try Container.find(bits, kind)
        guard let engine = container.owner as? Engine else { throw Failure(.closed, "the runtime is closed") }
        return engine
    }

    /// The engine of a handle's object, which refers to its runtime weakly. For the length of one call.
    public static func of(_ runtime: Container?) throws(Failure) -> Engine {
        guard let engine = runtime?.owner as? Engine else { throw Failure(.closed, "the runtime is closed") }
        return engine
    }

    // MARK: change sets

    /// Commits a change set on this thread.
    public func commit(_ set: ChangeSet) throws(Failure) { try reloader.commit(set) }

    /// Hands a change set to the worker. Sets that wait there become one reload.
    public func submit(_ set: ChangeSet) throws(Failure) { try reloader.submit(set) }

    /// Checks a change set: plans it and returns the errors. Changes nothing.
    public func check(_ set: ChangeSet) -> [Failure] { reloader.check(set) }

    /// Reads the documents of a change set, with the files that they lead to. Returns all errors of their form.
    public func checkForm(_ set: ChangeSet) -> [Failure] { reloader.checkForm(set) }

    /// Plans a change set without building anything.
    public func examine(_ set: ChangeSet) -> Examination { reloader.examine(set) }

    /// Gathers the facts of the newest generation.
    public func wiringFacts() -> WiringFacts {
        let snapshot = generations.snapshot
        return WiringFactsReader(container: container, secrets: snapshot.config.secrets).all(snapshot)
    }

    /// Gathers what documents may contain in the newest generation. Waits for the reload that runs.
    public func schemaFacts() throws(Failure) -> WiringFacts {
        WiringFacts(generation: 0, nodes: [], schema: try reloader.schemaFacts())
    }

    /// Reports the registration of a type: definitions that wait for it are planned again, in a reload of their own.
    public func typeIsThere(_ name: String) { reloader.typeIsThere(name) }

    /// Notes a change set that a host begins to write. Its handle is stale when the runtime is closed.
    public func opened(changes: UInt64) throws(Failure) { try handles.add(changes: changes) }
    public func closed(changes: UInt64) { handles.remove(changes: changes) }

    /// Returns the token that other languages attach to. It is created once and freed by close.
    public func token(_ create: () -> UnsafeMutableRawPointer) -> UnsafeMutableRawPointer { handles.token(create) }

    // MARK: options

    /// Changes options: all that `body` sets, or none if it throws. `body` runs with a lock held. Never call it with a lock held.
    public func changeOptions(
        _ body: (inout RuntimeOptions, _ revision: UInt32) throws(Failure) -> Void
    ) throws(Failure) {
        let (former, next) = try container.options.change(body)
        guard next != former else { return }
        // What has been planned by the former options. Everything else reads the options when it needs them.
        generations.history.trim()
        documents.settleChanged()
        if next.stopGrace != former.stopGrace { reclaimer.scheduleLook() }
        if next.pinMaxAge != former.pinMaxAge { pinWatch.ageChanged() }
        container.log(.info, "options: \(next.differences(from: former))")
    }

    // MARK: contexts

    public var contexts: Contexts { container.registry.contexts }
    public var contextObservers: ContextObservers { announcer.observers.contexts }

    /// Frees on the loop thread what was removed from contexts while others read it.
    private func freeContextsSoon() {
        let contexts = contexts
        do throws(Failure) {
            _ = try loop.start().schedule(after: 2) { [weak contexts] in contexts?.freeRetired() }
        } catch { announcer.noteThreadFailure(error) }
    }

    // MARK: life

    /// The open runtimes: each keeps itself alive.
    private static let open = Guarded<[ObjectIdentifier: Engine]>([:], by: Monitor(isProcessWide: true))

    private func keepAlive() { Self.open.locked { $0[ObjectIdentifier(self)] = self } }
    func letGo() { _ = Self.open.locked { $0.removeValue(forKey: ObjectIdentifier(self)) } }
}

/// The loop during the creation of its domain.
private final class LoopBox: Sendable {
    let loop: Loop
    init(_ loop: Loop) { self.loop = loop }

    /// Returns when everything posted before has run.
    func barrier() {
        let monitor = Monitor()
        let isDone = Guarded(false, by: monitor)
        let isPosted = loop.post {
            isDone.locked {
                $0 = true
                monitor.broadcast()
            }
        }
        guard isPosted else { return }
        monitor.locked { while !isDone.held({ $0 }) { monitor.wait() } }
    }
}
