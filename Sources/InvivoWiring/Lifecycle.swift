internal import CPlatform
public import InvivoBase
internal import InvivoContexts
internal import InvivoGraph
public import InvivoObjects

/// The limits, threads and failures of the life cycle of a runtime's objects.
public final class LifeServices: Sendable {
    /// The runtime's, with the limits of starts and stops whose definitions declare none.
    let options: LiveOptions
    /// The runtime's, for names of threads.
    let name: String
    /// Run the hooks of shared objects in a commit.
    let threads: JobThreads
    /// Run the stops of contexts.
    public let stopThreads: StopThreads
    public let stopFailures: StopFailures
    /// The objects that belong to others.
    public let owners: Owners

    init(_ domains: DomainTable, name: String, options: LiveOptions) {
        self.name = name
        self.options = options
        threads = JobThreads(domains, name: name)
        stopThreads = StopThreads(name: name)
        stopFailures = StopFailures(domains.monitor, log: options.log)
        owners = Owners(domains.monitor)
    }

    /// At close: joins the threads whose hooks have returned.
    public func joinThreads() {
        threads.joinFinished()
        stopThreads.stop()
    }
}

/// Prepares, starts and stops the objects of a runtime, each in its domain.
public struct Lifecycle: Sendable {
    let container: Container
    private var monitor: Monitor { container.monitor }
    private var services: LifeServices { container.life }

    // MARK: starting

    /// Prepares an object that a build has created.
    func prepare(_ record: Record, _ build: Build) throws(Failure) {
        let call = Call(record, .prepare, build, startLimit(of: ObjectExtra.of(record)))
        try run(call) { (description, instance, _) throws(Failure) in try description.prepare(instance) }
        set(.prepared, record)
    }

    /// The limit for a start: that of the object's definition, or of the runtime's options.
    private func startLimit(of extra: ObjectExtra) -> UInt64 {
        let own = monitor.locked { extra.timeouts.start }
        return own == 0 ? services.options.current.startTimeout : own
    }

    /// Starts one object. One that takes too long has failed, and is stopped again.
    func start(_ record: Record, _ name: String, _ build: Build?) throws(Failure) {
        let limit = startLimit(of: ObjectExtra.of(record))
        set(.starting, record)
        let begun = monotonicNow()
        do throws(Failure) {
            try run(Call(record, .start, build, limit)) { (description, instance, deadline) throws(Failure) in
                try self.container.retiredObjects.countingStart(of: record) { () throws(Failure) in
                    try description.start(instance)
                    do throws(Failure) { try self.setUpFirst(record, instance) } catch {
                        var failure = error
                        do throws(Failure) { try description.stop(instance) } catch { failure.others.append(error) }
                        throw failure
                    }
                }
                // The caller does not wait any longer, and nothing else would stop it again.
                do throws(Failure) { try deadline() } catch {
                    var failure = error
                    failure.others += self.tearDown(record, instance, ObjectExtra.of(record))
                    do throws(Failure) { try description.stop(instance) } catch { failure.others.append(error) }
                    throw failure
                }
            }
        } catch {
            set(.failed, record)
            throw error.named(name, location(of: record, build))
        }
        set(.started, record)
        let took = monotonicNow() - begun
        guard took > limit else { return }
        var failure = Failure(
            .timeout,
            "the start of \(ObjectType.of(record).name) took \(milliseconds(took)), and may take \(milliseconds(limit))",
            path: name, at: location(of: record, build))
        if let other = stop(record, name, build) { failure.others.append(other) }
        set(.failed, record)
        throw failure
    }

    // MARK: stopping

    /// Stops one object in its domain, if it is started. `inRun`: unrelated stops wait for it. `longest`: the time for it, unless its own
    /// limit is shorter.
    func stop(
        _ record: Record, _ name: String, _ build: Build?, inRun: Bool = false, within longest: UInt64 = .max
    ) -> Failure? {
        let isMine = monitor.locked { () -> Bool in
            let extra = ObjectExtra.of(record)
            guard extra.life == .started else { return false }
            extra.life = .stopping
            return true
        }
        guard isMine else { return nil }
        let (begun, limit) = (monotonicNow(), min(stopLimit(of: ObjectExtra.of(record)), longest))
        var failure: Failure?
        do throws(Failure) {
            let call = Call(record, .stop, build, limit, inRun: inRun)
            try run(call) { (description, instance, _) throws(Failure) in
                try self.end(record, instance, ObjectExtra.of(record))
            }
        } catch { failure = error.named(name, location(of: record, build)) }
        set(.stopped, record)
        return failure ?? overrun(of: record, monotonicNow() - begun, limit)
    }

    /// Tears an object down and stops it. Returns all failures as one.
    private func end(_ record: Record, _ instance: UnsafeMutableRawPointer, _ extra: ObjectExtra) throws(Failure) {
        var failures = tearDown(record, instance, extra)
        do throws(Failure) { try ObjectType.of(record).description.stop(instance) } catch { failures.append(error) }
        if let failure = Failure.gathered(failures) { throw failure }
    }

    /// The limit for a stop: that of the object's definition, or of the runtime's options.
    private func stopLimit(of extra: ObjectExtra) -> UInt64 {
        let own = monitor.locked { extra.timeouts.stop }
        return own == 0 ? services.options.current.stopTimeout : own
    }

    /// The failure of a stop that exceeded its limit.
    private func overrun(of record: Record, _ took: UInt64, _ limit: UInt64) -> Failure? {
        guard took > limit else { return nil }
        return Failure(
            .timeout,
            "the stop of \(ObjectType.of(record).name) took \(milliseconds(took)), and may take \(milliseconds(limit))",
            path: container.name(of: record), at: location(of: record, nil))
    }

    /// Stops objects before their disposal: dependents before their dependencies, independent objects at the same time.
    /// Without a known dependency, the newest object is first. The caller retains them.
    public func stopTogether(_ records: [Record]) -> [Failure] {
        let records = records.filter { state(of: $0) == .started }
            .sorted { iv_record_order($0) > iv_record_order($1) }
        guard !records.isEmpty else { return [] }
        let indices = Dictionary(
            records.enumerated().map { (ObjectTable.handle($1), $0) }, uniquingKeysWith: { a, _ in a })
        var steps = records.map { Run.Step(domain: ObjectType.of($0).domain, needs: []) }
        monitor.locked {
            for (user, record) in records.enumerated() {
                for used in used(by: record, indices) where used != user { steps[used].needs.insert(user) }
            }
        }
        let objects = records.map { (ObjectTable.handle($0), container.name(of: $0)) }
        let run = Run(container, steps, endsWithFailure: false, describe: { "the stop of '\(objects[$0].1)'" }) {
            [self] (index) throws(Failure) in
            let (object, name) = objects[index]
            guard let record = ObjectTable.record(object) else { return }
            if let failure = stop(record, name, nil, inRun: true) { throw failure }
        }
        return run.run().failures
    }

    /// Under the monitor: the objects of `indices` that an object uses, through injections and through resolves during
    /// its construction.
    private func used(by record: Record, _ indices: [UInt64: Int]) -> Set<Int> {
        var found: Set<Int> = []
        var seen: Set<UInt64> = []
        var queue = [record]
        while let next = queue.popLast() {
            var objects: [UInt64] = []
            InjectedReferences.forEach(of: next) { objects.append($0) }
            if next.pointee.key > 0 {
                for key in container.builds.dependencies(of: next.pointee.key - 1) {
                    if let object = container.current.held.cell(key)?.object, object != 0 { objects.append(object) }
                }
            }
            for object in objects where seen.insert(object).inserted {
                if let index = indices[object] {
                    found.insert(index)
                } else if let record = ObjectTable.record(object) {
                    queue.append(record)
                }
            }
        }
        return found
    }

    // MARK: by hand

    /// Starts the shared instances of a key that are not started. A cold one is created, which starts it.
    public func start(_ id: UInt32) throws(Failure) {
        let made = container.currentGraph().cell(id).map { cell in monitor.locked { cell.objects() } } ?? []
        for (_, object) in made where ObjectTable.retain(object) {
            defer { _ = ObjectTable.release(object) }
            try startAgain(object)
        }
        guard made.isEmpty else { return }
        let object = try container.resolve(id)
        guard object != 0 else { return }
        defer { _ = ObjectTable.release(object) }
        try startAgain(object)
    }

    private func startAgain(_ object: UInt64) throws(Failure) {
        guard let record = ObjectTable.record(object), ObjectType.of(record).hasLife else { return }
        let isMine = monitor.locked { () -> Bool in
            let extra = ObjectExtra.of(record)
            guard extra.life == .stopped || extra.life == .failed else { return false }
            extra.life = .starting
            return true
        }
        guard isMine else { return }
        try start(record, container.name(of: record), container.innermostBuild)
    }

    /// Stops a key's shared instance if it is started.
    public func stop(_ id: UInt32) throws(Failure) {
        let graph = container.currentGraph()
        guard let cell = graph.cell(id) else {
            throw container.registry.unknownKey(id, in: graph)
        }
        for (_, object) in monitor.locked({ cell.objects() }) where ObjectTable.retain(object) {
            defer { _ = ObjectTable.release(object) }
            guard let record = ObjectTable.record(object) else { continue }
            if let failure = stop(record, container.name(of: record), container.innermostBuild) { throw failure }
        }
    }

    /// Stops an object that a reload replaces, before the new one is created. The caller retains it.
    public func stop(replaced object: UInt64) throws(Failure) {
        guard let record = ObjectTable.record(object) else { return }
        if let failure = stop(record, container.name(of: record), nil) { throw failure }
    }

    /// Starts it again after the reload failed.
    public func restart(_ object: UInt64) -> Failure? {
        guard let record = ObjectTable.record(object), state(of: record) == .stopped else { return nil }
        do throws(Failure) { try start(record, container.name(of: record), nil) } catch {
            var failure = error
            failure.message = "could not be started again: \(error.message)"
            return failure
        }
        return nil
    }

    /// Prepares and starts an object without a definition; called by its creator.
    func startNow(_ record: Record) throws(Failure) {
        guard ObjectType.of(record).hasLife, let instance = record.pointee.instance else { return }
        try ObjectType.of(record).description.prepare(instance)
        try start(record, ObjectType.of(record).name, container.innermostBuild)
    }

    // MARK: disposal

    /// Stops an object before its disposal, if it is not stopped yet.
    func stopBeforeDisposal(_ record: Record, _ extra: ObjectExtra) {
        let isStarted = monitor.locked { () -> Bool in
            defer { if extra.life == .started { extra.life = .stopping } }
            return extra.life == .started
        }
        guard isStarted, let instance = record.pointee.instance else { return }
        let begun = monotonicNow()
        do throws(Failure) { try end(record, instance, extra) } catch {
            let failure = withoutSecrets(error, of: record, nil)
            return services.stopFailures.note(failure.named(container.name(of: record), location(of: record, nil)))
        }
        if let failure = overrun(of: record, monotonicNow() - begun, stopLimit(of: extra)) {
            services.stopFailures.note(failure)
        }
    }

    // MARK: state

    func state(of record: Record) -> LifeState {
        guard let pointer = iv_load_pointer(iv_record_extra(record)) else { return .made }
        return monitor.locked { Unmanaged<ObjectExtra>.fromOpaque(pointer).takeUnretainedValue().life }
    }

    private func set(_ state: LifeState, _ record: Record) {
        let extra = ObjectExtra.of(record)
        monitor.locked { extra.life = state }
    }

    /// The source location of the definition of an object's key, in the graph of a build, or in the current one.
    private func location(of record: Record, _ build: Build?) -> Location {
        guard record.pointee.key > 0 else { return Location() }
        return (build?.graph ?? container.currentGraph()).recipe(record.pointee.key - 1)?.definition.location
            ?? Location()
    }

    enum Step: String {
        case prepare, start, stop, setup, teardown, refresh, finalize

        /// Whether its effects are undone if it ends too late.
        var isUndone: Bool { self == .prepare || self == .start || self == .setup }
    }

    /// A call of a function of an object's type.
    struct Call {
        let record: Record
        let step: Step
        /// Resolves of the function see its graph and its objects.
        let build: Build?
        let timeout: UInt64
        let inRun: Bool

        init(_ record: Record, _ step: Step, _ build: Build?, _ timeout: UInt64, inRun: Bool = false) {
            self.record = record
            self.step = step
            self.build = build
            self.timeout = timeout
            self.inRun = inRun
        }
    }

    /// Calls a function of an object's type where the object may be touched.
    func run(
        _ call: Call, _ body: @escaping (TypeDescription, UnsafeMutableRawPointer, Deadline) throws(Failure) -> Void
    ) throws(Failure) {
        let build = call.build
        guard call.record.pointee.instance != nil else { return }
        let hooks = build.map {
            Build(container, graph: $0.graph, caller: Build.Caller(outer: $0, isReload: $0.isReload))
        }
        if let hooks, let build { monitor.locked { container.waits.beginStart(hooks.chain, in: build.chain) } }
        defer { if let hooks { monitor.locked { container.waits.endStart(hooks.chain) } } }
        try container.inside(hooks) { () -> Result<Void, Failure> in
            do throws(Failure) { return .success(try runInDomain(call, body)) } catch {
                return .failure(withoutSecrets(error, of: call.record, build))
            }
        }.get()
    }

    /// An error of host code of an object, without the secrets of the configuration that the object has received.
    private func withoutSecrets(_ failure: Failure, of record: Record, _ build: Build?) -> Failure {
        guard record.pointee.key > 0 else { return failure }
        let id = record.pointee.key - 1
        // During a commit the object may have the values of either generation.
        let shown = container.currentGraph().withoutSecrets(failure, of: id, container.names)
        return build?.graph.withoutSecrets(shown, of: id, container.names) ?? shown
    }

    private func runInDomain(
        _ call: Call, _ body: @escaping (TypeDescription, UnsafeMutableRawPointer, Deadline) throws(Failure) -> Void
    ) throws(Failure) {
        let (record, type) = (call.record, ObjectType.of(call.record))
        guard let instance = record.pointee.instance else { return }
        let (home, core) = (ObjectExtra.known(of: record)?.contexts.home, container.core)
        let job = { (deadline: Deadline) throws(Failure) in
            try Contexts.working(in: home, core) { () throws(Failure) in try body(type.description, instance, deadline)
            }
        }
        // The caller reports others that end late.
        let isUndone = call.step.isUndone
        let label = Job.Label(
            name: "the \(call.step.rawValue) of '\(container.name(of: record))'",
            whenLeft: isUndone ? "its effects are undone when it returns" : "the wait for it has ended")
        // A prototype belongs to the thread that creates it.
        if let domain = type.domain, !domain.isCurrent, record.pointee.thread != currentThread().identity {
            try withOverdue(call) { (overdue) throws(Failure) in
                try container.domains.run(
                    in: domain, timeout: call.timeout, overdue: overdue, failsLate: isUndone, label: label, job)
            }
        } else if type.domain == nil, call.inRun || call.build?.root.isCommit == true, call.timeout != .max {
            try withOverdue(call) { (overdue) throws(Failure) in
                try services.threads.run(timeout: call.timeout, overdue: overdue, label: label, job)
            }
        } else {
            try job(.none)
        }
    }

    private func withOverdue(_ call: Call, _ run: (Job.Overdue) throws(Failure) -> Void) throws(Failure) {
        // A build outside of a commit cannot leave its work to a domain.
        let abandonment = call.build.map { $0.root.commit?.abandonment } ?? Abandonment()
        // Kept here and not by the job, which another thread releases later.
        let object = ObjectTable.handle(call.record)
        let kept = ObjectTable.retain(object) ? [ObjectLease(owning: object)] : []
        try run(.withdrawn(abandonment, kept))
    }
}
