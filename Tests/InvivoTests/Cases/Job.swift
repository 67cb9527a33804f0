import Glibc
import Invivo

/// Something that happens once, on any thread: waited for together with what comes to the waiting one.
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

    /// Until it has happened, or nothing can come to this thread any more; what comes is run meanwhile.
    func wait(polling runtime: Runtime) {
        guard let descriptor = try? runtime.descriptor else { return }
        while true {
            var both = [
                pollfd(fd: ends.read, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            ]
            // A look from time to time, should something come that the descriptor does not tell of.
            _ = poll(&both, 2, 1000)
            guard both[0].revents == 0, (try? runtime.poll()) != nil else { return }
        }
    }
}

/// A statement that runs on a thread of its own.
final class Job: @unchecked Sendable {
    private var thread = pthread_t()
    private let answer = Locked<Result<InvivoValue, any Error>?>(nil)
    private let end = Happening()
    private let body: @Sendable () throws -> InvivoValue

    /// Begins it.
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

    /// What it does may need this thread: objects of its domain are made here.
    func wait(polling runtime: Runtime?) -> Result<InvivoValue, any Error> {
        if let runtime { end.wait(polling: runtime) }
        pthread_join(thread, nil)
        return answer.withLock { $0 } ?? .success(.null)
    }
}

/// Where several threads begin at the same time.
final class Start: @unchecked Sendable {
    private let barrier = UnsafeMutablePointer<pthread_barrier_t>.allocate(capacity: 1)
    init(_ count: Int) { pthread_barrier_init(barrier, nil, UInt32(count)) }
    deinit {
        pthread_barrier_destroy(barrier)
        barrier.deallocate()
    }
    func wait() { pthread_barrier_wait(barrier) }
}
