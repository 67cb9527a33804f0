internal import CPlatform
public import InvivoBase
internal import InvivoContexts
public import InvivoGraph
public import InvivoObjects

/// One build: the resolve from outside, and every resolve that its constructors make, on this thread or in jobs that it posts.
///
/// Used by the thread that it runs on. Other threads see its chain, and the objects of a build whose hooks they run.
public final class Build: @unchecked Sendable {
    /// An object under construction.
    struct Frame {
        let recipe: Recipe
        let arguments: [Value]
        /// The slot of a shared instance.
        let cell: Cell?
        /// The number of created objects when it began.
        let mark: Int
        /// When it began, in monotonic nanoseconds; 0 for an existing object.
        let begun: UInt64
        /// Keys that were resolved during its construction and that no definition on the way names.
        var dependencies: [UInt32] = []
        /// From the moment the instance exists; the build has one lease on it.
        var object: UInt64 = 0
        var record: Record?
        /// The lowest frame that something created here refers back to; its own index if none. Objects created here are
        /// complete only when that frame is.
        var low: Int
        enum Condition {
            case usual
            /// Its factory returned null.
            case null
            /// The instance exists and is not decorated yet.
            case undecorated
        }
        var condition = Condition.usual
        var isNull: Bool { condition == .null }
        var awaitsDecoration: Bool { condition == .undecorated }
        /// The context in which an unshared object lives; 0: none.
        var home: UInt64 = 0
        /// The requester of an object whose step was deferred.
        var requester: Recipe?
        /// The object that this one replaces.
        var former: FormerObject?
        /// Steps of others that are deferred until this instance exists.
        var deferred: [Deferred] = []
        /// Entries of `starts` that must be started before it.
        var needs: Set<Int> = []

        init(_ recipe: Recipe, _ arguments: [Value], cell: Cell?, mark: Int, low: Int, begun: UInt64 = 0) {
            self.begun = begun
            self.recipe = recipe
            self.arguments = arguments
            self.cell = cell
            self.mark = mark
            self.low = low
        }

        /// Of an existing object.
        init(_ recipient: Recipient, cell: Cell? = nil, mark: Int, low: Int) {
            self.init(recipient.recipe, recipient.arguments, cell: cell, mark: mark, low: low)
            object = recipient.object
            record = recipient.record
        }
    }

    /// A step that needs an object whose initializer has not returned.
    struct Deferred {
        let recipe: Recipe
        let arguments: [Value]
        /// On the object of the step.
        let lease: ObjectLease
        let step: Recipe.NamedStep
        let requester: Recipe?
        /// Its number among the deferred steps of the build.
        let number: Int
    }

    /// An object with hooks for the complete graph.
    struct Completion {
        let recipe: Recipe
        let arguments: [Value]
        let lease: ObjectLease
        let requester: Recipe?
        /// Where the object lives.
        let home: ContextHandle?
    }

    /// A point to which the build can be rolled back.
    struct Mark {
        let made: Int
        let completed: Int
        let deferred: Int
        let starts: Int
    }

    /// An object that was created in the current outermost resolve and that other builds do not see yet.
    struct Entry {
        let id: UInt32
        let arguments: [Value]
        let object: UInt64
        /// Of a shared instance: published when `low` is reached. Nil for graph scope.
        let cell: Cell?
        let made: Made
        /// The context in which an object of graph scope lives; 0: none.
        var home: UInt64 = 0
        /// The time of its build in nanoseconds, including its dependencies; 0 if it is not measured.
        var took: UInt64 = 0
        var low: Int
    }

    /// The state of a commit's build: its objects stay invisible until all of them exist and are started.
    public final class Commit {
        /// Shared instances that are complete.
        var held: [Build.Entry] = []
        /// Keys that were resolved for kept instances, by the keys of these.
        var asked: [UInt32: Set<UInt32>] = [:]
        /// The scope instances of the kept object that is injected into again.
        var scopeInstances: [ScopeInstance] = []
        /// The work that is left to jobs that domains do not finish.
        public let abandonment = Abandonment()
        /// Called before the new instance of an exclusive definition is created.
        public var beforeExclusive: ((UInt32) throws(Failure) -> Void)?
        /// The graph that the commit replaces.
        let former: Graph?
        /// Under the monitor: the keys whose new object has another type than the former one, with both types.
        public internal(set) var retyped: [UInt32: (former: String, next: String)] = [:]

        public init(replacing former: Graph? = nil) { self.former = former }
    }

    /// The code that a build runs for.
    struct Caller {
        /// The build whose hook, or whose creation without a definition, it runs for.
        var parent: Build?
        /// The build in whose start phase its hook runs, maybe on another thread, or that it interrupts to end an object. It sees
        /// the objects that `outer` has created.
        var outer: Build?
        /// Whether `outer` is interrupted on the same thread.
        var isDetached = false
        /// The build of another runtime that the calling thread was in when it began. For messages.
        var beneath: Build?
        /// The creation without a definition that it runs for, in messages: "the pool 'textures'".
        var origin: String?
        /// Whether it belongs to a reload and sees the next graph.
        var isReload = false
        /// The setup that it runs.
        var setup: SetupCall?
        /// In a build of last hooks: the requester of their object.
        var requester: Recipe?

        /// The next build outwards whose objects it sees.
        var around: Build? { parent ?? outer }
    }

    /// Scope instances and contexts in which a build resolves.
    struct Places {
        /// In a root: the scope instances in which it and the builds in it have resolved, without those of a reload.
        var found: [ScopeInstance] = []
        /// The contexts that the build keeps from ending.
        var stays: [ContextHandle] = []
    }

    /// An object that was requested too early: it does not exist, or is not decorated, yet.
    struct Missing {
        let frame: Int
        /// The frame that requested it; nil for an initializer that has not returned.
        var requester: Int?
    }

    /// Keeps its builds from outliving it: each of them is counted by the core (`Readers.beginBuild`).
    unowned(unsafe) let container: Container
    /// The graph that all its resolves see, held by a count, never by a view.
    public let graph: Graph
    let caller: Caller
    /// The builds that wait as one: this one's parent's, if it has one.
    let chain: BuildChain
    /// The state of a commit. Its objects are started, and other builds see them, when all of them exist.
    public let commit: Commit?
    var frames: [Frame] = []
    var made: [Entry] = []
    /// Children before parents.
    var completed: [Completion] = []
    /// Nil while no object is to be started.
    private(set) var startPhase: StartPhase?
    var places = Places()
    /// How many steps have been deferred.
    var deferrals = 0
    /// How many resolves are under way; at 0 the graph is complete.
    var depth = 0
    private var obstacle: Obstacle?

    /// Set together with a failure.
    private enum Obstacle {
        case missing(Missing)
        case busy(Cell)
    }

    var missing: Missing? {
        get { if case .missing(let missing)? = obstacle { missing } else { nil } }
        set { if newValue != nil || missing != nil { obstacle = newValue.map(Obstacle.missing) } }
    }
    /// In a root: waiting for this cell would have closed a cycle of builds. The whole build is rolled back, and tried again when the
    /// other one is done.
    var givesWayTo: Cell? {
        get { if case .busy(let cell)? = obstacle { cell } else { nil } }
        set { if newValue != nil || givesWayTo != nil { obstacle = newValue.map(Obstacle.busy) } }
    }

    /// A build of a reload, which sees the next graph. With `commit`, its objects stay hidden until that succeeds.
    public convenience init(reloading container: Container, graph: Graph, commit: Commit? = nil) {
        self.init(container, graph: graph, commit: commit, caller: Caller(isReload: true))
    }

    init(_ container: Container, graph: Graph, commit: Commit? = nil, caller: Caller) {
        self.container = container
        self.graph = graph
        self.commit = commit
        self.caller = caller
        chain = caller.parent?.chain ?? BuildChain(outer: caller.outer?.chain)
    }

    var isCommit: Bool { commit != nil }
    var isReload: Bool { caller.isReload }

    var mark: Mark {
        Mark(made: made.count, completed: completed.count, deferred: deferrals, starts: startPhase?.count ?? 0)
    }

    var ensuredStartPhase: StartPhase {
        if let startPhase { return startPhase }
        let phase = StartPhase()
        startPhase = phase
        return phase
    }

    /// The build of a thread; nil for a build plan.
    static func at(_ build: ThreadBuild) -> Build? {
        build.object.map { Unmanaged<Build>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The outermost build of nested calls.
    var root: Build {
        var build = self
        while let parent = build.caller.parent { build = parent }
        return build
    }

    /// Whether the object that was requested too early is the one whose own step requested it: it is not decorated yet.
    func isOwnReference(_ missing: Missing, _ index: Int) -> Bool {
        missing.frame == index && missing.requester == index && frames[index].awaitsDecoration
    }

    /// The context from which objects and values of contexts are looked up: that of the object under construction or into which a reload
    /// injects, else the current one.
    var startingContext: ContextHandle? { Contexts.current(container.core) }

    /// Whether this build, or one around it, keeps a context from ending.
    func hasStay(in context: ContextHandle) -> Bool {
        var build: Build? = self
        while let here = build {
            if here.places.stays.contains(context) { return true }
            build = here.caller.around
        }
        return false
    }

    /// Runs `body` with work in a context, which keeps it from ending. Throws if the context is ending.
    func staying<Result>(
        in context: ContextHandle, for recipe: Recipe, _ body: (ContextStay) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let stay = try ContextStay.begin(in: context, isPart: hasStay(in: context)) else {
            throw endingFailure(context, recipe)
        }
        places.stays.append(context)
        defer {
            places.stays.removeLast()
            container.end(stay)
        }
        return try body(stay)
    }

    func endingFailure(_ context: ContextHandle, _ recipe: Recipe) -> Failure {
        Failure(
            .stale,
            "\(Contexts.name(of: context)) is ending, and '\(recipe.key)' is not built in it: nothing is created in it any more",
            path: recipe.key, at: recipe.definition.location)
    }

    /// Notes the context in which an object is created.
    func noteHome(of record: Record) {
        guard let home = startingContext else { return }
        ObjectExtra.of(record).contexts.home = home
    }

    /// An object that a decorator or a factory method has created and started lives in the context of the object that it stands for.
    func adopt(_ object: UInt64, _ record: Record) {
        guard let home = startingContext else { return }
        ObjectExtra.of(record).contexts.home = home
        if container.lifecycle.state(of: record) == .started { stopWithContext(object, record) }
    }

    /// The end of an object's context stops it, unless it is disposed of before.
    func stopWithContext(_ object: UInt64, _ record: Record) {
        let extra = ObjectExtra.of(record)
        guard let home = extra.contexts.home else { return }
        let objects = container.registry.contextObjects
        extra.beforeDisposal.append { objects.remove(object, in: home) }
        container.monitor.locked { objects.add(object, in: home) }
        if let stay = try? ContextStay.begin(in: home, isPart: true) {
            stay.noteObjects()
            container.end(stay)
        }
    }

    /// The scope instance of the object into which a reload injects, if it is one of `scope`.
    func scopeInstance(of scope: PlacedScope) -> ScopeInstance? {
        var build: Build? = self
        while let here = build {
            if let known = here.commit?.scopeInstances.first(where: { $0.scope === scope }) { return known }
            build = here.caller.around
        }
        return nil
    }

    /// The scope instances of the object into which a reload injects, and those in which other resolves took place.
    var allScopeInstances: [ScopeInstance] {
        var instances: [ScopeInstance] = []
        var build: Build? = self
        while let here = build {
            instances += here.commit?.scopeInstances ?? []
            build = here.caller.around
        }
        return instances + root.places.found
    }

    /// Notes that the creation of an object, which may be tracked, has resolved an object of `instance`.
    func note(_ instance: ScopeInstance) {
        guard !frames.isEmpty || caller.parent != nil else { return }
        let root = root
        let isKnown = root.places.found.contains { $0.scope === instance.scope && $0.instance == instance.instance }
        if !isKnown { root.places.found.append(instance) }
    }

    /// Records a resolve that no definition names: the object under construction depends on it.
    func noteDependency(_ id: UInt32) {
        guard !frames.isEmpty else { return }
        frames[frames.count - 1].dependencies.append(id)
    }

    /// "a -> b -> c" from the outermost on, for messages.
    func path(to key: String) -> String {
        var way = [key]
        var next: Build? = self
        while let here = next {
            way = here.frames.map(\.recipe.key) + way
            if let origin = here.caller.origin { way.insert(origin, at: 0) }
            next = here.caller.parent ?? here.caller.beneath ?? here.caller.outer
        }
        return way.path()
    }

    /// The objects of the frames above `frame` are not complete before its own.
    func hold(to frame: Int) {
        guard frame + 1 < frames.count else { return }
        for index in frame + 1..<frames.count { frames[index].low = min(frames[index].low, frame) }
    }

    // MARK: waiting

    /// Whether a chain is this build's, or runs hooks in which this one is.
    func isOurs(_ other: BuildChain) -> Bool { other === chain || chain.isInside(other) }

    /// The keys of the objects under construction, from the outermost on.
    var keysInProgress: [String] { frames.map(\.recipe.key) }

    /// Whether it can be rolled back and begun again: it holds nothing that others wait for. For a root.
    var canBackOff: Bool { depth > 0 && caller.outer == nil && !isCommit }

    /// The operations of the calling thread, which waits on behalf of this build.
    var standing: Standing {
        let state = currentThread()
        var found: [Build] = []
        var chains: Set<ObjectIdentifier> = []
        func add(_ build: Build?) {
            var next = build
            while let here = next, !found.contains(where: { $0 === here }) {
                found.append(here)
                chains.insert(ObjectIdentifier(here.chain))
                next = here.caller.around
            }
        }
        add(self)
        add(Build.at(state.build))
        var around = state.pointee.around
        while let here = around {
            add(Build.at(here.pointee.threadBuild))
            around = here.pointee.outer
        }
        var creation = state.pointee.creation
        while let here = creation {
            add(here.build)
            creation = here.pointee.outer
        }
        let owner = graph.raw.pointee.owner
        return Standing(
            thread: state.identity, chains: chains, keys: found.reversed().flatMap(\.keysInProgress),
            isAcross: found.contains { $0.graph.raw.pointee.owner != owner })
    }
}

extension Build: ScopedBuild {}
