internal import CPlatform
public import InvivoBase
internal import InvivoGraph
internal import InvivoObjects

/// Setup and teardown of objects, and the calls after commits.
extension Lifecycle {
    /// The first setup of an object, at its start, with `finalize`. In its domain.
    func setUpFirst(_ record: Record, _ instance: UnsafeMutableRawPointer) throws(Failure) {
        let description = ObjectType.of(record).description
        if description.functions.setup != nil || description.functions.teardown != nil {
            let belongings = belongings(of: record)
            guard belongings.begin() else { throw stillRuns(record) }
            defer { finish(belongings, record, instance) }
            try setUp(record, instance, belongings)
        }
        do throws(Failure) { try description.finalize(instance) } catch {
            var failure = error
            failure.others += tearDown(record, instance, ObjectExtra.of(record))
            throw failure
        }
    }

    /// Runs the teardown of an object that ends, and undoes the effects of its setup. In its domain.
    func tearDown(_ record: Record, _ instance: UnsafeMutableRawPointer, _ extra: ObjectExtra) -> [Failure] {
        guard let belongings = container.monitor.locked({ extra.belongings }) else { return [] }
        guard belongings.begin() else {
            belongings.wantEnd()
            return []
        }
        defer { _ = belongings.finish() }
        return tearDown(record, instance, extra, belongings)
    }

    /// Ends a setup. An object that was stopped meanwhile is torn down again.
    private func finish(_ belongings: Belongings, _ record: Record, _ instance: UnsafeMutableRawPointer) {
        guard belongings.finish() else { return }
        for failure in tearDown(record, instance, ObjectExtra.of(record)) { container.life.stopFailures.note(failure) }
    }

    private func stillRuns(_ record: Record) -> Failure {
        Failure(.timeout, "an earlier setup of it has not returned", path: container.name(of: record))
    }

    /// Runs the setup of an object. A failure undoes what it has registered.
    private func setUp(
        _ record: Record, _ instance: UnsafeMutableRawPointer, _ belongings: Belongings
    ) throws(Failure) {
        let around = container.innermostBuild
        let build = Build(
            container, graph: around?.graph ?? container.currentGraph(),
            caller: Build.Caller(
                outer: around, isReload: around?.isReload ?? false,
                setup: SetupCall(belongings, ObjectTable.handle(record))))
        if let around { container.monitor.locked { container.waits.beginStart(build.chain, in: around.chain) } }
        defer { if around != nil { container.monitor.locked { container.waits.endStart(build.chain) } } }
        do throws(Failure) {
            try container.building(build) { () throws(Failure) in try ObjectType.of(record).description.setUp(instance)
            }
        } catch {
            var failure = error
            failure.others += undo(belongings, ObjectExtra.of(record))
            throw failure
        }
        belongings.noteSetUp()
    }

    /// Runs the teardown of an object, and undoes what its setup has registered. Children stay until `dropFormerChildren` if
    /// `keepingChildren`.
    private func tearDown(
        _ record: Record, _ instance: UnsafeMutableRawPointer, _ extra: ObjectExtra, _ belongings: Belongings,
        keepingChildren: Bool = false
    ) -> [Failure] {
        guard belongings.endSetUp() else { return [] }
        var failures: [Failure] = []
        do throws(Failure) { try ObjectType.of(record).description.tearDown(instance) } catch { failures.append(error) }
        return failures + undo(belongings, extra, keepingChildren: keepingChildren)
    }

    /// Undoes everything that was registered, the last first.
    private func undo(_ belongings: Belongings, _ extra: ObjectExtra, keepingChildren: Bool = false) -> [Failure] {
        var failures: [Failure] = []
        while let entry = belongings.popEntry() {
            switch entry {
            case .undo(let undo):
                do throws(Failure) { try undo() } catch {
                    var failure = error
                    failure.message = "an effect could not be undone: \(error.message)"
                    failures.append(failure)
                }
            case .child(let child):
                if keepingChildren { belongings.keepFormer(child) }
                let held = container.monitor.locked { () -> Value? in
                    container.life.owners.remove(child.lease.bits, key: child.key)
                    return extra.injected.lastIndex(where: child.isIn).map { extra.injected.remove(at: $0) }
                }
                withExtendedLifetime(held) {}
            }
        }
        return failures
    }

    private func belongings(of record: Record) -> Belongings {
        let extra = ObjectExtra.of(record)
        return container.monitor.locked {
            if let known = extra.belongings { return known }
            let made = Belongings(container.monitor)
            extra.belongings = made
            return made
        }
    }

    // MARK: in a commit

    /// Tears a kept object down and sets it up again, in its domain. If that fails, it is torn down.
    ///
    /// With `build`, the setup resolves from the graph of a commit; without, from the current one.
    public func setUpAgain(_ record: Record, _ build: Build?, timeout: UInt64) throws(Failure) {
        let belongings = belongings(of: record)
        try run(Call(record, .setup, build, timeout)) { (_, instance, deadline) throws(Failure) in
            let extra = ObjectExtra.of(record)
            guard belongings.begin() else { throw self.stillRuns(record) }
            defer { self.finish(belongings, record, instance) }
            guard self.isStarted(record) else { return }
            try self.container.retiredObjects.countingSetup(of: record) { () throws(Failure) in
                if let failure = Failure.gathered(
                    self.tearDown(record, instance, extra, belongings, keepingChildren: true))
                {
                    throw failure
                }
                try self.setUp(record, instance, belongings)
            }
            // The caller does not wait any longer: nothing else would undo it.
            do throws(Failure) { try deadline() } catch {
                var failure = error
                failure.others += self.tearDown(record, instance, extra, belongings)
                throw failure
            }
        }
    }

    /// Tears an object down that a failed commit has set up. The children from before stay.
    public func undoSetup(_ record: Record, timeout: UInt64) -> Failure? {
        var failures: [Failure] = []
        do throws(Failure) {
            try run(Call(record, .teardown, nil, timeout)) { (_, instance, _) throws(Failure) in
                let found = self.tearDown(record, instance, ObjectExtra.of(record))
                if let failure = Failure.gathered(found) { throw failure }
            }
        } catch { failures = error.all }
        return Failure.gathered(failures)
    }

    /// Ends the children that an object had before it was set up again.
    public func dropFormerChildren(of record: Record) {
        container.monitor.locked { ObjectExtra.known(of: record)?.belongings }?.dropFormer()
    }

    // MARK: after a commit

    /// Calls `refresh`, or `finalize`, of a kept object in its domain.
    public func refresh(_ record: Record, timeout: UInt64) throws(Failure) {
        try run(Call(record, .refresh, nil, timeout)) { (description, instance, _) throws(Failure) in
            try description.refresh(instance)
        }
    }

    public func finalize(_ record: Record, timeout: UInt64) throws(Failure) {
        try run(Call(record, .finalize, nil, timeout)) { (description, instance, _) throws(Failure) in
            try description.finalize(instance)
        }
    }

    /// Whether an object can be set up now: no earlier setup runs, and its domain has nothing left to undo.
    public func canSetUp(_ record: Record) -> Bool {
        let isBusy = container.monitor.locked { ObjectExtra.known(of: record)?.belongings }?.isBusy ?? false
        return !isBusy && ObjectType.of(record).domain.map { !container.domains.needsRestore($0) } ?? true
    }

    /// Whether an object is started, and can be set up again.
    public func isStarted(_ record: Record) -> Bool { state(of: record) == .started }
}
