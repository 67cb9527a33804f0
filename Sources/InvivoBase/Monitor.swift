internal import CPlatform
internal import Glibc

/// A mutex with one condition, on the monotonic clock. Held briefly, never while host code runs.
///
/// Objects are deallocated, and destroy functions of the host are called, only while the calling thread holds no
/// monitor. Code that drops a last reference under a monitor postpones this with `afterUnlocking`; the last `unlock`
/// runs it.
public final class Monitor: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    /// `isProcessWide`: for the few monitors that belong to no runtime and that a forked child needs. They are leaves,
    /// taken while no other one is held.
    public init(isProcessWide: Bool = false) {
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        _ = iv_condition_init(condition)
        if isProcessWide {
            let held = UnsafeMutablePointer<iv_held>.allocate(capacity: 1)
            held.initialize(to: iv_held(mutex: mutex, next: nil))
            iv_hold_across_fork(held)
        }
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    public func lock() {
        pthread_mutex_lock(mutex)
        iv_thread().pointee.locks &+= 1
    }
    public func unlock() {
        pthread_mutex_unlock(mutex)
        let thread = iv_thread()!
        thread.pointee.locks &-= 1
        if thread.pointee.locks == 0, thread.pointee.postponed != nil { Postponed.run(thread) }
    }
    /// Wakes all waiting threads. Call it with the lock held.
    public func broadcast() { pthread_cond_broadcast(condition) }
    /// Waits for a broadcast; spurious wake-ups are possible.
    public func wait() { pthread_cond_wait(condition, mutex) }

    /// Waits for a broadcast until `deadline` (monotonic nanoseconds). False when it has passed.
    public func wait(until deadline: UInt64) -> Bool {
        guard deadline != .max else {
            wait()
            return true
        }
        var time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
        return pthread_cond_timedwait(condition, mutex, &time) != ETIMEDOUT
    }

    /// In debug builds: fails when the calling thread holds no monitor.
    @inlinable @inline(__always)
    public func assertHeld() { assert(currentThread().isLocked, "the monitor is not held") }

    @inline(__always)
    public func locked<Result, E: Error>(_ body: () throws(E) -> Result) throws(E) -> Result {
        lock()
        defer { unlock() }
        return try body()
    }
}

/// Monotonic nanoseconds.
public func monotonicNow() -> UInt64 { iv_now_ns() }

/// The time `limit` nanoseconds after `moment`. The greatest number stands for no limit.
public func deadline(_ limit: UInt64, after moment: UInt64 = monotonicNow()) -> UInt64 {
    let (sum, isBeyond) = moment.addingReportingOverflow(limit)
    return isBeyond ? .max : sum
}

/// A duration in nanoseconds, for messages: "1.5 ms".
public func milliseconds(_ nanoseconds: UInt64) -> String {
    "\(nanoseconds / 1_000_000).\(nanoseconds / 100_000 % 10) ms"
}
