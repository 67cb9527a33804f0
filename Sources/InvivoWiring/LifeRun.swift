internal import InvivoBase
internal import InvivoObjects

extension Lifecycle {
    /// Starts or stops many objects, each after its dependencies.
    ///
    /// Independent objects of shared types run at the same time, on threads that end with the run. Confined objects run
    /// in their domain, one after the other in the given order. One thread runs it, and serves its own domain while it
    /// waits. Guarded by the container's monitor.
    final class Run: Sendable {
        struct Step {
            /// Nil for a shared type.
            let domain: Domain?
            /// Steps that must be done before.
            var needs: Set<Int>
        }

        private enum Stage { case waiting, running, done, failed }

        private struct State {
            var stages: [Stage]
            var running = 0
            var threads: [OwnThread] = []
            var failures: [Failure] = []
            var done: [Int] = []
        }

        private let container: Container
        /// Returns the description of a step for reports.
        private let describe: @Sendable (Int) -> String
        private let steps: [Step]
        /// Whether one failure keeps the rest from being begun.
        private let endsWithFailure: Bool
        private let body: @Sendable (Int) throws(Failure) -> Void
        private let state: Guarded<State>

        /// The limit for threads at the same time. More objects that wait for one another would need too many threads
        /// of a process.
        private static let mostThreads = 64

        init(
            _ container: Container, _ steps: [Step], endsWithFailure: Bool,
            describe: @escaping @Sendable (Int) -> String, _ body: @escaping @Sendable (Int) throws(Failure) -> Void
        ) {
            self.container = container
            self.describe = describe
            self.steps = steps
            self.endsWithFailure = endsWithFailure
            self.body = body
            state = .init(State(stages: Array(repeating: .waiting, count: steps.count)), by: container.monitor)
        }

        /// Returns the failures, and the successful steps in the order of their completion.
        func run() -> (failures: [Failure], done: [Int]) {
            var wait = LongWait()
            defer { wait.end(container.domains) }
            container.monitor.lock()
            while let turn = state.held({ nextTurn(&$0) }) {
                for step in turn.others { begin(step) }
                guard let own = turn.own else {
                    wait.once(container.domains) {
                        state.locked { state in steps.indices.filter { state.stages[$0] == .running } }.map(describe)
                            .listed()
                    }
                    continue
                }
                container.monitor.unlock()
                perform(own)
                container.monitor.lock()
            }
            container.monitor.unlock()
            let (threads, failures, done) = state.locked { ($0.threads, $0.failures, $0.done) }
            for thread in threads { thread.join() }
            return (failures, done)
        }

        /// The steps that begin now: those of other threads, and the one of the calling thread. Nil when all are over.
        private func nextTurn(_ state: inout State) -> (others: [Int], own: Int?)? {
            let mayBegin = state.failures.isEmpty || !endsWithFailure
            var ready = mayBegin ? steps.indices.filter { isReady($0, state) } : []
            if ready.isEmpty && state.running == 0 {
                // The remaining objects form a cycle: the first of them begins.
                guard mayBegin, let first = state.stages.firstIndex(of: .waiting) else { return nil }
                ready = [first]
            }
            // Other threads run the shared steps. This thread runs one of them if it has no confined step.
            let confined = ready.first { steps[$0].domain != nil }
            var shared = ready.filter { steps[$0].domain == nil }
            let own = confined ?? (state.running == 0 || shared.count > 1 ? shared.popLast() : nil)
            let others = Array(shared.prefix(max(0, Self.mostThreads - state.running)))
            for step in others + (own.map { [$0] } ?? []) {
                state.stages[step] = .running
                state.running += 1
            }
            return (others, own)
        }

        private func isReady(_ step: Int, _ state: State) -> Bool {
            state.stages[step] == .waiting
                && steps[step].needs.allSatisfy {
                    state.stages[$0] == .done || state.stages[$0] == .failed && !endsWithFailure
                }
        }

        /// With the monitor held: begins a step on a new thread. If none can be started, the calling thread runs the
        /// step later.
        private func begin(_ step: Int) {
            let thread = try? OwnThread("\(container.life.name.prefix(8))-life", { self.perform(step) })
            state.held { state in
                guard let thread else {
                    state.stages[step] = .waiting
                    state.running -= 1
                    return
                }
                state.threads.append(thread)
            }
        }

        private func perform(_ step: Int) {
            var failure: Failure?
            do throws(Failure) { try body(step) } catch { failure = error }
            state.locked { [failure] state in
                state.running -= 1
                if let failure {
                    state.stages[step] = .failed
                    state.failures.append(failure)
                } else {
                    state.stages[step] = .done
                    state.done.append(step)
                }
                container.monitor.broadcast()
            }
        }
    }
}
