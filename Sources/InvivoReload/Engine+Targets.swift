public import InvivoBase
internal import InvivoGraph
internal import InvivoObjects
internal import InvivoTraits
internal import InvivoWiring

extension Engine {
    /// Detaches without waiting, for where waiting is refused: the worker takes away what documents say. The object is kept
    /// until then.
    public func detachLater(_ target: Target) throws(Failure) {
        var set = ChangeSet(cause: "detach \(target.key)")
        set.detached = [target]
        // An object that is gone has nothing to take back.
        guard ObjectTable.retain(target.object) else { return }
        let lease = ObjectLease(owning: target.object)
        container.monitor.locked { target.kept = lease }
        do throws(Failure) { try submit(set) } catch {
            letGo(target)
            throw error
        }
    }

    /// Without the lease that `detachLater` took; given back without the monitor.
    private func letGo(_ target: Target) {
        let kept = container.monitor.locked { () -> ObjectLease? in
            defer { target.kept = nil }
            return target.kept
        }
        withExtendedLifetime(kept) {}
    }

    /// Under the monitor: the leases that are the runtime's own and not a host's, by object.
    func leasesOfTargets() -> [UInt64: UInt64] {
        var found: [UInt64: UInt64] = [:]
        for target in attachments.values where target.kept != nil { found[target.object, default: 0] += 1 }
        return found
    }

    /// After a reload that was to detach them, whether it did or not.
    func letGo(of targets: [Target]) {
        for target in targets { letGo(target) }
    }

    /// The object of the host's becomes the shared instance of a key; it must not be tuned by another already.
    public func injectShared(_ object: UInt64, as id: UInt32?) throws(Failure) {
        let target = container.monitor.locked { attachments[object] }
        try container.injectShared(object, as: id, tunedAs: target.map { ($0.id, $0.key) })
    }

    /// Without targets that were detached, or attached anew, since the set was written. Of the turn.
    func withoutFormerTargets(_ set: ChangeSet) -> ChangeSet {
        guard !set.detached.isEmpty else { return set }
        var current = set
        current.detached.removeAll { target in targets[target.id]?.contains { $0 === target } != true }
        return current
    }

    /// After the commit that detached it.
    func forgetAttachment(_ target: Target) {
        container.monitor.locked {
            if attachments[target.object] === target { attachments[target.object] = nil }
        }
        target.closeHandle()
    }

    /// When the runtime ends: what is attached is the host's and lives on, with the values that it had of its own. A
    /// domain that takes no job in time leaves its objects as they are, which is logged.
    func restoreTargets() {
        for target in container.monitor.locked({ Array(attachments.values) }) {
            guard ObjectTable.retain(target.object) else { continue }
            let lease = ObjectLease(owning: target.object)
            guard let record = ObjectTable.record(lease.bits), Container.knownExtra(of: record) != nil else { continue }
            let restore: () throws(Failure) -> Void = { () throws(Failure) in
                var undo = Undo()
                for outcome in try Tuning.change(record, key: target.key, to: nil, undo: &undo) {
                    self.container.log(.warning, "\(target.key).\(outcome.text)")
                }
            }
            do throws(Failure) {
                if let domain = Container.type(record).domain {
                    try container.domains.run(in: domain, timeout: 2_000_000_000) { _ throws(Failure) in try restore() }
                } else {
                    try restore()
                }
            } catch { container.log(.warning, error.text) }
            letGo(target)
            withExtendedLifetime(lease) {}
        }
    }
}
