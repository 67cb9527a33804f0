internal import CPlatform
internal import InvivoBase
internal import InvivoContexts
internal import InvivoGraph
internal import InvivoObjects

/// The stops of the objects of a context that ends, one after the other, on a thread that may be left to a stop which does not return.
final class ContextStops: Sendable {
    private struct State {
        var failures: [Failure] = []
        /// How many objects are stopped, or have failed to stop.
        var done = 0
        var isOver = false
        var isAbandoned = false
    }

    private let container: Container
    /// Each with a lease, the last created first.
    private let objects: [UInt64]
    private let names: [String]
    private let state: Guarded<State>

    /// Takes over a lease of each object.
    init(_ container: Container, _ objects: [UInt64]) {
        (self.container, self.objects) = (container, objects)
        names = objects.map { object in ObjectTable.record(object).map(container.name) ?? "" }
        state = .init(State(), by: container.monitor)
    }

    /// Stops the objects, and releases them. Returns at `deadline` at the latest, with all failures.
    func run(until deadline: UInt64) -> [Failure] {
        guard !objects.isEmpty else { return [] }
        let handOver = Contexts.handOver(container.core)
        do throws(Failure) {
            try container.life.stopThreads.run { [self] in handOver { work(until: deadline) } }
        } catch {
            release()
            return [error]
        }
        let (failures, isOver) = container.monitor.locked { () -> ([Failure], Bool) in
            container.domains.wait(until: deadline) { state.held { $0.isOver } }
            return state.held { state in
                if !state.isOver { state.isAbandoned = true }
                return (state.failures + (state.isOver ? [] : abandoned(from: state.done)), state.isOver)
            }
        }
        // Where they are released, they end.
        if isOver { release() }
        return failures
    }

    private func work(until deadline: UInt64) {
        while let index = state.locked({ state in
            state.isAbandoned || state.done == objects.count ? nil : state.done
        }), let record = ObjectTable.record(objects[index]) {
            let failure = container.lifecycle.stop(record, names[index], nil, within: remaining(deadline))
            state.locked { state in
                if let failure { state.failures.append(failure) }
                state.done += 1
            }
        }
        let isAbandoned = container.monitor.locked { () -> Bool in
            state.held { $0.isOver = true }
            container.monitor.broadcast()
            return state.held { $0.isAbandoned }
        }
        if isAbandoned { release() }
    }

    private func remaining(_ deadline: UInt64) -> UInt64 {
        let now = monotonicNow()
        return deadline > now ? deadline - now : 0
    }

    private func release() { for object in objects { _ = ObjectTable.release(object) } }

    /// The failures for the stop that has not returned, and for those that have not begun.
    private func abandoned(from index: Int) -> [Failure] {
        names[index...].enumerated().map { offset, key in
            Failure(
                .timeout,
                offset == 0
                    ? "the stop of '\(key)' has not returned in time: it is abandoned, and the object ends when it returns"
                    : "'\(key)' is not stopped in time: it is stopped when it is released",
                path: key)
        }
    }
}
