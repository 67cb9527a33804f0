internal import CPlatform
internal import InvivoBase
internal import InvivoGraph
internal import InvivoLoop
internal import InvivoObjects
internal import InvivoWiring

/// How often reclaiming may interrupt the process's running threads: a burst at once, then at a steady rate.
struct BarrierCredit {
    private static let burst: UInt64 = 64
    private static let interval: UInt64 = 500_000
    private var left = burst
    private var refilled = monotonicNow()

    /// Whether a barrier may be issued now.
    mutating func take() -> Bool {
        let now = monotonicNow()
        let earned = (now - refilled) / Self.interval
        if earned > 0 {
            left = min(Self.burst, left + earned)
            refilled += earned * Self.interval
        }
        guard left > 0 else { return false }
        left -= 1
        return true
    }
}

extension Engine {
    /// The former generations, and the thread that ends them. Guarded by the engine's monitor.
    final class Retirement {
        var retired = RetiredGenerations()
        /// A timer of the loop is set to look at them again.
        var isReclaimScheduled = false
        /// A thread is ending generations.
        var isReclaiming = false
        /// That thread is to look again when it has done so.
        var isReclaimDue = false
        /// Since when the loop thread has been asked to end generations and has not done so, or 0; and how often it was asked.
        var handedOver: UInt64 = 0
        var handedOverCount: UInt64 = 0
        var barrierCredit = BarrierCredit()
    }

    enum Reclaiming {
        /// After a commit: now, or a little later when commits come so fast that each barrier would cost the readers.
        case unhurried
        case now
    }

    /// Ends the generations that nobody reads any more: their replaced instances are disposed of, in reverse order of
    /// creation. What is still read is looked at again from the loop's timer.
    ///
    /// One thread at a time does so. Another one leaves it the generations that were replaced meanwhile; with `now` it waits until
    /// that thread is done, unless it is in a callback, for which that thread may be waiting.
    func reclaim(
        _ hurry: Reclaiming = .unhurried, inCallback: Bool = Container.isInCallback, until deadline: UInt64? = nil
    ) {
        var isLingering = false
        var next = container.monitor.locked { () -> UInt64? in
            isLingering = !container.retiredObjects.isEmpty
            guard hasRetired || retirement.isReclaiming, hurry == .now || retirement.barrierCredit.take() else {
                return nil
            }
            if retirement.isReclaiming {
                retirement.isReclaimDue = true
                if hurry == .now && !inCallback {
                    container.domains.wait(until: deadline ?? monotonicNow() + Self.reclaimPatience) {
                        !retirement.isReclaiming
                    }
                }
                return nil
            }
            retirement.isReclaiming = true
            return retirement.retired.newest
        }
        while let newest = next {
            // Outside the monitor; what is replaced meanwhile needs a barrier of its own.
            Readers.barrier()
            free(upTo: newest)
            next = container.monitor.locked {
                defer { retirement.isReclaimDue = false }
                if retirement.isReclaimDue, hasRetired { return retirement.retired.newest }
                retirement.isReclaiming = false
                container.monitor.broadcast()
                return nil
            }
        }
        if isLingering { container.retiredObjects.end() }
        scheduleReclaim()
    }

    /// Has the loop thread end what may end, for a call that runs no host code. Waits for that, but not for the functions of the
    /// host that it calls: at most 1 s from the moment at which it was asked to.
    func handOverReclaim() {
        let loop: Loop
        let isAsked = container.monitor.locked { () -> Bool in
            !container.isClosing && (hasRetired || retirement.isReclaiming || !container.retiredObjects.isEmpty)
        }
        guard isAsked else { return }
        do throws(Failure) { loop = try self.loop() } catch { return noteThreadFailure(error) }
        let (since, mayWait) = container.monitor.locked { () -> (UInt64, Bool) in
            if retirement.handedOver == 0 { retirement.handedOver = monotonicNow() }
            retirement.handedOverCount += 1
            return (retirement.handedOver, !Container.isInCallback && !loop.isCurrent)
        }
        let isPosted = loop.post { [weak self] in
            guard let self else { return }
            let count = container.monitor.locked { retirement.handedOverCount }
            // Not waiting for another thread that ends generations: files are followed here.
            reclaim(.now, inCallback: true)
            container.monitor.locked {
                if retirement.handedOverCount == count { retirement.handedOver = 0 }
                container.monitor.broadcast()
            }
        }
        guard isPosted, mayWait else { return }
        container.monitor.locked {
            let deadline = since + Self.handOverPatience
            while retirement.handedOver != 0 || retirement.isReclaiming, monotonicNow() < deadline {
                _ = container.monitor.wait(until: deadline)
            }
        }
    }

    private static let handOverPatience: UInt64 = 1_000_000_000

    /// For what is replaced while a barrier is on its way. Commits that follow each other closely keep nothing waiting.
    private static let mostBarriers = 4

    /// How long the end of what another thread disposes of is awaited, in nanoseconds.
    static let reclaimPatience: UInt64 = 5_000_000_000

    /// Under the monitor: whether anything waits for readers to leave.
    private var hasRetired: Bool { !retirement.retired.isEmpty || !container.retiredWhileBuilding.isEmpty }

    /// Under the monitor: `former` was replaced, and no later graph has these slots.
    func retire(_ former: Graph, _ replaced: [Cell], remembered: Container.Forgotten) {
        let objects = replaced.flatMap { slot in
            slot.heldObjects().map { object in
                ReplacedObject(
                    sequence: object.sequence, object: object.object, birth: slot.birth(before: former.generation))
            }
        }
        retirement.retired.append(
            former.generation, former, at: UnsafeRawPointer(former.raw),
            objects: objects.sorted { $0.sequence > $1.sequence }, remembered: remembered,
            names: container.keys.takeOutgrown())
    }

    /// Under the monitor: objects that were built for a graph that was replaced meanwhile. Views of that graph or an older one may
    /// have borrowed them.
    private func takeLate() -> [ReplacedObject] {
        defer { container.retiredWhileBuilding = [] }
        return container.retiredWhileBuilding.map { object, birth in
            let sequence = ObjectTable.record(object).map { iv_record_order($0) } ?? 0
            return ReplacedObject(sequence: sequence, object: object, birth: birth)
        }
    }

    /// Objects that the graph holds, with their place in the order of creation.
    func sequenced(_ objects: [UInt64]) -> [(sequence: UInt64, object: UInt64)] {
        objects.map { object in (ObjectTable.record(object).map { iv_record_order($0) } ?? 0, object) }
    }

    /// After a barrier that was issued when `newest` was the epoch of the last generation that had been replaced.
    private func free(upTo newest: UInt64) {
        var newest = newest
        var ended = RetiredGenerations.Ended()
        for attempt in 1...Self.mostBarriers {
            let later = container.monitor.locked { () -> UInt64? in
                let readers = Readers.inside(container.core)
                // Generations that only need a further barrier end together with the others, in one order.
                let last = retirement.retired.mayEnd(readers)
                if attempt < Self.mostBarriers, last > newest { return last }
                ended = retirement.retired.end(readers, upTo: newest, late: takeLate())
                return nil
            }
            guard let later else { break }
            Readers.barrier()
            newest = later
        }
        container.retiredObjects.end(ended.objects.map { ($0.sequence, $0.object) })
        for (generation, count) in ended.generations {
            container.log(
                .trace, "generation \(generation.number) has ended; \(count) objects of it are disposed of")
        }
    }

    /// Looks again later at retired objects to which their language refers: soon at first, then at longer intervals, and when
    /// the grace time of one ends. An earlier look takes the place of the one that was planned; the timer of that is not
    /// cancelled but finds that it is not the last, so it does not matter in which order threads come to set theirs.
    func scheduleLook() {
        let planned = container.monitor.locked { () -> (number: UInt64, delay: UInt64)? in
            let now = monotonicNow()
            guard !container.isClosing, let next = container.retiredObjects.nextLook(now), next < nextLook else {
                return nil
            }
            nextLook = next
            lookNumber += 1
            return (lookNumber, next > now ? (next - now + 999_999) / 1_000_000 : 0)
        }
        guard let planned else { return }
        do throws(Failure) {
            _ = try loop().schedule(after: planned.delay) { [weak self] in
                guard let self, beginLook(planned.number) else { return }
                container.retiredObjects.end()
            }
        } catch {
            _ = beginLook(planned.number)
            noteThreadFailure(error)
        }
    }

    /// Whether a timer is that of the planned look, which is then not planned any more.
    private func beginLook(_ number: UInt64) -> Bool {
        container.monitor.locked {
            guard number == lookNumber else { return false }
            nextLook = .max
            return true
        }
    }

    private func scheduleReclaim() {
        let (needed, isOld, stuck) = container.monitor.locked {
            () -> (Bool, Bool, (RetiredGenerations.Generation, UInt64)?) in
            guard hasRetired, !retirement.isReclaimScheduled, !container.isClosing else { return (false, false, nil) }
            retirement.isReclaimScheduled = true
            let now = monotonicNow()
            let isOld =
                retirement.retired.youngest.map { now - $0.since > RetiredGenerations.Generation.firstWarning } ?? false
            guard let oldest = retirement.retired.oldest else { return (true, isOld, nil) }
            let age = now - oldest.since
            guard age > oldest.warnsAfter else { return (true, isOld, nil) }
            retirement.retired.warnLater(age)
            return (true, isOld, (oldest, age))
        }
        if let (stuck, age) = stuck {
            let threads = Readers.readers(container.core, of: stuck.address, stuck.epoch).map(String.init)
                .joined(separator: ", ")
            let seconds = age / 1_000_000_000
            container.log(
                .warning, "generation \(stuck.number) is still read after \(seconds) s, by thread \(threads)")
        }
        guard needed else { return }
        do throws(Failure) {
            let delay: UInt64 = isOld ? 500 : 2
            _ = try loop().schedule(after: delay) { [weak self] in
                guard let self else { return }
                self.container.monitor.locked { self.retirement.isReclaimScheduled = false }
                // Not waiting for another thread that ends generations: it may wait for a job of this one.
                self.reclaim(.now, inCallback: true)
            }
        } catch {
            container.monitor.locked { retirement.isReclaimScheduled = false }
            noteThreadFailure(error)
        }
    }
}
