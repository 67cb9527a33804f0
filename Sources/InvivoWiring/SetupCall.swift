internal import CPlatform
public import InvivoBase
public import InvivoGraph

/// A running setup. Used by its thread.
final class SetupCall {
    let belongings: Belongings
    let object: UInt64
    let thread = currentThread().identity
    /// Whether it creates an object, whose functions run in its build.
    var isCreating = false
    /// The object that the definition of the new child has created, before any decorator.
    var own: ObjectLease?
    /// The object that the next child replaces, with the key of the child; no key: one without a definition.
    var formerChild: (key: UInt32?, former: FormerObject)?

    init(_ belongings: Belongings, _ object: UInt64) { (self.belongings, self.object) = (belongings, object) }

    /// Takes the object that a new child replaces, if that has a key or not.
    func takeFormer(hasKey: Bool) -> FormerObject? {
        guard let (key, former) = formerChild, (key != nil) == hasKey else { return nil }
        formerChild = nil
        return former
    }
}

/// The setup that calls the runtime on the calling thread: what it registers belongs to its object.
public struct RunningSetup {
    private let container: Container
    private let call: SetupCall
    private let graph: Graph

    /// Nil outside of a setup.
    public init?(of container: Container) {
        guard let build = container.innermostBuild, build.depth == 0, let call = build.caller.setup,
            call.thread == currentThread().identity, !call.isCreating
        else { return nil }
        (self.container, self.call, graph) = (container, call, build.graph)
    }

    /// Fails outside of a setup. `function` is the called one, for the message.
    public init(of container: Container, for function: String) throws(Failure) {
        guard let running = RunningSetup(of: container) else {
            throw Failure(
                .argument,
                "\(function) was called outside of a setup: call it in the `setup` of the object to which the result belongs, on its thread"
            )
        }
        self = running
    }

    /// The object that is set up.
    public var object: UInt64 { call.object }

    /// Registers an undo function.
    public func add(_ undo: @escaping @Sendable () throws(Failure) -> Void) { call.belongings.add(undo) }

    /// Creates an object of a key. Returns it, borrowed.
    public func child(_ id: UInt32, _ arguments: [Value]) throws(Failure) -> UInt64 {
        try checkScope(id)
        return try create(key: id, type: 0, arguments) { () throws(Failure) in
            try container.whole(
                { (build) throws(Failure) in try build.resolve(id, arguments) },
                giveBack: { _ = ObjectTable.release($0) })
        }
    }

    /// Creates an object of a type without a definition. Returns it, borrowed.
    public func child(_ type: ObjectType, _ arguments: [Value]) throws(Failure) -> UInt64 {
        try create(key: nil, type: type.description.handleBits, arguments) { () throws(Failure) in
            try container.makeObject(type, arguments)
        }
    }

    /// Refuses objects that others may have, too.
    private func checkScope(_ id: UInt32) throws(Failure) {
        if let recipe = graph.recipe(id) { try recipe.requireChild(container.keyName(id)) }
    }

    private func create(
        key: UInt32?, type: UInt64, _ arguments: [Value], _ make: () throws(Failure) -> UInt64
    ) throws(Failure) -> UInt64 {
        let former = call.belongings.former(key, type, arguments)
        call.formerChild = former.flatMap { child in
            ObjectTable.record(child.own.bits).map {
                (key, FormerObject(lease: child.own, instance: $0.pointee.instance))
            }
        }
        call.own = nil
        defer { (call.formerChild, call.own) = (nil, nil) }
        let made = try make()
        guard made != 0, let record = ObjectTable.record(made), let owner = ObjectTable.record(call.object) else {
            return made
        }
        let lease = ObjectLease(owning: made)
        let child = Belongings.Child(
            key: key, type: ObjectType.of(record).description.handleBits, arguments: arguments, lease: lease,
            own: call.own ?? lease)
        // An alias or a choice may lead to a shared object.
        if record.pointee.key > 0 { try checkScope(record.pointee.key - 1) }
        guard container.monitor.locked({ container.life.owners.mayOwn(made, call.object) }) else {
            let name = key.map(container.keyName) ?? container.name(of: record)
            throw Failure(
                .argument,
                "its creation returned an object that is an owner, or has one already: a child is a new object",
                path: name)
        }
        // It may refer back to its owner.
        ObjectCycles.mark(call.object, owner)
        ObjectCycles.mark(made, record)
        let extra = ObjectExtra.of(owner)
        container.monitor.locked {
            extra.injected.append(child.references)
            container.life.owners.add(made, key: key, to: call.object)
        }
        call.belongings.add(child)
        return made
    }
}
