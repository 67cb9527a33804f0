internal import InvivoBase
internal import InvivoObjects

extension Lifecycle {
    /// Starts or stops many objects, each after its dependencies.
    ///
    /// Independent objects of shared types run at the same time, on threads that end with the run. Confined objects run
    /// in their domain, one after the other in the given order. Everything is guarded by the container's monitor. One
    /// thread runs it, and serves its own domain while it waits.
    final class Run: @unchecked Sendable {
        struct Step {
            /// Nil for a shared type.
            let domain: Domain?
            /// Steps that must be done before.
            var needs: Set<Int>
        }

        private enum State { case waiting, running, done, failed }

        private let container: Container
        /// Returns the description of a step for reports.
        private let what: (Int) -> String
        private let steps: [Step]
        private var states: [State]
        /// Whether one failure keeps the rest from being begun.
        private let endsWithFailure: Bool
        private let body: (Int) throws(Failure) -> Void
        private var running = 0
        private var threads: [OwnThread] = []
        private(set) var failures: [Failure] = []
        /// The steps that were done well, in the order in which they were.
        private(set) var done: [Int] = []

        /// The limit for threads at the same time. More objects that wait for one another would need too many threads
        /// of a process.
        private static let mostThreads = 64

        init(
            _ container: Container, _ steps: [Step], endsWithFailure: Bool, what: @escaping (Int) -> String,
            _ body: @escaping (Int) throws(Failure) -> Void
        ) {
            self.container = container
            self.what = what
            self.steps = steps
            self.endsWithFailure = endsWithFailure
            self.body = body
            states = Array(repeating: .waiting, count: steps.count)
        }

        func run() {
            var wait = LongWait()
            defer { wait.end(container.domains) }
            container.monitor.lock()
            while true {
                let mayBegin = failures.isEmpty || !endsWithFailure
                var ready = mayBegin ? steps.indices.filter(isReady) : []
                if ready.isEmpty && running == 0 {
                    // The remaining objects form a cycle: the first of them begins.
                    guard mayBegin, let first = states.firstIndex(of: .waiting) else { break }
                    ready = [first]
                }
                // Others take the shared ones but one, where this thread has nothing confined to do.
                let confined = ready.first { steps[$0].domain != nil }
                var shared = ready.filter { steps[$0].domain == nil }
                let own = confined ?? (running == 0 || shared.count > 1 ? shared.popLast() : nil)
                for step in shared where running < Self.mostThreads { begin(step) }
                guard let own else {
                    wait.once(container.domains) {
                        container.monitor.locked { steps.indices.filter { states[$0] == .running } }.map(what).joined(
                            separator: ", ")
                    }
                    continue
                }
                states[own] = .running
                running += 1
                container.monitor.unlock()
                perform(own)
                container.monitor.lock()
            }
            container.monitor.unlock()
            for thread in threads { thread.join() }
        }

        /// Under the monitor.
        private func isReady(_ step: Int) -> Bool {
            states[step] == .waiting
                && steps[step].needs.allSatisfy { states[$0] == .done || states[$0] == .failed && !endsWithFailure }
        }

        /// Under the monitor: on a thread of its own, or by this one later, where there is none to be had.
        private func begin(_ step: Int) {
            states[step] = .running
            running += 1
            guard let thread = try? OwnThread("\(container.life.name.prefix(8))-life", { self.perform(step) })
            else {
                states[step] = .waiting
                running -= 1
                return
            }
            threads.append(thread)
        }

        private func perform(_ step: Int) {
            var failure: Failure?
            do throws(Failure) { try body(step) } catch { failure = error }
            container.monitor.locked {
                running -= 1
                if let failure {
                    states[step] = .failed
                    failures.append(failure)
                } else {
                    states[step] = .done
                    done.append(step)
                }
                container.monitor.broadcast()
            }
        }
    }
}
