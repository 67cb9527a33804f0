internal import InvivoBase
internal import InvivoGraph
internal import InvivoObjects
internal import InvivoWiring

/// Exclusive objects that a commit replaces: each is stopped before the one that takes its place is made, and started again
/// when the commit fails. Used by the commit alone, from one thread at a time.
final class Outage {
    private let container: Container
    private var stopped: [ObjectLease] = []
    private var begun: UInt64?

    init(_ container: Container) { self.container = container }

    /// The new object of `id` is about to be made for `next`. One that was never made has no former one: its slot is the same
    /// in both graphs.
    func begin(_ id: UInt32, _ former: Graph, _ next: Graph) throws(Failure) {
        guard let cell = former.cell(id), cell !== next.cell(id) else { return }
        // What the key was only another name of is not replaced.
        guard former.recipe(id)?.id == id else { return }
        // One that another thread is making right now is there in a moment.
        let limit = deadline(container.commitTimeout)
        let isThere = container.monitor.locked { () -> Bool in
            let what = "another thread's constructor of the exclusive '\(container.keys.name(id))'"
            return container.domains.wait(until: limit, for: what) { !cell.isBuilding }
        }
        guard isThere else {
            let key = container.keyName(id)
            throw Failure(
                .timeout,
                "another thread is still making '\(key)', which is exclusive: it cannot be replaced before that is over",
                path: key)
        }
        for (_, object) in container.monitor.locked({ cell.objects() }) where ObjectTable.retain(object) {
            let lease = ObjectLease(owning: object)
            if begun == nil { begun = monotonicNow() }
            stopped.append(lease)
            try container.lifecycle.stop(replaced: object)
        }
    }

    /// The commit failed, and what it made is gone.
    func takeBack() -> [Failure] {
        let failures = stopped.reversed().compactMap { container.lifecycle.restart($0.bits) }
        stopped = []
        return failures
    }

    /// How long there was none, in nanoseconds.
    func end() -> UInt64 {
        stopped = []
        return begun.map { monotonicNow() - $0 } ?? 0
    }
}
