public import InvivoBase
public import InvivoGraph

/// An object that is known and not kept: by its handle, and where its instance is counted elsewhere by its type's weak reference.
struct WeakObject: Sendable {
    let object: UInt64
    private let weak: WeakInstance?

    /// Runs host code: no lock is held.
    init(_ object: UInt64, _ record: Record) {
        self.object = object
        weak = WeakInstance(to: record)
    }

    /// The object with one lease for the caller; 0 when it has ended. An instance without a handle gets one under
    /// `key`. Runs host code.
    func lease(in container: Container, key: UInt32?) throws(Failure) -> UInt64 {
        if ObjectTable.retain(object) { return object }
        guard let weak, let instance = container.apart({ weak.load() }) else { return 0 }
        return try container.wrap(weak.type, instance, key: key)
    }

    /// Whether the object exists. After its end, no `free` is needed. Runs host code.
    func isThere(in container: Container) -> Bool {
        if ObjectTable.leases(object) > 0 { return true }
        guard let weak else { return false }
        return container.apart {
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
        func value(in container: Container) throws(Failure) -> Value? {
            switch self {
            case .constant(let value): return value
            case .object(let weak):
                let object = try weak.lease(in: container, key: nil)
                return object == 0 ? nil : .object(ObjectLease(owning: object))
            case .lost: return nil
            }
        }
    }

    let own: WeakObject
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
    func isThere(in container: Container) -> Bool {
        if own.isThere(in: container) { return true }
        freeArguments()
        return false
    }
}

extension Container {
    /// Tracks a new object: it belongs to its type's domain, and its cell finds it as long as it is held.
    func track(_ object: UInt64, _ record: Record, _ recipe: Recipe, _ arguments: [Value], _ build: Build) {
        let type = Self.type(record)
        record.pointee.thread = type.raw.pointee.thread
        // No lock is held while host code runs.
        let tracked = TrackedObject(
            own: WeakObject(object, record), arguments: arguments.map { TrackedObject.Argument($0) },
            scopeInstances: build.allScopeInstances)
        let (cell, all) = monitor.locked { () -> (Cell?, [TrackedObject]) in
            let cell = (build.isReload ? build.graph : graph).cell(recipe.id)
            return (cell, cell?.track(tracked) ?? [])
        }
        guard !all.isEmpty else { return }
        let there = all.filter { $0.isThere(in: self) }
        monitor.locked { cell?.keepTracking(there) }
    }

    /// A tracked object with one lease for the caller; 0 when it has ended.
    public func lease(_ tracked: TrackedObject, _ recipe: Recipe) throws(Failure) -> UInt64 {
        try tracked.own.lease(in: self, key: recipe.id)
    }

    /// The arguments and scope instances for an injection of `recipe` into a tracked object. Runs host code.
    ///
    /// Nil: the object keeps its values, because the definition has other parameters, an argument has ended, or a
    /// required scope instance of `scopes` has ended or was never its own.
    public func injection(
        of tracked: TrackedObject, by recipe: Recipe, scopes: [PlacedScope]
    ) throws(Failure) -> (arguments: [Value], scopeInstances: [ScopeInstance])? {
        let isInScope = monitor.locked {
            scopes.allSatisfy { scope in
                guard let instance = tracked.scopeInstances.first(where: { $0.scope === scope }) else {
                    return scope.isOfThreads
                }
                return scope.places[instance.place] != nil
            }
        }
        guard isInScope else { return nil }
        var given: [Value] = []
        for argument in tracked.arguments {
            guard let value = try argument.value(in: self) else { return nil }
            given.append(value)
        }
        guard let arguments = try? recipe.checked(given) else { return nil }
        return (arguments, tracked.scopeInstances)
    }

    /// The scopes of the host and of threads in which `recipe` resolves keys when those of `changed` (nil: all) are
    /// injected.
    public func scopes(of recipe: Recipe, changed: Set<UInt32>?, in graph: Graph) -> [PlacedScope] {
        var found: [PlacedScope] = []
        var seen: Set<UInt32> = []
        var rest = recipe.edges.filter { $0.edge != .late && changed?.contains($0.id) != false }.map(\.id)
        while let id = rest.popLast() {
            guard seen.insert(id).inserted, let needed = graph.recipe(id) else { continue }
            if needed.scope == .host || needed.scope == .thread {
                if let scope = try? self.scopes.scope(of: needed), !found.contains(where: { $0 === scope }) {
                    found.append(scope)
                }
            } else if !needed.scope.isShared {
                rest += needed.edges.filter { $0.edge != .late }.map(\.id)
            }
        }
        return found
    }
}
