import Glibc
import Invivo

/// A statement that runs on a thread of its own.
final class Job: @unchecked Sendable {
    private var thread = pthread_t()
    private let answer = Locked<Result<InvivoValue, any Error>?>(nil)
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
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        precondition(started == 0)
    }

    /// What it does may need this thread: objects of its domain are made here.
    func wait(polling runtime: Runtime?) -> Result<InvivoValue, any Error> {
        // Until it is over, or nothing can come to this thread.
        while answer.withLock({ $0 == nil }), let runtime, (try? runtime.poll(timeout: .milliseconds(2))) != nil {}
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
