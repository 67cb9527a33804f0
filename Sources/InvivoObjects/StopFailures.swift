public import InvivoBase

/// Failures of stops that no caller waits for: they are logged, and a thread may gather them.
public final class StopFailures: Sendable {
    private let log: Log
    /// Nil while nothing gathers them.
    private let gathered: Guarded<[Failure]?>

    /// `monitor` is the runtime's.
    public init(_ monitor: Monitor, log: Log) {
        self.log = log
        gathered = .init(nil, by: monitor)
    }

    public func note(_ failure: Failure) {
        log(.error, failure.text)
        gathered.locked { $0?.append(failure) }
    }

    /// Runs `body`, and returns the failures of stops meanwhile.
    public func gathering(_ body: () -> Void) -> [Failure] {
        gathered.locked { $0 = [] }
        body()
        return gathered.locked { failures in
            defer { failures = nil }
            return failures ?? []
        }
    }
}
