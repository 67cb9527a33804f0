internal import CPlatform
public import InvivoBase
internal import InvivoLoop
public import InvivoObjects
public import InvivoWiring

extension Engine {
    public struct Facts: Sendable {
        public var generation: UInt64 = 0
        public var reloads: UInt64 = 0
        public var failures: UInt64 = 0
        public var definitions: UInt64 = 0
        public var objects: UInt64 = 0
        public var leases: UInt64 = 0
        public var targets: UInt64 = 0
        public var sources: UInt64 = 0
        public var retiring: UInt64 = 0
        public var waitingJobs: UInt64 = 0
        public var waitingSince: UInt64 = 0
        public var overflows: UInt64 = 0
        public var rescans: UInt64 = 0
        public var unannounced: UInt64 = 0
    }

    /// Returns counts of the moment. Other threads go on meanwhile.
    public func inspect() -> Facts {
        reclaimer.handOver()
        var facts = Facts()
        let graph = container.currentGraph()
        facts.generation = graph.generation
        graph.forEachCell { _, _ in facts.definitions += 1 }
        for object in ObjectTable.all(of: container.tag) {
            facts.objects += 1
            facts.leases += ObjectTable.leases(object)
        }
        facts.retiring = UInt64(reclaimer.generationCount)
        (facts.reloads, facts.failures) = announcer.counts
        facts.targets = UInt64(targets.count)
        facts.sources = UInt64(documents.open.count { $0.role == .source })
        container.monitor.locked {
            let waiting = container.domains.waitingJobs
            facts.waitingJobs = UInt64(waiting.count)
            facts.waitingSince = waiting.count == 0 ? 0 : monotonicNow() - waiting.since
        }
        if let counts = documents.followCounts {
            facts.overflows = counts.overflows
            facts.rescans = counts.rescans
            facts.unannounced = counts.unannounced
        }
        return facts
    }

    /// Returns the reasons why changes take effect late, or not at all.
    public func status() -> RuntimeStatus {
        reclaimer.handOver()
        var status = RuntimeStatus()
        status.time = iv_coarse_ns()
        let current = container.currentGraph()
        (status.generation, status.step, status.moving) = (current.generation, current.step, reloader.ramps.count)
        status.counts = announcer.counts
        status.lastError = announcer.lastFailure
        (status.running, status.waitingSets) = turns.work
        status.diverged = documents.facts().filter { $0.divergence != nil }.map(\.document.name)
        status.pins = Pins.open(container.core, tag: container.tag)
        status.former = reclaimer.former()
        let unfinished = container.life.owners.unfinishedKeys
        let (graph, snapshot) = (container.currentGraph(), generations.snapshot)
        let (restores, marks, pending) = container.monitor.locked {
            status.waitingJobs = container.domains.waitingJobs.count
            return (
                reloader.restores.keys, snapshot.kept.holders.map { ($0, snapshot.kept.of($0, in: graph)) },
                snapshot.restarts.all(in: graph)
            )
        }
        status.restarts = pending.map { id, property, since in
            let properties = graph.recipe(id)?.type?.description.properties ?? []
            let name = property.map { $0 < properties.count ? properties[$0].name : "" } ?? ""
            return (container.keyName(id), name, since)
        }
        .sorted { ($0.key, $0.property) < ($1.key, $1.property) }
        status.unrestored = restores.union(unfinished).map(container.keyName).sorted()
        for (holder, dependencies) in marks {
            for (dependency, since) in dependencies {
                let shown = container.names.configPath(dependency) ?? container.keyName(dependency)
                status.kept.append(.init(key: container.keyName(holder), dependency: shown, since: since))
            }
        }
        status.kept.sort { ($0.key, $0.dependency) < ($1.key, $1.dependency) }
        return status
    }

    /// Retired objects that have not been stopped, and why.
    public func retiredObjects() -> [RetiredObjects.Facts] {
        reclaimer.handOver()
        return container.retiredObjects.facts { Set(reclaimer.objects.map(\.object)) }
    }

    /// A document, and how its changes are noticed.
    public struct SourceFacts: Sendable {
        public var name: String
        public var path: String
        public var follows: String
        /// "source", "include", or "value": a file that a document refers to by `file:`.
        public var role: String
        public var intervalMs: UInt64 = 0
        public var reason = ""
        /// The hashes of the live content and of the file, if the file has bytes that a rollback refused.
        public var divergence: (live: String, file: String)?
        /// Whether the present content of the file was refused.
        public var isRefused = false
    }

    /// The documents, in the order in which later ones win.
    public func sources() -> [SourceFacts] {
        documents.facts().map { found in
            let document = found.document
            var facts = SourceFacts(
                name: document.name, path: document.path?.shown ?? "", follows: "memory", role: "\(document.role)")
            if document.path != nil { facts.follows = found.isFollowed ? "watching" : "closed" }
            facts.divergence = found.divergence.map { ($0.live?.description ?? "", $0.refused.description) }
            facts.isRefused = found.isRefused
            if case .polling(let milliseconds, let reason)? = found.mode {
                facts.follows = "polling"
                facts.intervalMs = milliseconds
                facts.reason = reason
            }
            return facts
        }
    }

    public var lastError: Failure? { announcer.lastFailure }

    /// The reports of the last reloads, the oldest first.
    public var reports: [Report] { announcer.reports }

    /// Logs and keeps an error that no caller can receive.
    public func note(_ failure: Failure) { announcer.note(failure) }

    /// Runs the jobs that wait for the calling thread.
    public func poll(milliseconds: UInt32) throws(Failure) -> Int {
        guard !Container.isInCallback else {
            throw Failure(.inCallback, "a callback cannot poll: its jobs would run inside each other")
        }
        let ran = container.domains.poll(timeout: milliseconds == .max ? .max : UInt64(milliseconds) * 1_000_000)
        if ran > 0 { reclaimer.reclaim() }
        return ran
    }

    /// The functions and the data of a host, by which an equal subscription is recognized.
    public struct HostFunctions: Sendable {
        let functions: [UInt]
        let userData: UInt

        public init(_ functions: [UInt], userData: UInt) { (self.functions, self.userData) = (functions, userData) }
    }

    /// Adds an observer. Returns the known one for the same subject, functions and domain, unless another setup has added it. `destroy` is
    /// then not called.
    public func observe(
        _ subject: Subject = .everything, _ functions: HostFunctions? = nil, domain: Domain?,
        destroy: (@Sendable () -> Void)?, _ callbacks: Observer.Callbacks
    ) throws(Failure) -> Observer {
        let setup = RunningSetup(of: container)
        let identity = functions.map { functions in
            ObserverTable.Identity(
                functions: functions.functions, userData: functions.userData, domain: domain?.handleBits ?? 0,
                subject: subject, owner: setup?.object ?? 0)
        }
        // Before the observer is added: a failure leaves none.
        if callbacks.ready != nil, domain == nil { _ = try loop.start() }
        let (observer, isNew) = try announcer.observers.add(identity, keepsObjects: callbacks.publishing != nil) {
            Observer(announcer.observers, of: subject, identity, domain: domain, destroy: destroy, callbacks)
        }
        guard isNew else { return observer }
        // One that a setup adds belongs to its object.
        setup?.add { () throws(Failure) in try observer.close() }
        if callbacks.ready != nil { announcer.observers.notifyIfReady(observer, on: loop) }
        return observer
    }

    /// A pin of a former generation has ended: the loop thread looks soon whether the generation ends with it.
    public func reclaimSoon() {
        _ = loop.running?.post { [weak self] in
            self?.reclaimer.reclaim(.now, inCallback: true)
            self?.announcer.observers.resumeCaches()
        }
    }
}
