internal import InvivoBase

/// The few threads that make what somebody asked for without waiting for it. Started when there is something to make and
/// nobody free; they end when the runtime is closed.
final class ResolveThreads: @unchecked Sendable {
    typealias Task = () -> Void
    private static let most = 4

    private let monitor = Monitor()
    private let name: String
    // Guarded by the monitor.
    private var tasks: [Task] = []
    private var threads: [OwnThread] = []
    private var idle = 0
    private var isStopping = false

    init(name: String) { self.name = name }

    /// Runs a task on one of the threads, in the order in which they come.
    func run(_ task: @escaping Task) throws(Failure) {
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

    /// Runs what is left, and returns when the threads have ended.
    func stop() {
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
