public import CInvivo
public import CPlatform
public import InvivoBase

extension Container {
    /// The fast way, inside a view: leases a built shared object. Otherwise 0, and the cell when what is made there is made as
    /// its definition says, without documents.
    @inline(__always)
    static func leaseBuilt(_ graph: UnsafePointer<iv_graph>, _ id: UInt32, _ thread: ThreadState) -> (
        UInt64, UnsafeMutablePointer<iv_cell>?
    ) {
        guard id < graph.pointee.count, let chunk = graph.pointee.chunks[Int(id >> UInt32(INVIVO_CHUNK_SHIFT))] else {
            return (0, nil)
        }
        let entry = chunk.assumingMemoryBound(to: invivo_entry.self) + Int(id & UInt32(INVIVO_CHUNK_MASK))
        guard let cell = entry.pointee.cell else { return (0, nil) }
        let full = UnsafeMutableRawPointer(cell).assumingMemoryBound(to: iv_cell.self)
        let bits = iv_load_u64(iv_cell_object(full))
        guard bits != 0 else { return (0, entry.pointee.layers == nil ? full : nil) }
        let allowed = full.pointee.thread
        guard allowed == 0 || allowed == thread.pointee.id else { return (0, nil) }
        return ObjectTable.leaseKnownAlive(bits) ? (bits, nil) : (0, nil)
    }

    /// A built shared object, a plain prototype or the graph of a program, without locks. 0 when it must go the general way;
    /// `failed` has a status other than 0 when an init failed.
    public static func fastResolve(_ runtime: UInt64, _ key: UInt64, makes: Bool, failed: inout FastFailure) -> UInt64 {
        let upper = key >> 32
        guard upper >> 28 == 3, runtime == (1 << 28 | upper & 0xfff_ffff) << 32,
            let core = iv_core_at(UInt32(truncatingIfNeeded: upper >> 16) & 0xfff)
        else { return 0 }
        let thread = iv_thread()!
        guard thread.pointee.chain == nil, let reader = Readers.enter(core, tag: upper & 0xfff_ffff) else { return 0 }
        guard let graph = reader.pointee.graph else {
            Readers.leave(reader)
            return 0
        }
        let (bits, cell) = leaseBuilt(
            graph.assumingMemoryBound(to: iv_graph.self), UInt32(truncatingIfNeeded: key), thread)
        guard bits == 0, makes, let cell, reader.pointee.building < 32 else {
            Readers.leave(reader)
            return bits
        }
        guard let type = cell.pointee.prototype else {
            guard let program = iv_cell_program(cell), Readers.beginBuild(reader, core) else {
                Readers.leave(reader)
                return 0
            }
            return run(
                program, graph.assumingMemoryBound(to: iv_graph.self), reader, owner: upper & 0xfff_ffff,
                runtime: runtime, failed: &failed)
        }
        let own = upper << 32 | cell.pointee.id
        let begun = Readers.beginBuild(reader, core)
        Readers.leave(reader)
        guard begun else { return 0 }
        return makePlain(type, reader, owner: upper & 0xfff_ffff, runtime: runtime, key: own, failed: &failed)
    }

    /// The object of a key with one lease for the caller, built when it must be. 0 when what makes it answers null.
    public func resolve(_ id: UInt32, arguments: [Value] = []) throws(Failure) -> UInt64 {
        try whole(
            { (chain) throws(Failure) in
                let object = try resolve(id, arguments, chain)
                if arguments.isEmpty && chain.frames.isEmpty { considerProgram(id, chain.graph) }
                return object
            }, giveBack: { _ = ObjectTable.release($0) })
    }

    /// What is made a second time by itself may be made by a program from then on.
    private func considerProgram(_ id: UInt32, _ graph: Graph) {
        guard let recipe = graph.recipe(id), recipe.id == id, !recipe.scope.isShared, let cell = graph.cell(id),
            monitor.locked({ () -> Bool in
                cell.attempt += 1
                return cell.attempt == 2
            }), let program = ProgramSource.compile(id, graph, self)
        else { return }
        iv_cell_set_program(cell.raw, program)
    }

    /// Runs `body` with the chain of the calling thread, or as an outermost resolve of its own: when that ends, what was
    /// made in it is complete, and its hooks run. `giveBack` is for a result that those hooks make void.
    func whole<Result>(
        _ body: (BuildChain) throws(Failure) -> Result, giveBack: (Result) -> Void = { _ in }
    ) throws(Failure) -> Result {
        if let chain = currentChain, chain.depth > 0 { return try body(chain) }
        let build = try beginBuild()
        defer { Readers.endBuild(build) }
        var tries = 0
        while true {
            let chain = chainForWaiting()
            do throws(Failure) { return try whole(chain, body, giveBack) } catch {
                tries += 1
                // A chain whose hook this one runs in holds what the other waits for: it gives way as a whole.
                guard chain.parent == nil, chain.outer == nil, let other = chain.givesWayTo, tries < Self.mostTries
                else { throw error }
                chain.givesWayTo = nil
                waitForBuild(of: other)
            }
        }
    }

    /// How often a build gives way to others.
    private static let mostTries = 100

    private func whole<Result>(
        _ chain: BuildChain, _ body: (BuildChain) throws(Failure) -> Result, _ giveBack: (Result) -> Void
    ) throws(Failure) -> Result {
        chain.depth = 1
        defer { chain.depth = 0 }
        return try building(chain) { () throws(Failure) -> Result in
            let result: Result
            do throws(Failure) { result = try body(chain) } catch {
                abandon(chain)
                throw error
            }
            do throws(Failure) { try end(chain) } catch {
                giveBack(result)
                throw error
            }
            if chain.parent == nil { chain.givesWayTo = nil }
            return result
        }
    }

    /// Until nobody builds it, serving the calling thread's domain meanwhile. The caller holds nothing that others wait for.
    private func waitForBuild(of cell: Cell) {
        monitor.locked { wait { if case .building = cell.state { false } else { true } } }
    }

    /// An outermost resolve failed: nothing of it stays.
    func abandon(_ chain: BuildChain, because failure: Failure? = nil) {
        // What a commit is to start is told apart by who made it.
        let starts = chain.isCommit ? chain.starts.count : 0
        takeBack(
            chain, to: BuildChain.Mark(made: 0, completed: 0, deferred: 0, starts: starts), because: failure)
        if !chain.isCommit { chain.startsOf = [:] }
    }

    /// An outermost resolve ends well, unless one of its last hooks fails.
    func end(_ chain: BuildChain) throws(Failure) {
        let commit = chain.root
        do throws(Failure) {
            try complete(chain)
            if !commit.isCommit { try startAll(chain) }
        } catch {
            abandon(chain, because: error)
            throw error
        }
        if commit.isCommit {
            handOver(chain, to: commit)
            for entry in chain.made where entry.cell != nil {
                commit.held.append(entry)
                // From here on it belongs to its domain, where it is also started, and ended if the commit fails.
                if !entry.made.isForeign {
                    entry.made.record.pointee.thread = Self.type(entry.made.record).raw.pointee.thread
                }
            }
            let others = chain.made.filter { $0.cell == nil }
            chain.made = []
            for entry in others { _ = ObjectTable.release(entry.object) }
        } else {
            settle(chain)
            chain.started = []
        }
    }

    /// Everything that a commit made is there, and started: shared instances are everybody's who sees their graph.
    public func settleCommit(_ chain: BuildChain) {
        let held = chain.held
        chain.held = []
        for entry in held { hand(entry, chain) }
        chain.started = []
        chain.startsOf = [:]
    }

    /// A commit failed: nothing that it made stays. What it started is stopped already.
    public func abandonCommit(_ chain: BuildChain) {
        chain.starts = []
        chain.startsOf = [:]
        let held = chain.held.reversed()
        chain.held = []
        for entry in held {
            if let cell = entry.cell { monitor.locked { reset(cell, nil) } }
            _ = ObjectTable.release(entry.object)
        }
    }

    /// Something is about to be made on this thread, in no build that is under way: close waits until `Readers.endBuild`.
    func beginBuild() throws(Failure) -> Reader {
        if let build = Readers.beginBuild(core, tag: tag) { return build }
        guard home.isHere else {
            throw Failure(.forked, "the runtime was opened by the parent process; open one of your own after fork")
        }
        throw Failure(.closed, "the runtime is closing")
    }

    func resolve(_ id: UInt32, _ arguments: [Value], _ chain: BuildChain) throws(Failure) -> UInt64 {
        let object = try find(id, arguments, chain)
        noteUse(of: object, chain)
        return object
    }

    private func find(_ id: UInt32, _ arguments: [Value], _ chain: BuildChain) throws(Failure) -> UInt64 {
        if !chain.frames.isEmpty { chain.frames[chain.frames.count - 1].dependencies.append(id) }
        guard let cell = chain.graph.cell(id), let recipe = chain.graph.recipe(id) else {
            throw monitor.locked { unknownKey(keys.name(id), in: chain.graph) }
        }
        guard chain.frames.count < Self.deepest, iv_stack_left() > Self.leastStack else { throw tooDeep(recipe, chain) }
        if case .alias(let target) = recipe.maker {
            var bound: [Value] = []
            for slot in recipe.slots { bound.append(try value(of: slot.source, recipe, arguments, chain)) }
            return try resolve(target, bound + arguments, chain)
        }
        if case .dormant(let needs) = recipe.maker {
            throw Failure(
                .dormant, "'\(recipe.key)' lies dormant: it waits for \(Recipe.list(needs))", path: recipe.key,
                at: recipe.definition.place)
        }
        let arguments = try checked(arguments, recipe)
        if case .choice(let chooser, let options) = recipe.maker {
            return try choose(chooser, options, recipe, arguments, chain)
        }
        switch recipe.scope {
        case .prototype, .graph:
            // An alias leads to the recipe of what it names: both are one object.
            let id = recipe.id
            if let frame = chain.frames.lastIndex(where: {
                $0.recipe.id == id && $0.cell == nil && same($0.arguments, arguments)
            }) {
                return try inFlight(frame, recipe, chain)
            }
            if recipe.scope == .graph,
                let entry = chain.made.last(where: { $0.id == id && $0.cell == nil && same($0.arguments, arguments) })
            {
                return try take(entry, chain)
            }
            guard let made = try make(recipe, arguments, chain, cell: nil) else { return 0 }
            return made.object
        case .context, .thread, .host:
            for _ in 0..<Self.mostTries {
                let placed = try placedCell(cell, recipe, arguments)
                do throws(Failure) { return try shared(placed, recipe, arguments, chain) } catch {
                    // The place may have ended meanwhile; what it had is gone, and it has another instance now.
                    guard error.code == .stale, monitor.locked({ placed.isOver }) else { throw error }
                }
            }
            throw Failure(
                .stale, "places of its scope end faster than they can be used", path: recipe.key,
                at: recipe.definition.place)
        case .lazySingleton, .singleton, .weakSingleton:
            return try shared(cell, recipe, arguments, chain)
        }
    }

    /// No chain of objects that need each other is longer.
    static let deepest = 256
    /// What the thread's stack must still hold for one more object and its host's code, and for comparing arguments that lie
    /// in each other as deep as the chain is long.
    #if DEBUG
        // Frames of a build that is not optimised, and more so of one for a sanitizer, are several times as large.
        static let leastStack: UInt64 = 320 << 10
    #else
        static let leastStack: UInt64 = 160 << 10
    #endif

    private func tooDeep(_ recipe: Recipe, _ chain: BuildChain) -> Failure {
        let depth = chain.frames.count
        let why = depth < Self.deepest ? "the thread's stack is full" : "the wiring does not end"
        return Failure(
            .cycle, "\(why): \(depth) objects need each other: ... \(chain.path(to: recipe.key).suffix(400))",
            path: recipe.key,
            at: recipe.definition.place)
    }

    private func same(_ a: [Value], _ b: [Value]) -> Bool {
        a.isEmpty && b.isEmpty || ArgumentsKey(a) == ArgumentsKey(b)
    }

    private func checked(_ arguments: [Value], _ recipe: Recipe) throws(Failure) -> [Value] {
        guard let parameters = recipe.definition.body.parameters else {
            guard arguments.isEmpty || !recipe.scope.isShared else {
                throw Failure(
                    .arity, "'\(recipe.key)' declares no runtime arguments, got \(arguments.count)", path: recipe.key,
                    at: recipe.definition.place)
            }
            return arguments
        }
        do throws(Failure) {
            let given = try parameters.check(arguments)
            return given + Array(repeating: .null, count: parameters.parameters.count - given.count)
        } catch {
            throw Failure(error.code, error.message, path: recipe.key, at: recipe.definition.place)
        }
    }

    /// An object that is on its way further up in the same chain.
    private func inFlight(_ index: Int, _ recipe: Recipe, _ chain: BuildChain) throws(Failure) -> UInt64 {
        let bits = chain.frames[index].object
        if chain.frames[index].awaitsDecoration { throw undecorated(index, recipe, chain) }
        guard bits != 0 else {
            chain.later = index
            chain.laterAsker = nil
            let circle = chain.frames[index...].map(\.recipe.key) + [recipe.key]
            throw Failure(
                .cycle, "the wiring goes round in a circle through initializers: \(circle.joined(separator: " -> "))",
                path: recipe.key, at: recipe.definition.place)
        }
        chain.hold(to: index)
        for frame in chain.frames[index...] where frame.object != 0 {
            if let record = frame.record { markCircle(frame.object, record) }
        }
        guard ObjectTable.retain(bits) else { throw Failure(.stale, "the object is gone", path: recipe.key) }
        return bits
    }

    /// An object made before in the same outermost resolve.
    private func take(_ entry: BuildChain.Entry, _ chain: BuildChain) throws(Failure) -> UInt64 {
        if entry.low < chain.frames.count { chain.hold(to: entry.low) }
        guard ObjectTable.retain(entry.object) else {
            throw Failure(.stale, "the object is gone", path: keyName(entry.id))
        }
        return entry.object
    }

    // MARK: shared instances

    /// A shared instance, built once however many chains ask; a waits-for cycle is answered, not waited for.
    private func shared(_ base: Cell, _ recipe: Recipe, _ arguments: [Value], _ chain: BuildChain) throws(Failure)
        -> UInt64
    {
        let definition = recipe.definition
        var gone: [Cell] = []
        defer { withExtendedLifetime(gone) {} }
        var cell = base
        monitor.lock()
        var awaited = -1
        waiting: while true {
            // That of a place is found by who knows the place.
            if !recipe.scope.isPlaced { cell = base.variant(arguments, gone: &gone) }
            switch cell.state {
            case .built:
                let bits = recipe.scope == .weakSingleton ? cell.weakObject : cell.object
                if ObjectTable.retain(bits) {
                    monitor.unlock()
                    do throws(Failure) { try checkDomain(definition, chain) } catch {
                        _ = ObjectTable.release(bits)
                        throw error
                    }
                    return bits
                }
                guard recipe.scope == .weakSingleton, !ObjectTable.isExhausted(bits) else {
                    monitor.unlock()
                    throw ObjectTable.isExhausted(bits)
                        ? Failure.exhausted(path: definition.key)
                        : Failure(.stale, "the object is gone", path: definition.key)
                }
                break waiting
            case .building(let other):
                if other === chain.root || chain.isInside(other) {
                    monitor.unlock()
                    return try ownBuild(cell, recipe, chain)
                }
                let thread = currentThread().identity
                if let circle = waits.circle(from: other, to: chain.root, on: thread, cell.definition.key) {
                    // Whoever holds nothing that others wait for may give way.
                    if !circle.isThroughJob && !waits.hasSuspended(thread) { chain.root.givesWayTo = cell }
                    monitor.unlock()
                    throw waitsForCycle(circle, chain.root, cell)
                }
                awaited = cell.attempt
                chain.root.waitingOn = .cell(cell)
                waits.begin(chain.root, thread)
                if !serveOwnDomain() { monitor.wait() }
                waits.end(chain.root, thread)
                chain.root.waitingOn = nil
            case .cold:
                if awaited == cell.attempt, let failure = cell.failure {
                    monitor.unlock()
                    throw failure
                }
                break waiting
            }
        }
        do throws(Failure) { try checkDomain(definition, chain) } catch {
            monitor.unlock()
            throw error
        }
        cell.state = .building(chain.root)
        cell.attempt += 1
        let weak = cell.weakReference
        monitor.unlock()

        do throws(Failure) {
            if let weak, let revived = try revive(weak, recipe, cell) { return revived }
            if recipe.isExclusive { try chain.root.beforeExclusive?(recipe.id) }
            let begun = monotonicNow()
            guard let made = try make(recipe, arguments, chain, cell: cell) else {
                monitor.locked { reset(cell, nil) }
                return 0
            }
            let took = monotonicNow() &- begun
            monitor.locked { cell.buildTime = took }
            return made.object
        } catch {
            // Who waited for a build that gave way builds it himself.
            monitor.locked { reset(cell, chain.root.givesWayTo == nil ? error : nil) }
            throw error
        }
    }

    /// Under the monitor: nobody builds it any more.
    func reset(_ cell: Cell, _ failure: Failure?) {
        cell.state = .cold
        cell.failure = failure
        monitor.broadcast()
    }

    /// A shared object that the calling chain, or one whose hook it runs in, is building.
    private func ownBuild(_ cell: Cell, _ recipe: Recipe, _ chain: BuildChain) throws(Failure) -> UInt64 {
        if let frame = chain.frames.lastIndex(where: { $0.cell === cell }) { return try inFlight(frame, recipe, chain) }
        var asked: BuildChain? = chain
        while let here = asked {
            if let entry = (here.made + here.held).last(where: { $0.cell === cell }) {
                if here === chain { return try take(entry, chain) }
                guard ObjectTable.retain(entry.object) else { break }
                return entry.object
            }
            if here !== chain, let frame = here.frames.last(where: { $0.cell === cell }), frame.object != 0,
                !frame.awaitsDecoration, ObjectTable.retain(frame.object)
            {
                return frame.object
            }
            asked = here.parent ?? here.outer
        }
        throw Failure(
            .cycle, "the wiring goes round in a circle: \(chain.path(to: recipe.key))", path: recipe.key,
            at: recipe.definition.place)
    }

    /// A weak singleton whose handles are all gone and whose instance is not.
    private func revive(_ weak: UnsafeMutableRawPointer, _ recipe: Recipe, _ cell: Cell) throws(Failure) -> UInt64? {
        guard let type = recipe.type, let instance = type.description.loadWeak(weak) else { return nil }
        // The reference that came with it is the new record's.
        let object = try wrap(type, instance, key: recipe.id)
        monitor.locked {
            if let record = ObjectTable.record(object) {
                record.pointee.thread = type.raw.pointee.thread
                cell.sequence = record.pointee.sequence
            }
            noteBuilt(recipe)
            cell.weakObject = object
            cell.state = .built
            monitor.broadcast()
        }
        return object
    }

    // MARK: completing

    /// A frame ended well: what nothing above it waits for is everybody's now.
    func finish(_ frame: BuildChain.Frame, at index: Int, _ made: Made, _ chain: BuildChain) {
        let isShared = frame.cell != nil
        if isShared || frame.recipe.scope == .graph {
            // One lease is the chain's until it ends; a shared instance gets the graph's hold instead.
            _ = ObjectTable.leaseKnownAlive(made.object)
            chain.made.append(
                BuildChain.Entry(
                    id: frame.recipe.id, arguments: frame.arguments, object: made.object, cell: frame.cell, made: made,
                    low: frame.low < index ? frame.low : .max))
        }
        if frame.low < index {
            if index > 0 { chain.frames[index - 1].low = min(chain.frames[index - 1].low, frame.low) }
            return
        }
        for place in frame.mark..<chain.made.count where chain.made[place].low >= index { chain.made[place].low = .max }
        if index > 0 { settleShared(chain, from: frame.mark) }
    }

    /// Publishes the shared instances among what was made from `mark` on.
    private func settleShared(_ chain: BuildChain, from mark: Int) {
        guard !chain.root.isCommit else { return }
        guard chain.made[mark...].contains(where: { $0.cell != nil }) else { return }
        var kept: [BuildChain.Entry] = []
        for entry in chain.made[mark...] {
            if entry.cell == nil { kept.append(entry) } else { hand(entry, chain) }
        }
        chain.made.replaceSubrange(mark..., with: kept)
    }

    /// The outermost resolve is over: shared instances are everybody's, the others belong to who holds them.
    private func settle(_ chain: BuildChain) {
        let entries = chain.made
        chain.made = []
        for entry in entries {
            if entry.cell == nil { _ = ObjectTable.release(entry.object) } else { hand(entry, chain) }
        }
    }

    /// A shared instance becomes everybody's.
    private func hand(_ entry: BuildChain.Entry, _ chain: BuildChain) {
        guard let cell = entry.cell else { return }
        let id = entry.id
        watchWeakly(cell, entry.made)
        if let (scope, place) = cell.place {
            scope.kept(entry.object, keyHandle(id), at: place) { extra(entry.made.record) }
        }
        let overtaken = monitor.locked { () -> Bool in
            publish(cell, entry.made)
            return !chain.isReload && graph.configuration(id) !== chain.graph.configuration(id)
        }
        // The chain's own lease: from here on the graph holds it, or (weakly shared) only who asked.
        _ = ObjectTable.release(entry.object)
        log(.debug, "'\(cell.definition.key)' is built")
        if overtaken { onLateBuild?(id) }
    }

    /// A weak singleton whose instances are counted elsewhere lives on without handles: a weak reference finds it again.
    private func watchWeakly(_ cell: Cell, _ made: Made) {
        guard cell.recipe.scope == .weakSingleton, let instance = made.record.pointee.instance,
            Self.type(made.record) === cell.recipe.type
        else { return }
        let description = Self.type(made.record).description
        // No lock is held while host code runs.
        let weak = description.makeWeak(instance)
        let former = monitor.locked { () -> UnsafeMutableRawPointer? in
            defer { cell.weakReference = weak }
            return cell.weakReference
        }
        if let former { cell.recipe.type?.description.freeWeak(former) }
    }

    /// Takes back what was made since: graph-scope objects are let go, shared ones are cold again, hooks for the end and steps
    /// that waited are forgotten.
    func takeBack(_ chain: BuildChain, to mark: BuildChain.Mark, because failure: Failure? = nil) {
        if chain.deferrals > mark.deferred {
            for index in chain.frames.indices {
                chain.frames[index].deferred.removeAll { $0.number > mark.deferred }
            }
        }
        if chain.completed.count > mark.completed {
            chain.completed.removeLast(chain.completed.count - mark.completed)
        }
        forgetStarts(chain, from: mark.starts)
        guard chain.made.count > mark.made else { return }
        let entries = Array(chain.made[mark.made...])
        chain.made.removeLast(chain.made.count - mark.made)
        for entry in entries.reversed() {
            if let cell = entry.cell {
                let isAtFault = failure?.path == cell.definition.key && chain.root.givesWayTo == nil
                monitor.locked { reset(cell, isAtFault ? failure : nil) }
            }
            _ = ObjectTable.release(entry.object)
        }
    }

    /// The hooks for the moment when everything is there, children before parents, each once.
    private func complete(_ chain: BuildChain) throws(Failure) {
        while !chain.completed.isEmpty {
            // Hooks may resolve: what that makes completes by itself.
            let queue = chain.completed
            chain.completed = []
            for (recipe, arguments, lease) in queue { try afterAll(recipe, arguments, lease, chain) }
        }
    }

    /// Under the monitor: the instance is there for everybody.
    private func publish(_ cell: Cell, _ made: Made) {
        let id = cell.recipe.id
        if !cell.isRetired { noteBuilt(cell.recipe) }
        cell.sequence = made.record.pointee.sequence
        cell.failure = nil
        cell.undecorated = made.undecorated
        dynamicDependencies[id] = made.dependencies.isEmpty ? nil : made.dependencies
        for dependency in made.dependencies { dynamicDependents[dependency, default: []].insert(id) }
        let type = Self.type(made.record)
        let domain = type.domain
        // What a thread has for itself belongs to it, whatever the domain of its type.
        if !made.isForeign && cell.recipe.scope != .thread { made.record.pointee.thread = type.raw.pointee.thread }
        if cell.recipe.scope == .weakSingleton {
            cell.weakObject = made.object
            cell.state = .built
            monitor.broadcast()
            return
        }
        if made.isForeign {
            _ = ObjectTable.leaseKnownAlive(made.object)
            cell.claim = ObjectLease(owning: made.object)
        } else {
            ObjectTable.hold(made.object)
        }
        if let domain {
            cell.raw.pointee.thread = domain.thread
            cell.raw.pointee.confined_instance = made.record.pointee.instance
        } else {
            cell.raw.pointee.thread = 0
            iv_store_pointer(iv_cell_shared(cell.raw), made.record.pointee.instance)
        }
        iv_store_u64(iv_cell_object(cell.raw), made.object)
        cell.state = .built
        monitor.broadcast()
        // A graph that is gone does not hold it: it belongs to whoever asked.
        if cell.isRetired && !made.isForeign { retiredWhileBuilding.append(made.object) }
    }

    /// The failure of a wait that would close a circle.
    private func waitsForCycle(_ circle: Waits.Circle, _ chain: BuildChain, _ cell: Cell) -> Failure {
        let whole = chain.frames.map(\.recipe.key) + circle.path + (circle.isThroughJob ? [cell.definition.key] : [])
        let start = whole.firstIndex(of: cell.definition.key) ?? 0
        let path = whole[start...].joined(separator: " -> ")
        return Failure(
            .cycle,
            circle.isThroughJob
                ? "waiting would never end: what makes '\(cell.definition.key)' waits beneath a job on the same thread (\(path)); "
                    + "resolve it with invivo_resolve_async"
                : "the wiring goes round in a circle: \(path)",
            path: cell.definition.key, at: cell.definition.place)
    }

    /// The failure is the holder's, where there is one: it is what must change.
    private func checkDomain(_ definition: Definition, _ chain: BuildChain) throws(Failure) {
        guard let domain = definition.type?.domain, !domain.isCurrent, definition.scope != .thread else { return }
        let holder = chain.frames.last?.recipe.definition
        throw Failure(
            .domain,
            (holder == nil ? "" : "it needs '\(definition.key)', and ")
                + "an object of the confined type '\(definition.type?.name ?? "?")' belongs to the domain '\(domain.name)' and "
                + "cannot be resolved on this thread; resolve it there or with invivo_resolve_async, or register the type as shared",
            path: (holder ?? definition).key, at: (holder ?? definition).place)
    }

    /// Whether the calling code is where the objects of a domain may be touched that is not one thread.
    @usableFromInline
    static func isInDomain(_ cell: UnsafeMutablePointer<iv_cell>, _ allowed: UInt64) -> Bool {
        guard allowed == .max, let record = ObjectTable.record(iv_load_u64(iv_cell_object(cell))) else { return false }
        return type(record).domain?.isCurrent == true
    }

    /// The confined instance of a key for a view on the calling thread, or nil.
    @inlinable
    public static func confinedInstance(_ entry: UnsafePointer<invivo_entry>) -> UnsafeMutableRawPointer? {
        guard let cell = entry.pointee.cell else { return nil }
        let full = UnsafeMutableRawPointer(cell).assumingMemoryBound(to: iv_cell.self)
        guard iv_load_u64(iv_cell_object(full)) != 0 else { return nil }
        let allowed = full.pointee.thread
        guard allowed == 0 || allowed == iv_thread()!.pointee.id || isInDomain(full, allowed) else { return nil }
        return full.pointee.shared_instance ?? full.pointee.confined_instance
    }
}
