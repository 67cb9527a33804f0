internal import CPlatform
internal import Glibc
public import InvivoBase
internal import InvivoLoop
internal import InvivoWiring

extension Engine {
    /// Ends the runtime; see invivo_runtime_close. With `deferring`, objects that hosts still lease live on.
    public func close(deferring: Bool) throws(Failure) {
        let onLoop = container.monitor.locked { loopThread }?.isCurrent ?? false
        guard !Container.isInCallback, !onLoop else {
            throw Failure(.inCallback, "a runtime cannot be closed from inside one of its callbacks or on its loop thread")
        }
        try takeTurn()
        reclaim(.now)
        if !deferring, let busy = outstanding() {
            endTurn()
            throw busy
        }
        let former = container.monitor.locked { () -> (follower: FileFollower?, worker: Worker?, documents: [Document]) in
            container.isClosing = true
            container.monitor.broadcast()
            defer {
                follower = nil
                worker = nil
                openDocuments = []
                owed = []
                followed = [:]
            }
            return (follower, worker, openDocuments)
        }
        former.follower?.stop()
        former.worker?.join()
        // From here on no reader enters; those inside are waited for.
        iv_store_u64(iv_core_tag(container.core), 0)
        Readers.barrier()
        guard waitForReaders() else {
            reopen(former.documents)
            throw Failure(
                .busy,
                "views are still open after 5 s, in thread "
                    + Readers.readers(container.core, upTo: .max).map(String.init).joined(separator: ", "))
        }
        for document in former.documents { document.closeHandle() }
        restoreTargets()
        disposeAll()
        closeHandles()
        container.keys.bumpAllVersions()
        let loop = container.monitor.locked { () -> Loop? in
            defer { loopThread = nil }
            return loopThread
        }
        loop?.stop()
        endTurn()
        forgetAll()
    }

    /// Leases of hosts, not counting those that injected objects hold on each other.
    private func outstanding() -> Failure? {
        let objects = ObjectTable.all(of: container.tag)
        var internalLeases = container.monitor.locked { leasesOfTargets() }
        for object in objects {
            guard let record = ObjectTable.record(object), let pointer = record.pointee.extra else { continue }
            let extra = Unmanaged<ObjectExtra>.fromOpaque(pointer).takeUnretainedValue()
            for value in extra.injected + extra.injectedProperties.values {
                value.forEachLease { internalLeases[$0.bits, default: 0] += 1 }
            }
        }
        var names: [String] = []
        for object in objects {
            let leases = ObjectTable.leases(object)
            guard leases > internalLeases[object] ?? 0, let record = ObjectTable.record(object) else { continue }
            let type = Container.type(record).name
            names.append(record.pointee.key == 0 ? "a '\(type)'" : "'\(container.keyName(record.pointee.key - 1))'")
        }
        guard !names.isEmpty else { return nil }
        return Failure(
            .busy,
            "\(names.count) object\(names.count == 1 ? " is" : "s are") still leased: "
                + names.prefix(5).joined(separator: ", ") + (names.count > 5 ? ", ..." : "")
                + "; release them first, or defer the close until they are gone")
    }

    /// At most five seconds.
    private func waitForReaders() -> Bool {
        let deadline = monotonicNow() + 5_000_000_000
        while Readers.oldestEpoch(container.core) != .max || Readers.isMaking(container.core) {
            guard monotonicNow() < deadline else { return false }
            usleep(200)
        }
        return true
    }

    /// A close that found open views leaves the runtime as it was.
    private func reopen(_ documents: [Document]) {
        container.monitor.locked {
            container.isClosing = false
            openDocuments = documents
        }
        iv_store_u64(iv_core_tag(container.core), container.tag)
        endTurn()
        for document in documents {
            guard let path = document.path else { continue }
            do throws(Failure) { try followAgain(document, path) } catch { container.log(.error, error.text) }
        }
    }

    /// Shared instances go in reverse order of creation, each in its domain.
    private func disposeAll() {
        let graph = container.currentGraph()
        var cells: [ObjectIdentifier: Cell] = [:]
        graph.forEachCell { _, cell in cells[ObjectIdentifier(cell)] = cell }
        var objects = container.monitor.locked { cells.values.flatMap { $0.heldObjects() } }
        let rest = container.monitor.locked { () -> [UInt64] in
            defer { retired = [] }
            return retired.flatMap(\.objects) + container.retiredWhileBuilding
        }
        objects += rest.map { object in (ObjectTable.record(object)?.pointee.sequence ?? 0, object) }
        objects.sort { $0.sequence > $1.sequence }
        for (_, object) in objects { ObjectTable.dropHold(object) }
        // What was posted to this thread's domain is run here; other domains run theirs before the loop ends.
        container.finishJobs(timeout: 2_000_000_000)
        container.detach()
        // What hosts still lease survives: it keeps its type, and through it what disposal needs.
        for object in ObjectTable.all(of: container.tag) { Container.keepType(of: object) }
    }

    private func closeHandles() {
        let (observers, attachments, domains) = container.monitor.locked { () -> ([Observer], [Target], [Domain]) in
            defer {
                self.observers = []
                self.attachments = [:]
            }
            return (self.observers, Array(self.attachments.values), container.domains)
        }
        for changes in container.monitor.locked({ () -> Set<UInt64> in
            defer { openChanges = [] }
            return openChanges
        }) { HandleTable.remove(changes, .changes) }
        for observer in observers {
            observer.isOpen = false
            observer.closeHandle()
        }
        for target in attachments { target.closeHandle() }
        for domain in domains { domain.closeHandle() }
    }

    /// Lets go of everything that refers back, and of the core.
    private func forgetAll() {
        definitions = [:]
        dependents = [:]
        aliases = [:]
        children = [:]
        for override in overrides.values.joined() { override.closeHandle() }
        overrides = [:]
        wishers = [:]
        targets = [:]
        declared = [:]
        container.forget()
        if let token { token.deallocate() }
        token = nil
        for module in modules { module.close() }
        modules = []
        let engine = container.core.pointee.engine
        container.core.pointee.current = nil
        Readers.freeCore(container.core)
        _ = iv_sub_u64(iv_live_runtimes(), 1)
        if let engine { Unmanaged<Container>.fromOpaque(engine).release() }
        letGo()
        container.log.end()
    }
}

extension Value {
    /// Every object in it.
    fileprivate func forEachLease(_ body: (ObjectLease) -> Void) {
        switch self {
        case .object(let lease): body(lease)
        case .list(let items): for item in items { item.forEachLease(body) }
        case .map(let pairs): for pair in pairs { pair.value.forEachLease(body) }
        default: break
        }
    }
}
