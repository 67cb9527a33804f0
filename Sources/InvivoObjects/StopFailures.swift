public import InvivoBase
internal import Synchronization

/// Failures of stops that no caller waits for: they are logged, and a thread may gather them.
public final class StopFailures: Sendable {
    private let log: Log
    /// Nil while nothing gathers them.
    private let gathered = Mutex<[Failure]?>(nil)

    public init(log: Log) { self.log = log }

    public func note(_ failure: Failure) {
        log(.error, failure.text)
        gathered.withLock { $0?.append(failure) }
    }

    /// Runs `body`, and returns the failures of stops meanwhile.
    public func gathering(_ body: () -> Void) -> [Failure] {
        gathered.withLock { $0 = [] }
        body()
        return gathered.withLock { failures in
            defer { failures = nil }
            return failures ?? []
        }
    }
}
