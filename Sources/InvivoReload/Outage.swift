internal import InvivoBase
internal import InvivoGraph
internal import InvivoObjects
internal import InvivoWiring

/// Exclusive objects that a commit replaces: each is stopped before its replacement is built, and started again if the commit fails. Used by the commit alone, from one thread at a time.
final class Outage {
    private let container: Container
    /// How long another thread may take to build a former object, in nanoseconds.
    private let timeout: UInt64
    private var stopped: [ObjectLease] = []
    private var begun: UInt64?

    init(_ container: Container, timeout: UInt64) { (self.container, self.timeout) = (container, timeout) }

    /// Stops the former object of `id`, because the new one is about to be built for `next`. A key that was never built has no former
    /// object: its slot is the same in both graphs.
    func begin(_ id: UInt32, _ former: Graph, _ next: Graph) throws(Failure) {
        guard let cell = former.cell(id), cell !== next.cell(id) else { return }
        // The target of an alias is not replaced.
        guard former.recipe(id)?.id == id else { return }
        // Another thread may be building it right now.
        let limit = deadline(timeout)
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

    /// Starts the former objects again after a commit that failed and has disposed of its own.
    func rollBack() -> [Failure] {
        let failures = stopped.reversed().compactMap { container.lifecycle.restart($0.bits) }
        stopped = []
        return failures
    }

    /// Returns the time without an object, in nanoseconds.
    func end() -> UInt64 {
        stopped = []
        return begun.map { monotonicNow() - $0 } ?? 0
    }
}
