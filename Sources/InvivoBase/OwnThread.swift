internal import CPlatform
internal import Glibc

/// A thread of the runtime.
///
/// It blocks the host's signals, but not those of faults, so that a host's crash handler receives them. Its creator
/// joins it before the creator ends, or detaches it if it does not end.
public final class OwnThread: Sendable {
    private let thread: pthread_t

    /// Starts it. `body` is kept until it has run; debuggers and `top` show `name`, of which 15 bytes count.
    public init(_ name: String, _ body: @escaping () -> Void) throws(Failure) {
        var code = Int32(ENOMEM)
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        if pthread_attr_init(&attributes) == 0 {
            defer { pthread_attr_destroy(&attributes) }
            // The mask is set in the attributes, so that the caller's own mask is not changed.
            var mask = Self.blocked
            iv_attr_set_mask(&attributes, &mask)
            let work = Unmanaged.passRetained(Work(name, body))
            code = pthread_create(&thread, &attributes, Self.run, work.toOpaque())
            if code != 0 { work.release() }
        }
        guard code == 0 else {
            throw Failure(.system, "no thread could be started: \(String(cString: strerror(code)))")
        }
        self.thread = thread
        _ = iv_add_u64(iv_live_threads(), 1)
    }

    /// Waits until it has ended. Once, and by another thread.
    public func join() {
        pthread_join(thread, nil)
        _ = iv_sub_u64(iv_live_threads(), 1)
    }

    /// Gives up the join. The thread calls `endDetached` as the last step of its body.
    public func detach() { pthread_detach(thread) }

    /// Called by a detached thread at its end.
    public static func endDetached() { _ = iv_sub_u64(iv_live_threads(), 1) }

    /// Whether the calling thread is this one.
    public var isCurrent: Bool { pthread_equal(pthread_self(), thread) != 0 }

    private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { work in
        guard let work else { return nil }
        let run = Unmanaged<Work>.fromOpaque(work).takeRetainedValue()
        // Set again: under sanitizers a thread begins with the mask of its creator and ignores the attributes.
        var mask = blocked
        pthread_sigmask(SIG_SETMASK, &mask, nil)
        iv_name_thread(run.name)
        run.body()
        return nil
    }

    private static var blocked: sigset_t {
        var mask = sigset_t()
        sigfillset(&mask)
        for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&mask, fault) }
        return mask
    }

    private final class Work {
        let name: String
        let body: () -> Void

        init(_ name: String, _ body: @escaping () -> Void) {
            self.name = name
            self.body = body
        }
    }
}
