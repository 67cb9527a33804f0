public import InvivoBase

/// The waits of one runtime's builds. Some builds wait for objects that others create. Others are below a job of their
/// thread's domain on the stack, and continue when the job has returned. All functions are called with the monitor
/// held.
public final class Waits: Sendable {
    private typealias Wait = (build: any WaitingBuild, thread: UInt64)

    private struct State {
        /// Builds whose thread runs a job while they wait, the outermost first.
        var suspended: [Wait] = []
        /// Threads that wait on behalf of a build, the innermost last.
        var waiting: [Wait] = []

        static func remove(_ build: any WaitingBuild, _ thread: UInt64, from waits: inout [Wait]) {
            guard let index = waits.lastIndex(where: { $0.build === build && $0.thread == thread }) else { return }
            waits.remove(at: index)
        }
    }

    private let state: Guarded<State>

    public init(_ monitor: Monitor) { state = .init(State(), by: monitor) }

    public func suspend(_ build: any WaitingBuild, _ thread: UInt64) {
        state.held { $0.suspended.append((build, thread)) }
    }
    public func resume(_ build: any WaitingBuild, _ thread: UInt64) {
        state.held { State.remove(build, thread, from: &$0.suspended) }
    }

    public func begin(_ build: any WaitingBuild, _ thread: UInt64) { state.held { $0.waiting.append((build, thread)) } }
    public func end(_ build: any WaitingBuild, _ thread: UInt64) {
        state.held { State.remove(build, thread, from: &$0.waiting) }
    }

    /// Whether a build lies beneath the code that the thread runs.
    public func hasSuspended(_ thread: UInt64) -> Bool { state.held { $0.suspended.contains { $0.thread == thread } } }

    /// Whether a build waits for a shared object and can be rolled back and begun again meanwhile.
    public func canBackOff(_ build: any WaitingBuild) -> Bool {
        guard build.canBackOff,
            let thread = state.held({ $0.waiting.last { $0.build === build }?.thread })
        else { return false }
        return !hasSuspended(thread)
    }

    /// A cycle that one more wait would close.
    public struct Cycle {
        /// The keys on the way.
        public var path: [String]
        /// Whether the cycle leads through a build beneath a job: no build can resolve that by backing off.
        public var isThroughJob = false

        public init(path: [String], isThroughJob: Bool = false) {
            self.path = path
            self.isThroughJob = isThroughJob
        }
    }

    /// The chain of waits from `other` back to `build`, which runs on `thread`; nil without one. A build below a job
    /// continues when the job has returned and its awaited object exists.
    public func cycle(
        from other: any WaitingBuild, to build: any WaitingBuild, on thread: UInt64, _ key: String
    ) -> Cycle? {
        let (suspended, waiting) = state.held { ($0.suspended, $0.waiting) }
        var seen: Set<ObjectIdentifier> = []
        func follow(_ next: any WaitingBuild, _ path: [String], _ isThroughJob: Bool) -> Cycle? {
            if next === build { return Cycle(path: path, isThroughJob: isThroughJob) }
            guard seen.insert(ObjectIdentifier(next)).inserted else { return nil }
            // A running build changes its keys meanwhile: only those of one that waits may be read.
            let awaited = next.awaited
            guard awaited != nil || suspended.contains(where: { $0.build === next }) else { return nil }
            let own = path + next.keysInProgress.filter { !path.contains($0) }
            for (beneath, its) in suspended where beneath === next {
                if its == thread { return Cycle(path: own, isThroughJob: true) }
                if let top = waiting.last(where: { $0.thread == its }), top.build !== next,
                    let found = follow(top.build, own, true)
                {
                    return found
                }
            }
            // A build that starts objects waits for its hooks' waits.
            for inner in next.innerBuilds {
                if let found = follow(inner, own, isThroughJob) { return found }
            }
            guard let awaited, let builder = awaited.builder else { return nil }
            return follow(builder, own + [awaited.name], isThroughJob)
        }
        return follow(other, [key], false)
    }
}
