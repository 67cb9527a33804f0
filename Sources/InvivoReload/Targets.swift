internal import InvivoBase
internal import InvivoGraph
internal import InvivoObjects
internal import InvivoTraits
internal import InvivoWiring

/// The live objects that are attached to keys. Any thread may call.
final class Targets: Sendable {
    private struct State {
        var ofObject: [UInt64: Target] = [:]
        /// The committed attachments of each key, in attachment order. Changed by the reload that has the turn.
        var ofKey: [UInt32: [Target]] = [:]
        /// The numbers of leases on objects whose attachment waits for the worker.
        var attaching: [UInt64: UInt64] = [:]
        /// Targets whose objects have ended. The next reload removes them from `ofKey`.
        var gone: [Target] = []
    }

    private let container: Container
    private let state: Guarded<State>

    init(_ container: Container) {
        self.container = container
        state = Guarded(State(), by: container.monitor)
    }

    var count: Int { state.locked { $0.ofObject.count } }

    func target(of object: UInt64) -> Target? { state.locked { $0.ofObject[object] } }

    func isAttached(_ target: Target) -> Bool { self.target(of: target.object) === target }

    /// The attached objects of each key, in attachment order.
    var all: [UInt32: [Target]] { state.locked { $0.ofKey } }

    /// After the commit that detached it.
    func remove(_ target: Target) {
        state.locked { if $0.ofObject[target.object] === target { $0.ofObject[target.object] = nil } }
        target.closeHandle()
    }

    /// Attaches and detaches the targets of a change set. Called when its generation is stored.
    func change(attached: [Target], detached: [Target]) {
        guard !attached.isEmpty || !detached.isEmpty else { return }
        state.locked { state in
            for target in attached { state.ofKey[target.id, default: []].append(target) }
            for target in detached {
                state.ofKey[target.id]?.removeAll { $0 === target }
                if state.ofKey[target.id]?.isEmpty == true { state.ofKey[target.id] = nil }
            }
        }
        for target in detached { remove(target) }
        for target in attached { insert(target) }
    }

    private func insert(_ target: Target) {
        guard let record = ObjectTable.record(target.object) else { return }
        state.locked { $0.ofObject[target.object] = target }
        // Attached, it belongs to its domain.
        record.pointee.thread = target.type.domain?.thread ?? 0
        let extra = ObjectExtra.of(record)
        if !extra.reportsDisposal {
            extra.reportsDisposal = true
            let object = target.object
            extra.beforeDisposal.append { [weak self] in self?.objectIsGone(object) }
        }
    }

    /// Removes the target of an object that is being disposed of. Does not use the object.
    func objectIsGone(_ object: UInt64) {
        let target = state.locked { state -> Target? in
            let target = state.ofObject.removeValue(forKey: object)
            if let target { state.gone.append(target) }
            return target
        }
        target?.closeHandle()
    }

    /// Removes the targets whose objects have ended. Called before a change set is staged.
    func removeGone() {
        // Targets hold leases: they are released without the monitor.
        let gone = state.locked { state in
            for target in state.gone { state.ofKey[target.id]?.removeAll { $0 === target } }
            defer { state.gone = [] }
            return state.gone
        }
        withExtendedLifetime(gone) {}
    }

    /// Returns the changes as they are now: without targets that were detached, or attached again, since they were written, or that
    /// are detached again; an object that is attached leaves its former key.
    func current(_ changes: [TargetChange]) -> [TargetChange] {
        guard !changes.isEmpty else { return changes }
        let (all, ofObject) = state.locked { ($0.ofKey, $0.ofObject) }
        let (attached, detached) = (changes.attached, changes.detached)
        var result: [TargetChange] = []
        for change in changes {
            switch change {
            case .detach(let target):
                if all[target.id]?.contains(where: { $0 === target }) == true {
                    result.append(change)
                } else {
                    release(target)
                }
            case .attach(let target, _):
                guard !detached.contains(where: { $0 === target }),
                    attached.last(where: { $0.object == target.object }) === target
                else { continue }
                if let former = ofObject[target.object], !detached.contains(where: { $0 === former }) {
                    result.append(.detach(former))
                }
                result.append(change)
            }
        }
        return result
    }

    // MARK: targets that are detached later

    /// Keeps the object of a target until `release`. Returns false if the object has ended.
    func keep(_ target: Target) -> Bool {
        guard ObjectTable.retain(target.object) else { return false }
        let lease = ObjectLease(owning: target.object)
        target.kept.locked { $0 = lease }
        return true
    }

    /// Releases, without the monitor, the objects that `keep` holds.
    func release(_ target: Target) {
        let kept = target.kept.locked { $0.take() }
        withExtendedLifetime(kept) {}
    }

    /// A lease on an object whose attachment waits for the worker; part of the change set. Must not be dropped with the monitor held.
    final class Attaching: Sendable {
        private let lease: ObjectLease
        private let targets: Targets

        fileprivate init(_ lease: ObjectLease, _ targets: Targets) { (self.lease, self.targets) = (lease, targets) }

        deinit {
            targets.state.locked { state in
                let count = state.attaching[lease.bits, default: 1] - 1
                state.attaching[lease.bits] = count == 0 ? nil : count
            }
        }
    }

    /// Keeps an object until its attachment by a submitted change set. Nil if the object has ended.
    func attaching(_ object: UInt64) -> Attaching? {
        guard ObjectTable.retain(object) else { return nil }
        state.locked { $0.attaching[object, default: 0] += 1 }
        return Attaching(ObjectLease(owning: object), self)
    }

    /// For callers that hold the monitor: the leases of `keep` and `attaching`, by object.
    func leases() -> [UInt64: UInt64] {
        var found: [UInt64: UInt64] = [:]
        state.held { state in
            found = state.attaching
            for target in state.ofObject.values where target.kept.held({ $0 != nil }) {
                found[target.object, default: 0] += 1
            }
        }
        return found
    }

    // MARK: close

    /// Restores the base values of attached objects, which belong to the host and live on. Objects of a domain that takes no job in time
    /// stay as they are, which is logged.
    func restore() {
        for target in state.locked({ Array($0.ofObject.values) }) {
            guard ObjectTable.retain(target.object) else { continue }
            let lease = ObjectLease(owning: target.object)
            guard let record = ObjectTable.record(lease.bits), ObjectExtra.known(of: record) != nil else { continue }
            let restore: () throws(Failure) -> Void = { () throws(Failure) in
                var undo = Undo()
                for outcome in try Tuning.change(record, key: target.key, to: nil, undo: &undo) {
                    self.container.log(.warning, "\(target.key).\(outcome.text)")
                }
            }
            do throws(Failure) {
                if let domain = ObjectType.of(record).domain {
                    try container.domains.run(in: domain, timeout: 2_000_000_000) { _ throws(Failure) in try restore() }
                } else {
                    try restore()
                }
            } catch { container.log(.warning, error.text) }
            release(target)
            withExtendedLifetime(lease) {}
        }
    }

    func closeHandles() {
        let targets = state.locked { state in
            defer { state.ofObject = [:] }
            return Array(state.ofObject.values)
        }
        for target in targets { target.closeHandle() }
    }

    func forget() {
        let former = state.locked { state in
            defer { state = State() }
            return state
        }
        withExtendedLifetime(former) {}
    }
}
