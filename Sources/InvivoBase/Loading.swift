internal import CPlatform

/// The time limit for reading and planning on a thread. The limit is stored with the thread. A runtime that closes ends
/// it earlier.
public enum Loading {
    /// Whether the runtime that a thread loads for is asked to close. Set once, by the first runtime.
    public static var isAskedToClose: @convention(c) (_ engine: UnsafeMutableRawPointer) -> Bool {
        get { iv_is_asked_to_close() }
        set { iv_set_is_asked_to_close(newValue) }
    }

    public static var abandoned: Failure { Failure(.closed, "the runtime is closing: loading is abandoned") }

    /// Runs `body`, which reads and plans documents on this thread, with a limit in nanoseconds; 0 is none.
    public static func within<Result>(_ limit: UInt64, _ body: () -> Result) -> Result {
        let thread = currentThread()
        let former = thread.pointee.load_deadline
        thread.pointee.load_deadline = limit == 0 ? 0 : monotonicNow() &+ limit
        defer { thread.pointee.load_deadline = former }
        return body()
    }

    /// Throws when this thread's loading has exceeded its time, or when its runtime closes. Called in each loop over a
    /// part of a document that may have many elements.
    public static func check() throws(Failure) {
        let thread = currentThread()
        guard thread.pointee.load_deadline != 0, let engine = thread.pointee.engine else { return }
        guard !isAskedToClose(engine) else { throw abandoned }
        guard monotonicNow() >= thread.pointee.load_deadline else { return }
        throw Failure(.timeout, "loading takes too long and is abandoned; load_timeout_ms permits more")
    }
}

/// Checks the limit at every 64th step, for steps that are cheaper than a check.
public struct LoadSteps {
    private var count: UInt32 = 0

    public init() {}

    public mutating func step() throws(Failure) {
        count &+= 1
        if count % 64 == 0 { try Loading.check() }
    }
}
