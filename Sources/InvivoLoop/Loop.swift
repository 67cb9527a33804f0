internal import CPlatform
internal import CUv
internal import Glibc
public import InvivoBase

/// A libuv loop on a thread of its own, with all signals blocked in it.
///
/// Handles belong to the loop thread; other threads post. `queue`, `isStopped` and `identity` are guarded by the monitor.
public final class Loop: @unchecked Sendable {
    private let monitor = Monitor()
    private var queue: [@Sendable () -> Void] = []
    private var isStopped = false
    private var identity: UInt64 = 0
    private var thread = pthread_t()
    private let uv: UnsafeMutablePointer<uv_loop_t>
    private let wake: UnsafeMutablePointer<uv_async_t>
    private let name: String

    public init(name: String) throws(Failure) {
        self.name = name
        uv = .allocate(capacity: 1)
        wake = .allocate(capacity: 1)
        guard uv_loop_init(uv) == 0 else {
            uv.deallocate()
            wake.deallocate()
            throw Failure(.system, "no loop could be made: \(String(cString: strerror(errno)))")
        }
        uv.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        uv_async_init(uv, wake) { handle in
            guard let data = handle?.pointee.loop.pointee.data else { return }
            Unmanaged<Loop>.fromOpaque(data).takeUnretainedValue().runQueue()
        }
        var all = sigset_t()
        var former = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &former)
        let box = Unmanaged.passRetained(self)
        let result = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Loop>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, box.toOpaque())
        pthread_sigmask(SIG_SETMASK, &former, nil)
        guard result == 0 else {
            box.release()
            uv_close(UnsafeMutableRawPointer(wake).assumingMemoryBound(to: uv_handle_t.self), nil)
            uv_run(uv, UV_RUN_DEFAULT)
            uv_loop_close(uv)
            uv.deallocate()
            wake.deallocate()
            throw Failure(.system, "no thread could be started: \(String(cString: strerror(result)))")
        }
        _ = iv_add_u64(iv_live_threads(), 1)
        monitor.locked { while identity == 0 { monitor.wait() } }
    }

    private func run() {
        iv_name_thread("\(name.prefix(8))-loop")
        monitor.locked {
            identity = currentThread().identity
            monitor.broadcast()
        }
        uv_run(uv, UV_RUN_DEFAULT)
    }

    private func runQueue() {
        while let job = monitor.locked({ queue.isEmpty ? nil : queue.removeFirst() }) { job() }
        if monitor.locked({ isStopped && queue.isEmpty }) { closeHandles() }
    }

    /// On the loop thread: closes every handle that is left, so that uv_run ends.
    private func closeHandles() {
        uv_walk(
            uv,
            { handle, _ in
                guard let handle, uv_is_closing(handle) == 0 else { return }
                if handle.pointee.type == UV_TIMER, let data = handle.pointee.data {
                    // A timer that has not fired: its handle and its hold on itself go as when it is cancelled.
                    Unmanaged<LoopTimer>.fromOpaque(data).takeUnretainedValue().close()
                } else {
                    uv_close(handle, nil)
                }
            }, nil)
    }

    /// Runs `job` on the loop thread, in order. False after `stop`.
    @discardableResult
    public func post(_ job: @escaping @Sendable () -> Void) -> Bool {
        monitor.locked {
            guard !isStopped else { return false }
            queue.append(job)
            uv_async_send(wake)
            return true
        }
    }

    /// Runs `job` on the loop thread and waits for it. At once when called there; not at all after `stop`.
    func perform(_ job: @escaping @Sendable () -> Void) {
        guard !isCurrent else { return job() }
        let done = Monitor()
        nonisolated(unsafe) var isDone = false
        let posted = post {
            job()
            done.locked {
                isDone = true
                done.broadcast()
            }
        }
        if posted { done.locked { while !isDone { done.wait() } } }
    }

    public var isCurrent: Bool { monitor.locked { identity } == currentThread().identity }

    /// Runs `job` on the loop thread after a time, and again every `repeating` milliseconds if that is not 0.
    @discardableResult
    public func schedule(
        after milliseconds: UInt64, repeating: UInt64 = 0, _ job: @escaping @Sendable () -> Void
    ) -> LoopTimer {
        let timer = LoopTimer(self, job, repeats: repeating != 0)
        post { timer.start(after: milliseconds, repeating: repeating) }
        return timer
    }

    var raw: UnsafeMutablePointer<uv_loop_t> { uv }

    /// Runs what was posted, closes every handle and joins the thread. May be called again. Does nothing on the loop
    /// thread itself (false).
    @discardableResult
    public func stop() -> Bool {
        guard !isCurrent else { return false }
        let first = monitor.locked { () -> Bool in
            guard !isStopped else { return false }
            isStopped = true
            uv_async_send(wake)
            return true
        }
        guard first else { return true }
        pthread_join(thread, nil)
        uv_loop_close(uv)
        uv.deallocate()
        wake.deallocate()
        _ = iv_sub_u64(iv_live_threads(), 1)
        return true
    }
}

/// One timer. Its handle belongs to the loop thread.
public final class LoopTimer: @unchecked Sendable {
    private let loop: Loop
    private let job: @Sendable () -> Void
    private let repeats: Bool
    private var handle: UnsafeMutablePointer<uv_timer_t>?
    private var isCancelled = false

    init(_ loop: Loop, _ job: @escaping @Sendable () -> Void, repeats: Bool) {
        self.loop = loop
        self.job = job
        self.repeats = repeats
    }

    func start(after: UInt64, repeating: UInt64) {
        guard !isCancelled, handle == nil else { return }
        let timer = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
        uv_timer_init(loop.raw, timer)
        timer.pointee.data = Unmanaged.passRetained(self).toOpaque()
        handle = timer
        uv_timer_start(
            timer,
            { handle in
                guard let data = handle?.pointee.data else { return }
                let timer = Unmanaged<LoopTimer>.fromOpaque(data).takeUnretainedValue()
                if !timer.repeats { timer.close() }
                timer.job()
            }, after, repeating)
        uv_unref(UnsafeMutableRawPointer(timer).assumingMemoryBound(to: uv_handle_t.self))
    }

    fileprivate func close() {
        guard let timer = handle else { return }
        handle = nil
        uv_timer_stop(timer)
        uv_close(UnsafeMutableRawPointer(timer).assumingMemoryBound(to: uv_handle_t.self)) { handle in
            guard let handle else { return }
            if let data = handle.pointee.data { Unmanaged<LoopTimer>.fromOpaque(data).release() }
            UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_timer_t.self).deallocate()
        }
    }

    /// From any thread: it does not fire after the loop has come to this.
    public func cancel() {
        let end: @Sendable () -> Void = {
            self.isCancelled = true
            self.close()
        }
        if loop.isCurrent { end() } else { loop.post(end) }
    }
}
