public import InvivoBase
public import InvivoPools
public import InvivoGraph
internal import InvivoObjects
internal import InvivoTraits
internal import InvivoWiring

extension Engine {
    /// Attaches a live object to a spec key. The traits of documents are applied before this returns.
    public func attach(_ object: UInt64, key: String) throws(Failure) -> Target {
        let target = try target(object, key)
        // One turn for all of it: another thread may attach the same object.
        try reloader.commit(ChangeSet(Cause(.attach, key))) { (set) throws(Failure) in
            set.targets = [.attach(target)]
        } then: {
            _ = target.open()
        }
        return target
    }

    /// Attaches a live object for the object whose setup runs on this thread: by the next change set, and until the next teardown.
    /// Returns false outside of a setup.
    public func attachInSetup(_ object: UInt64, key: String) throws(Failure) -> Bool {
        guard let setup = RunningSetup(of: container) else { return false }
        guard let lease = targets.attaching(object) else { throw Failure(.handle, "the object handle is stale") }
        let target = try target(object, key)
        var set = ChangeSet(Cause(.attach, key))
        set.targets = [.attach(target, lease)]
        try reloader.submit(set)
        setup.add { [weak self] () throws(Failure) in
            // Close restores the values of all attached objects.
            do throws(Failure) { try self?.detachLater(target) } catch  where error.code == .closed {}
        }
        return true
    }

    private func target(_ object: UInt64, _ key: String) throws(Failure) -> Target {
        guard let record = ObjectTable.record(object) else { throw Failure(.handle, "the object handle is stale") }
        return Target(
            id: try container.intern(key), key: key, object: object, type: ObjectType.of(record), container)
    }

    public func detach(_ target: Target) throws(Failure) {
        try reloader.commit(ChangeSet(Cause(.detach, target.key))) { (set) throws(Failure) in
            guard targets.isAttached(target) else {
                throw Failure(.handle, "the target is detached already: its object was attached again, or has ended")
            }
            set.targets = [.detach(target)]
        } then: {
            targets.remove(target)
        }
    }

    public func declare(key: String, type: ObjectType) throws(Failure) {
        let id = try container.intern(key)
        try turns.take()
        generations.declare(type, of: id)
        turns.end()
    }

    /// Detaches a target without waiting, for callers that may not wait. The worker removes its layers, and the object
    /// is kept until then.
    public func detachLater(_ target: Target) throws(Failure) {
        var set = ChangeSet(Cause(.detach, target.key))
        set.targets = [.detach(target)]
        // An object that has ended has no layers to remove.
        guard targets.keep(target) else { return }
        do throws(Failure) { try reloader.submit(set) } catch {
            targets.release(target)
            throw error
        }
    }

    /// Makes an object of the host the shared instance of a key. Fails if documents tune it under another key.
    public func injectShared(_ object: UInt64, as id: UInt32?) throws(Failure) {
        let target = targets.target(of: object)
        try container.injectShared(object, as: id, tunedAs: target.map { ($0.id, $0.key) })
    }

    // MARK: overrides and pools

    /// Begins an override of a key, as a reload. Dependents are updated.
    public func override(_ definition: Definition) throws(Failure) -> UInt64 {
        let override = Override(definition, container)
        var set = ChangeSet(Cause(.override, definition.key))
        set.overrides = [.begin(override)]
        // Before the commit: close ends the handles of all overrides in force.
        let handle = override.open()
        do throws(Failure) { try reloader.commit(set) } catch {
            override.closeHandle()
            throw error
        }
        return handle
    }

    /// Ends an override, as a reload. Dependents are updated.
    public func end(_ override: Override) throws(Failure) {
        var set = ChangeSet(Cause(.overrideEnd, override.definition.key))
        set.overrides = [.end(override)]
        try reloader.commit(set)
        override.closeHandle()
    }

    /// Removes all entries of a pool, as a reload, and returns how many had a living object.
    public func clear(_ pool: Pool) throws(Failure) -> UInt64 {
        let clearing = PoolClearing(pool)
        var set = ChangeSet(Cause(.clear, pool.name))
        set.rebuilds = [.pool(clearing)]
        try reloader.commit(set)
        return clearing.count
    }
}
