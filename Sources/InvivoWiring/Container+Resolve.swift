public import CInvivo
public import CPlatform
public import InvivoBase

extension Container {
    /// Inside a view: the built shared object of a cell, if the thread may have it, else 0.
    @inlinable @inline(__always)
    static func object(of cell: UnsafeMutablePointer<iv_cell>, on thread: @autoclosure () -> UInt64) -> UInt64 {
        let word = iv_load_u64(iv_cell_object(cell))
        guard !iv_word_is_plain(word) else { return word }
        guard let confined = iv_word_confined_cell(word, cell) else { return 0 }
        let allowed = iv_load_u64(iv_confined_thread(confined))
        return allowed == 0 || allowed == thread() ? iv_word_object(word) : 0
    }

    /// What a view shows for a key.
    @inlinable @inline(__always)
    static func entry(_ graph: UnsafePointer<iv_graph>, _ id: UInt32) -> UnsafeMutablePointer<invivo_entry>? {
        guard id < graph.pointee.count, let chunk = graph.pointee.chunks[Int(id >> UInt32(INVIVO_CHUNK_SHIFT))] else {
            return nil
        }
        return chunk.assumingMemoryBound(to: invivo_entry.self) + Int(id & UInt32(INVIVO_CHUNK_MASK))
    }

    /// A built shared object with one lease for the caller, on a thread that has read this runtime last and builds nothing: no
    /// lock, no call, no frame. 0 when it must go another way; with a cell that is to make it the view stays open for `make`.
    @inlinable @inline(__always)
    public static func leaseShared(_ runtime: UInt64, _ key: UInt64) -> (
        object: UInt64, cell: UnsafeMutablePointer<iv_making_cell>?
    ) {
        let upper = key >> 32
        let thread = iv_thread()!
        guard upper >> 28 == 3, runtime == (1 << 28 | upper & 0xfff_ffff) << 32,
            let core = iv_core_at(UInt32(truncatingIfNeeded: upper >> 16) & 0xfff), thread.pointee.core == core,
            let reader = thread.pointee.reader, reader.pointee.depth == 0, thread.pointee.chain == nil
        else { return (0, nil) }
        iv_store_u64(iv_reader_epoch(reader), iv_load_u64(iv_core_epoch(core)))
        iv_compiler_barrier()
        var bits: UInt64 = 0
        if iv_load_u64(iv_core_tag(core)) == upper & 0xfff_ffff, let graph = Readers.loadGraph(core),
            let entry = entry(graph.assumingMemoryBound(to: iv_graph.self), UInt32(truncatingIfNeeded: key)),
            let shown = iv_load_pointer(Chunk.shown(entry))
        {
            let cell = shown.assumingMemoryBound(to: iv_cell.self)
            bits = object(of: cell, on: thread.pointee.id)
            if bits == 0, let making = iv_word_making_cell(iv_load_u64(iv_cell_object(cell)), cell),
                entry.pointee.layers == nil
            {
                reader.pointee.graph = graph
                reader.pointee.depth = 1
                return (0, making)
            }
            if bits != 0, !ObjectTable.leaseKnownAlive(bits) { bits = 0 }
        }
        iv_store_u64(iv_reader_epoch(reader), 0)
        return (bits, nil)
    }

    /// In a view of the calling thread, which ends here: a plain prototype or the graph of a program, without locks. 0 when it
    /// must go the general way; `failed` has a status other than 0 when an init failed.
    public static func make(
        _ making: UnsafeMutablePointer<iv_making_cell>, _ runtime: UInt64, _ key: UInt64, failed: inout FastFailure
    ) -> UInt64 {
        let (thread, upper) = (iv_thread()!, key >> 32)
        guard let reader = thread.pointee.reader, let core = thread.pointee.core else { return 0 }
        guard reader.pointee.building < 32, let graph = reader.pointee.graph else {
            Readers.leave(reader)
            return 0
        }
        guard let type = making.pointee.prototype else {
            guard let program = iv_making_program(making), Readers.beginBuild(reader, core) else {
                Readers.leave(reader)
                return 0
            }
            return run(
                program, graph.assumingMemoryBound(to: iv_graph.self), reader, owner: upper & 0xfff_ffff,
                runtime: runtime, failed: &failed)
        }
        let own = upper << 32 | making.pointee.id
        let begun = Readers.beginBuild(reader, core)
        Readers.leave(reader)
        guard begun else { return 0 }
        return makePlain(type, reader, owner: upper & 0xfff_ffff, runtime: runtime, key: own, failed: &failed)
    }

    /// The same ways, from wherever the thread is. `failed` as for `make`.
    public static func fastResolve(_ runtime: UInt64, _ key: UInt64, makes: Bool, failed: inout FastFailure) -> UInt64 {
        let upper = key >> 32
        guard upper >> 28 == 3, runtime == (1 << 28 | upper & 0xfff_ffff) << 32,
            let core = iv_core_at(UInt32(truncatingIfNeeded: upper >> 16) & 0xfff)
        else { return 0 }
        let thread = iv_thread()!
        guard thread.pointee.chain == nil, let reader = Readers.enter(core, tag: upper & 0xfff_ffff) else { return 0 }
        var bits: UInt64 = 0
        if let graph = reader.pointee.graph,
            let entry = entry(graph.assumingMemoryBound(to: iv_graph.self), UInt32(truncatingIfNeeded: key)),
            let shown = iv_load_pointer(Chunk.shown(entry))
        {
            let cell = shown.assumingMemoryBound(to: iv_cell.self)
            if makes, let making = cell.making, entry.pointee.layers == nil {
                return make(making, runtime, key, failed: &failed)
            }
            bits = object(of: cell, on: thread.pointee.id)
            if bits != 0, !ObjectTable.leaseKnownAlive(bits) { bits = 0 }
        }
        Readers.leave(reader)
        return bits
    }

    /// The object of a key with one lease for the caller, built when it must be. 0 when what makes it answers null.
    public func resolve(_ id: UInt32, arguments: [Value] = []) throws(Failure) -> UInt64 {
        try whole(
            { (chain) throws(Failure) in
                chain.noteDependency(id)
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
        let isTaken = monitor.locked { () -> Bool in
            guard let making = cell.raw.making, iv_making_program(making) == nil else { return false }
            iv_making_set_program(making, program)
            show(cell, graph)
            return true
        }
        if !isTaken { ProgramSource.free(program) }
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
            let beneath = chain.isApart ? chain.outer?.root : nil
            let thread = currentThread().identity
            if let beneath { monitor.locked { waits.suspend(beneath, thread) } }
            defer { if let beneath { monitor.locked { waits.resume(beneath, thread) } } }
            do throws(Failure) { return try whole(chain, body, giveBack) } catch {
                tries += 1
                // A chain whose hook this one runs in holds what the other waits for: it gives way as a whole.
                guard chain.parent == nil, chain.outer == nil, let other = chain.givesWayTo, tries < Self.mostTries
                else { throw error }
                chain.givesWayTo = nil
                try waitForBuild(of: other, chain)
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

    /// Until nobody builds it, serving the calling thread's domain meanwhile. The caller holds nothing of this runtime that others
    /// wait for.
    private func waitForBuild(of cell: Cell, _ chain: BuildChain) throws(Failure) {
        let standing = Standing(chain)
        var wait = LongWait()
        defer { wait.end(self) }
        monitor.lock()
        defer { monitor.unlock() }
        while case .building(let other) = cell.state {
            // Another runtime beneath may hold something.
            if let way = WaitsAcross.begin(standing, for: cell, cell.definition.key, of: other) {
                throw waitsForCycle(Waits.Circle(path: way), chain, cell)
            }
            wait.once(self, for: cell.definition.key, of: other)
            WaitsAcross.end(standing, for: cell)
        }
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
            for entry in chain.made where entry.cell != nil { hold(entry, until: commit) }
            let others = chain.made.filter { $0.cell == nil }
            chain.made = []
            for entry in others { _ = ObjectTable.release(entry.object) }
        } else {
            settle(chain)
            chain.started = []
        }
    }

    /// A shared instance that a commit made is complete: nothing that fails inside the commit takes it back, and nobody else
    /// gets it before the commit is over.
    func hold(_ entry: BuildChain.Entry, until commit: BuildChain) {
        commit.held.append(entry)
        // From here on it belongs to its domain, where it is also started, and ended if the commit fails.
        if !entry.made.isForeign {
            entry.made.record.pointee.thread = Self.type(entry.made.record).raw.pointee.thread
        }
    }

    /// Everything that a commit made is there, and started: shared instances are everybody's who sees their graph.
    public func settleCommit(_ chain: BuildChain) {
        hand(chain.held[...], chain)
        chain.held = []
        chain.started = []
        chain.startsOf = [:]
        guard !chain.asked.isEmpty else { return }
        monitor.locked {
            for (id, keys) in chain.asked {
                dynamicDependencies[id, default: []].formUnion(keys)
                for key in keys { dynamicDependents[key, default: []].insert(id) }
            }
        }
    }

    /// A commit failed: nothing that it made stays. What it started is stopped already.
    public func abandonCommit(_ chain: BuildChain) {
        chain.beforeExclusive = nil
        chain.starts = []
        chain.startsOf = [:]
        let held = Array(chain.held.reversed())
        chain.held = []
        giveBack(held, chain) { _ in nil }
    }

    /// A failed commit leaves what it was building to a domain that does not answer: others build it meanwhile.
    public func releaseBuilds(of chain: BuildChain, in graph: Graph) {
        monitor.locked {
            graph.forEachCell { _, cell in for cell in cell.withVariants() { reset(cell, nil, by: chain) } }
        }
    }

    /// What was made, the last first, is nobody's: it can be made anew, also by what ends of it. What can exist only once is
    /// let go of first.
    func giveBack(_ entries: [BuildChain.Entry], _ chain: BuildChain, _ failure: (Cell) -> Failure?) {
        func reset(_ entry: BuildChain.Entry, isExclusive: Bool) {
            guard let cell = entry.cell, cell.recipe.isExclusive == isExclusive else { return }
            let failure = failure(cell)
            monitor.locked { self.reset(cell, failure, by: chain) }
        }
        for entry in entries { reset(entry, isExclusive: false) }
        apart(over: chain) {
            for entry in entries {
                reset(entry, isExclusive: true)
                _ = ObjectTable.release(entry.object)
            }
        }
    }

    /// Something is about to be made on this thread, in no build that is under way: close waits until `Readers.endBuild`.
    public func beginBuild() throws(Failure) -> Reader {
        if let build = Readers.beginBuild(core, tag: tag) { return build }
        guard home.isHere else { throw .forked() }
        throw Failure(.closed, "the runtime is closing")
    }

    func resolve(_ id: UInt32, _ arguments: [Value], _ chain: BuildChain) throws(Failure) -> UInt64 {
        let object = try find(id, arguments, chain)
        noteUse(of: object, chain)
        return object
    }

    private func find(_ id: UInt32, _ arguments: [Value], _ chain: BuildChain) throws(Failure) -> UInt64 {
        guard let cell = chain.graph.cell(id), let recipe = chain.graph.recipe(id) else {
            throw monitor.locked { unknownKey(keys.name(id), in: chain.graph) }
        }
        guard chain.frames.count < Self.deepest, iv_stack_left() > Self.leastStack else { throw tooDeep(recipe, chain) }
        if case .alias(let target) = recipe.maker {
            let given = try passed(by: recipe, arguments) { (given) throws(Failure) in
                try values(of: recipe.slots.map(\.source), recipe, given, chain)
            }
            return try resolve(target, given ?? [], chain)
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
            if !chain.graph.isShown(recipe.id) {
                monitor.locked {
                    _ = cell.raw
                    show(cell, chain.graph)
                }
            }
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
                let placed = try placedCell(cell, recipe, arguments, chain)
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
        let path = chain.path(to: recipe.key)
        var end = path.suffix(400)
        if end.startIndex > path.startIndex, let arrow = end.firstIndex(of: ">") { end = end[arrow...].dropFirst(2) }
        return Failure(
            .cycle, "\(why): \(depth) objects need each other: ... \(end)",
            path: recipe.key,
            at: recipe.definition.place)
    }

    /// What an alias gives to what it names; nil where `values` is. Declared arguments are its own; what it names gets what
    /// it says.
    func passed(
        by alias: Recipe, _ arguments: [Value], _ values: ([Value]) throws(Failure) -> [Value]?
    ) throws(Failure) -> [Value]? {
        // A choice whose option is known is an alias too.
        let isWhole = alias.definition.body.parameters != nil || alias.definition.alias == nil
        let given = isWhole ? try checked(arguments, alias) : arguments
        guard let passed = try values(given) else { return nil }
        return isWhole ? passed : passed + given
    }

    func same(_ a: [Value], _ b: [Value]) -> Bool {
        a.isEmpty && b.isEmpty || ArgumentsKey(a) == ArgumentsKey(b)
    }

    func checked(_ arguments: [Value], _ recipe: Recipe) throws(Failure) -> [Value] {
        guard let parameters = recipe.definition.body.parameters else {
            guard arguments.isEmpty else {
                throw Failure(
                    .arity,
                    "'\(recipe.key)' declares no runtime arguments, got \(arguments.count); declare them (parameters)",
                    path: recipe.key, at: recipe.definition.place)
            }
            return []
        }
        do throws(Failure) {
            return try parameters.completed(arguments)
        } catch {
            throw Failure(error.code, error.message, path: recipe.key, at: recipe.definition.place)
        }
    }

    /// An object that is on its way further up in the same chain.
    func inFlight(_ index: Int, _ recipe: Recipe, _ chain: BuildChain) throws(Failure) -> UInt64 {
        let bits = chain.frames[index].object
        if chain.frames[index].isNull { return 0 }
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
    func take(_ entry: BuildChain.Entry, _ chain: BuildChain) throws(Failure) -> UInt64 {
        if entry.low < chain.frames.count { chain.hold(to: entry.low) }
        if entry.cell == nil { for id in entry.made.dependencies { chain.noteDependency(id) } }
        guard ObjectTable.retain(entry.object) else {
            throw Failure(.stale, "the object is gone", path: keyName(entry.id))
        }
        return entry.object
    }

    /// The confined instance of a key for a view on the calling thread, or nil.
    @inlinable
    public static func confinedInstance(_ entry: UnsafePointer<invivo_entry>) -> UnsafeMutableRawPointer? {
        guard let shown = iv_load_pointer(Chunk.shown(UnsafeMutablePointer(mutating: entry))) else { return nil }
        let cell = shown.assumingMemoryBound(to: iv_cell.self)
        let word = iv_load_u64(iv_cell_object(cell))
        guard let confined = iv_word_confined_cell(word, cell) else { return iv_load_pointer(iv_cell_shared(cell)) }
        let allowed = iv_load_u64(iv_confined_thread(confined))
        guard allowed == 0 || allowed == iv_thread()!.pointee.id || isInDomain(iv_word_object(word), allowed) else {
            return nil
        }
        return iv_load_pointer(iv_confined_instance(confined))
    }
}
