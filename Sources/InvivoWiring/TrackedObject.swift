public import InvivoBase
public import InvivoGraph

/// A weak reference to an object: its handle, and the weak reference of its type if that counts references itself.
struct WeakObject: Sendable {
    let object: UInt64
    private let weak: WeakInstance?

    /// Runs host code: no lock is held.
    init(_ object: UInt64, _ record: Record) {
        self.object = object
        weak = WeakInstance(to: record)
    }

    /// The object with one lease for the caller; 0 when it has ended. An instance without a handle gets one under `key`. Runs
    /// host code.
    func lease(key: UInt32?) throws(Failure) -> UInt64 {
        if ObjectTable.retain(object) { return object }
        guard let weak, let instance = weak.type.container.detached({ weak.load() }) else { return 0 }
        return try weak.type.container.wrap(weak.type, instance, key: key)
    }

    /// Whether the object may exist: only its language knows whether an object without a handle does.
    var mayExist: Bool { weak != nil || ObjectTable.record(object) != nil }

    /// Whether the object exists. After its end, no `free` is needed. Runs host code.
    var isThere: Bool {
        if ObjectTable.leases(object) > 0 { return true }
        guard let weak else { return false }
        return weak.type.container.detached {
            guard let instance = weak.load() else {
                weak.free()
                return false
            }
            weak.type.description.dispose(instance)
            return true
        }
    }

    /// Ends the weak reference. Runs host code.
    func free() { weak?.free() }
}

/// An object that reloads update, with its runtime arguments and scope instances.
public struct TrackedObject: Sendable {
    /// A runtime argument. Objects are not kept alive.
    enum Argument: Sendable {
        case constant(Value)
        case object(WeakObject)
        /// A list or map with objects in it.
        case lost

        init(_ value: Value) {
            var hasObjects = false
            value.forEachLease { _ in hasObjects = true }
            switch value {
            case .object(let lease):
                self = ObjectTable.record(lease.bits).map { .object(WeakObject(lease.bits, $0)) } ?? .lost
            default: self = hasObjects ? .lost : .constant(value)
            }
        }

        /// The value; nil when its object has ended. Runs host code.
        func value() throws(Failure) -> Value? {
            switch self {
            case .constant(let value): return value
            case .object(let weak):
                let object = try weak.lease(key: nil)
                return object == 0 ? nil : .object(ObjectLease(owning: object))
            case .lost: return nil
            }
        }
    }

    let own: WeakObject
    /// Its handle, which may be stale.
    public var object: UInt64 { own.object }
    /// Whether the object may exist: only its language knows whether an object without a handle does.
    public var mayExist: Bool { own.mayExist }
    let arguments: [Argument]
    /// The scope instances in which it or its dependencies were resolved.
    let scopeInstances: [ScopeInstance]

    /// Ends its weak references. Runs host code.
    func free() {
        own.free()
        freeArguments()
    }

    private func freeArguments() {
        for case .object(let weak) in arguments { weak.free() }
    }

    /// Whether the object exists. After its end, no `free` is needed. Runs host code.
    var isThere: Bool {
        if own.isThere { return true }
        freeArguments()
        return false
    }

    /// The object with one lease for the caller; 0 when it has ended. Runs host code.
    public func lease(for recipe: Recipe) throws(Failure) -> UInt64 { try own.lease(key: recipe.id) }

    /// The arguments and scope instances with which `recipe` injects into the object. Nil if the object keeps its values: because the
    /// recipe takes other arguments, because an argument is gone, or because a scope instance of `scopes` that it needs has ended or was
    /// never its own. Runs host code. `monitor` is the runtime's.
    public func injection(
        by recipe: Recipe, scopes: [PlacedScope], _ monitor: Monitor
    ) throws(Failure) -> (arguments: [Value], scopeInstances: [ScopeInstance])? {
        let isInScope = monitor.locked {
            scopes.allSatisfy { scope in
                guard let instance = scopeInstances.first(where: { $0.scope === scope }) else {
                    return scope.isOfThreads
                }
                return scope.isOpen(at: instance.instance)
            }
        }
        guard isInScope else { return nil }
        var given: [Value] = []
        for argument in arguments {
            guard let value = try argument.value() else { return nil }
            given.append(value)
        }
        guard let arguments = try? recipe.checked(given) else { return nil }
        return (arguments, scopeInstances)
    }
}

/// The objects of a tracked definition, some of which may have ended. Guarded by the container's monitor.
final class TrackedObjects {
    private(set) var objects: [TrackedObject] = []
    private var most = 16

    /// Adds an object. When there are many, returns all of them, to be looked through and put back.
    func add(_ object: TrackedObject) -> [TrackedObject] {
        objects.append(object)
        guard objects.count >= most else { return [] }
        defer { objects = [] }
        return objects
    }

    /// Puts back those that are still there.
    func putBack(_ kept: [TrackedObject]) {
        objects = kept + objects
        most = max(16, objects.count * 2)
    }

    /// Takes over the objects of a replaced cell.
    func takeAll(of former: TrackedObjects) {
        objects = former.objects + objects
        former.objects = []
    }

    /// Ends the weak references. Runs host code, without the monitor.
    func free() { for object in objects { object.free() } }
}
