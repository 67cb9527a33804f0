internal import CPlatform
public import InvivoBase
public import InvivoGraph
internal import InvivoObjects

/// Setup and teardown of objects, and the calls after commits.
extension Lifecycle {
    /// The first setup of an object, at its start, with `finalize`. In its domain.
    func setUpFirst(_ record: Record, _ instance: UnsafeMutableRawPointer) throws(Failure) {
        let description = ObjectType.of(record).description
        if description.functions.setup != nil || description.functions.teardown != nil {
            try belongings(of: record).setUp(record, instance)
        }
        do throws(Failure) { try description.finalize(instance) } catch {
            var failure = error
            failure.others += tearDown(record, instance, ObjectExtra.of(record))
            throw failure
        }
    }

    /// Runs the teardown of an object that ends, and undoes the effects of its setup. In its domain.
    func tearDown(_ record: Record, _ instance: UnsafeMutableRawPointer, _ extra: ObjectExtra) -> [Failure] {
        container.monitor.locked { extra.belongings }?.tearDown(record, instance, extra) ?? []
    }

    private func belongings(of record: Record) -> Belongings {
        let extra = ObjectExtra.of(record)
        return container.monitor.locked {
            if let known = extra.belongings { return known }
            let made = Belongings(of: ObjectTable.handle(record), container)
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
            try self.container.retiredObjects.countingSetup(of: record) { () throws(Failure) in
                if let failure = Failure.gathered(belongings.tearDown(record, instance, extra, keepingChildren: true)) {
                    throw failure
                }
                try belongings.setUp(record, instance)
            }
            // The caller does not wait any longer: nothing else would undo it.
            do throws(Failure) { try deadline() } catch {
                var failure = error
                failure.others += belongings.tearDown(record, instance, extra)
                throw failure
            }
        }
    }

    /// Tears an object down that a failed commit has set up. The children from before stay.
    public func undoSetup(_ record: Record, timeout: UInt64) -> Failure? {
        let belongings = belongings(of: record)
        var failures: [Failure] = []
        do throws(Failure) {
            try run(Call(record, .teardown, nil, timeout)) { (_, instance, _) throws(Failure) in
                let found = belongings.tearDown(record, instance, ObjectExtra.of(record))
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

    /// Whether an object is started, and can be set up again.
    public func isStarted(_ record: Record) -> Bool { state(of: record) == .started }
}

extension Container {
    /// What belongs to the object whose setup calls this function on the calling thread. `call` is the name of the function in
    /// messages.
    public func belongingsOfSetup(_ call: String) throws(Failure) -> Belongings {
        try runningSetup(call).0
    }

    /// The same; nil outside of a setup.
    public var belongingsOfSetup: Belongings? { try? runningSetup("").0 }

    private func runningSetup(_ call: String) throws(Failure) -> (Belongings, Record, Build) {
        guard let build = innermostBuild, build.depth == 0, let (belongings, record, thread) = build.setup,
            thread == currentThread().identity
        else {
            throw Failure(
                .argument,
                "\(call) was called outside of a setup: call it in the `setup` of the object to which the result belongs, on its thread"
            )
        }
        return (belongings, record, build)
    }

    /// Creates an object of a key that belongs to the object whose setup runs. Returns it, borrowed.
    public func createChild(_ id: UInt32, _ arguments: [Value]) throws(Failure) -> UInt64 {
        let (belongings, record, build) = try runningSetup("invivo_child")
        if let recipe = build.graph.recipe(id), recipe.scope != .prototype {
            throw Failure(
                .argument,
                "a child belongs to one owner, and '\(keyName(id))' has the scope \(recipe.scope.name): define a prototype, or resolve it",
                path: keyName(id), at: recipe.definition.location)
        }
        return try belongings.create(key: id, nil, arguments, in: build, record)
    }

    /// Creates an object of a type that belongs to the object whose setup runs. Returns it, borrowed.
    public func createChild(_ type: ObjectType, _ arguments: [Value]) throws(Failure) -> UInt64 {
        let (belongings, record, build) = try runningSetup("invivo_child_make")
        return try belongings.create(key: nil, type, arguments, in: build, record)
    }
}
