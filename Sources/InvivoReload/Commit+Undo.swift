internal import InvivoBase
internal import InvivoGraph
internal import InvivoObjects
internal import InvivoTraits
internal import InvivoWiring

extension Commit {
    /// Undoes everything that a commit has done. `restores` receives the keys of what could not be put back.
    func rollBack(_ error: Failure, _ plan: Plan, _ restores: PendingRestores) -> Failure {
        var failure = error
        failure.others += setups?.undo() ?? []
        failure.others += undoAll()
        if !progress.abandonment.isBegun, state.locked({ $0.isStuck }) { restores.add(unrestored(plan)) }
        // A domain still works on objects of this commit: no other thread touches them before it returns.
        let isAbandoned = progress.abandonment.isBegun
        if isAbandoned {
            restores.add(plan.tuned.map(\.id))
            build.releaseBuilds(in: former)
        }
        failure.others += build.stopCommit(isDetached: isAbandoned)
        let cells = plan.steps.created
        state.locked { $0.isOver = true }
        let stuck = setups?.stuck ?? []
        progress.abandonment.whenOver { [container, build, state] in
            build.abandonCommit()
            for lease in stuck {
                if let record = ObjectTable.record(lease.bits) { container.lifecycle.dropFormerChildren(of: record) }
            }
            Self.dropNew(cells, container)
            let leases = state.locked { state in
                defer { state.leases = [] }
                return state.leases
            }
            withExtendedLifetime(leases) {}
        }
        failure.others += outage.rollBack()
        failure.others += setups?.restore() ?? []
        visits?.leave()
        return failure
    }

    /// Undo steps of a domain run in that domain.
    private func undoAll() -> [Failure] {
        var failures: [Failure] = []
        while let (domain, undo) = state.locked({ $0.undos.popLast() }) {
            var undo = undo
            var found: [Failure] = []
            guard let domain else {
                failures += container.detached(over: visible) { undo.run() }
                continue
            }
            do throws(Failure) {
                try run(in: domain) { [self] in found = container.detached(over: visible) { undo.run() } }
                failures += found
            } catch { failures.append(error) }
        }
        return notUndone(failures)
    }

    private func run(in domain: Domain, _ body: @escaping () -> Void) throws(Failure) {
        let overdue = Job.Overdue.left(state.locked { $0.leases }, progress.abandonment)
        try container.domains.run(in: domain, timeout: timeout, overdue: overdue) { _ throws(Failure) in body() }
    }

    /// Returns the keys of the objects with traits that could not be put back, after the undo: those before the commit. Objects of a domain
    /// that does not answer count as such.
    private func unrestored(_ plan: Plan) -> Set<UInt32> {
        let targets = plan.wiring.set.targets
        let formerKeys = [UInt64: UInt32](
            targets.detached.map { ($0.object, $0.id) }, uniquingKeysWith: { id, _ in id })
        let attached = Set(targets.attached.map(\.object))
        // Others were not changed, and may have ended.
        let changed = Set(state.locked { $0.leases.map(\.bits) })
        var objects: [ObjectIdentifier?: (domain: Domain?, found: [(id: UInt32, record: Record)])] = [:]
        for (id, object, _) in plan.tuned where changed.contains(object) {
            guard let record = ObjectTable.record(object) else { continue }
            // One that had the traits of no key before is restored by none.
            let own = record.pointee.key > 0 ? record.pointee.key - 1 : nil
            guard let id = attached.contains(object) ? formerKeys[object] ?? own : id else { continue }
            let domain = ObjectType.of(record).domain
            objects[domain.map(ObjectIdentifier.init), default: (domain, [])].found.append((id, record))
        }
        var keys: Set<UInt32> = []
        for (domain, found) in objects.values {
            var stuck: Set<UInt32> = []
            let look = { stuck = Set(found.filter { Tuning.isUnrestored($0.record) }.map(\.id)) }
            do throws(Failure) {
                if let domain { try run(in: domain, look) } else { look() }
                keys.formUnion(stuck)
            } catch { keys.formUnion(found.map(\.id)) }
        }
        return keys
    }

    /// The build whose objects undo steps may see: none while a domain still works on it, or when the commit is over.
    private var visible: Build? { state.locked { $0.isOver } || progress.abandonment.isBegun ? nil : build }

    func notUndone(_ failures: [Failure]) -> [Failure] {
        if !failures.isEmpty { state.locked { $0.isStuck = true } }
        return failures.map { failure in
            var described = failure
            described.message = "could not be undone: \(failure.message)"
            return described
        }
    }

    /// Disposes of the objects that a failed commit has created, last first.
    private static func dropNew(_ created: [Cell], _ container: Container) {
        let made = container.monitor.locked { created.flatMap { $0.heldObjects() } }
        for (_, object) in made.sorted(by: { $0.sequence > $1.sequence }) { ObjectTable.dropHold(object) }
    }
}
