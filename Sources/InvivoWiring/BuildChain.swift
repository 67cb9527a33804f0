public import InvivoBase

/// One chain of calls that builds objects: the resolve from outside, and every resolve that its constructors make, on
/// this thread or in jobs that it posts. The nodes of waits-for cycles are chains, not threads.
///
/// Touched by the thread it runs on; `waitingOn` is guarded by the container's monitor.
public final class BuildChain: @unchecked Sendable {
    /// Under the monitor: how long making took what is not everybody's yet, by its cell.
    var buildTimes: [ObjectIdentifier: UInt64] = [:]

    /// One object on its way.
    struct Frame {
        let recipe: Recipe
        let arguments: [Value]
        /// Where a shared instance will be.
        let cell: Cell?
        /// How much had been made when it began.
        let mark: Int
        /// What was resolved while it was made and no definition on the way names.
        var dependencies: [UInt32] = []
        /// From the moment the instance exists; the chain has one lease on it.
        var object: UInt64 = 0
        var record: Record?
        /// The lowest frame that something made here refers back to; its own index when none. What is made here is not
        /// complete before that frame is.
        var low: Int
        /// Whether what makes it answered null.
        var isNull = false
        /// Whether the instance exists and what takes its place does not yet.
        var awaitsDecoration = false
        /// Of an object whose step had to wait: for whom it was made.
        var askedBy: Recipe?
        /// Steps of others that wait for this instance.
        var deferred: [Deferred] = []
        /// What must be started before it, as places in `starts`.
        var needs: Set<Int> = []
    }

    /// A step that needs an object whose initializer has not returned.
    struct Deferred {
        let recipe: Recipe
        let arguments: [Value]
        /// Whose step it is; a lease is held.
        let lease: ObjectLease
        let step: Recipe.Step
        let name: String
        let askedBy: Recipe?
        /// Which of the chain it is.
        let number: Int
    }

    /// How far the chain has come: what came after it can be taken back.
    struct Mark {
        let made: Int
        let completed: Int
        let deferred: Int
        let starts: Int
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

    /// What a chain waits for while another one makes it.
    enum Awaited {
        case cell(Cell)
        /// What asks whether a weak singleton is still there.
        case revival(Cell)
        /// A creation that no definition describes.
        case creation(PendingCreation)

        /// Who makes it; nil when that waits for nobody, or nobody makes it any more.
        var builder: BuildChain? {
            switch self {
            case .cell(let cell), .revival(let cell):
                if case .building(let builder) = cell.state { builder } else { nil }
            case .creation(let creation): creation.chain?.root
            }
        }
        var name: String {
            switch self {
            case .cell(let cell), .revival(let cell): cell.definition.key
            case .creation(let creation): creation.name
            }
        }
    }

    /// The graph that all its resolves see, held by a count, never by a view.
    public let graph: Graph
    /// Whether the chain belongs to a reload (its builds see the next graph).
    let isReload: Bool
    /// The chain whose hook, or whose creation without a definition, this one runs in.
    let parent: BuildChain?
    /// Of a creation that no definition describes, for messages: "the pool 'textures'".
    var origin: String?
    var frames: [Frame] = []
    var made: [Entry] = []
    /// Objects with hooks for the moment when everything is complete, children before parents; leased.
    var completed: [(recipe: Recipe, arguments: [Value], lease: ObjectLease, askedBy: Recipe?)] = []
    /// Of a chain of last hooks: for whom their object was made.
    var askedBy: Recipe?
    /// Objects that are to be started when everything is complete, each after those it needs.
    var starts: [Start] = []
    /// Of objects made here: what must be started before somebody who uses them is, as places in `starts`.
    var startsOf: [UInt64: Set<Int>] = [:]
    /// In the order in which they were, for who has to stop them again.
    var started: [Start] = []
    /// Of a commit: what it makes is started and becomes everybody's when all of it is there, not with each resolve.
    public let isCommit: Bool
    /// Of a commit: shared instances that wait for that.
    var held: [Entry] = []
    /// Of a commit: what was resolved for instances that are kept, by their keys.
    var asked: [UInt32: Set<UInt32>] = [:]
    /// Of a reload: the scope instances of the object that is injected into again.
    var scopeInstances: [ScopeInstance] = []
    /// Of a root: the scope instances in which it and the chains in it have resolved, without those of a reload.
    private(set) var foundInstances: [ScopeInstance] = []
    /// Of a commit: what it leaves to jobs that domains do not finish.
    public let abandonment = Abandonment()
    /// Of a commit: called before the new instance of an exclusive definition is made.
    public var beforeExclusive: ((UInt32) throws(Failure) -> Void)?
    /// The chain whose start phase this one's hook runs in, maybe on another thread, or beneath what ends in the middle of it:
    /// what that has made is there.
    let outer: BuildChain?
    /// The chain of another runtime that the calling thread was in the middle of when this one began. For messages.
    let beneath: BuildChain?
    /// Whether `outer` is beneath on the same thread, and goes on only when this one is over.
    let isApart: Bool
    /// Those that run in this one's start phase. Guarded by the monitor.
    var inner: [BuildChain] = []
    /// How many steps have been deferred.
    var deferrals = 0
    /// How many resolves are under way; at 0 the graph is complete.
    var depth = 0
    /// Set together with a failure: the frame in whose initializer the missing object is.
    var later: Int?
    /// The same: the frame that asked for it.
    var laterAsker: Int?
    var waitingOn: Awaited?
    /// Of the chain at the beginning, set together with a failure: waiting for this cell would have closed a circle of chains,
    /// so the whole build is taken back and tried again when the other is done.
    var givesWayTo: Cell?
    /// Of a chain that waits: a commit needs what it makes, and it shall give way. Guarded by the monitor.
    var isAskedToGiveWay = false
    /// Somebody has waited long for what it makes, and that is reported. Guarded by the monitor.
    var isReportedAsSlow = false

    public init(
        graph: Graph, isReload: Bool = false, isCommit: Bool = false, parent: BuildChain? = nil,
        outer: BuildChain? = nil, isApart: Bool = false, beneath: BuildChain? = nil
    ) {
        self.graph = graph
        self.isReload = isReload
        self.isCommit = isCommit
        self.parent = parent
        self.outer = outer
        self.isApart = isApart
        self.beneath = beneath
    }

    /// An object on its way to being started.
    struct Start {
        let lease: ObjectLease
        let record: Record
        let definition: Definition?
        /// What must be started before, as places in the chain's list.
        let needs: Set<Int>
        var name: String { definition?.key ?? Container.type(record).name }
    }

    var mark: Mark {
        Mark(made: made.count, completed: completed.count, deferred: deferrals, starts: starts.count)
    }

    /// What the word of a thread holds, unless that is a program.
    static func at(_ word: UnsafeMutableRawPointer?) -> BuildChain? {
        guard let word, UInt(bitPattern: word) & 1 == 0 else { return nil }
        return Unmanaged<BuildChain>.fromOpaque(joined(word)).takeUnretainedValue()
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

    /// The scope instance in whose object a reload injects, when it is one of `scope`.
    func scopeInstance(of scope: PlacedScope) -> ScopeInstance? {
        var chain: BuildChain? = self
        while let here = chain {
            if let known = here.scopeInstances.first(where: { $0.scope === scope }) { return known }
            chain = here.parent ?? here.outer
        }
        return nil
    }

    /// The scope instances in whose object a reload injects, and those in which was resolved otherwise.
    var allScopeInstances: [ScopeInstance] {
        var instances: [ScopeInstance] = []
        var chain: BuildChain? = self
        while let here = chain {
            instances += here.scopeInstances
            chain = here.parent ?? here.outer
        }
        return instances + root.foundInstances
    }

    /// Notes that something of `instance` was resolved while an object is being created, which may be tracked.
    func note(_ instance: ScopeInstance) {
        guard !frames.isEmpty || parent != nil else { return }
        let root = root
        let isKnown = root.foundInstances.contains { $0.scope === instance.scope && $0.place == instance.place }
        if !isKnown { root.foundInstances.append(instance) }
    }

    /// Whether this one runs in the start phase of another, maybe through further ones.
    func isInside(_ other: BuildChain) -> Bool {
        var chain = root.outer?.root
        while let here = chain {
            if here === other { return true }
            chain = here.outer?.root
        }
        return false
    }

    /// Something is resolved that no definition names: whoever is being made depends on it.
    func noteDependency(_ id: UInt32) {
        guard !frames.isEmpty else { return }
        frames[frames.count - 1].dependencies.append(id)
    }

    /// "a -> b -> c", for messages: from the outermost on.
    func path(to key: String) -> String {
        var way = [key]
        var next: BuildChain? = self
        while let here = next {
            way = here.frames.map(\.recipe.key) + way
            if let origin = here.origin { way.insert(origin, at: 0) }
            next = here.parent ?? here.beneath ?? here.outer
        }
        return way.joined(separator: " -> ")
    }

    /// What is made from `frame` on is not complete before that frame.
    func hold(to frame: Int) {
        guard frame + 1 < frames.count else { return }
        for index in frame + 1..<frames.count { frames[index].low = min(frames[index].low, frame) }
    }
}
