internal import CInvivo
internal import CPlatform
public import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoLoop
internal import InvivoObjects
public import InvivoPools
public import InvivoSpec
internal import InvivoTraits
public import InvivoWiring

/// One runtime: its wiring, its documents, and the one way in which both change.
///
/// Reloads take turns: `isReloading` is set under the monitor by the thread that runs one, and what is marked "of the
/// turn" is touched by that thread alone. Files are followed on the loop thread and staged on the worker; both are started
/// when first needed.
public final class Engine: @unchecked Sendable {
    public let container: Container
    public let pools: Pools
    let options: EngineOptions
    let traits = TraitTable()
    let loop: LoopThread
    let reclaimer: Reclaimer
    let announcer: Announcer
    let targets: Targets
    let turns: Turns
    let documents: Documents

    // Guarded by the monitor.
    /// Types that blocked definitions name and that are not registered.
    var awaitedTypes: Set<String> = []
    var modules: [KeptModule] = []
    /// Handles of change sets that hosts are writing; stale when the runtime is closed.
    var openChanges: Set<UInt64> = []
    var token: UnsafeMutableRawPointer?

    /// What the base room cannot know by itself. Set once, by the first runtime, before there is anything to ask about.
    private static let seams: Void = {
        Loading.isAskedToClose = { engine in
            let container = Unmanaged<Container>.fromOpaque(engine).takeUnretainedValue()
            return container.monitor.locked { container.closing.isRequested }
        }
        RuntimeLookup.lookup = { (bits) throws(Failure) in try Container.find(bits, .runtime) }
        ObjectLease.typeOf = { bits in ObjectTable.record(bits).map { Container.type($0).description } }
    }()

    // Of the turn.
    /// The description of the current generation.
    var snapshot = Snapshot()
    /// Keys whose objects a failed commit could not bring back to what they were; the next one tries again.
    var unsettled: Set<UInt32> = []
    /// Those of them whose domain has yet to undo something, as the current plan found them.
    var unanswered: Set<UInt32> = []

    private init(_ container: Container, _ options: EngineOptions, running: Loop?) {
        self.container = container
        pools = Pools(container)
        self.options = options
        loop = LoopThread(container, running: running)
        announcer = Announcer(container)
        reclaimer = Reclaimer(container, loop, announcer)
        targets = Targets(container)
        turns = Turns(container, commitTimeout: options.commitTimeout) { [weak container] in
            (container?.owner as? Engine)?.workerStep() ?? false
        }
        documents = Documents(container, options, loop, reclaimer, announcer) { [weak container] set, areSmall in
            guard let engine = container?.owner as? Engine else { return }
            if areSmall && engine.attemptHere(set) { return }
            engine.submitUnasked(set)
        }
    }

    // MARK: open

    public static func open(_ options: EngineOptions) throws(Failure) -> Engine {
        guard Readers.canReclaim else {
            throw Failure(
                .unsupported, "this kernel has no membarrier(PRIVATE_EXPEDITED); Linux 4.14 or later is needed")
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
        let container = Container(core: core, tag: tag, name: options.name, defaultDomain: domain, log: options.log)
        let engine = Engine(container, options, running: loop?.loop)
        container.fillsNeeds = options.fillsNeeds
        container.owner = engine
        engine.registerStandardConverters()
        container.lifecycle.startTimeout = options.startTimeout
        container.lifecycle.stopTimeout = options.stopTimeout
        container.commitTimeout = options.commitTimeout
        container.domains.events.longWait = { [weak engine] failure in engine?.announcer.keep(failure) }
        container.domains.events.longWaitIsOver = { [weak engine] message in engine?.announcer.forget(message) }
        container.retiredObjects.grace = options.stopGrace
        container.retiredObjects.onWaiting = { [weak engine] in engine?.reclaimer.scheduleLook() }
        Self.seams
        container.domains.events.jobWaits = { [weak engine] domain in engine?.noteWaiting(domain) }
        container.onLateBuild = { [weak engine] late in
            var set = ChangeSet(cause: "a build that a reload overtook")
            set.late = late
            engine?.submitUnasked(set)
        }
        core.pointee.engine = Unmanaged.passRetained(container).toOpaque()
        engine.keepAlive()
        _ = container.publish(container.currentGraph())
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

    /// The engine of something that refers to its runtime weakly, for the length of a call that found it by a handle.
    public static func of(_ runtime: Container?) throws(Failure) -> Engine {
        guard let engine = runtime?.owner as? Engine else { throw Failure(.closed, "the runtime is closed") }
        return engine
    }

    // MARK: turns

    /// Runs a change set on this thread and waits until it is done. Unless its failure is `answered` to somebody, it is logged as
    /// an error.
    public func commit(_ set: ChangeSet, answered: Bool = true) throws(Failure) {
        guard !set.entries.isEmpty else { return try commit(answered: answered, { $0 = set }) }
        do throws(Failure) {
            try turns.refuseInCallback()
            try documents.follow(set)
            try commit(answered: answered, { $0 = set })
        } catch {
            documents.giveUp(set)
            throw error
        }
    }

    /// The same for a change set that depends on what others did before, with something to be done in the same turn when it
    /// has taken effect.
    func commit(
        answered: Bool = true, _ fill: (inout ChangeSet) throws(Failure) -> Void, then done: () -> Void = {}
    ) throws(Failure) {
        var set = ChangeSet(cause: "")
        try turns.take()
        do throws(Failure) { try fill(&set) } catch {
            turns.end()
            throw error
        }
        set.isAnswered = answered
        let failure = reload(set)
        if failure == nil { done() }
        turns.end()
        reclaimer.reclaim()
        if let failure { throw failure }
        // Files that took effect are followed: the worker is there before their first change.
        guard set.hasFile || set.opened.contains(where: { $0.document.path != nil }) else { return }
        do throws(Failure) {
            try turns.startWorker()
        } catch { announcer.noteThreadFailure(error) }
    }

    /// Hands a change set to the worker; what waits there becomes one reload.
    public func submit(_ set: ChangeSet) throws(Failure) {
        try documents.follow(set)
        do throws(Failure) {
            try turns.submit(set)
        } catch {
            documents.giveUp(set)
            throw error
        }
    }

    /// The same for a change set that nobody asked for.
    func submitUnasked(_ set: ChangeSet) {
        do throws(Failure) { try submit(set) } catch { announcer.noteThreadFailure(error) }
    }

    /// On the loop thread: stages and plans a small change here, and commits it too when nothing of the host has to run:
    /// it is live before another thread could have been woken. The rest is the worker's, which takes the turn over.
    /// False when somebody else has the turn, or the change is not small.
    func attemptHere(_ set: ChangeSet) -> Bool {
        // Planning may run converters, which may be code of the host.
        guard turns.takeIfIdle({ !container.converters.hasHosts }) else { return false }
        let prepared = prepare(set)
        turns.hand(prepared.runsHostCode ? .prepared(prepared) : .done(carryOut(prepared)))
        return true
    }

    /// The worker's one step: waits for work, takes all of it, runs it. False when the runtime closes.
    private func workerStep() -> Bool {
        var hasDropped = false
        switch turns.takeWork() {
        case nil: return false
        case .sets(let sets): hasDropped = reload(joining: sets)
        case .handed(.prepared(let prepared)): announce(carryOut(prepared))
        case .handed(.done(let attempt)): announce(attempt)
        }
        turns.end()
        reclaimer.reclaim()
        if hasDropped { documents.endIdleFollowing() }
        return true
    }

    private func noteWaiting(_ domain: Domain) {
        container.log(.debug, "a job waits for the domain '\(domain.name)'; its thread must poll the runtime")
    }

    // MARK: life

    private static let living = Monitor(isProcessWide: true)
    nonisolated(unsafe) private static var alive: [ObjectIdentifier: Engine] = [:]

    /// An open runtime keeps itself alive.
    private func keepAlive() { Self.living.locked { Self.alive[ObjectIdentifier(self)] = self } }
    func letGo() { _ = Self.living.locked { Self.alive.removeValue(forKey: ObjectIdentifier(self)) } }
}

/// The loop while its domain is made.
private final class LoopBox: Sendable {
    let loop: Loop
    init(_ loop: Loop) { self.loop = loop }

    /// Returns when everything posted before has run.
    func barrier() {
        let monitor = Monitor()
        nonisolated(unsafe) var done = false
        guard
            loop.post({
                monitor.locked {
                    done = true; monitor.broadcast()
                }
            })
        else { return }
        monitor.locked { while !done { monitor.wait() } }
    }
}

/// Mirrors `invivo_runtime_options`.
public struct EngineOptions: Sendable {
    public var name = "invivo"
    public var isLoopDefault = false
    public var allowsPendingTargets = false
    public var fillsNeeds = true
    public var quiet: UInt64 = 10
    public var settleMaximum: UInt64 = 250
    /// How long a followed file that is open for writing is left alone, in milliseconds.
    var writerPatience: UInt64 { max(2_000, settleMaximum) }
    /// Nanoseconds, as all limits: how long a commit waits for a domain; the greatest number is no limit.
    public var commitTimeout: UInt64 = 5_000_000_000
    public var maxDocumentBytes = 1 << 20
    public var maxDocumentNodes = 50_000
    public var maxEachEntries = 10_000
    /// Nanoseconds.
    public var loadTimeout: UInt64 = 10_000_000_000
    public var allowsForeignFiles = false
    public var quotesContent = true
    /// What one document may cost.
    public var specLimits: SpecLimits { SpecLimits(bytes: maxDocumentBytes, nodes: maxDocumentNodes) }
    public var startTimeout: UInt64 = 60_000_000_000
    public var stopTimeout: UInt64 = 60_000_000_000
    /// Nanoseconds for which a retired object waits for references of its language; `UInt64.max` = no limit.
    public var stopGrace: UInt64 = 30_000_000_000
    public var log = Log(level: 5, sink: nil)
    public init() {}
}
