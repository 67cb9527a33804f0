public import InvivoBase

/// Threads that run tasks which may not return. A task that finds no idle thread gets a new one. When the runtime is closed, idle threads end
/// at once, and others when their task returns.
public final class StopThreads: Sendable {
    public typealias Task = @Sendable () -> Void

    private struct State {
        var tasks: [Task] = []
        var threads: [Int: OwnThread] = [:]
        var busy: Set<Int> = []
        /// Threads that nobody joins.
        var detached: Set<Int> = []
        var started = 0
        var isStopping = false

        var idle: Int { threads.count - busy.count }
    }

    private let name: String
    private let monitor = Monitor()
    private let state: Guarded<State>

    /// `name` is the runtime's.
    public init(name: String) {
        self.name = name
        state = .init(State(), by: monitor)
    }

    public func run(_ task: @escaping Task) throws(Failure) {
        try state.locked { state throws(Failure) in
            guard !state.isStopping else { throw Failure(.closed, "the runtime is closing") }
            if state.idle <= state.tasks.count {
                let number = state.started
                state.threads[number] = try OwnThread("\(name.prefix(8))-stop") { [self] in work(number) }
                state.started += 1
            }
            state.tasks.append(task)
            monitor.broadcast()
        }
    }

    private func work(_ number: Int) {
        while let task = next(number) { task() }
        if state.locked({ $0.detached.contains(number) }) { OwnThread.endDetached() }
    }

    /// Waits for the next task; nil when the thread is to end.
    private func next(_ number: Int) -> Task? {
        monitor.lock()
        defer { monitor.unlock() }
        state.held { _ = $0.busy.remove(number) }
        while true {
            let (task, isStopping) = state.held { state -> (Task?, Bool) in
                guard !state.tasks.isEmpty else { return (nil, state.isStopping) }
                state.busy.insert(number)
                return (state.tasks.removeFirst(), state.isStopping)
            }
            if task != nil || isStopping { return task }
            monitor.wait()
        }
    }

    /// Whether a task runs, or waits for a thread.
    public var isBusy: Bool { state.locked { !$0.busy.isEmpty || !$0.tasks.isEmpty } }

    /// Refuses new tasks, and waits for the threads that are idle.
    public func stop() {
        let idle = state.locked { state -> [OwnThread] in
            state.isStopping = true
            monitor.broadcast()
            defer { state.threads = [:] }
            state.detached = state.busy
            for number in state.busy { state.threads[number]?.detach() }
            return state.threads.filter { !state.busy.contains($0.key) }.map(\.value)
        }
        for thread in idle { thread.join() }
    }
}
