internal import CPlatform
public import InvivoBase

extension Container {
    /// Runs `body`, which reads and plans documents on this thread, with a limit in nanoseconds; 0 is none.
    public static func loading<Result>(within limit: UInt64, _ body: () -> Result) -> Result {
        let thread = currentThread()
        let former = thread.pointee.load_deadline
        thread.pointee.load_deadline = limit == 0 ? 0 : monotonicNow() &+ limit
        defer { thread.pointee.load_deadline = former }
        return body()
    }

    /// Under the monitor: whether a close waits for what is under way, or has begun.
    public var isAskedToClose: Bool { isClosing || waitingCloses > 0 }

    public static var loadingAbandoned: Failure {
        Failure(.closed, "the runtime is closing: loading is abandoned")
    }

    /// Throws when what this thread loads has taken too long, or its runtime closes. Called now and then by what may take long.
    public static func checkLoad() throws(Failure) {
        let thread = currentThread()
        guard thread.pointee.load_deadline != 0, let engine = thread.pointee.engine else { return }
        let container = Unmanaged<Container>.fromOpaque(engine).takeUnretainedValue()
        guard !container.monitor.locked({ container.isAskedToClose }) else { throw loadingAbandoned }
        guard monotonicNow() >= thread.pointee.load_deadline else { return }
        throw Failure(.timeout, "loading takes too long and is abandoned; load_timeout_ms permits more")
    }
}
