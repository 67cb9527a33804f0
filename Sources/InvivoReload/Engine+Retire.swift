internal import CPlatform
internal import InvivoBase
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
    enum Reclaiming {
        /// After a commit: now, or a little later when commits come so fast that each barrier would cost the readers.
        case unhurried
        case now
    }

    /// Ends the generations that nobody reads any more: their replaced instances are disposed of, in reverse order of
    /// creation. What is still read is looked at again from the loop's timer.
    ///
    /// One thread at a time does so, because generations end in order. Another leaves it what has come meanwhile. Where
    /// that is to be now, it waits until it is done, unless it is in a callback, for which that thread may be waiting.
    func reclaim(
        _ hurry: Reclaiming = .unhurried, inCallback: Bool = Container.isInCallback, until deadline: UInt64? = nil
    ) {
        var isLingering = false
        var next = container.monitor.locked { () -> UInt64? in
            isLingering = !container.retiredObjects.isEmpty
            retireLate()
            guard !retired.isEmpty || isReclaiming, hurry == .now || barrierCredit.take() else { return nil }
            if isReclaiming {
                isReclaimDue = true
                if hurry == .now && !inCallback {
                    container.domains.wait(until: deadline ?? monotonicNow() + Self.reclaimPatience) { !isReclaiming }
                }
                return nil
            }
            isReclaiming = true
            return retired.last?.epoch
        }
        while let newest = next {
            // Outside the monitor; what is replaced meanwhile needs a barrier of its own.
            Readers.barrier()
            free(upTo: newest)
            next = container.monitor.locked {
                defer { isReclaimDue = false }
                retireLate()
                if isReclaimDue, let last = retired.last { return last.epoch }
                isReclaiming = false
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
            retireLate()
            return !container.isClosing && (!retired.isEmpty || isReclaiming || !container.retiredObjects.isEmpty)
        }
        guard isAsked else { return }
        do throws(Failure) { loop = try self.loop() } catch { return noteThreadFailure(error) }
        let (since, mayWait) = container.monitor.locked { () -> (UInt64, Bool) in
            if handedOver == 0 { handedOver = monotonicNow() }
            handedOverCount += 1
            return (handedOver, !Container.isInCallback && !loop.isCurrent)
        }
        let isPosted = loop.post { [weak self] in
            guard let self else { return }
            let count = container.monitor.locked { handedOverCount }
            // Not waiting for another thread that ends generations: files are followed here.
            reclaim(.now, inCallback: true)
            container.monitor.locked {
                if handedOverCount == count { handedOver = 0 }
                container.monitor.broadcast()
            }
        }
        guard isPosted, mayWait else { return }
        container.monitor.locked {
            let deadline = since + Self.handOverPatience
            while handedOver != 0 || isReclaiming, monotonicNow() < deadline {
                _ = container.monitor.wait(until: deadline)
            }
        }
    }

    private static let handOverPatience: UInt64 = 1_000_000_000

    /// For what is replaced while a barrier is on its way. Commits that follow each other closely keep nothing waiting.
    private static let mostBarriers = 4

    /// How long the end of what another thread disposes of is awaited, in nanoseconds.
    static let reclaimPatience: UInt64 = 5_000_000_000

    /// What was built for a graph that was replaced meanwhile may be borrowed by views of that graph or an older one.
    /// Under the monitor.
    private func retireLate() {
        guard !container.retiredWhileBuilding.isEmpty else { return }
        let graph = container.graph
        retired.append(
            Retired(
                epoch: graph.generation, graph: graph, objects: sequenced(container.retiredWhileBuilding),
                since: monotonicNow()))
        container.retiredWhileBuilding = []
    }

    /// Objects that the graph holds, with their place in the order of creation.
    func sequenced(_ objects: [UInt64]) -> [(sequence: UInt64, object: UInt64)] {
        objects.map { object in (ObjectTable.record(object).map { iv_record_order($0) } ?? 0, object) }
    }

    /// After a barrier that was issued when `newest` was the last generation that had been replaced.
    private func free(upTo newest: UInt64) {
        var newest = newest
        var free: [Retired] = []
        for attempt in 1...Self.mostBarriers {
            let later = container.monitor.locked { () -> UInt64? in
                let oldest = Readers.oldestEpoch(container.core)
                // What may end now, but for a barrier, ends together with the rest, in one order.
                if attempt < Self.mostBarriers, let last = retired.last(where: { $0.epoch < oldest }),
                    last.epoch > newest
                {
                    return last.epoch
                }
                // Generations end in order, so that what a later one shares is still there.
                let count = retired.prefix { $0.epoch < oldest && $0.epoch <= newest }.count
                free = Array(retired.prefix(count))
                retired.removeFirst(count)
                return nil
            }
            guard let later else { break }
            Readers.barrier()
            newest = later
        }
        container.retiredObjects.end(free.flatMap(\.objects))
        for generation in free {
            let number = generation.graph.generation
            container.log(
                .trace, "generation \(number) has ended; \(generation.objects.count) objects of it are disposed of")
        }
    }

    /// Looks again later at retired objects to which their language refers: soon at first, then at longer intervals, and when
    /// the grace time of one ends. An earlier look takes the place of the one that was planned; the timer of that is not
    /// cancelled but finds that it is not the last, so it does not matter in which order threads come to set theirs.
    func scheduleLook() {
        let planned = container.monitor.locked { () -> (number: UInt64, delay: UInt64)? in
            let now = monotonicNow()
            guard !container.isClosing, let next = container.retiredObjects.nextLook(now), next < nextLook else { return nil }
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
        let (needed, isOld, stuck) = container.monitor.locked { () -> (Bool, Bool, (Retired, UInt64)?) in
            guard let first = retired.first, !isReclaimScheduled, !container.isClosing else {
                return (false, false, nil)
            }
            isReclaimScheduled = true
            let age = monotonicNow() - first.since
            let isOld = age > Retired.firstWarning
            guard age > first.warnsAfter else { return (true, isOld, nil) }
            retired[0].warnsAfter = 2 * age
            return (true, isOld, (first, age))
        }
        if let (stuck, age) = stuck {
            let threads = Readers.readers(container.core, upTo: stuck.epoch).map(String.init).joined(separator: ", ")
            let seconds = age / 1_000_000_000
            container.log(
                .warning, "generation \(stuck.graph.generation) is still read after \(seconds) s, by thread \(threads)")
        }
        guard needed else { return }
        do throws(Failure) {
            let delay: UInt64 = isOld ? 500 : 2
            _ = try loop().schedule(after: delay) { [weak self] in
                guard let self else { return }
                self.container.monitor.locked { self.isReclaimScheduled = false }
                self.reclaim(.now)
            }
        } catch {
            container.monitor.locked { isReclaimScheduled = false }
            noteThreadFailure(error)
        }
    }
}
