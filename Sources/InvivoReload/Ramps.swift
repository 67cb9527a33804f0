internal import InvivoBase
internal import InvivoGraph
internal import InvivoLoop
internal import InvivoObjects
internal import InvivoTraits
internal import InvivoWiring

/// The properties that move to the values of their layers, one step at a tick.
///
/// A step of blocks publishes the current generation again, with other blocks: views and pins keep the step that they have. It
/// needs no turn: blocks move while a reload is under way, and what that publishes has their values of that moment. A step that meets
/// a publication is made when the turn ends, or by the next tick. A step of an object is a job in its domain. While one is under way,
/// later steps of the object are left out. In a domain whose jobs run where they are posted, a step needs the turn: a commit or
/// another step could change the object at the same time. If the loop cannot be started, everything has its end value where its
/// movement begins. Any thread may call.
final class Ramps: Sendable {
    /// The movements in one block, by the index of the property.
    typealias Runs = [Int: RampRun]

    private struct Moving {
        let id: UInt32
        let domain: Domain?
        /// Whether a job of it is under way.
        var isBusy = false
    }

    private struct State {
        var blocks: IDTable<Runs> = [:]
        var objects: [UInt64: Moving] = [:]
        /// The time of a clock that the host advances.
        var now: UInt64 = 0
        var timer: LoopTimer?
        /// A step of blocks is due that met a publication.
        var isDue = false

        var isEmpty: Bool { blocks.isEmpty && objects.isEmpty }
    }

    private let container: Container
    private let loop: LoopThread
    private let turns: Turns
    private let generations: GenerationStore
    private let restores: PendingRestores
    /// In milliseconds; nil if the host advances the clock.
    private let interval: UInt64?
    private let state: Guarded<State>

    init(
        _ container: Container, _ loop: LoopThread, _ turns: Turns, _ generations: GenerationStore,
        _ restores: PendingRestores, tick: UInt64?
    ) {
        self.container = container
        self.loop = loop
        self.turns = turns
        self.generations = generations
        self.restores = restores
        interval = tick
        state = Guarded(State(), by: container.monitor)
    }

    /// The number of blocks and objects that move.
    var count: Int { state.locked { $0.blocks.count + $0.objects.count } }

    /// The movements in blocks, by key.
    var blocks: IDTable<Runs> { state.locked { $0.blocks } }

    private func clock(_ state: State) -> UInt64 { interval == nil ? state.now : monotonicNow() }

    // MARK: beginning

    /// For the publication of a commit, with the monitor held: the movements in the blocks of these keys begin. Those without movements
    /// have ended. `moveBlocks` follows.
    func holdBegin(_ blocks: IDTable<Runs>) {
        guard !blocks.isEmpty else { return }
        state.held { state in
            let now = clock(state)
            for (id, runs) in blocks {
                state.blocks[id] = runs.isEmpty ? nil : runs
                for run in runs.values { run.begin(at: now) }
            }
        }
    }

    /// In the domain of an object that a commit changes, or that is created for a key: its movements begin. The next step forgets an
    /// object without movements, also after a commit that failed.
    func begin(_ object: UInt64, _ id: UInt32, in domain: Domain?, _ runs: [RampRun]) {
        guard !runs.isEmpty else { return }
        state.locked { state in
            let now = clock(state)
            if state.objects[object] == nil { state.objects[object] = Moving(id: id, domain: domain) }
            for run in runs { run.begin(at: now) }
        }
        // A commit or the end of the creation finalizes it.
        if !startTimer() { run(object, at: .max, finalizes: false) }
    }

    /// After the publication of a commit, by its thread: the blocks move.
    func moveBlocks() {
        if !startTimer() { step(at: .max) }
    }

    /// Returns false if nothing can move, because the loop cannot be started.
    private func startTimer() -> Bool {
        let isNeeded = state.locked { !$0.isEmpty && $0.timer == nil && !container.isClosing }
        guard let interval, isNeeded else { return true }
        do throws(Failure) {
            var isSet = false
            while !isSet {
                let running = try loop.start()
                isSet = state.locked { state in
                    guard state.timer == nil else { return true }
                    guard loop.keep(running) else { return false }
                    state.timer = running.schedule(after: interval, repeating: interval) { [weak self] in self?.tick() }
                    return true
                }
            }
        } catch {
            container.log(.error, "the values of Ramp are set at once: the loop cannot be started: \(error.text)")
            return false
        }
        return true
    }

    /// For close, after which nothing moves.
    func end() {
        stopTimer { state in
            (state.blocks, state.objects) = (IDTable(), [:])
            return true
        }
    }

    private func stopTimer(if isOver: (inout State) -> Bool) {
        let timer = state.locked { state -> LoopTimer? in
            guard isOver(&state), state.timer != nil else { return nil }
            loop.release()
            return state.timer.take()
        }
        timer?.cancel()
    }

    // MARK: steps

    /// On the loop thread.
    private func tick() {
        step()
        let now = state.locked { clock($0) }
        if turns.takeIfFree() {
            postAll(at: now, inTurn: true)
            turns.end()
        }
        postAll(at: now, inTurn: false)
        stopTimer { $0.isEmpty }
    }

    /// Objects of one domain, in the order of their creation. Without a domain: for any thread.
    private struct Group {
        let domain: Domain?
        var objects: [UInt64]
        /// Whether their steps need the turn.
        var needTurn: Bool { domain?.runsWherePosted ?? true }
    }

    /// The objects whose steps are due, in few groups.
    private func groups() -> [Group] {
        state.locked { state in
            var groups: [Group] = []
            for (object, moving) in state.objects where !moving.isBusy {
                if let index = groups.lastIndex(where: { $0.domain === moving.domain }) {
                    groups[index].objects.append(object)
                } else {
                    groups.append(Group(domain: moving.domain, objects: [object]))
                }
            }
            for index in groups.indices { groups[index].objects.sort() }
            return groups.sorted { $0.objects[0] < $1.objects[0] }
        }
    }

    private func postAll(at now: UInt64, inTurn: Bool) {
        for group in groups() where group.needTurn == inTurn {
            for object in group.objects { post(object, at: now) }
        }
    }

    /// Makes a step of blocks that met a publication.
    func stepIfDue() {
        if state.locked({ $0.isDue }) { step() }
    }

    /// Moves the clock that the host advances, and everything that is due. Waits for the domains of the objects, and for the turn if
    /// there are objects whose steps need it.
    func advance(by nanoseconds: UInt64, limit: UInt64) throws(Failure) {
        guard interval == nil else {
            throw Failure(
                .unsupported,
                "the clock of this runtime advances by itself; to advance it, open the runtime with a manual ramp tick")
        }
        try turns.refuseInCallback()
        let now = try state.locked { state throws(Failure) in
            guard !container.isClosing else { throw Failure(.closed, "the runtime is closing") }
            state.now &+= min(nanoseconds, .max - state.now)
            return state.now
        }
        var failures: [Failure] = []
        func attempt(_ body: () throws(Failure) -> Void) {
            do throws(Failure) { try body() } catch { failures += error.all }
        }
        attempt { () throws(Failure) in try stepSurely(limit: limit) }
        let groups = groups()
        for group in groups where !group.needTurn {
            attempt { () throws(Failure) in try move(group, at: now, limit: limit) }
        }
        if groups.contains(where: \.needTurn) {
            attempt { () throws(Failure) in
                try turns.take()
                for group in groups where group.needTurn {
                    attempt { () throws(Failure) in try move(group, at: now, limit: limit) }
                }
                turns.end()
            }
        }
        if let failure = Failure.gathered(failures) { throw failure }
    }

    /// Makes a step of blocks. While a generation is being published, it waits for the end of the publication.
    private func stepSurely(limit: UInt64) throws(Failure) {
        let deadline = deadline(limit)
        while !step() {
            let isOver = container.monitor.locked {
                container.domains.wait(until: deadline, for: "the generation that is being published") {
                    generations.heldBasis != nil || turns.areOver
                }
            }
            guard isOver else {
                throw Failure(.timeout, "the publication of a generation takes longer than commit_timeout_ms permits")
            }
            guard !container.monitor.locked({ turns.areOver }) else {
                throw Failure(.closed, "the runtime is closing")
            }
        }
    }

    /// Publishes the current generation with the blocks of this moment. Returns false if that meets another publication.
    @discardableResult
    private func step(at moment: UInt64? = nil) -> Bool {
        let (now, blocks, basis) = state.locked { state in
            state.isDue = !state.blocks.isEmpty
            return (moment ?? clock(state), state.blocks, generations.heldBasis)
        }
        guard !blocks.isEmpty else { return true }
        guard let former = basis else { return false }
        // Of the generation of the graph, if that is still current below.
        let links = generations.snapshot.links
        var editor = GraphEditor(former)
        var changed: [UInt32] = []
        var ended: [UInt32] = []
        for (id, runs) in blocks {
            if runs.values.contains(where: { $0.isOver(at: now) }) { ended.append(id) }
            guard let old = former.block(id), let type = (former.configuration(id) as? TargetLayers)?.type,
                let block = try? Block(copying: old)
            else { continue }
            for (index, run) in runs {
                type.description.properties[index].write(run.value(at: now), to: block.bytes)
            }
            guard !block.hasSameBytes(as: old) else { continue }
            changed.append(id)
            editor.set(block, at: id)
            guard !links.aliases.isEmpty else { continue }
            for alias in links.allAliases(of: id) { editor.set(block, at: alias) }
        }
        let next =
            changed.isEmpty ? nil : editor.finish(generation: former.generation, keys: container.keys)
        return generations.publishStep(next, over: former, changed) {
            guard !turns.areOver else { return false }
            state.held { state in
                state.isDue = false
                // The table is copied only if something ends.
                for id in ended {
                    let rest = state.blocks[id]?.filter { !$0.value.isOver(at: now) } ?? [:]
                    state.blocks[id] = rest.isEmpty ? nil : rest
                }
            }
            return true
        }
    }

    /// Posts a step of an object, for which no thread waits. A job that waits has no lease: it must not keep the runtime open.
    private func post(_ object: UInt64, at now: UInt64) {
        guard let moving = state.locked({ $0.objects[object] }) else { return }
        guard let domain = moving.domain else { return run(object, at: now) }
        state.locked { $0.objects[object]?.isBusy = true }
        let isOver: @Sendable () -> Void = { [weak self] in self?.state.locked { $0.objects[object]?.isBusy = false } }
        container.domains.post(to: domain, isPatient: true, onDrop: isOver) { [weak self] in
            self?.run(object, at: now)
            isOver()
        }
    }

    /// Makes a step of each object of a group, in one job, and waits for it.
    private func move(_ group: Group, at now: UInt64, limit: UInt64) throws(Failure) {
        let runAll: @Sendable () -> Void = { [self] in
            for object in group.objects { run(object, at: now) }
        }
        guard let domain = group.domain else { return runAll() }
        try container.domains.run(in: domain, timeout: limit) { _ in runAll() }
    }

    /// In the domain of the object. Uses the newest time if a later step has been requested meanwhile.
    private func run(_ object: UInt64, at moment: UInt64, finalizes: Bool = true) {
        let (id, now) = state.locked { ($0.objects[object]?.id, max(moment, clock($0))) }
        guard let id else { return }
        guard let lease = container.retiredObjects.leaseForChange(object), let record = ObjectTable.record(object)
        else {
            // It has ended.
            return state.locked { $0.objects[object] = nil }
        }
        defer { withExtendedLifetime(lease) {} }
        var key: String { container.keyName(id) }
        let isFinalized =
            finalizes && ObjectType.of(record).description.functions.finalize != nil && !Tuning.runs(of: record).isEmpty
        do throws(Failure) {
            let (outcomes, isMoving) =
                if let isMoving = Tuning.stepFields(of: record, at: now) { ([Tuning.Outcome](), isMoving) } else {
                    try step(record, key, at: now)
                }
            if !isMoving { state.locked { $0.objects[object] = nil } }
            for outcome in outcomes where outcome.isWorthLogging(isMoving: isMoving) {
                let shown = container.currentGraph().withoutSecrets(outcome, id, container.names)
                container.log(.warning, "\(key).\(shown.text)")
            }
            if isFinalized { finalize(record, key) }
        } catch {
            state.locked { $0.objects[object] = nil }
            restores.add([id])
            let shown = error.withoutSecrets(in: [container.currentGraph()], container.names)
            container.log(
                .error, "\(shown.text); the property stays where it is, and the next reload sets it again")
        }
    }
}

extension Ramps {
    /// Makes a step that calls code of the host.
    private func step(
        _ record: Record, _ key: String, at now: UInt64
    ) throws(Failure) -> (outcomes: [Tuning.Outcome], isMoving: Bool) {
        try container.detached { () -> Result<(outcomes: [Tuning.Outcome], isMoving: Bool), Failure> in
            do throws(Failure) { return .success(try Tuning.step(record, key: key, at: now)) } catch {
                return .failure(error)
            }
        }.get()
    }

    /// The object has other values of documents, as after a commit.
    private func finalize(_ record: Record, _ key: String) {
        do throws(Failure) {
            try container.lifecycle.finalize(record, timeout: container.options.current.commitTimeout)
        } catch { container.log(.warning, "\(key): \(error.text)") }
    }
}

extension Tuning.Outcome {
    /// Values between start and end may be adjusted by the object.
    fileprivate func isWorthLogging(isMoving: Bool) -> Bool {
        if case .adjusted = what { !isMoving } else { true }
    }
}
