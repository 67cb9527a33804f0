public import InvivoBase

/// A few threads that run tasks in the order in which they are added. A thread is started when a task finds none that is idle; all
/// end when the runtime is closed.
///
/// Unchecked: the monitor guards the state, and each task runs on one thread.
public final class WorkerThreads: @unchecked Sendable {
    public typealias Task = () -> Void
    private static let most = 4

    private let monitor = Monitor()
    private let name: String
    // Guarded by the monitor.
    private var tasks: [Task] = []
    private var threads: [OwnThread] = []
    private var idle = 0
    private var isStopping = false

    /// `name` is the runtime's.
    public init(name: String) { self.name = name }

    /// Runs a task on one of the threads.
    public func run(_ task: @escaping Task) throws(Failure) {
        try monitor.locked { () throws(Failure) in
            guard !isStopping else { throw Failure(.closed, "the runtime is closing") }
            if idle <= tasks.count && threads.count < Self.most {
                do throws(Failure) {
                    threads.append(
                        try OwnThread("\(name.prefix(7))-resolve") { while let task = self.next() { task() } })
                } catch {
                    guard !threads.isEmpty else { throw error }
                }
            }
            tasks.append(task)
            monitor.broadcast()
        }
    }

    /// Refuses new tasks, runs those that are left, and returns when the threads have ended.
    public func stop() {
        let ending = monitor.locked { () -> [OwnThread] in
            isStopping = true
            monitor.broadcast()
            defer { threads = [] }
            return threads
        }
        for thread in ending { thread.join() }
    }

    private func next() -> Task? {
        monitor.locked { () -> Task? in
            while tasks.isEmpty {
                if isStopping { return nil }
                idle += 1
                monitor.wait()
                idle -= 1
            }
            return tasks.removeFirst()
        }
    }
}
