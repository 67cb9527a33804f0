public import InvivoBase

/// A few threads that run tasks in the order in which they are added. A thread is started when a task finds none that is idle; all
/// end when the runtime is closed.
public final class WorkerThreads: Sendable {
    public typealias Task = @Sendable () -> Void
    private static let most = 4

    private struct State {
        var tasks: [Task] = []
        var threads: [OwnThread] = []
        var idle = 0
        var isStopping = false
    }

    private let name: String
    private let monitor = Monitor()
    private let state: Guarded<State>

    /// `name` is the runtime's.
    public init(name: String) {
        self.name = name
        state = .init(State(), by: monitor)
    }

    /// Runs a task on one of the threads.
    public func run(_ task: @escaping Task) throws(Failure) {
        try state.locked { state throws(Failure) in
            guard !state.isStopping else { throw Failure(.closed, "the runtime is closing") }
            if state.idle <= state.tasks.count && state.threads.count < Self.most {
                do throws(Failure) {
                    state.threads.append(
                        try OwnThread("\(name.prefix(7))-resolve") { [self] in while let task = next() { task() } })
                } catch {
                    guard !state.threads.isEmpty else { throw error }
                }
            }
            state.tasks.append(task)
            monitor.broadcast()
        }
    }

    /// Refuses new tasks, runs those that are left, and returns when the threads have ended.
    public func stop() {
        let ending = state.locked { state -> [OwnThread] in
            state.isStopping = true
            monitor.broadcast()
            defer { state.threads = [] }
            return state.threads
        }
        for thread in ending { thread.join() }
    }

    /// Waits for the next task; nil when there is none left and the threads are to end.
    private func next() -> Task? {
        monitor.lock()
        defer { monitor.unlock() }
        while true {
            let (task, isStopping) = state.held { state -> (Task?, Bool) in
                (state.tasks.isEmpty ? nil : state.tasks.removeFirst(), state.isStopping)
            }
            if task != nil || isStopping { return task }
            state.held { $0.idle += 1 }
            monitor.wait()
            state.held { $0.idle -= 1 }
        }
    }
}
