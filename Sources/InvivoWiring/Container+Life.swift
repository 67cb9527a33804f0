internal import CPlatform
public import InvivoBase
public import InvivoGraph

/// Preparing, starting and stopping objects.
extension Container {
    // MARK: while a graph is made

    /// An object is wired and configured: it waits for its start, and so does whoever uses it. Nobody else gets either before.
    func expectStart(of object: UInt64, _ record: Record, _ recipe: Recipe, _ chain: BuildChain, _ index: Int) {
        var needs = chain.frames[index].needs
        if Self.type(record).hasLife, record.pointee.instance != nil, state(of: record) == .made,
            ObjectTable.leaseKnownAlive(object)
        {
            let body = recipe.definition.body
            if body.startTimeout > 0 || body.stopTimeout > 0 {
                monitor.locked {
                    let extra = extra(record)
                    (extra.startTimeout, extra.stopTimeout) = (body.startTimeout, body.stopTimeout)
                }
            }
            chain.starts.append(
                BuildChain.Start(
                    lease: ObjectLease(owning: object), record: record, definition: recipe.definition, needs: needs))
            needs = [chain.starts.count - 1]
        }
        guard !needs.isEmpty else { return }
        chain.startsOf[object] = needs
        chain.frames[index].low = 0
    }

    /// What is being made uses an object that is not started yet.
    func noteUse(of object: UInt64, _ chain: BuildChain) {
        guard !chain.startsOf.isEmpty, let needs = chain.startsOf[object], !chain.frames.isEmpty else { return }
        chain.frames[chain.frames.count - 1].needs.formUnion(needs)
    }

    /// What failed is not started.
    func forgetStarts(_ chain: BuildChain, from mark: Int) {
        guard chain.starts.count > mark else { return }
        chain.starts.removeLast(chain.starts.count - mark)
        chain.startsOf = chain.startsOf.mapValues { $0.filter { $0 < mark } }.filter { !$0.value.isEmpty }
    }

    /// The hooks of a commit made more objects: they are started with the rest.
    func handOver(_ chain: BuildChain, to commit: BuildChain) {
        guard commit !== chain else { return }
        let offset = commit.starts.count
        for start in chain.starts {
            commit.starts.append(
                BuildChain.Start(
                    lease: start.lease, record: start.record, definition: start.definition,
                    needs: Set(start.needs.map { $0 + offset })))
        }
        for (object, needs) in chain.startsOf { commit.startsOf[object] = Set(needs.map { $0 + offset }) }
        chain.starts = []
        chain.startsOf = [:]
    }

    // MARK: starting

    /// Prepares what a chain has made and starts it. Whatever fails, nothing of it is started in the end.
    public func startAll(_ chain: BuildChain) throws(Failure) {
        let starts = chain.starts
        guard !starts.isEmpty else { return }
        try prepareAll(chain)
        chain.starts = []
        chain.startsOf = [:]
        let steps = starts.map { LifeRun.Step(domain: Self.type($0.record).domain, needs: $0.needs) }
        let run = LifeRun(
            self, steps, endsWithFailure: true, what: { "the start of '\(starts[$0].name)'" }
        ) { (index) throws(Failure) in
            try self.start(starts[index], chain)
        }
        run.run()
        chain.started += run.done.map { starts[$0] }
        guard let first = run.failures.first else { return }
        var failure = first
        failure.others += run.failures.dropFirst().flatMap(\.all)
        failure.others += stopStarted(chain)
        throw failure
    }

    /// Prepares what a chain has made so far, in the order of making.
    public func prepareAll(_ chain: BuildChain) throws(Failure) {
        for start in chain.starts where state(of: start.record) == .made {
            do throws(Failure) {
                let limit = startLimit(of: extra(start.record))
                try inDomain(of: start.record, .prepare, chain, limit) {
                    (description, instance, _) throws(Failure) in
                    try description.prepare(instance)
                }
            } catch { throw error.named(start.name, start.definition?.place ?? Place()) }
            set(.prepared, start.record)
        }
    }

    private func start(_ start: BuildChain.Start, _ chain: BuildChain) throws(Failure) {
        try self.start(start.record, start.name, chain)
    }

    /// How long a start may take: as the definition declares that made the object, or the runtime's options.
    private func startLimit(of extra: ObjectExtra) -> UInt64 {
        let own = monitor.locked { extra.startTimeout }
        return own == 0 ? startTimeout : own
    }

    /// Starts one object. One that takes too long has failed, and is stopped again.
    private func start(_ record: Record, _ name: String, _ chain: BuildChain?) throws(Failure) {
        let limit = startLimit(of: extra(record))
        set(.starting, record)
        let begun = monotonicNow()
        do throws(Failure) {
            try inDomain(of: record, .start, chain, limit) { (description, instance, deadline) throws(Failure) in
                try self.countingStart(of: record) { () throws(Failure) in try description.start(instance) }
                // It came too late for who waited: nobody else would stop it again.
                do throws(Failure) { try deadline() } catch {
                    try description.stop(instance)
                    throw error
                }
            }
        } catch {
            set(.failed, record)
            throw error.named(name, place(of: record, chain))
        }
        set(.started, record)
        let took = monotonicNow() - begun
        guard took > limit else { return }
        var failure = Failure(
            .timeout,
            "the start of \(Self.type(record).name) took \(Self.milliseconds(took)), and may take \(Self.milliseconds(limit))",
            path: name, at: place(of: record, chain))
        if let other = stop(record, name, chain) { failure.others.append(other) }
        set(.failed, record)
        throw failure
    }

    static func milliseconds(_ nanoseconds: UInt64) -> String {
        "\(nanoseconds / 1_000_000).\(nanoseconds / 100_000 % 10) ms"
    }

    /// Stops again what a chain has started, the last first; all that fails is answered.
    /// `isApart`: what the chain has made is not to be seen meanwhile, because a domain still works on it.
    public func stopStarted(_ chain: BuildChain, isApart: Bool = false) -> [Failure] {
        let started = chain.started.reversed()
        chain.started = []
        return started.compactMap { stop($0.record, $0.name, isApart ? nil : chain) }
    }

    // MARK: stopping

    /// Stops one object in its domain, if it is started. `inRun`: others wait for it that have nothing to do with it.
    func stop(_ record: Record, _ name: String, _ chain: BuildChain?, inRun: Bool = false) -> Failure? {
        let isMine = monitor.locked { () -> Bool in
            let extra = extra(record)
            guard extra.life == .started else { return false }
            extra.life = .stopping
            return true
        }
        guard isMine else { return nil }
        let (begun, limit) = (monotonicNow(), stopLimit(of: extra(record)))
        var failure: Failure?
        do throws(Failure) {
            try inDomain(of: record, .stop, chain, limit, inRun: inRun) {
                (description, instance, _) throws(Failure) in try description.stop(instance)
            }
        } catch { failure = error.named(name, place(of: record, chain)) }
        set(.stopped, record)
        return failure ?? overrun(of: record, monotonicNow() - begun, limit)
    }

    /// How long a stop may take: as the definition declares that made the object, or the runtime's options.
    private func stopLimit(of extra: ObjectExtra) -> UInt64 {
        let own = monitor.locked { extra.stopTimeout }
        return own == 0 ? stopTimeout : own
    }

    /// Of a stop that took so long.
    private func overrun(of record: Record, _ took: UInt64, _ limit: UInt64) -> Failure? {
        guard took > limit else { return nil }
        return Failure(
            .timeout,
            "the stop of \(Self.type(record).name) took \(Self.milliseconds(took)), and may take \(Self.milliseconds(limit))",
            path: name(of: record), at: place(of: record, nil))
    }

    /// Stops objects that are about to be disposed of: users before what they use, independent ones at the same time. The
    /// last made are first where nothing else says who uses whom. The caller keeps them alive.
    public func stopTogether(_ records: [Record]) -> [Failure] {
        let records = records.filter { state(of: $0) == .started }
            .sorted { iv_record_order($0) > iv_record_order($1) }
        guard !records.isEmpty else { return [] }
        let places = Dictionary(
            records.enumerated().map { (ObjectTable.handle($1), $0) }, uniquingKeysWith: { a, _ in a })
        var steps = records.map { LifeRun.Step(domain: Self.type($0).domain, needs: []) }
        monitor.locked {
            for (user, record) in records.enumerated() {
                for used in used(by: record, places) where used != user { steps[used].needs.insert(user) }
            }
        }
        let run = LifeRun(
            self, steps, endsWithFailure: false, what: { "the stop of '\(self.name(of: records[$0]))'" }
        ) { (index) throws(Failure) in
            if let failure = self.stop(records[index], self.name(of: records[index]), nil, inRun: true) {
                throw failure
            }
        }
        run.run()
        return run.failures
    }

    /// Of objects that the graph is about to let go of: the started ones that end with that, because nobody leases them but
    /// others that end.
    public func endingTogether(_ objects: [UInt64]) -> [Record] { monitor.locked { endingNow(objects) } }

    /// Under the monitor: the same.
    func endingNow(_ objects: [UInt64]) -> [Record] {
        var records: [UInt64: Record] = [:]
        var leases: [UInt64: UInt64] = [:]
        var isNeeded = false
        for object in objects {
            guard let record = ObjectTable.record(object) else { continue }
            records[object] = record
            if let extra = iv_load_pointer(iv_record_extra(record)),
                Unmanaged<ObjectExtra>.fromOpaque(extra).takeUnretainedValue().life == .started
            {
                isNeeded = true
            }
        }
        guard isNeeded else { return [] }
        for object in records.keys { leases[object] = ObjectTable.leases(object) }
        for record in records.values {
            Self.forEachInjected(record) { object in if let count = leases[object] { leases[object] = count &- 1 } }
        }
        // Whoever stays keeps what was injected into it.
        var staying = leases.filter { $0.value != 0 }.map(\.key)
        while let object = staying.popLast() {
            guard let record = records.removeValue(forKey: object) else { continue }
            Self.forEachInjected(record) { if records[$0] != nil { staying.append($0) } }
        }
        return Array(records.values)
    }

    /// Under the monitor: which of `places` an object uses, through what was injected and what it resolved while it was made.
    private func used(by record: Record, _ places: [UInt64: Int]) -> Set<Int> {
        var found: Set<Int> = []
        var seen: Set<UInt64> = []
        var queue = [record]
        while let next = queue.popLast() {
            var objects: [UInt64] = []
            Self.forEachInjected(next) { objects.append($0) }
            if next.pointee.key > 0 {
                for key in dynamicDependencies[next.pointee.key - 1] ?? [] {
                    if let object = graph.cell(key)?.object, object != 0 { objects.append(object) }
                }
            }
            for object in objects where seen.insert(object).inserted {
                if let place = places[object] {
                    found.insert(place)
                } else if let record = ObjectTable.record(object) {
                    queue.append(record)
                }
            }
        }
        return found
    }

    // MARK: by hand

    /// Starts a key's shared instances that are not started, as `stop` stops all of them; a cold one is made, which starts it.
    public func start(_ id: UInt32) throws(Failure) {
        let made = currentGraph().cell(id).map { cell in monitor.locked { cell.objects() } } ?? []
        for (_, object) in made where ObjectTable.retain(object) {
            defer { _ = ObjectTable.release(object) }
            try startAgain(object, id)
        }
        guard made.isEmpty else { return }
        let object = try resolve(id)
        guard object != 0 else { return }
        defer { _ = ObjectTable.release(object) }
        try startAgain(object, id)
    }

    private func startAgain(_ object: UInt64, _ id: UInt32) throws(Failure) {
        guard let record = ObjectTable.record(object), Self.type(record).hasLife else { return }
        let isMine = monitor.locked { () -> Bool in
            let extra = extra(record)
            guard extra.life == .stopped || extra.life == .failed else { return false }
            extra.life = .starting
            return true
        }
        guard isMine else { return }
        try start(record, name(of: record), currentChain)
    }

    /// Stops a key's shared instance if it is started.
    public func stop(_ id: UInt32) throws(Failure) {
        let graph = currentGraph()
        guard let cell = graph.cell(id) else { throw monitor.locked { unknownKey(keys.name(id), in: graph) } }
        for (_, object) in monitor.locked({ cell.objects() }) where ObjectTable.retain(object) {
            defer { _ = ObjectTable.release(object) }
            guard let record = ObjectTable.record(object) else { continue }
            if let failure = stop(record, name(of: record), currentChain) { throw failure }
        }
    }

    /// Stops what a reload replaces before the new one is made. The caller keeps it alive.
    public func stop(replaced object: UInt64) throws(Failure) {
        guard let record = ObjectTable.record(object) else { return }
        if let failure = stop(record, name(of: record), nil) { throw failure }
    }

    /// Starts it again after the reload failed.
    public func restart(_ object: UInt64) -> Failure? {
        guard let record = ObjectTable.record(object), state(of: record) == .stopped else { return nil }
        do throws(Failure) { try start(record, name(of: record), nil) } catch {
            var failure = error
            failure.message = "could not be started again: \(error.message)"
            return failure
        }
        return nil
    }

    /// An object without a definition: prepared and started by who makes it.
    func startNow(_ record: Record) throws(Failure) {
        guard Self.type(record).hasLife, let instance = record.pointee.instance else { return }
        try Self.type(record).description.prepare(instance)
        try start(record, Self.type(record).name, currentChain)
    }

    // MARK: disposal

    /// Where an object is disposed of it is stopped, if nobody has.
    func stopBeforeDisposal(_ record: Record, _ extra: ObjectExtra) {
        let isStarted = monitor.locked { () -> Bool in
            defer { if extra.life == .started { extra.life = .stopping } }
            return extra.life == .started
        }
        guard isStarted, let instance = record.pointee.instance else { return }
        let begun = monotonicNow()
        do throws(Failure) { try Self.type(record).description.stop(instance) } catch {
            return noteStopFailure(error.named(name(of: record), place(of: record, nil)))
        }
        if let failure = overrun(of: record, monotonicNow() - begun, stopLimit(of: extra)) { noteStopFailure(failure) }
    }

    /// Whatever fails in a stop that nobody waits for is told in the log, and to who gathers it.
    public func noteStopFailure(_ failure: Failure) {
        log(.error, failure.text)
        monitor.locked { stopFailures?.append(failure) }
    }

    /// Runs `body`, and answers what failed in stops meanwhile.
    public func gatheringStops(_ body: () -> Void) -> [Failure] {
        monitor.locked { stopFailures = [] }
        body()
        return monitor.locked { () -> [Failure] in
            defer { stopFailures = nil }
            return stopFailures ?? []
        }
    }

    // MARK: state

    /// Under the monitor: a shared instance of it is there.
    func noteBuilt(_ cell: Cell) { builtKeys[cell.scope, default: []].insert(cell.id) }

    /// Under the monitor: keys of a scope whose shared instances were built; some may be gone.
    public func builtKeys(_ scope: Scope) -> Set<UInt32> { builtKeys[scope] ?? [] }

    /// Under the monitor, when a reload has replaced their cells: those of which nothing is left.
    public func forgetBuilt(_ cells: [Cell]) {
        for cell in cells where graph.cell(cell.id)?.isHeld() != true {
            builtKeys[cell.scope]?.remove(cell.id)
            dynamicDependencies[cell.id] = nil
        }
    }

    func state(of record: Record) -> LifeState {
        guard let pointer = iv_load_pointer(iv_record_extra(record)) else { return .made }
        return monitor.locked { Unmanaged<ObjectExtra>.fromOpaque(pointer).takeUnretainedValue().life }
    }

    private func set(_ state: LifeState, _ record: Record) {
        let extra = extra(record)
        monitor.locked { extra.life = state }
    }

    func name(of record: Record) -> String {
        record.pointee.key == 0 ? Self.type(record).name : keyName(record.pointee.key - 1)
    }

    /// Where the definition of an object's key is declared, as it is in the graph of a chain, or at present.
    private func place(of record: Record, _ chain: BuildChain?) -> Place {
        guard record.pointee.key > 0 else { return Place() }
        return (chain?.graph ?? currentGraph()).recipe(record.pointee.key - 1)?.definition.place ?? Place()
    }

    private enum LifeStep: String { case prepare, start, stop }

    /// Calls a function of an object's type where the object may be touched. What the function resolves sees `chain`'s graph
    /// and what has been made in it.
    private func inDomain(
        of record: Record, _ step: LifeStep, _ chain: BuildChain?, _ timeout: UInt64, inRun: Bool = false,
        _ body: @escaping (TypeDescription, UnsafeMutableRawPointer, Deadline) throws(Failure) -> Void
    ) throws(Failure) {
        let type = Self.type(record)
        guard let instance = record.pointee.instance else { return }
        let hooks = chain.map { BuildChain(graph: $0.graph, isReload: $0.isReload, outer: $0) }
        if let hooks, let chain { monitor.locked { chain.inner.append(hooks) } }
        defer { if let hooks, let chain { monitor.locked { chain.inner.removeAll { $0 === hooks } } } }
        try inside(chain: hooks) { () -> Result<Void, Failure> in
            do throws(Failure) {
                // A build outside of a commit cannot leave what it works on to a domain.
                let abandonment = chain.map { $0.root.isCommit ? $0.root.abandonment : nil } ?? Abandonment()
                func within(
                    _ run: (Overdue, @escaping (Deadline) throws(Failure) -> Void) throws(Failure) -> Void
                ) throws(Failure) {
                    // Kept here and not by the job, which another thread lets go of later.
                    let object = ObjectTable.handle(record)
                    let kept = ObjectTable.retain(object) ? [ObjectLease(owning: object)] : []
                    try run(.withdrawn(abandonment, kept)) { (deadline) throws(Failure) in
                        try body(type.description, instance, deadline)
                    }
                }
                // Nothing undoes a stop, and a late one is reported by who calls it.
                let isStop = step == .stop
                let work = Work(
                    name: "the \(step.rawValue) of '\(name(of: record))'",
                    whenLeft: isStop ? "it is not waited for any longer" : "what it does is undone when it returns")
                // A prototype belongs to the thread that makes it.
                if let domain = type.domain, !domain.isCurrent, record.pointee.thread != currentThread().identity {
                    try within { (overdue, job) throws(Failure) in
                        try run(
                            in: domain, timeout: timeout, overdue: overdue, failsLate: !isStop, work: work, job)
                    }
                } else if type.domain == nil, inRun || chain?.root.isCommit == true, timeout != .max {
                    try within { (overdue, job) throws(Failure) in
                        try runApart(timeout: timeout, overdue: overdue, work: work, job)
                    }
                } else {
                    try body(type.description, instance, .none)
                }
                return .success(())
            } catch { return .failure(error) }
        }.get()
    }
}

extension Failure {
    /// With the key that it is about and where that is declared, where it says none.
    func named(_ key: String, _ place: Place) -> Failure {
        var named = self
        if named.path.isEmpty { named.path = key }
        if named.place.file.isEmpty { named.place = place }
        return named
    }
}
