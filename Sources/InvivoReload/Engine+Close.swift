internal import CPlatform
public import InvivoBase
internal import InvivoGraph
internal import InvivoLoop
internal import InvivoObjects
internal import InvivoWiring

extension Engine {
    /// Ends the runtime; see invivo_runtime_close. With `deferring`, objects that hosts still lease live on.
    ///
    /// A refused close has no effect: files are followed and the worker runs until no thread is left inside.
    public func close(deferring: Bool) throws(Failure) {
        let core = container.core
        let onLoop = loop.running?.isCurrent ?? false
        guard !Container.isInCallback, !onLoop else {
            throw Failure(
                .inCallback, "a runtime cannot be closed from inside one of its callbacks or on its loop thread")
        }
        guard !Readers.isBuilding(core) else {
            throw Failure(.inCallback, "a runtime cannot be closed by code that is creating its objects")
        }
        guard !Readers.isReading(core) else {
            throw Failure(.busy, "the calling thread has an open view, which no other thread can end: end it first")
        }
        let deadline = monotonicNow() + Self.patience
        let leases = HostLeases(container, targets, reclaimer, generations)
        try turns.takeToClose(until: deadline, patience: Self.patienceWithDomains)
        do throws(Failure) {
            Readers.refuseBuilds(core)
            try wait(until: deadline, "objects are still being made") { Readers.building(core) }
            try waitForLeftJobs(until: deadline)
            try waitForLeftStops(until: deadline)
            reclaimer.reclaim(.now, until: deadline)
            try reclaimer.pause(until: deadline)
            try container.retiredObjects.pause(until: deadline)
            if !deferring { try leases.refuse(until: deadline, patience: Self.patienceWithDomains) }
            // From here on no reader enters; those inside are waited for.
            Readers.shut(core)
            try wait(until: deadline, "views are still open") { Readers.readers(core) }
            // Again: the last readers may have taken leases.
            if !deferring { try leases.refuse(until: deadline, patience: Self.patienceWithDomains) }
        } catch {
            Readers.reopen(core, tag: container.tag)
            container.retiredObjects.resume()
            reclaimer.resume()
            turns.end()
            throw error
        }
        contextObservers.close()
        contexts.close()
        pinWatch.end()
        reloader.ramps.end()
        // Change sets hold callbacks of hosts: they are released without the monitor.
        let (sources, waiting) = container.monitor.locked {
            container.beginClosing()
            return (documents.takeAll(), turns.takeAll())
        }
        sources.endFollowing()
        waiting.worker?.join()
        refuse(waiting.pending)
        asyncResolver.stop()
        for rule in reloader.rules.stop(until: monotonicNow() + Self.patienceWithDomains) {
            container.log(
                .warning,
                "the rule '\(rule)' has not returned: the runtime closes, and the rule's thread ends when it returns")
        }
        sources.closeHandles()
        targets.restore()
        let stopFailures = container.life.stopFailures.gathering { disposeAll(leases) }
        closeHandles()
        container.keys.bumpAllVersions()
        let running = container.monitor.locked { loop.take() }
        running?.stop()
        waitForDisposals()
        container.life.joinThreads()
        turns.end()
        forgetAll()
        guard !stopFailures.isEmpty else { return }
        let count = stopFailures.count == 1 ? "1 object" : "\(stopFailures.count) objects"
        throw Failure.gathered(
            [Failure(.stop, "the runtime is closed, and \(count) failed while being stopped")] + stopFailures)
            ?? stopFailures[0]
    }

    /// Notifies observers of phases that reloads do not take place any more.
    private func refuse(_ pending: [ChangeSet]) {
        let closed = Failure(.closed, "the runtime is closing")
        for set in pending { announcer.phases.notify(.refused, of: set.numbers, set.cause(besides: []).text, closed) }
        announcer.phases.notify(.refused, of: documents.takeDetected(), "", closed)
    }

    /// How long close waits for others, in nanoseconds.
    private static let patience: UInt64 = 5_000_000_000
    /// How long a domain has to take jobs that keep close waiting.
    private static let patienceWithDomains: UInt64 = 2_000_000_000

    /// Waits for jobs that domains have begun and no thread waits for: they use objects that close would end.
    private func waitForLeftJobs(until deadline: UInt64) throws(Failure) {
        let left = container.monitor.locked { () -> [String] in
            container.domains.wait(until: deadline) { container.domains.domainsWithLeftJobs.isEmpty }
            return Set(container.domains.domainsWithLeftJobs.map(\.name)).sorted()
        }
        guard !left.isEmpty else { return }
        throw Failure(
            .busy, "a job is still under way after 5 s, in the domain " + left.map { "'\($0)'" }.listed()
        )
    }

    /// Waits for stops of contexts whose ends have abandoned them.
    private func waitForLeftStops(until deadline: UInt64) throws(Failure) {
        while container.life.stopThreads.isBusy {
            let now = monotonicNow()
            guard now < deadline else {
                throw Failure(.busy, "the stop of an object of a context that has ended has not returned after 5 s")
            }
            container.monitor.locked { container.domains.wait(until: now + 200_000) { false } }
        }
    }

    /// Waits until `threads` returns none, and serves the calling thread's domain meanwhile.
    private func wait(until deadline: UInt64, _ what: String, _ threads: () -> [UInt32]) throws(Failure) {
        while true {
            let found = threads()
            guard !found.isEmpty else { return }
            let now = monotonicNow()
            guard now < deadline else {
                throw Failure(.busy, "\(what) after 5 s, in thread " + found.map(String.init).listed())
            }
            // Threads that leave do not signal it, which would cost each of them.
            container.monitor.locked { container.domains.wait(until: now + 200_000) { false } }
        }
    }

    /// Waits for threads that have released the last lease of an object and are still disposing of it, by its type.
    private func waitForDisposals() {
        let deadline = monotonicNow() + Self.patience
        while ObjectTable.isDisposing(of: container.tag), monotonicNow() < deadline {
            container.monitor.locked { container.domains.wait(until: monotonicNow() + 200_000) { false } }
        }
    }

    /// Disposes of the shared instances in reverse order of creation, each in its domain.
    private func disposeAll(_ leases: HostLeases) {
        let graph = container.currentGraph()
        var cells: [ObjectIdentifier: Cell] = [:]
        graph.forEachCell { _, cell in cells[ObjectIdentifier(cell)] = cell }
        var (objects, claims) = container.monitor.locked {
            (cells.values.flatMap { $0.heldObjects() }, cells.values.flatMap { $0.claims() })
        }
        let (former, overtaken) = reclaimer.takeAll()
        objects += Self.sequenced(
            former.objects.map(\.object) + overtaken.map(\.object) + container.retiredObjects.takeAll())
        objects.sort { $0.sequence > $1.sequence }
        let leased = leases.reached()
        // Constants are stopped with the rest, and end with the last claim on them.
        // Those of contexts that have no holder but their users: they are kept until all are stopped.
        let ofContexts = container.registry.contextObjects.takeAll().subtracting(leased).filter {
            ObjectTable.retain($0)
        }
        let ending = Set(objects.map(\.object) + claims.map(\.bits) + ofContexts).subtracting(leased)
            .compactMap(ObjectTable.record)
        for failure in container.lifecycle.stopTogether(ending) { container.life.stopFailures.note(failure) }
        for object in ofContexts { _ = ObjectTable.release(object) }
        claims = []
        for (_, object) in objects { ObjectTable.dropHold(object) }
        container.deferred.end()
        announcer.phases.notifyRetired(former.numbers)
        withExtendedLifetime(former) {}
        // Jobs of this thread's domain run here; other domains run theirs before the loop ends.
        container.domains.finishJobs(timeout: Self.patienceWithDomains)
        container.detach()
        // Objects that hosts still lease survive. They keep their type, which disposal needs.
        for object in ObjectTable.all(of: container.tag) { Disposal.keepType(of: object) }
    }

    /// Objects that the graph holds, with their position in the order of creation.
    private static func sequenced(_ objects: [UInt64]) -> [(sequence: UInt64, object: UInt64)] {
        objects.map { object in (ObjectTable.record(object).map { iv_record_order($0) } ?? 0, object) }
    }

    private func closeHandles() {
        announcer.close()
        handles.closeChanges()
        targets.closeHandles()
        for domain in container.domains.all { domain.closeHandle() }
    }

    /// Releases everything that refers back, and the core.
    private func forgetAll() {
        let (former, history) = generations.take()
        for override in former.covers.all.values.flatMap(\.overrides) { override.closeHandle() }
        withExtendedLifetime((former, history)) {}
        targets.forget()
        // Before the types of their objects.
        pools.closeAll()
        container.forget()
        handles.freeToken()
        contexts.detach()
        modules.closeHandles()
        let engine = container.core.pointee.engine
        Readers.publish(container.core, graph: nil, epoch: iv_load_u64(iv_core_epoch(container.core)))
        Readers.freeCore(container.core)
        _ = iv_sub_u64(iv_live_runtimes(), 1)
        if let engine { Unmanaged<Container>.fromOpaque(engine).release() }
        letGo()
        container.log.end()
    }
}
