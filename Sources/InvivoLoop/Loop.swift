internal import CPlatform
internal import CUv
internal import Glibc
public import InvivoBase

/// One libuv loop on a thread of its own: jobs in the order in which they were posted, timers, descriptors.
///
/// The thread takes none of the host's signals, and libuv's pool of worker threads is never used, because its threads
/// never end. The thread keeps the loop alive, so a loop lives until `stop`, however few hold it. Everything that
/// touches libuv runs on the thread, except `uv_async_send`.
///
/// Unchecked: libuv's structures, the residents and the confined objects belong to the thread.
public final class Loop: @unchecked Sendable {
    private enum State { case running, stopping, stopped }

    private let monitor = Monitor()
    let home = HomeProcess()
    /// The libuv structures, owned by the thread from its start to its end; freed by it.
    let uv: UnsafeMutablePointer<uv_loop_t>
    private let wake: UnsafeMutablePointer<uv_async_t>

    // Under the monitor.
    private var thread: OwnThread?
    private var state = State.running
    private var jobs: [@Sendable () -> Void] = []
    /// The kernel's number of the thread, once it runs.
    private var number: Int32 = 0

    /// The handles that must be closed before the loop can end. Used by its thread only.
    private var residents: [ObjectIdentifier: any LoopResident] = [:]
    /// On the thread alone: objects that must not leave it, by their owners, which any thread may have.
    private var confined: [ObjectIdentifier: AnyObject] = [:]

    /// Starts the thread; debuggers and `top` show it by the beginning of `name`.
    public init(name: String) throws(Failure) {
        uv = .allocate(capacity: 1)
        wake = .allocate(capacity: 1)
        // libuv aborts the process when its first two descriptors cannot be had, so whether they can is asked before.
        var code = Loop.probeDescriptors(8)
        if code == 0 { code = uv_loop_init(uv) }
        guard code == 0 else {
            uv.deallocate()
            wake.deallocate()
            throw Failure(.system, "the loop cannot be created: \(systemText(-code)); expected some free descriptors")
        }
        uv.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        code = uv_async_init(uv, wake) { handle in
            guard let handle, let data = handle.pointee.loop.pointee.data else { return }
            Unmanaged<Loop>.fromOpaque(data).takeUnretainedValue().runJobs()
        }
        var failure = Failure(.system, "the loop cannot be created: \(systemText(-code))")
        if code == 0 {
            do throws(Failure) {
                // The thread's first act is to take the monitor, so it finds `thread` stored.
                try monitor.locked { () throws(Failure) in
                    thread = try OwnThread("\(name.prefix(8))-loop") { self.run() }
                }
                return
            } catch { failure = error }
            uv_close(erased(wake), nil)
            uv_run(uv, UV_RUN_DEFAULT)
        }
        uv_loop_close(uv)
        uv.deallocate()
        wake.deallocate()
        throw failure
    }

    // MARK: - From any thread

    /// Runs `job` on the loop's thread, after earlier jobs. Returns false, and drops the job, when the loop is stopping
    /// or belongs to the parent process.
    @discardableResult
    public func post(_ job: @escaping @Sendable () -> Void) -> Bool {
        guard home.isHere else { return false }
        return monitor.locked {
            guard state == .running else { return false }
            jobs.append(job)
            // Under the monitor, because after `stopping` the handle may be closed at any time.
            if jobs.count == 1 { uv_async_send(wake) }
            return true
        }
    }

    /// The kernel's number of the thread; 0 before it runs.
    public var threadNumber: Int32 { monitor.locked { number } }

    /// True on the loop's own thread.
    public var isCurrent: Bool {
        guard home.isHere else { return false }
        return monitor.locked { state != .stopped && thread?.isCurrent == true }
    }

    /// Runs `job` on the loop's thread in so many milliseconds, and every `repeating` milliseconds after that when it is
    /// not 0. The timer lives until it is cancelled, has fired for the last time, or the loop stops.
    @discardableResult
    public func schedule(
        after milliseconds: UInt64, repeating: UInt64 = 0, _ job: @escaping @Sendable () -> Void
    ) -> LoopTimer {
        let timer = LoopTimer(loop: self, repeating: repeating, job: job)
        if isCurrent {
            timer.start(after: milliseconds)
        } else {
            post { timer.start(after: milliseconds) }
        }
        return timer
    }

    /// Runs the posted jobs, closes every handle and joins the thread. When it returns true, the loop has no resources
    /// left.
    ///
    /// May be called repeatedly, and by several threads at once: each call returns when the loop has ended. On the
    /// loop's own thread, and in a forked child, it does nothing and returns false.
    @discardableResult
    public func stop() -> Bool {
        guard home.isHere, !isCurrent else { return false }
        let joins = monitor.locked {
            guard state == .running else {
                while state != .stopped { monitor.wait() }
                return false
            }
            state = .stopping
            uv_async_send(wake)
            return true
        }
        guard joins else { return true }
        thread?.join()
        monitor.locked {
            state = .stopped
            monitor.broadcast()
        }
        return true
    }

    // MARK: - On the thread

    /// Notifies `resident` when the loop ends. Retained until it leaves.
    func enter(_ resident: any LoopResident) { residents[ObjectIdentifier(resident)] = resident }
    func leave(_ resident: any LoopResident) { residents[ObjectIdentifier(resident)] = nil }

    /// Keeps `object` for `owner`, which removes it with nil before it ends.
    func confine(_ object: AnyObject?, to owner: AnyObject) {
        assert(isCurrent, "on another thread than the loop's")
        confined[ObjectIdentifier(owner)] = object
    }

    /// The object that was last kept for `owner`.
    func confined<Object: AnyObject>(to owner: AnyObject, as type: Object.Type) -> Object? {
        assert(isCurrent, "on another thread than the loop's")
        return confined[ObjectIdentifier(owner)] as? Object
    }

    private func runJobs() {
        while true {
            let (batch, ends) = monitor.locked {
                let batch = jobs
                jobs = []
                return (batch, state != .running)
            }
            for job in batch { job() }
            guard ends else { return }
            guard batch.isEmpty else { continue }
            for resident in residents.values { resident.loopEnds() }
            residents = [:]
            if uv_is_closing(erased(wake)) == 0 { uv_close(erased(wake), nil) }
            return
        }
    }

    private func run() {
        monitor.locked { number = iv_gettid() }
        uv_run(uv, UV_RUN_DEFAULT)
        // They may refer to this loop.
        confined = [:]
        uv_loop_close(uv)
        uv.deallocate()
        wake.deallocate()
    }

    private static func probeDescriptors(_ count: Int) -> Int32 {
        var code: Int32 = 0
        var open: [Int32] = []
        while open.count < count && code == 0 {
            let descriptor = epoll_create1(O_CLOEXEC)
            if descriptor < 0 { code = -errno } else { open.append(descriptor) }
        }
        for descriptor in open { close(descriptor) }
        return code
    }
}

/// An owner of a libuv handle. It is notified on the loop's thread when the loop ends, and then closes its handle.
protocol LoopResident: AnyObject {
    func loopEnds()
}

/// The part that every libuv handle begins with.
func erased<Handle>(_ handle: UnsafeMutablePointer<Handle>) -> UnsafeMutablePointer<uv_handle_t> {
    UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)
}
