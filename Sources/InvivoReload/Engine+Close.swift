internal import CPlatform
public import InvivoBase
internal import InvivoGraph
internal import InvivoLoop
internal import InvivoObjects
internal import InvivoWiring

extension Engine {
    /// Ends the runtime; see invivo_runtime_close. With `deferring`, objects that hosts still lease live on.
    ///
    /// Until nothing is left inside that would have to be waited for, everything can be taken back: files are followed and
    /// the worker lives on, so a refused close leaves a runtime that has missed nothing.
    public func close(deferring: Bool) throws(Failure) {
        let core = container.core
        let onLoop = loop.running?.isCurrent ?? false
        guard !Container.isInCallback, !onLoop else {
            throw Failure(
                .inCallback, "a runtime cannot be closed from inside one of its callbacks or on its loop thread")
        }
        guard !Readers.isBuilding(core) else {
            throw Failure(.inCallback, "a runtime cannot be closed from inside what makes its objects")
        }
        guard !Readers.isReading(core) else {
            throw Failure(.busy, "the calling thread has a view open, which nobody else could end: end it first")
        }
        let deadline = monotonicNow() + Self.patience
        try turns.takeToClose(until: deadline, patience: Self.patienceWithDomains)
        do throws(Failure) {
            Readers.refuseBuilds(core)
            try wait(until: deadline, "objects are still being made") { Readers.building(core) }
            try waitForLeftJobs(until: deadline)
            reclaimer.reclaim(.now, until: deadline)
            try container.retiredObjects.pause(until: deadline)
            if !deferring { try refuseLeased(until: deadline) }
            // From here on no reader enters; those inside are waited for.
            Readers.shut(core)
            try wait(until: deadline, "views are still open") { Readers.readers(core) }
            // Again: the last ones may have taken leases with them.
            if !deferring { try refuseLeased(until: deadline) }
        } catch {
            Readers.reopen(core, tag: container.tag)
            container.retiredObjects.resume()
            turns.end()
            throw error
        }
        // Change sets hold callbacks of hosts: they are let go without the monitor.
        let (sources, waiting) = container.monitor.locked {
            container.beginClosing()
            return (documents.takeAll(), turns.takeAll())
        }
        sources.endFollowing()
        waiting.worker?.join()
        container.stopResolving()
        sources.closeHandles()
        targets.restore()
        let stopFailures = container.lifecycle.stopFailures.gathering { disposeAll() }
        closeHandles()
        container.keys.bumpAllVersions()
        let running = container.monitor.locked { loop.take() }
        running?.stop()
        waitForDisposals()
        container.jobThreads.joinFinished()
        turns.end()
        forgetAll()
        guard !stopFailures.isEmpty else { return }
        let count = stopFailures.count == 1 ? "1 object" : "\(stopFailures.count) objects"
        throw Failure.gathered(
            [Failure(.stop, "the runtime is closed, and \(count) failed while being stopped")] + stopFailures)
            ?? stopFailures[0]
    }

    /// How long close waits for others, in nanoseconds.
    private static let patience: UInt64 = 5_000_000_000
    /// How long a domain has to take jobs that keep close waiting.
    private static let patienceWithDomains: UInt64 = 2_000_000_000

    /// Waits for jobs that domains have begun and that nobody waits for any more: they use what close would end.
    private func waitForLeftJobs(until deadline: UInt64) throws(Failure) {
        let left = container.monitor.locked { () -> [String] in
            container.domains.wait(until: deadline) { container.domains.domainsWithLeftJobs.isEmpty }
            return Set(container.domains.domainsWithLeftJobs.map(\.name)).sorted()
        }
        guard !left.isEmpty else { return }
        throw Failure(
            .busy, "a job is still under way after 5 s, in the domain " + left.map { "'\($0)'" }.joined(separator: ", ")
        )
    }

    /// Waits until no thread is left that `threads` names, serving the calling thread's domain meanwhile.
    private func wait(until deadline: UInt64, _ what: String, _ threads: () -> [UInt32]) throws(Failure) {
        while true {
            let found = threads()
            guard !found.isEmpty else { return }
            let now = monotonicNow()
            guard now < deadline else {
                throw Failure(.busy, "\(what) after 5 s, in thread " + found.map(String.init).joined(separator: ", "))
            }
            // Those who leave tell nobody: that would cost every one of them.
            container.monitor.locked { container.domains.wait(until: now + 200_000) { false } }
        }
    }

    /// Who gave the last lease back just now may still be disposing of the object, by its type.
    private func waitForDisposals() {
        let deadline = monotonicNow() + Self.patience
        while ObjectTable.isDisposing(of: container.tag), monotonicNow() < deadline {
            container.monitor.locked { container.domains.wait(until: monotonicNow() + 200_000) { false } }
        }
    }

    /// Fails when hosts hold leases. What is being disposed of in some domain may hold some still: that is waited for.
    private func refuseLeased(until deadline: UInt64) throws(Failure) {
        do throws(Failure) { try refuseLeased() } catch {
            let isUnderWay = container.monitor.locked { () -> Bool in
                guard container.domains.hasUnawaitedJobs else { return false }
                let patience = min(deadline, monotonicNow() + Self.patienceWithDomains)
                container.domains.wait(until: patience) { !container.domains.hasUnawaitedJobs }
                return true
            }
            guard isUnderWay else { throw error }
            try refuseLeased()
        }
    }

    /// The same at this moment, not counting leases that injected objects hold on each other.
    ///
    /// Other threads may release meanwhile: what is looked at is leased, and the tables of what was injected are read under
    /// the monitor, where they change.
    private func refuseLeased() throws(Failure) {
        let (leased, leases) = leasedByHosts()
        var names: [String] = []
        for record in leased {
            names.append(
                record.pointee.key == 0
                    ? "a '\(Container.type(record).name)'" : "'\(container.keyName(record.pointee.key - 1))'")
        }
        withExtendedLifetime(leases) {}
        guard !names.isEmpty else { return }
        let count = names.count == 1 ? "1 object is" : "\(names.count) objects are"
        let shown = names.prefix(5).joined(separator: ", ") + (names.count > 5 ? ", ..." : "")
        throw Failure(
            .busy, "\(count) still leased: \(shown); release them first, or defer the close until they are gone")
    }

    /// Objects that hosts lease, and all that was injected into these: they live on after a deferred close.
    private func leasedWithAll() -> Set<UInt64> {
        let (leased, leases) = leasedByHosts()
        var found: Set<UInt64> = []
        container.monitor.locked {
            var queue = leased
            while let record = queue.popLast() {
                guard found.insert(ObjectTable.handle(record)).inserted else { continue }
                InjectedReferences.forEach(of: record) { object in
                    if let record = ObjectTable.record(object) { queue.append(record) }
                }
            }
        }
        withExtendedLifetime(leases) {}
        return found
    }

    /// Definitions that are kept and may make nothing now: under overrides, where processors have replaced them, and in the
    /// tables of assemblies.
    private func replaced() -> [Definition] {
        var found = Array(snapshot.originals.values)
        for (id, stack) in snapshot.overrides {
            if let base = snapshot.definitions[id] { found.append(base) }
            found += stack.map(\.definition)
        }
        for assembly in snapshot.assemblies.values { found += assembly.description.definitions }
        return found
    }

    /// The leases keep what is answered.
    private func leasedByHosts() -> ([Record], [ObjectLease]) {
        var leases: [ObjectLease] = []
        for object in ObjectTable.all(of: container.tag) where ObjectTable.retain(object) {
            leases.append(ObjectLease(owning: object))
        }
        let records = leases.compactMap { ObjectTable.record($0.bits) }
        let (leased, claims) = container.monitor.locked { () -> ([Record], [AnyObject]) in
            let lates = container.leasesOfLates()
            // One lease of each is this look's.
            var accounted = container.leasesOfGraph(and: replaced()).merging(targets.leases(), uniquingKeysWith: +)
            accounted.merge(lates.counts, uniquingKeysWith: +)
            for lease in reclaimer.remembered { accounted[lease.bits, default: 0] += 1 }
            // One lease may be kept for the steps back of several domains.
            var kept: Set<ObjectIdentifier> = []
            for lease in container.domains.restoringLeases
            where kept.insert(ObjectIdentifier(lease)).inserted {
                accounted[lease.bits, default: 0] += 1
            }
            for record in records {
                accounted[ObjectTable.handle(record), default: 0] += 1
                InjectedReferences.forEach(of: record) { accounted[$0, default: 0] += 1 }
            }
            // What has ended holds them until its domain has disposed of it.
            container.pendingDisposals.forEach { record in
                InjectedReferences.forEach(of: record) { accounted[$0, default: 0] += 1 }
            }
            let leased = records.filter { record in
                let object = ObjectTable.handle(record)
                return ObjectTable.leases(object) > accounted[object] ?? 0
            }
            return (leased, lates.claims)
        }
        withExtendedLifetime(claims) {}
        return (leased, leases)
    }

    /// Shared instances go in reverse order of creation, each in its domain.
    private func disposeAll() {
        let graph = container.currentGraph()
        var cells: [ObjectIdentifier: Cell] = [:]
        graph.forEachCell { _, cell in cells[ObjectIdentifier(cell)] = cell }
        var (objects, claims) = container.monitor.locked {
            (cells.values.flatMap { $0.heldObjects() }, cells.values.flatMap { $0.claims() })
        }
        let (former, late) = reclaimer.takeAll()
        objects += Self.sequenced(
            former.objects.map(\.object) + late.map(\.object) + container.retiredObjects.takeAll())
        objects.sort { $0.sequence > $1.sequence }
        let leased = leasedWithAll()
        // What was not made here is stopped with the rest, and ends with the last claim on it.
        let ending = Set(objects.map(\.object) + claims.map(\.bits)).subtracting(leased).compactMap(ObjectTable.record)
        for failure in container.lifecycle.stopTogether(ending) { container.lifecycle.stopFailures.note(failure) }
        claims = []
        for (_, object) in objects { ObjectTable.dropHold(object) }
        container.endLates()
        withExtendedLifetime(former) {}
        // What was posted to this thread's domain is run here; other domains run theirs before the loop ends.
        container.domains.finishJobs(timeout: Self.patienceWithDomains)
        container.detach()
        // What hosts still lease survives: it keeps its type, and through it what disposal needs.
        for object in ObjectTable.all(of: container.tag) { Container.keepType(of: object) }
    }

    /// Objects that the graph holds, with their place in the order of creation.
    private static func sequenced(_ objects: [UInt64]) -> [(sequence: UInt64, object: UInt64)] {
        objects.map { object in (ObjectTable.record(object).map { iv_record_order($0) } ?? 0, object) }
    }

    private func closeHandles() {
        announcer.closeObservers()
        for changes in container.monitor.locked({ () -> Set<UInt64> in
            defer { openChanges = [] }
            return openChanges
        }) { HandleTable.remove(changes, .changes) }
        targets.closeHandles()
        for domain in container.domains.all { domain.closeHandle() }
    }

    /// Lets go of everything that refers back, and of the core.
    private func forgetAll() {
        for override in snapshot.overrides.values.joined() { override.closeHandle() }
        snapshot = Snapshot()
        targets.forget()
        // Before the types of their objects.
        pools.closeAll()
        container.forget()
        if let token { token.deallocate() }
        token = nil
        for module in modules { module.close() }
        modules = []
        let engine = container.core.pointee.engine
        Readers.publish(container.core, graph: nil, epoch: iv_load_u64(iv_core_epoch(container.core)))
        Readers.freeCore(container.core)
        _ = iv_sub_u64(iv_live_runtimes(), 1)
        if let engine { Unmanaged<Container>.fromOpaque(engine).release() }
        letGo()
        container.log.end()
    }
}
