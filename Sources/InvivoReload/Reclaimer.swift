internal import CPlatform
internal import InvivoBase
internal import InvivoGraph
internal import InvivoLoop
internal import InvivoObjects
internal import InvivoWiring

/// Ends the generations that commits have replaced, and looks again at retired objects to which their language refers.
///
/// Any thread may call. One thread at a time ends generations.
final class Reclaimer: Sendable {
    private struct State {
        var retired = RetiredGenerations()
        /// A timer of the loop is set to look at them again.
        var isScheduled = false
        /// A thread is ending generations.
        var isReclaiming = false
        /// That thread is to look again when it has done so.
        var isDue = false
        /// Close has begun: it ends all generations itself, in one order.
        var isPaused = false
        /// The time of the oldest open request to the loop thread to end generations, or 0; and the number of requests.
        var handedOver: UInt64 = 0
        var handedOverCount: UInt64 = 0
        var barrierCredit = BarrierCredit()
        /// The time of the next check of retired objects; `.max` without one.
        var nextLook = UInt64.max
        /// The number of the timer for `nextLook`. Timers with other numbers do nothing.
        var lookNumber: UInt64 = 0
    }

    private let container: Container
    let loop: LoopThread
    private let announcer: Announcer
    private let state: Guarded<State>

    init(_ container: Container, _ loop: LoopThread, _ announcer: Announcer) {
        self.container = container
        self.loop = loop
        self.announcer = announcer
        state = Guarded(State(), by: container.monitor)
    }

    enum Hurry {
        /// After a commit: now, or a little later when commits come so fast that each barrier would cost the readers.
        case unhurried
        case now
    }

    /// The time to wait for disposals by another thread, in nanoseconds.
    static let patience: UInt64 = 5_000_000_000
    private static let handOverPatience: UInt64 = 1_000_000_000
    /// The maximum number of barriers in one pass. Generations that are replaced during a barrier need a further one;
    /// the limit ends the pass while commits follow each other closely.
    private static let mostBarriers = 4

    /// Ends the generations without readers, and disposes of their replaced instances in reverse order of creation. A
    /// timer of the loop checks the others again.
    ///
    /// One thread at a time does so. Another one leaves it the generations that were replaced meanwhile; with `now` it waits until
    /// that thread is done, unless it is in a callback, for which that thread may be waiting.
    func reclaim(
        _ hurry: Hurry = .unhurried, inCallback: Bool = Container.isInCallback, until deadline: UInt64? = nil
    ) {
        let (isLingering, first) = container.monitor.locked { () -> (Bool, UInt64?) in
            let isLingering = !container.retiredObjects.isEmpty
            let (newest, isBusy) = state.held { begin(&$0, hurry) }
            if isBusy && hurry == .now && !inCallback {
                container.domains.wait(until: deadline ?? monotonicNow() + Self.patience) {
                    state.held { !$0.isReclaiming }
                }
            }
            return (isLingering, newest)
        }
        var next = first
        while let newest = next {
            // Outside the monitor. Objects that are replaced meanwhile need another barrier.
            Readers.barrier()
            free(upTo: newest)
            next = state.locked { state in
                defer { state.isDue = false }
                if state.isDue, hasRetired(state) { return state.retired.newest }
                state.isReclaiming = false
                container.monitor.broadcast()
                return nil
            }
        }
        if isLingering { container.retiredObjects.end() }
        schedule()
    }

    /// The epoch up to which the calling thread ends generations; nil if there is nothing to do, or if another thread does it.
    private func begin(_ state: inout State, _ hurry: Hurry) -> (newest: UInt64?, isBusy: Bool) {
        guard !state.isPaused, hasRetired(state) || state.isReclaiming, hurry == .now || state.barrierCredit.take()
        else { return (nil, false) }
        if state.isReclaiming {
            state.isDue = true
            return (nil, true)
        }
        state.isReclaiming = true
        return (state.retired.newest, false)
    }

    /// Lets the loop thread end generations and objects, for a call that runs no host code itself. Waits at most 1 s
    /// from the first request, because the loop thread may call functions of the host.
    func handOver() {
        let isAsked = state.locked { state -> Bool in
            !container.isClosing && (hasRetired(state) || state.isReclaiming || !container.retiredObjects.isEmpty)
        }
        guard isAsked else { return }
        let loop: Loop
        do throws(Failure) { loop = try self.loop.start() } catch { return announcer.noteThreadFailure(error) }
        let since = state.locked { state -> UInt64 in
            if state.handedOver == 0 { state.handedOver = monotonicNow() }
            state.handedOverCount += 1
            return state.handedOver
        }
        let isPosted = loop.post { [weak self] in
            guard let self else { return }
            let count = state.locked { $0.handedOverCount }
            // Not waiting for another thread that ends generations: files are followed here.
            reclaim(.now, inCallback: true)
            state.locked { state in
                if state.handedOverCount == count { state.handedOver = 0 }
                container.monitor.broadcast()
            }
        }
        guard isPosted else {
            // The loop has ended meanwhile, and its requests with it.
            return state.locked { state in
                state.handedOver = 0
                container.monitor.broadcast()
            }
        }
        guard !Container.isInCallback, !loop.isCurrent else { return }
        container.monitor.locked {
            // An object may be stopped in the domain of this thread.
            container.domains.wait(until: since + Self.handOverPatience) {
                state.held { $0.handedOver == 0 && !$0.isReclaiming }
            }
        }
    }

    /// Whether anything waits for readers to leave.
    private func hasRetired(_ state: State) -> Bool {
        !state.retired.isEmpty || container.builds.hasOutdated
    }

    /// For callers that hold the monitor: `former` was replaced, and no later graph has these slots.
    func retire(
        _ former: Graph, _ replaced: [Cell] = [],
        remembered: DeferredTable.Forgotten = DeferredTable.Forgotten()
    ) {
        let objects = replaced.flatMap { slot in
            slot.heldObjects().map { object in
                ReplacedObject(
                    sequence: object.sequence, object: object.object, birth: slot.birth(before: former.generation))
            }
        }
        let names = container.keys.takeOutgrown()
        let sorted = objects.sorted { $0.sequence > $1.sequence }
        state.held { state in
            state.retired.append(
                former.generation, order: former.order, former, at: UnsafeRawPointer(former.raw),
                objects: sorted, remembered: remembered, names: names)
        }
    }

    /// For callers that hold the monitor: objects that were built for a graph that was replaced meanwhile. Views of that graph or an
    /// older one may have borrowed them.
    private func takeOvertaken(_ retired: RetiredGenerations) -> [ReplacedObject] {
        container.builds.takeOutdated().map { outdated in
            let sequence = ObjectTable.record(outdated.object).map { iv_record_order($0) } ?? 0
            let last = outdated.cell.map { cell in retired.newest { ($0 as? Graph)?.cell(cell.id) === cell } } ?? 0
            return ReplacedObject(sequence: sequence, object: outdated.object, birth: outdated.birth, last: last)
        }
    }

    /// After a barrier that was issued when `newest` was the epoch of the last generation that had been replaced.
    private func free(upTo newest: UInt64) {
        var newest = newest
        var ended = RetiredGenerations.Ended()
        for attempt in 1...Self.mostBarriers {
            let (later, all) = state.locked { [newest] state -> (UInt64?, RetiredGenerations.Ended) in
                let readers = Readers.inside(container.core)
                // Generations that only need a further barrier end together with the others, in one order.
                let last = state.retired.mayEnd(readers)
                if attempt < Self.mostBarriers, last > newest { return (last, RetiredGenerations.Ended()) }
                return (
                    nil,
                    state.retired.end(
                        readers, upTo: newest, current: container.current.held.generation,
                        overtaken: takeOvertaken(state.retired))
                )
            }
            ended = all
            guard let later else { break }
            Readers.barrier()
            newest = later
        }
        container.retiredObjects.end(ended.objects.map { ($0.sequence, $0.object) })
        for (generation, count) in ended.generations {
            container.log(
                .trace, "generation \(generation.number) has ended; \(count) objects of it are disposed of")
        }
        announcer.phases.notifyRetired(ended.numbers)
    }

    // MARK: looking again

    /// For callers that hold the monitor: whether the loop has a request or a timer.
    var needsLoop: Bool { state.held { $0.isScheduled || $0.nextLook != .max || $0.handedOver != 0 } }

    /// Looks again later at retired objects to which their language refers: soon at first, then at longer intervals,
    /// and when the grace time of one ends. An earlier check replaces the planned one. The timer of the replaced one is
    /// not cancelled: it finds another number and does nothing. So threads may set their timers in any order.
    func scheduleLook() {
        let planned = state.locked { state -> (number: UInt64, delay: UInt64)? in
            let now = monotonicNow()
            guard !container.isClosing, let next = container.retiredObjects.nextLook(now), next < state.nextLook else {
                return nil
            }
            state.nextLook = next
            state.lookNumber += 1
            return (state.lookNumber, next > now ? (next - now + 999_999) / 1_000_000 : 0)
        }
        guard let planned else { return }
        do throws(Failure) {
            _ = try loop.start().schedule(after: planned.delay) { [weak self] in
                guard let self, beginLook(planned.number) else { return }
                container.retiredObjects.end()
            }
        } catch {
            _ = beginLook(planned.number)
            announcer.noteThreadFailure(error)
        }
    }

    /// Begins the planned check if the timer with this number is the last one. Returns false otherwise.
    private func beginLook(_ number: UInt64) -> Bool {
        state.locked { state in
            guard number == state.lookNumber else { return false }
            state.nextLook = .max
            return true
        }
    }

    private func schedule() {
        let (needed, isOld, stuck) = state.locked {
            state -> (Bool, Bool, (RetiredGenerations.Generation, UInt64)?) in
            guard hasRetired(state), !state.isScheduled, !container.isClosing else { return (false, false, nil) }
            state.isScheduled = true
            let now = monotonicNow()
            let isOld =
                state.retired.youngest.map { now - $0.since > RetiredGenerations.Generation.firstWarning } ?? false
            guard let oldest = state.retired.oldest else { return (true, isOld, nil) }
            let age = now - oldest.since
            guard age > oldest.warnsAfter else { return (true, isOld, nil) }
            state.retired.warnLater(age)
            return (true, isOld, (oldest, age))
        }
        if let (stuck, age) = stuck {
            let threads = Readers.readers(container.core, of: stuck.address, stuck.epoch).map(String.init)
                .listed()
            let seconds = age / 1_000_000_000
            container.log(
                .warning, "generation \(stuck.number) is still read after \(seconds) s, by thread \(threads)")
        }
        guard needed else { return }
        do throws(Failure) {
            let delay: UInt64 = isOld ? 500 : 2
            _ = try loop.start().schedule(after: delay) { [weak self] in
                guard let self else { return }
                state.locked { $0.isScheduled = false }
                // Not waiting for another thread that ends generations: it may wait for a job of this one.
                reclaim(.now, inCallback: true)
                announcer.observers.resumeCaches()
            }
        } catch {
            state.locked { $0.isScheduled = false }
            announcer.noteThreadFailure(error)
        }
    }

    // MARK: close

    /// For close: from here on until `resume`, no thread ends generations. Waits for one that does, and serves the
    /// calling thread's domain meanwhile.
    func pause(until deadline: UInt64) throws(Failure) {
        let isOver = container.monitor.locked { () -> Bool in
            state.held { $0.isPaused = true }
            container.domains.wait(until: deadline) { state.held { !$0.isReclaiming } }
            return state.held { !$0.isReclaiming }
        }
        guard isOver else {
            throw Failure(.busy, "objects of a former generation are still being disposed of after 5 s")
        }
    }

    /// The close was refused.
    func resume() { state.locked { $0.isPaused = false } }

    // MARK: facts

    var generationCount: Int { state.locked { $0.retired.generations.count } }

    /// The former generations, the oldest first.
    func former() -> [RuntimeStatus.Former] {
        let now = monotonicNow()
        let generations = container.monitor.locked {
            state.held { $0.retired.generations }.map { each in
                let sizes = each.objects.map {
                    ObjectTable.record($0.object).map { ObjectType.of($0).description.size } ?? 0
                }
                return (each, bytes: UInt64(sizes.reduce(0, +)))
            }
        }
        return generations.map { each, bytes in
            RuntimeStatus.Former(
                generation: each.number, age: now > each.since ? now - each.since : 0, objects: each.objects.count,
                bytes: bytes,
                threads: Readers.readers(container.core, of: each.address, each.epoch))
        }
    }
    var objects: [ReplacedObject] { state.held { $0.retired.objects } }
    /// For callers that hold the monitor: leases on objects that lazy references had resolved.
    var remembered: [ObjectLease] { state.held { $0.retired.remembered } }

    /// For callers that hold the monitor: the graphs of the former generations.
    var graphs: [Graph] { state.held { $0.retired.generations.compactMap { $0.graph as? Graph } } }

    /// For close: all former generations, and the objects that were built for them.
    func takeAll() -> (former: RetiredGenerations.Ended, overtaken: [BuildRecords.Outdated]) {
        state.locked {
            ($0.retired.takeAll(current: container.current.held.generation), container.builds.takeOutdated())
        }
    }
}
