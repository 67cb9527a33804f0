import Glibc
import Synchronization

/// Receives SIGINT, SIGTERM and SIGHUP on a thread that waits for them, not in a handler.
///
/// The first signal requests the end of the tool. A second one, at least a tenth of a second later, ends it
/// immediately. Created before any other thread. A signal that is ignored from the start, as SIGHUP is below nohup,
/// stays ignored.
final class StopSignals: Sendable {
    /// Written by the thread, once: the number of the first signal.
    private let first = Atomic<Int32>(0)
    private let pipe: (read: Int32, write: Int32)

    init() {
        var ends: [Int32] = [-1, -1]
        _ = Glibc.pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        pipe = (ends[0], ends[1])
        var set = Self.set
        pthread_sigmask(SIG_BLOCK, &set, nil)
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self)
        let status = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<StopSignals>.fromOpaque(context).takeRetainedValue().listen()
            }, context.toOpaque())
        guard status != 0 else { return }
        // Without the thread, a signal ends the tool by its default action.
        context.release()
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    private static let names = [SIGINT: "SIGINT", SIGTERM: "SIGTERM", SIGHUP: "SIGHUP"]

    private static let set: sigset_t = {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in names.keys {
            var current = sigaction()
            sigaction(signal, nil, &current)
            let isIgnored = unsafeBitCast(current.__sigaction_handler.sa_handler, to: Int.self) == 1  // SIG_IGN
            if !isIgnored { sigaddset(&set, signal) }
        }
        return set
    }()

    private func listen() -> Never {
        var set = Self.set
        while true {
            var signal: Int32 = 0
            while sigwait(&set, &signal) != 0 {}
            guard first.compareExchange(expected: 0, desired: signal, ordering: .relaxed).exchanged else {
                _exit(128 + signal)
            }
            // Its reader sees the end of the file from now on, as often as it looks.
            close(pipe.write)
            // Signals are often sent to the process and to its group: those that arrive together are one request.
            usleep(100_000)
            var now = timespec()
            while sigtimedwait(&set, nil, &now) > 0 {}
        }
    }

    /// Waits for the first signal; returns its name.
    func await() -> String {
        while !came(within: nil) {}
        let signal = first.load(ordering: .relaxed)
        return Self.names[signal] ?? "signal \(signal)"
    }

    /// Waits for the first signal, at most `time`; returns whether it has arrived.
    func came(within time: Duration?) -> Bool {
        var waited = pollfd(fd: pipe.read, events: Int16(POLLIN), revents: 0)
        let milliseconds = time.map { Int32($0 / .milliseconds(1)) } ?? -1
        return poll(&waited, 1, milliseconds) > 0
    }

    /// Runs `body` with the signals unblocked: for starting a program, which inherits the signal mask.
    func unblocked<Result>(_ body: () -> Result) -> Result {
        var set = Self.set
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        defer { pthread_sigmask(SIG_BLOCK, &set, nil) }
        return body()
    }
}
