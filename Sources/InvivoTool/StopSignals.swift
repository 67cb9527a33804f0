import Glibc

/// SIGINT and SIGTERM, taken by waiting for them and not by a handler. Made first of all, before any thread.
struct StopSignals {
    private var set = sigset_t()

    init() {
        sigemptyset(&set)
        sigaddset(&set, SIGINT)
        sigaddset(&set, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Waits for one of them; answers its name.
    func await() -> String {
        var set = set
        var signal: Int32 = 0
        while sigwait(&set, &signal) != 0 {}
        return signal == SIGINT ? "SIGINT" : "SIGTERM"
    }

    /// Waits for one of them, but not longer than `time`; answers whether one came.
    func came(within time: Duration) -> Bool {
        var set = set
        let (seconds, attoseconds) = time.components
        var limit = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        return sigtimedwait(&set, nil, &limit) > 0
    }

    /// Runs `body` with the signals let through: for starting a program, which inherits what is blocked.
    func unblocked<Result>(_ body: () -> Result) -> Result {
        var set = set
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        defer { pthread_sigmask(SIG_BLOCK, &set, nil) }
        return body()
    }
}
