public import InvivoBase

/// The waits of one runtime's builds. Some chains of builds wait for objects that others create. Others are below a job of their
/// thread's domain on the stack, and continue when the job has returned. All functions are called with the monitor held.
public final class Waits: Sendable {
    /// A thread that waits on behalf of a chain of builds.
    public struct Wait: Sendable {
        let chain: BuildChain
        let thread: UInt64
        /// Nil for a chain with precedence: the build of its object backs off.
        let object: (any Awaited)?
        /// The keys of the objects that the chain is creating, from the outermost on.
        let keys: [String]
        /// Whether the chain can be rolled back and begun again meanwhile.
        let canBackOff: Bool
        /// Whether another chain has asked it to.
        var isAskedToBackOff = false

        public init(
            of chain: BuildChain, on thread: UInt64, for object: (any Awaited)?, keys: [String],
            canBackOff: Bool = false
        ) {
            (self.chain, self.thread, self.object) = (chain, thread, object)
            (self.keys, self.canBackOff) = (keys, canBackOff)
        }
    }

    /// A chain of builds that continues when the code above it on the stack has returned.
    public struct Suspension: Sendable {
        public let chain: BuildChain
        /// The keys of the objects that the chain is creating, from the outermost on.
        let keys: [String]

        public init(_ chain: BuildChain, keys: [String]) { (self.chain, self.keys) = (chain, keys) }
    }

    private struct State {
        /// Chains whose thread runs a job while they wait, the outermost first.
        var suspended: [(suspension: Suspension, thread: UInt64)] = []
        /// The innermost wait of a thread is its last.
        var waiting: [Wait] = []
        /// Chains that run in hooks of the start phase of another, which waits for them.
        var starting: [(outer: BuildChain, inner: BuildChain)] = []
    }

    private let state: Guarded<State>

    public init(_ monitor: Monitor) { state = .init(State(), by: monitor) }

    public func suspend(_ suspension: Suspension, _ thread: UInt64) {
        state.held { $0.suspended.append((suspension, thread)) }
    }

    public func resume(_ chain: BuildChain, _ thread: UInt64) {
        state.held { state in
            let index = state.suspended.lastIndex { $0.suspension.chain === chain && $0.thread == thread }
            if let index { state.suspended.remove(at: index) }
        }
    }

    public func begin(_ wait: Wait) { state.held { $0.waiting.append(wait) } }

    /// Returns whether another chain has asked the waiting one to back off.
    @discardableResult
    public func end(_ chain: BuildChain, _ thread: UInt64) -> Bool {
        state.held { state in
            guard let index = state.waiting.lastIndex(where: { $0.chain === chain && $0.thread == thread }) else {
                return false
            }
            return state.waiting.remove(at: index).isAskedToBackOff
        }
    }

    /// A hook of the start phase of `outer` begins, in a chain of its own.
    public func beginStart(_ inner: BuildChain, in outer: BuildChain) {
        state.held { $0.starting.append((outer, inner)) }
    }
    public func endStart(_ inner: BuildChain) { state.held { $0.starting.removeAll { $0.inner === inner } } }

    /// Whether the code that the thread runs was called by a build.
    public func hasSuspended(_ thread: UInt64) -> Bool { state.held { $0.suspended.contains { $0.thread == thread } } }

    /// Whether a chain waits for a shared object and can be rolled back and begun again meanwhile.
    public func canBackOff(_ chain: BuildChain) -> Bool {
        guard let wait = state.held({ $0.waiting.last { $0.chain === chain } }), wait.canBackOff else { return false }
        return !hasSuspended(wait.thread)
    }

    /// Asks a waiting chain to be rolled back and begun again. The caller notifies its thread.
    public func askToBackOff(_ chain: BuildChain) {
        state.held { state in
            let index = state.waiting.lastIndex { $0.chain === chain }
            if let index { state.waiting[index].isAskedToBackOff = true }
        }
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

    /// The chain of waits from `other` back to `chain`, which runs on `thread`; nil without one. A build below a job
    /// continues when the job has returned and its awaited object exists.
    public func cycle(from other: BuildChain, to chain: BuildChain, on thread: UInt64, _ key: String) -> Cycle? {
        let state = self.state.held { $0 }
        var seen: Set<ObjectIdentifier> = []
        func follow(_ next: BuildChain, _ path: [String], _ isThroughJob: Bool) -> Cycle? {
            if next === chain { return Cycle(path: path, isThroughJob: isThroughJob) }
            guard seen.insert(ObjectIdentifier(next)).inserted else { return nil }
            let wait = state.waiting.last { $0.chain === next && $0.object != nil }
            let suspended = state.suspended.filter { $0.suspension.chain === next }
            let keys = wait?.keys ?? suspended.last?.suspension.keys ?? []
            let own = path + keys.filter { !path.contains($0) }
            for (_, its) in suspended {
                if its == thread { return Cycle(path: own, isThroughJob: true) }
                if let top = state.waiting.last(where: { $0.thread == its }), top.chain !== next,
                    let found = follow(top.chain, own, true)
                {
                    return found
                }
            }
            // A chain that starts objects waits for its hooks' waits.
            for (outer, inner) in state.starting where outer === next {
                if let found = follow(inner, own, isThroughJob) { return found }
            }
            guard let object = wait?.object, let maker = object.maker else { return nil }
            return follow(maker, own + [object.awaitedName], isThroughJob)
        }
        return follow(other, [key], false)
    }
}
