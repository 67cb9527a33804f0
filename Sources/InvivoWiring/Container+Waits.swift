internal import CPlatform
internal import InvivoBase

/// Who waits for whom: chains of calls for shared instances that other chains make, and chains that lie beneath a job of
/// their thread's domain for that job. All under the monitor.
struct Waits {
    /// Chains whose thread runs a job while they wait, outermost first.
    private var suspended: [(chain: Build, thread: UInt64)] = []
    /// Threads that wait on behalf of a chain, innermost last.
    private var waiting: [(chain: Build, thread: UInt64)] = []

    mutating func suspend(_ chain: Build, _ thread: UInt64) { suspended.append((chain, thread)) }
    mutating func resume(_ chain: Build, _ thread: UInt64) {
        guard let index = suspended.lastIndex(where: { $0.chain === chain && $0.thread == thread }) else { return }
        suspended.remove(at: index)
    }

    mutating func begin(_ chain: Build, _ thread: UInt64) { waiting.append((chain, thread)) }
    mutating func end(_ chain: Build, _ thread: UInt64) {
        guard let index = waiting.lastIndex(where: { $0.chain === chain && $0.thread == thread }) else { return }
        waiting.remove(at: index)
    }

    /// Whether a chain lies beneath what the thread does.
    func hasSuspended(_ thread: UInt64) -> Bool { suspended.contains { $0.thread == thread } }

    /// Whether a chain waits for a shared instance and can be taken back and begun anew meanwhile.
    func mayGiveWay(_ chain: Build) -> Bool {
        guard case .cell = chain.waitingOn, chain.depth > 0, chain.parent == nil, chain.outer == nil, !chain.isCommit,
            let its = waiting.last(where: { $0.chain === chain })
        else { return false }
        return !hasSuspended(its.thread)
    }

    /// What would close a circle: the keys on the way.
    struct Circle {
        var path: [String]
        /// Whether it leads through a chain beneath a job: that cannot be resolved by giving way.
        var isThroughJob = false
    }

    /// The way from `other` back to `chain`, which runs on `thread`, if there is one. A chain beneath a job goes on when both
    /// the job is over and what it waits for is there.
    func circle(from other: Build, to chain: Build, on thread: UInt64, _ key: String) -> Circle? {
        var seen: Set<ObjectIdentifier> = []
        func follow(_ next: Build, _ path: [String], _ isThroughJob: Bool) -> Circle? {
            if next === chain { return Circle(path: path, isThroughJob: isThroughJob) }
            guard seen.insert(ObjectIdentifier(next)).inserted else { return nil }
            // A chain that runs changes its frames meanwhile: only those of one that waits can be looked at.
            guard next.waitingOn != nil || suspended.contains(where: { $0.chain === next }) else { return nil }
            let own = path + next.frames.map(\.recipe.key).filter { !path.contains($0) }
            for (beneath, its) in suspended where beneath === next {
                if its == thread { return Circle(path: own, isThroughJob: true) }
                if let top = waiting.last(where: { $0.thread == its }), top.chain !== next,
                    let found = follow(top.chain, own, true)
                {
                    return found
                }
            }
            // Who starts objects waits for what their hooks wait for.
            for inner in next.inner {
                if let found = follow(inner, own, isThroughJob) { return found }
            }
            guard let waited = next.waitingOn, let builder = waited.builder else { return nil }
            return follow(builder, own + [waited.name], isThroughJob)
        }
        return follow(other, [key], false)
    }
}
