internal import InvivoBase
internal import InvivoGraph
internal import InvivoObjects
internal import InvivoTraits
internal import InvivoWiring

/// The objects that a failed commit could not restore. Each later commit tries again.
final class PendingRestores: Sendable {
    private struct State {
        /// The keys of objects whose values could not be put back.
        var keys: Set<UInt32> = []
        /// The objects whose former injections could not be put back, with their keys.
        var injected: [UInt64: UInt32] = [:]
        /// Those of them that the current plan has injected again, and those that have ended.
        var over: Set<UInt64> = []
        /// The keys that the current plan leaves alone, because a domain has yet to undo something for them.
        var deferred: Set<UInt32> = []
    }

    private let container: Container
    private let targets: Targets
    private let state: Guarded<State>

    init(_ container: Container, _ targets: Targets) {
        self.container = container
        self.targets = targets
        state = Guarded(State(), by: container.monitor)
    }

    var isEmpty: Bool { state.locked { $0.keys.isEmpty && $0.injected.isEmpty } }

    /// For callers that hold the monitor.
    var keys: Set<UInt32> { state.held { $0.keys.union($0.injected.values) } }

    /// The objects whose former injections could not be put back, and their keys in order.
    var injected: (objects: Set<UInt64>, ids: [UInt32]) {
        let injected = state.locked(\.injected)
        return injected.isEmpty ? ([], []) : (Set(injected.keys), Set(injected.values).sorted())
    }

    /// After an injection into an object of a failed commit that could not be undone. On the thread of the object's domain.
    func add(_ object: UInt64, _ id: UInt32) { state.locked { $0.injected[object] = id } }

    /// After a commit that failed and could not be undone for these keys.
    func add(_ keys: some Sequence<UInt32>) {
        let keys = Set(keys)
        state.locked { $0.keys.formUnion(keys) }
    }

    /// The current plan has injected again into an object, or the object has ended: if the commit succeeds, nothing is to be restored.
    func noteRestored(_ object: UInt64) { state.locked { _ = $0.over.insert(object) } }

    /// Called after a commit that succeeded. The objects of `refused` still refuse their former values.
    func keep(_ refused: Set<UInt32>) {
        state.locked { state in
            state.keys = refused.union(state.deferred)
            for object in state.over { state.injected[object] = nil }
        }
    }

    /// Returns the objects that the current plan tries to restore again, except those that it changes anyway.
    func objects(besides tuned: [Tuned], of graph: Graph, _ snapshot: Snapshot) -> [Tuned] {
        let keys = state.locked { state in
            (state.deferred, state.over) = ([], [])
            return state.keys
        }
        guard !keys.isEmpty else { return [] }
        let targets = targets.all
        var deferred: Set<UInt32> = []
        let found = keys.sorted().flatMap { id in
            let layers = graph.configuration(id) as? TargetLayers
            let attached = (targets[id] ?? []).filter { layers == nil || layers?.type === $0.type }.map(\.object)
            let shared = snapshot.alias(id) == nil ? graph.cell(id) : nil
            let created = shared.map { cell in container.monitor.locked { cell.objects().map(\.object) } } ?? []
            return Set(attached + created).sorted().compactMap { object -> Tuned? in
                guard !tuned.contains(where: { $0.object == object }) else { return nil }
                // A change set that does not need a domain does not wait for it.
                guard !needsRestore(object) else {
                    deferred.insert(id)
                    return nil
                }
                return (id, object, layers)
            }
        }
        state.locked { [deferred] in $0.deferred = deferred }
        return found
    }

    /// Returns whether the domain of an object has yet to undo what a failed commit did there.
    func needsRestore(_ object: UInt64) -> Bool {
        guard ObjectTable.retain(object) else { return false }
        let lease = ObjectLease(owning: object)
        defer { withExtendedLifetime(lease) {} }
        guard let record = ObjectTable.record(object), let domain = ObjectType.of(record).domain else { return false }
        return container.domains.needsRestore(domain)
    }
}
