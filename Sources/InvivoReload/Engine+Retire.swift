internal import CPlatform
internal import InvivoBase
internal import InvivoLoop
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
    /// creation. Never waits: what is still read is looked at again from the loop's timer.
    func reclaim(_ hurry: Reclaiming = .unhurried) {
        let newest = container.monitor.locked { () -> UInt64? in
            retireLate()
            guard let last = retired.last, hurry == .now || barrierCredit.take() else { return nil }
            return last.epoch
        }
        if let newest {
            // Outside the monitor; what is replaced meanwhile is left to the next barrier.
            Readers.barrier()
            free(upTo: newest)
        }
        scheduleReclaim()
    }

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
        objects.map { object in (ObjectTable.record(object)?.pointee.sequence ?? 0, object) }
    }

    private func free(upTo newest: UInt64) {
        let free = container.monitor.locked { () -> [Retired] in
            let oldest = Readers.oldestEpoch(container.core)
            // Generations end in order, so that what a later one shares is still there.
            let count = retired.prefix { $0.epoch < oldest && $0.epoch <= newest }.count
            let free = Array(retired.prefix(count))
            retired.removeFirst(count)
            return free
        }
        // What ends together goes in reverse order of creation, whatever generation replaced it.
        let ending = free.flatMap(\.objects).sorted { $0.sequence > $1.sequence }
        for failure in container.stopTogether(container.endingTogether(ending.map(\.object))) {
            container.noteStopFailure(failure)
        }
        for (_, object) in ending { ObjectTable.dropHold(object) }
        for generation in free {
            let number = generation.graph.generation
            container.log(
                .trace, "generation \(number) has ended; \(generation.objects.count) objects of it are disposed of")
        }
    }

    private func scheduleReclaim() {
        let (needed, stuck) = container.monitor.locked { () -> (Bool, Retired?) in
            guard !retired.isEmpty, !isReclaimScheduled, !container.isClosing else { return (false, nil) }
            isReclaimScheduled = true
            let old = retired.first { monotonicNow() - $0.since > 2_000_000_000 }
            return (true, old)
        }
        if let stuck {
            let threads = Readers.readers(container.core, upTo: stuck.epoch).map(String.init).joined(separator: ", ")
            container.log(
                .warning, "generation \(stuck.graph.generation) is still read after 2 s, by thread \(threads)")
        }
        guard needed else { return }
        do throws(Failure) {
            let delay: UInt64 = stuck == nil ? 2 : 500
            _ = try loop().schedule(after: delay) { [weak self] in
                guard let self else { return }
                self.container.monitor.locked { self.isReclaimScheduled = false }
                self.reclaim(.now)
            }
        } catch {
            container.monitor.locked { isReclaimScheduled = false }
        }
    }
}
