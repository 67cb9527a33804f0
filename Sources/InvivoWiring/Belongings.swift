internal import CPlatform
public import InvivoBase
internal import InvivoGraph

/// The effects and children of an object that its setup has registered.
///
/// Used in the object's domain. The lists are guarded by the container's monitor.
public final class Belongings: Sendable {
    typealias Undo = @Sendable () throws(Failure) -> Void

    /// An object that belongs to another one.
    struct Child: Sendable {
        let key: UInt32?
        let type: UInt64
        let arguments: [Value]
        let lease: ObjectLease

        /// Whether a new child takes the place of this one.
        func isFormer(_ key: UInt32?, _ type: UInt64, _ arguments: [Value]) -> Bool {
            guard self.key == key else { return false }
            return key == nil ? self.type == type : ArgumentsKey(self.arguments) == ArgumentsKey(arguments)
        }
    }

    private enum Entry {
        case undo(Undo)
        case child(Child)
    }

    private struct State {
        var entries: [Entry] = []
        /// The children of the former setup, until the commit is over.
        var former: [Child] = []
        var isSetUp = false
    }

    private let container: Container
    private let object: UInt64
    private let state: Guarded<State>

    init(of object: UInt64, _ container: Container) {
        self.object = object
        self.container = container
        state = Guarded(State(), by: container.monitor)
    }

    // MARK: registering

    /// Registers an undo function. The caller is in the setup.
    public func add(_ undo: @escaping @Sendable () throws(Failure) -> Void) { state.locked { $0.entries.append(.undo(undo)) } }

    /// Registers a child.
    private func add(_ child: Child, _ record: Record) {
        let extra = ObjectExtra.of(record)
        // It may refer back to its owner.
        ObjectCycles.mark(object, record)
        if let record = ObjectTable.record(child.lease.bits) { ObjectCycles.mark(child.lease.bits, record) }
        state.locked { state in
            state.entries.append(.child(child))
            extra.injected.append(.list([.object(child.lease)] + child.arguments))
            container.owners.add(child.lease.bits, key: child.key, to: object)
        }
    }

    /// Creates a child of a key, or of a type, in `build`, which runs the setup. Returns it, borrowed.
    func create(
        key: UInt32?, _ type: ObjectType?, _ arguments: [Value], in build: Build, _ record: Record
    ) throws(Failure) -> UInt64 {
        let typeBits = type?.description.handleBits ?? 0
        let former = state.locked { state -> Child? in
            let index = state.former.firstIndex { $0.isFormer(key, typeBits, arguments) }
            return index.map { state.former.remove(at: $0) }
        }
        // It lives until the setup has returned.
        if let former { state.locked { $0.former.append(former) } }
        build.formerChild = former.flatMap { child in
            ObjectTable.record(child.lease.bits).map {
                (key, FormerObject(lease: child.lease, instance: $0.pointee.instance))
            }
        }
        defer { build.formerChild = nil }
        let made: UInt64
        if let key {
            made = try container.whole(
                { (build) throws(Failure) in try build.resolve(key, arguments) },
                giveBack: { _ = ObjectTable.release($0) })
        } else if let type {
            made = try container.makeObject(type, arguments)
        } else {
            return 0
        }
        guard made != 0 else { return 0 }
        let lease = ObjectLease(owning: made)
        let type = ObjectTable.record(made).map { ObjectType.of($0).description.handleBits } ?? 0
        add(Child(key: key, type: type, arguments: arguments, lease: lease), record)
        return made
    }

    // MARK: setting up

    /// Runs the setup of the object. A failure undoes what it has registered.
    func setUp(_ record: Record, _ instance: UnsafeMutableRawPointer) throws(Failure) {
        let description = ObjectType.of(record).description
        let build =
            container.innermostBuild
            ?? Build(container, graph: container.currentGraph(), caller: Build.Caller())
        let former = build.setup
        build.setup = (self, record, currentThread().identity)
        defer { build.setup = former }
        do throws(Failure) {
            try container.building(build) { () throws(Failure) in try description.setUp(instance) }
        } catch {
            var failure = error
            build.setup = nil
            failure.others += undo(ObjectExtra.of(record))
            throw failure
        }
        state.locked { $0.isSetUp = true }
    }

    /// Runs the teardown of the object, and undoes what its setup has registered. Children stay until `dropFormer` if `keepingChildren`.
    func tearDown(
        _ record: Record, _ instance: UnsafeMutableRawPointer, _ extra: ObjectExtra, keepingChildren: Bool = false
    ) -> [Failure] {
        let wasSetUp = state.locked { state in
            defer { state.isSetUp = false }
            return state.isSetUp
        }
        guard wasSetUp else { return [] }
        var failures: [Failure] = []
        do throws(Failure) { try ObjectType.of(record).description.tearDown(instance) } catch { failures.append(error) }
        return failures + undo(extra, keepingChildren: keepingChildren)
    }

    /// Undoes everything that was registered, the last first.
    private func undo(_ extra: ObjectExtra, keepingChildren: Bool = false) -> [Failure] {
        var failures: [Failure] = []
        while let entry = state.locked({ $0.entries.popLast() }) {
            switch entry {
            case .undo(let undo):
                do throws(Failure) { try undo() } catch {
                    var failure = error
                    failure.message = "an effect could not be undone: \(error.message)"
                    failures.append(failure)
                }
            case .child(let child):
                let held = state.locked { state -> Value? in
                    container.owners.remove(child.lease.bits, key: child.key)
                    if keepingChildren { state.former.insert(child, at: 0) }
                    let index = extra.injected.lastIndex { Self.isEntry($0, of: child) }
                    return index.map { extra.injected.remove(at: $0) }
                }
                withExtendedLifetime(held) {}
            }
        }
        return failures
    }

    private static func isEntry(_ value: Value, of child: Child) -> Bool {
        guard case .list(let items) = value, case .object(let lease)? = items.first else { return false }
        return lease === child.lease
    }

    /// The former children end: the new setup has succeeded, or the commit is over.
    func dropFormer() {
        while let child = state.locked({ $0.former.popLast() }) { withExtendedLifetime(child) {} }
    }
}
