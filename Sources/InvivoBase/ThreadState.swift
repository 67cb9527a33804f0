public import CPlatform
internal import Glibc

public typealias ThreadState = UnsafeMutablePointer<iv_thread>

/// The calling thread's state. Belongs to this thread alone.
@inlinable @inline(__always)
public func currentThread() -> ThreadState { iv_thread() }

/// The build that a thread is in, as one word of its state: the object of a build, or a build plan that it runs. Host code that
/// runs detached from the build still finds it there: that code may resolve an object of the build.
@frozen
public struct ThreadBuild {
    @usableFromInline let word: UnsafeMutableRawPointer?

    /// The lowest bits of the word; the rest is a pointer.
    @usableFromInline
    enum Tag {
        /// Marks a pointer to the `iv_running` of a build plan.
        @usableFromInline static let plan: UInt = 1
        /// Host code runs detached from it.
        @usableFromInline static let detached: UInt = 2
    }

    @inlinable @inline(__always)
    public init(word: UnsafeMutableRawPointer?) { self.word = word }

    /// In no build.
    @inlinable @inline(__always)
    public static var none: ThreadBuild { ThreadBuild(word: nil) }

    /// In the build of an object, which is not retained.
    @inlinable @inline(__always)
    public init(object: UnsafeMutableRawPointer?) { word = object }

    @inlinable @inline(__always)
    public init(plan: UnsafeMutablePointer<iv_running>) { word = UnsafeMutableRawPointer(plan) + Int(Tag.plan) }

    @inlinable @inline(__always)
    public var isNone: Bool { word == nil }

    @inlinable @inline(__always)
    public var isDetached: Bool { has(Tag.detached) }

    /// The same build for host code that does not belong to it.
    @inlinable @inline(__always)
    public var detached: ThreadBuild {
        word == nil ? self : ThreadBuild(word: UnsafeMutableRawPointer(bitPattern: bits | Tag.detached))
    }

    /// The object of the build, detached from it or not; nil for a build plan.
    @inlinable @inline(__always)
    public var object: UnsafeMutableRawPointer? { has(Tag.plan) ? nil : pointer }

    /// The build plan that runs, detached from it or not; nil for another build.
    @inlinable @inline(__always)
    public var plan: UnsafeMutablePointer<iv_running>? {
        has(Tag.plan) ? pointer?.assumingMemoryBound(to: iv_running.self) : nil
    }

    @inlinable @inline(__always)
    var bits: UInt { UInt(bitPattern: word) }

    @inlinable @inline(__always)
    func has(_ tag: UInt) -> Bool { bits & tag != 0 }

    @inlinable @inline(__always)
    var pointer: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: bits & ~(Tag.plan | Tag.detached)) }
}

extension iv_around {
    @inlinable @inline(__always)
    public var threadBuild: ThreadBuild { ThreadBuild(word: build) }
}

extension UnsafeMutablePointer where Pointee == iv_thread {
    /// A number for this thread that is never reused.
    @inlinable @inline(__always)
    public var identity: UInt64 {
        let id = pointee.id
        return id != 0 ? id : makeIdentity()
    }

    @usableFromInline
    func makeIdentity() -> UInt64 {
        pointee.id = iv_add_u64(iv_live_thread_ids(), 1) &+ 1
        return pointee.id
    }

    /// The build that this thread is in.
    @inlinable @inline(__always)
    public var build: ThreadBuild {
        get { ThreadBuild(word: pointee.build) }
        nonmutating set { pointee.build = newValue.word }
    }

    /// Runs `body` in another build, as a callback of another runtime (`engine`). The former ones can be found meanwhile.
    @inlinable @inline(__always)
    public func inside<Result>(
        _ build: ThreadBuild, engine: UnsafeMutableRawPointer?, _ body: () -> Result
    ) -> Result {
        assertUnlocked()
        var around = iv_around(build: pointee.build, engine: pointee.engine, outer: pointee.around)
        return withUnsafeMutablePointer(to: &around) { around in
            pointee.around = around
            pointee.build = build.word
            pointee.engine = engine
            defer {
                pointee.build = around.pointee.build
                pointee.engine = around.pointee.engine
                pointee.around = around.pointee.outer
            }
            return body()
        }
    }

    /// Makes the end of this thread release its reader slots and object slots.
    public func prepareForExit() {
        guard pointee.prepared == 0 else { return }
        pointee.prepared = 1
        iv_at_thread_exit { thread in
            guard let thread else { return }
            // Thread-local objects end while the thread can still run any code.
            ThreadEnd.handler(thread.pointee.id)
            Readers.leaveAll(thread)
            ObjectTable.returnMagazine(thread)
        }
        iv_thread_exit_arm()
    }
}

/// Handles the end of threads that have used a runtime; set once by InvivoWiring, before the first of them.
public enum ThreadEnd {
    public static var handler: @convention(c) (UInt64) -> Void {
        get { iv_thread_ended() }
        set { iv_set_thread_ended(newValue) }
    }
}

/// Runs host code that any call may have to run. It may not wait for a reload or close a runtime, because this thread
/// may be in the middle of one.
public func asCallback(_ body: () -> Void) {
    let thread = currentThread()
    thread.assertUnlocked()
    let former = thread.pointee.engine
    // An address that is no engine: the thread is in a callback, but not in a reload of a known runtime.
    if former == nil { thread.pointee.engine = UnsafeMutableRawPointer(thread) }
    body()
    thread.pointee.engine = former
}

/// Runs a destroy function of the host detached from the current build. Under a monitor it is postponed.
public func ending(_ destroy: @escaping () -> Void) {
    let thread = currentThread()
    guard thread.pointee.locks == 0 else { return thread.afterUnlocking { ending(destroy) } }
    let former = thread.build
    thread.build = former.detached
    asCallback(destroy)
    thread.build = former
}

extension UnsafeMutablePointer where Pointee == iv_thread {
    /// Runs a function of the host that may be called under any lock. Calls of the runtime from it are refused. Objects
    /// that it releases end afterwards.
    public func asking(_ body: () -> Bool) -> Bool {
        pointee.asking &+= 1
        pointee.locks &+= 1
        defer {
            pointee.asking &-= 1
            pointee.locks &-= 1
            if pointee.locks == 0, pointee.postponed != nil { Postponed.run(self) }
        }
        return body()
    }
}

extension UnsafeMutablePointer where Pointee == iv_thread {
    /// Runs host code that may not call the runtime with this tag, on a thread that is not inside that runtime.
    public func barred<Result>(from tag: UInt64, _ body: () -> Result) -> Result {
        pointee.barred = tag
        // Where reads look first: see `Readers.seat`.
        pointee.core = nil
        pointee.reader = nil
        defer { pointee.barred = 0 }
        return body()
    }
}

/// Work that a thread must not do while it holds a monitor, in the order of its arrival.
final class Postponed {
    fileprivate var work: [() -> Void] = []

    /// Called by the thread that has just unlocked its last monitor.
    @inline(never)
    static func run(_ thread: ThreadState) {
        while let pointer = thread.pointee.postponed {
            thread.pointee.postponed = nil
            for work in Unmanaged<Postponed>.fromOpaque(pointer).takeRetainedValue().work { work() }
        }
    }
}

extension UnsafeMutablePointer where Pointee == iv_thread {
    /// Runs `work` as soon as this thread holds no monitor: at once where it holds none.
    @inline(never)
    public func afterUnlocking(_ work: @escaping () -> Void) {
        guard pointee.locks > 0 else { return work() }
        let known = pointee.postponed.map { Unmanaged<Postponed>.fromOpaque($0) }
        let postponed = known ?? .passRetained(Postponed())
        pointee.postponed = postponed.toOpaque()
        postponed.takeUnretainedValue().work.append(work)
    }

    /// Whether the thread holds a monitor.
    @usableFromInline var isLocked: Bool { pointee.locks > 0 }

    /// In debug builds: host code must not run, and nothing may end, under a monitor.
    @inlinable @inline(__always)
    public func assertUnlocked() { assert(pointee.locks == 0, "under a monitor") }
}
