internal import InvivoBase
internal import InvivoGraph
internal import InvivoObjects
internal import InvivoWiring

/// Finds the leases that hosts hold: those that neither the runtime nor injected objects hold. For close.
struct HostLeases {
    private let container: Container
    private let targets: Targets
    private let reclaimer: Reclaimer
    private let generations: GenerationStore

    init(_ container: Container, _ targets: Targets, _ reclaimer: Reclaimer, _ generations: GenerationStore) {
        self.container = container
        self.targets = targets
        self.reclaimer = reclaimer
        self.generations = generations
    }

    /// Fails if hosts hold leases. Waits up to `patience` for objects that a domain is disposing of, which may hold some.
    func refuse(until deadline: UInt64, patience: UInt64) throws(Failure) {
        do throws(Failure) { try refuse() } catch {
            let isUnderWay = container.monitor.locked { () -> Bool in
                guard container.domains.hasUnawaitedJobs else { return false }
                let limit = min(deadline, monotonicNow() + patience)
                container.domains.wait(until: limit) { !container.domains.hasUnawaitedJobs }
                return true
            }
            guard isUnderWay else { throw error }
            try refuse()
        }
    }

    /// The same at this moment. Leases that injected objects hold on each other do not count.
    private func refuse() throws(Failure) {
        let (leased, leases) = leased()
        var names: [String] = []
        for record in leased {
            names.append(
                record.pointee.key == 0
                    ? "a '\(ObjectType.of(record).name)'" : "'\(container.keyName(record.pointee.key - 1))'")
        }
        withExtendedLifetime(leases) {}
        guard !names.isEmpty else { return }
        let count = names.count == 1 ? "1 object is" : "\(names.count) objects are"
        let shown = names.listed(most: 5)
        throw Failure(
            .busy, "\(count) still leased: \(shown); release them first, or defer the close until they are gone")
    }

    /// Returns the objects that hosts lease, and all that was injected into these: they live on after a deferred close.
    func reached() -> Set<UInt64> {
        let (leased, leases) = leased()
        var found: Set<UInt64> = []
        container.monitor.locked {
            var queue = leased
            while let record = queue.popLast() {
                guard found.insert(ObjectTable.handle(record)).inserted else { continue }
                InjectedReferences.forEach(of: record) { object in
                    if let record = ObjectTable.record(object) { queue.append(record) }
                }
            }
        }
        withExtendedLifetime(leases) {}
        return found
    }

    /// Returns the definitions that are kept and may create nothing now: under overrides, replaced by processors, in the tables of
    /// assemblies, and of former generations.
    private func replaced() -> [Definition] {
        let snapshot = generations.snapshot
        var found = Array(snapshot.originals.values)
        for (id, covers) in snapshot.covers.all {
            if let base = snapshot.definitions[id] { found.append(base) }
            found += covers.overrides.map(\.definition)
        }
        found += generations.history.definitions
        for assemblies in [snapshot.assemblies] + generations.history.assemblies {
            for assembly in assemblies.values { found += assembly.description.definitions }
        }
        return found
    }

    /// Returns how many leases the runtime has on each object that it did not create: by the current graph, by those that pins keep, by
    /// everything that is registered, and by `others`. With the monitor held.
    private func ownLeases(and others: [Definition]) -> [UInt64: UInt64] {
        var seen: Set<ObjectIdentifier> = []
        var counts: [UInt64: UInt64] = [:]
        // One lease may be found more than once.
        func count(_ lease: ObjectLease) {
            if seen.insert(ObjectIdentifier(lease)).inserted { counts[lease.bits, default: 0] += 1 }
        }
        container.forEachLease(count)
        for graph in reclaimer.graphs { graph.forEachLease(count) }
        for definition in others { definition.forEachLease(count) }
        return counts
    }

    /// Returns the records that hosts lease, with leases that keep them.
    ///
    /// Other threads may release meanwhile, so each object is leased while it is looked at. The tables of injected objects are read under
    /// the monitor, which guards them.
    private func leased() -> ([Record], [ObjectLease]) {
        let replaced = replaced()
        let ofContexts = container.registry.contexts.leases()
        var leases: [ObjectLease] = []
        for object in ObjectTable.all(of: container.tag) where ObjectTable.retain(object) {
            leases.append(ObjectLease(owning: object))
        }
        let records = leases.compactMap { ObjectTable.record($0.bits) }
        let (leased, claims) = container.monitor.locked { () -> ([Record], [AnyObject]) in
            let claimed = container.deferred.leases()
            // One lease of each is that of this function.
            var accounted = ownLeases(and: replaced).merging(targets.leases(), uniquingKeysWith: +)
            accounted.merge(claimed.counts, uniquingKeysWith: +)
            accounted.merge(ofContexts, uniquingKeysWith: +)
            for lease in reclaimer.remembered { accounted[lease.bits, default: 0] += 1 }
            // The undo steps of several domains may keep the same lease.
            var kept: Set<ObjectIdentifier> = []
            for lease in container.domains.restoringLeases
            where kept.insert(ObjectIdentifier(lease)).inserted {
                accounted[lease.bits, default: 0] += 1
            }
            for record in records {
                accounted[ObjectTable.handle(record), default: 0] += 1
                InjectedReferences.forEach(of: record) { accounted[$0, default: 0] += 1 }
            }
            // Objects that have ended hold theirs until their domain has disposed of them.
            container.pendingDisposals.forEach { object in
                guard let record = ObjectTable.record(object) else { return }
                InjectedReferences.forEach(of: record) { accounted[$0, default: 0] += 1 }
            }
            let leased = records.filter { record in
                let object = ObjectTable.handle(record)
                return ObjectTable.leases(object) > accounted[object] ?? 0
            }
            return (leased, claimed.claims)
        }
        withExtendedLifetime(claims) {}
        return (leased, leases)
    }
}
