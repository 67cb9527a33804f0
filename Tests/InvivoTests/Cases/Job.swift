import Glibc
import Invivo

/// An event that happens once, on any thread. A waiting thread runs its jobs meanwhile.
final class Happening: Sendable {
    private let ends: (read: Int32, write: Int32)

    init() {
        var both: [Int32] = [-1, -1]
        pipe(&both)
        ends = (both[0], both[1])
    }

    deinit {
        close(ends.read)
        close(ends.write)
    }

    func happens() { _ = write(ends.write, "x", 1) }

    /// Until it has happened, or no further job can arrive at this thread; arriving jobs run meanwhile.
    func wait(polling runtime: Runtime) {
        guard let descriptor = try? runtime.descriptor else { return }
        while true {
            var both = [
                pollfd(fd: ends.read, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            ]
            // A check from time to time, for jobs that the descriptor does not announce.
            _ = poll(&both, 2, 1000)
            guard both[0].revents == 0, (try? runtime.poll()) != nil else { return }
        }
    }
}

/// A statement that runs on a separate thread.
final class Job: @unchecked Sendable {
    private var thread = pthread_t()
    private let answer = Locked<Result<InvivoValue, any Error>?>(nil)
    private let end = Happening()
    private let body: @Sendable () throws -> InvivoValue

    /// Starts it.
    init(_ body: @escaping @Sendable () throws -> InvivoValue) {
        self.body = body
        let started = pthread_create(
            &thread, nil,
            { data in
                guard let data else { return nil }
                let job = Unmanaged<Job>.fromOpaque(data).takeRetainedValue()
                let result = Result { try job.body() }
                job.answer.withLock { $0 = result }
                job.end.happens()
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        precondition(started == 0)
    }

    /// Its action may need this thread: objects of its domain are created here.
    func wait(polling runtime: Runtime?) -> Result<InvivoValue, any Error> {
        if let runtime { end.wait(polling: runtime) }
        pthread_join(thread, nil)
        return answer.withLock { $0 } ?? .success(.null)
    }
}

/// A start gate for several threads.
final class Start: @unchecked Sendable {
    private let barrier = UnsafeMutablePointer<pthread_barrier_t>.allocate(capacity: 1)
    init(_ count: Int) { pthread_barrier_init(barrier, nil, UInt32(count)) }
    deinit {
        pthread_barrier_destroy(barrier)
        barrier.deallocate()
    }
    func wait() { pthread_barrier_wait(barrier) }
}
