internal import InvivoBase

/// One chain of calls that builds objects: the resolve from outside, and every resolve that its constructors make, on
/// this thread or in jobs that it posts. The nodes of waits-for cycles are chains, not threads.
///
/// Touched by the thread it runs on; `waitingOn` is guarded by the container's monitor.
public final class BuildChain: @unchecked Sendable {
    /// One object on its way.
    struct Frame {
        let recipe: Recipe
        let arguments: [Value]
        /// Where a shared instance will be.
        let cell: Cell?
        /// How much had been made when it began.
        let mark: Int
        var dependencies: [UInt32] = []
        /// From the moment the instance exists; the chain has one lease on it.
        var object: UInt64 = 0
        var record: Record?
        /// The lowest frame that something made here refers back to; its own index when none. What is made here is not
        /// complete before that frame is.
        var low: Int
        /// Whether the instance exists and what takes its place does not yet.
        var awaitsDecoration = false
        /// Steps of others that wait for this instance.
        var deferred: [Deferred] = []
    }

    /// A step that needs an object whose initializer has not returned.
    struct Deferred {
        let recipe: Recipe
        let arguments: [Value]
        /// Whose step it is; a lease is held.
        let lease: ObjectLease
        let step: Recipe.Step
        let name: String
    }

    /// Something made in the current outermost resolve and not yet handed to everybody.
    struct Entry {
        let id: UInt32
        let arguments: [Value]
        let object: UInt64
        /// Of a shared instance: published when `low` is reached. Nil for graph scope.
        let cell: Cell?
        let made: Made
        var low: Int
    }

    /// The graph that all its resolves see, held by a count, never by a view.
    public let graph: Graph
    /// Whether the chain belongs to a reload (its builds see the next graph).
    let isReload: Bool
    /// The chain whose hook this one runs in.
    let parent: BuildChain?
    var frames: [Frame] = []
    var made: [Entry] = []
    /// Objects with hooks for the moment when everything is complete, children before parents; leased.
    var completed: [(recipe: Recipe, arguments: [Value], lease: ObjectLease)] = []
    /// How many resolves are under way; at 0 the graph is complete.
    var depth = 0
    /// Set together with a failure: the frame in whose initializer the missing object is.
    var later: Int?
    /// The same: the frame that asked for it.
    var laterAsker: Int?
    var waitingOn: Cell?
    /// Of the chain at the beginning, set together with a failure: waiting for this cell would have closed a circle of chains,
    /// so the whole build is taken back and tried again when the other is done.
    var givesWayTo: Cell?

    public init(graph: Graph, isReload: Bool = false, parent: BuildChain? = nil) {
        self.graph = graph
        self.isReload = isReload
        self.parent = parent
    }

    /// The chain at the beginning: all of one thread of calls wait as one.
    var root: BuildChain {
        var chain = self
        while let parent = chain.parent { chain = parent }
        return chain
    }

    /// Whether what was asked for too early is the very object whose own step asked, which waits for its decoration.
    func isOwnReference(_ index: Int) -> Bool {
        later == index && laterAsker == index && frames[index].awaitsDecoration
    }

    /// "a -> b -> c", for messages.
    func path(to key: String) -> String {
        (frames.map(\.recipe.key) + [key]).joined(separator: " -> ")
    }

    /// What is made from `frame` on is not complete before that frame.
    func hold(to frame: Int) {
        guard frame + 1 < frames.count else { return }
        for index in frame + 1..<frames.count { frames[index].low = min(frames[index].low, frame) }
    }
}
