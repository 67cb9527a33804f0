internal import CPlatform
internal import Glibc
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
    private var threads: [pthread_t] = []
    private var idle = 0
    private var isStopping = false

    init(name: String) { self.name = name }

    /// Runs a task on one of the threads, in the order in which they come.
    func run(_ task: @escaping Task) throws(Failure) {
        try monitor.locked { () throws(Failure) in
            guard !isStopping else { throw Failure(.closed, "the runtime is closing") }
            if idle <= tasks.count && threads.count < Self.most {
                do throws(Failure) { threads.append(try startThread()) } catch {
                    guard !threads.isEmpty else { throw error }
                }
            }
            tasks.append(task)
            monitor.broadcast()
        }
    }

    /// Runs what is left, and returns when the threads have ended.
    func stop() {
        let ending = monitor.locked { () -> [pthread_t] in
            isStopping = true
            monitor.broadcast()
            defer { threads = [] }
            return threads
        }
        for thread in ending {
            pthread_join(thread, nil)
            _ = iv_sub_u64(iv_live_threads(), 1)
        }
    }

    /// Signals are the host's: they are blocked in it.
    private func startThread() throws(Failure) -> pthread_t {
        let box = Unmanaged.passRetained(self)
        var all = sigset_t()
        var former = sigset_t()
        var thread = pthread_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &former)
        let result = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                let threads = Unmanaged<ResolveThreads>.fromOpaque(context).takeRetainedValue()
                iv_name_thread("\(threads.name.prefix(7))-resolve")
                while let task = threads.next() { task() }
                return nil
            }, box.toOpaque())
        pthread_sigmask(SIG_SETMASK, &former, nil)
        guard result == 0 else {
            box.release()
            throw Failure(.system, "no thread could be started: \(String(cString: strerror(result)))")
        }
        _ = iv_add_u64(iv_live_threads(), 1)
        return thread
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
