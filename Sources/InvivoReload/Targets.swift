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

    /// After the commit that attached it.
    func insert(_ target: Target) { state.locked { $0.ofObject[target.object] = target } }

    /// After the commit that detached it.
    func remove(_ target: Target) {
        state.locked { if $0.ofObject[target.object] === target { $0.ofObject[target.object] = nil } }
        target.closeHandle()
    }

    /// Attaches and detaches the targets of a change set. Called when its generation is stored.
    func change(attached: [Target], detached: [Target]) {
        state.locked { state in
            for target in attached { state.ofKey[target.id, default: []].append(target) }
            for target in detached {
                state.ofKey[target.id]?.removeAll { $0 === target }
                if state.ofKey[target.id]?.isEmpty == true { state.ofKey[target.id] = nil }
            }
        }
        for target in detached { remove(target) }
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

    /// Returns the changes without targets that were detached, or attached again, since they were written.
    func withoutFormer(_ changes: [TargetChange]) -> [TargetChange] {
        guard !changes.detached.isEmpty else { return changes }
        let all = all
        return changes.filter { change in
            guard case .detach(let target) = change else { return true }
            return all[target.id]?.contains { $0 === target } == true
        }
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

    /// For callers that hold the monitor: the leases of `keep`, by object.
    func leases() -> [UInt64: UInt64] {
        var found: [UInt64: UInt64] = [:]
        state.held { state in
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
