internal import CPlatform
public import InvivoBase
public import InvivoContexts
public import InvivoGraph
public import InvivoObjects

/// Outermost resolves, and the build that the calling thread is in.
extension Container {
    /// The object of a key with one lease for the caller, built if necessary. 0 if its factory returns null.
    public func resolve(_ id: UInt32, arguments: [Value] = []) throws(Failure) -> UInt64 {
        try whole(
            { (build) throws(Failure) in
                build.noteDependency(id)
                let object = try build.resolve(id, arguments)
                if arguments.isEmpty && build.frames.isEmpty { considerProgram(id, build.graph) }
                return object
            }, giveBack: { _ = ObjectTable.release($0) })
    }

    /// The same, from a context, which is the current one meanwhile.
    public func resolve(_ id: UInt32, in context: ContextHandle) throws(Failure) -> UInt64 {
        try Contexts.visiting(context, core) { () throws(Failure) in try resolve(id) }
    }

    /// The existing instance of a key with these arguments, with one lease for the caller; 0 if there is none.
    func existing(_ id: UInt32, _ arguments: [Value]) throws(Failure) -> UInt64 {
        try whole(
            { (build) throws(Failure) in try ExistingObjects(of: build).existing(id, arguments) },
            giveBack: { _ = ObjectTable.release($0) })
    }

    /// Compiles a build plan for a key that is resolved a second time by itself.
    private func considerProgram(_ id: UInt32, _ graph: Graph) {
        guard let recipe = graph.recipe(id), recipe.id == id, !recipe.scope.isShared, let cell = graph.cell(id),
            monitor.locked({ () -> Bool in
                cell.attempt += 1
                return cell.attempt == 2
            }), let program = ProgramSource.compile(id, graph, runtimeHandle)
        else { return }
        let isTaken = monitor.locked { () -> Bool in
            guard let making = cell.raw.making, iv_making_program(making) == nil else { return false }
            iv_making_set_program(making, program)
            current.show(cell, graph)
            return true
        }
        if !isTaken { ProgramSource.free(program) }
    }

    /// Runs `body` in the calling thread's build, or as an outermost resolve of its own: at its end the objects are complete, and
    /// their hooks run. `giveBack` releases a result that a failing hook invalidates.
    func whole<Result>(
        _ body: (Build) throws(Failure) -> Result, giveBack: (Result) -> Void = { _ in }
    ) throws(Failure) -> Result {
        if let build = innermostBuild, build.depth > 0 { return try body(build) }
        let reader = try beginBuild()
        defer { Readers.endBuild(reader) }
        guard let context = Contexts.current(core) else { return try outermost(nil, body, giveBack) }
        // While the context ends, only what is built can be resolved.
        let stay: ContextStay?
        do throws(Failure) { stay = try ContextStay.begin(in: context) } catch  where error.code == .stale {
            // It has ended meanwhile, and is no current context any more.
            return try outermost(nil, body, giveBack)
        }
        defer { if let stay { end(stay) } }
        return try Contexts.working(in: context, core) { () throws(Failure) in
            try outermost(stay.map { _ in context }, body, giveBack)
        }
    }

    /// `stay`: the context that the caller keeps from ending.
    private func outermost<Result>(
        _ stay: ContextHandle?, _ body: (Build) throws(Failure) -> Result, _ giveBack: (Result) -> Void
    ) throws(Failure) -> Result {
        var tries = 0
        while true {
            let build = buildForWaiting()
            if let stay { build.places.stays.append(stay) }
            defer { if stay != nil { build.places.stays.removeLast() } }
            let beneath = build.caller.isDetached ? build.caller.outer.map(suspension) : nil
            let thread = currentThread().identity
            if let beneath { monitor.locked { waits.suspend(beneath, thread) } }
            defer { if let beneath { monitor.locked { waits.resume(beneath.chain, thread) } } }
            do throws(Failure) { return try whole(build, body, giveBack) } catch {
                tries += 1
                // Only an outermost build backs off: the build around a hook holds objects that the other one waits for.
                guard build.caller.around == nil, let other = build.givesWayTo, tries < Build.mostTries
                else { throw error }
                build.givesWayTo = nil
                try waitForBuild(of: other, build)
            }
        }
    }

    func whole<Result>(
        _ build: Build, _ body: (Build) throws(Failure) -> Result, _ giveBack: (Result) -> Void
    ) throws(Failure) -> Result {
        build.depth = 1
        defer { build.depth = 0 }
        return try building(build) { () throws(Failure) -> Result in
            let result: Result
            do throws(Failure) { result = try body(build) } catch {
                build.abandon()
                throw error
            }
            do throws(Failure) { try build.end() } catch {
                giveBack(result)
                throw error
            }
            if build.caller.parent == nil { build.givesWayTo = nil }
            return result
        }
    }

    /// Waits until no build creates the object of a cell, and serves the calling thread's domain meanwhile. The caller holds
    /// nothing of this runtime that others wait for.
    private func waitForBuild(of cell: Cell, _ build: Build) throws(Failure) {
        let standing = build.standing
        var wait = LongWait()
        defer { wait.end(domains) }
        monitor.lock()
        defer { monitor.unlock() }
        while case .building(let other) = cell.state {
            // A build of another runtime further up on this thread may hold something.
            if let way = WaitsAcross.begin(standing, for: cell, of: other) {
                throw build.waitsForCycle(Waits.Cycle(path: way), cell)
            }
            wait.once(domains, for: cell.definition.key, of: other)
            WaitsAcross.end(standing, for: cell)
        }
    }

    /// Begins a build that is not part of another: close waits until `Readers.endBuild`.
    public func beginBuild() throws(Failure) -> Reader {
        if let build = Readers.beginBuild(core, tag: tag) { return build }
        guard home.isHere else { throw .forked() }
        try Failure.refuseInRule(of: tag)
        throw Failure(.closed, "the runtime is closing")
    }

    // MARK: objects without a definition

    public func makeObject(_ type: ObjectType, _ arguments: [Value]) throws(Failure) -> UInt64 {
        let reader = try beginBuild()
        defer { Readers.endBuild(reader) }
        let build = buildForWaiting()
        let call = build.caller.setup
        let former = call?.takeFormer(hasKey: false)
        let wasCreating = call?.isCreating ?? false
        call?.isCreating = true
        defer { call?.isCreating = wasCreating }
        return try building(build) { () throws(Failure) -> UInt64 in
            var initializer = ObjectType.Initializer(values: arguments, given: GivenArguments.all(arguments.count))
            initializer.former = former
            guard let record = try type.create(initializer) else { return 0 }
            let object = try ObjectType.open(record, owner: tag)
            do throws(Failure) {
                try fillNeeds(of: type, in: object, record)
                try lifecycle.startNow(record)
            } catch {
                _ = ObjectTable.release(object)
                throw error
            }
            return object
        }
    }

    /// Fills the needs of a type, with its hooks, in an object that is created without a definition.
    private func fillNeeds(of type: ObjectType, in object: UInt64, _ record: Record) throws(Failure) {
        guard !type.needs.isEmpty, registry.fillsNeeds else { return }
        try whole { (build) throws(Failure) in
            let own = try ownRecipes.recipe(of: type, in: build.graph, isReload: build.isReload)
            guard let recipe = own else { return }
            try build.injectHostObject(recipe, object, record)
        }
        ObjectExtra.of(record).hasNeeds = true
    }

    /// A handle for an instance of the host.
    public func wrap(_ type: ObjectType, _ instance: UnsafeMutableRawPointer, key: UInt32? = nil) throws(Failure)
        -> UInt64
    {
        let reader = try beginBuild()
        defer { Readers.endBuild(reader) }
        return try type.wrap(instance, key: key)
    }

    // MARK: the build of the calling thread

    /// Runs `body` in a build of this runtime (or in none) as code that must not wait for reloads.
    func inside<Result>(_ build: Build?, _ body: () -> Result) -> Result {
        let thread = currentThread()
        let former = thread.build
        // Detached code of this runtime stays detached.
        let beneath = former.isDetached && isBuildingHere ? former : .none
        return thread.inside(build.map(ThreadBuild.init) ?? beneath, engine: address, body)
    }

    /// Runs host code that ends objects, or that may run at any moment, detached from the current build, or from `build`. Its
    /// resolves form their own object graph. They see the objects of the build and never wait for it.
    public func detached<Result>(over build: Build? = nil, _ body: () -> Result) -> Result {
        let thread = currentThread()
        let beneath = build.map(ThreadBuild.init) ?? (isBuildingHere ? thread.build : .none)
        return Pins.outside(core) { thread.inside(beneath.detached, engine: address, body) }
    }

    /// Runs `body` as a callback of this runtime: it must not wait for a reload.
    public func callback<Result>(_ body: () -> Result) -> Result { inside(innermostBuild, body) }

    /// Runs `body` with resolves that see the graph of `build`.
    public func building<Result>(_ build: Build, _ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        try inside(build) { () -> Swift.Result<Result, Failure> in
            do throws(Failure) { return .success(try body()) } catch { return .failure(error) }
        }.get()
    }

    /// This runtime in the words of a thread.
    private var address: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    /// The build of this runtime that the calling thread is in.
    var innermostBuild: Build? {
        let thread = currentThread()
        let current = thread.build
        guard !current.isNone, !current.isDetached else { return nil }
        return build(current, thread)
    }

    /// The build of this runtime from which host code on the calling thread is detached.
    var detachedBuild: Build? {
        let thread = currentThread()
        let current = thread.build
        guard current.isDetached else { return nil }
        return build(current, thread)
    }

    /// The build of this runtime that called another runtime, which the calling thread is in now.
    var outerBuild: Build? {
        let thread = currentThread()
        guard thread.pointee.engine != address else { return nil }
        var next = thread.pointee.around
        while let around = next {
            if around.pointee.engine == address, let build = Build.at(around.pointee.threadBuild) { return build }
            next = around.pointee.outer
        }
        return nil
    }

    private func build(_ build: ThreadBuild, _ thread: ThreadState) -> Build? {
        if let plan = build.plan { return self.build(of: plan) }
        guard thread.pointee.engine == address else { return nil }
        return Build.at(build)
    }

    /// The build of a plan that the calling thread runs: one of its initializers resolves something. It finds the objects that
    /// the plan has created, and the others are under construction.
    private func build(of running: UnsafeMutablePointer<iv_running>) -> Build? {
        guard running.pointee.container == address,
            let program = running.pointee.program,
            let nodes = program.pointee.nodes, let arguments = program.pointee.arguments,
            let objects = running.pointee.objects
        else { return nil }
        if let known = running.pointee.build { return Unmanaged<Build>.fromOpaque(known).takeUnretainedValue() }
        Readers.keepGenerations(core)
        let build = Build(self, graph: readGraph, caller: Build.Caller(parent: creationBuild()))
        build.depth = 1
        let current = Int(running.pointee.made)
        let home = Contexts.current(core)?.bits ?? 0
        for index in 0..<current {
            guard build.graph.recipe(nodes[index].id)?.scope == .graph, ObjectTable.retain(objects[index]),
                let record = ObjectTable.record(objects[index])
            else { continue }
            build.made.append(
                Build.Entry(
                    id: nodes[index].id, arguments: [], object: objects[index], cell: nil,
                    made: Made(object: objects[index], record: record, dependencies: [], isForeign: false),
                    home: home, low: .max))
        }
        var waiting: Set<Int> = [current]
        for index in current + 1..<max(current + 1, Int(program.pointee.node_count)) {
            let needs = (nodes[index].first..<nodes[index].first + nodes[index].count).contains {
                arguments[Int($0)].what == UInt32(IV_ARGUMENT_NODE) && waiting.contains(Int(arguments[Int($0)].node))
            }
            if needs { waiting.insert(index) }
        }
        for index in waiting.sorted(by: >) {
            guard let recipe = build.graph.recipe(nodes[index].id) else { continue }
            var frame = Build.Frame(recipe, [], cell: nil, mark: build.made.count, low: build.frames.count)
            frame.home = home
            build.frames.append(frame)
        }
        running.pointee.build = Unmanaged.passRetained(build).toOpaque()
        return build
    }

    /// Whether the calling thread is in a build of this runtime, detached from it or not. Takes no lock.
    public var isBuildingHere: Bool {
        let thread = currentThread()
        let build = thread.build
        guard !build.isNone else { return false }
        if let plan = build.plan { return plan.pointee.container == address }
        return thread.pointee.engine == address
    }

    /// Whether the calling thread is inside a callback of any runtime's reload, job or build.
    public static var isInCallback: Bool { currentThread().pointee.engine != nil }
}

extension ThreadBuild {
    init(_ build: Build) { self.init(object: Unmanaged.passUnretained(build).toOpaque()) }
}

extension Container: JobRuntime {
    public var outsideBuilds: JobContext {
        JobContext { [self] body in
            var failure: Failure?
            Contexts.outside(core) { failure = Pins.outside(core) { inside(nil, body) } }
            return failure
        }
    }
    public var insideBuild: JobContext {
        let build = innermostBuild
        let handOver = Contexts.handOver(core)
        return JobContext(chain: build?.chain) { [self] body in
            var failure: Failure?
            handOver { failure = Pins.outside(core) { inside(build, body) } }
            return failure
        }
    }
    public var beneath: Waits.Suspension? {
        isBuildingHere ? (innermostBuild ?? detachedBuild).map(suspension) : nil
    }
    func suspension(_ build: Build) -> Waits.Suspension {
        Waits.Suspension(build.chain, keys: build.root.keysInProgress)
    }
}

extension Container: RetirementRuntime {
    func stopRetired(_ records: [Record]) {
        for failure in lifecycle.stopTogether(records) { life.stopFailures.note(failure) }
    }
    func detached<Result>(_ body: () -> Result) -> Result { detached(over: nil, body) }
}
