internal import InvivoBase
internal import InvivoLoop
internal import InvivoWiring

/// The loop thread of a runtime, started when it is first needed.
final class LoopThread: Sendable {
    private let container: Container
    private let name: String
    private let loop: Guarded<Loop?>
    /// The number of users that need it although no file is followed.
    private let keepers: Guarded<Int>

    /// `name` is the runtime's.
    init(_ container: Container, name: String, running: Loop?) {
        self.container = container
        self.name = name
        loop = Guarded(running, by: container.monitor)
        keepers = Guarded(0, by: container.monitor)
    }

    /// The loop, if it runs.
    var running: Loop? { loop.locked { $0 } }

    /// The loop, started if it does not run. Fails while the runtime is closing.
    func start() throws(Failure) -> Loop {
        if let running { return running }
        let started = try Loop(name: name)
        let kept = loop.locked { loop -> Loop? in
            // Close has ended the loop, and would not end this one.
            if loop == nil && !container.isClosing { loop = started }
            return loop
        }
        if kept !== started { started.stop() }
        guard let kept else { throw Failure(.closed, "the runtime is closing") }
        return kept
    }

    /// For callers that hold the monitor: keeps a loop until `release`. Returns false if it has ended meanwhile.
    func keep(_ started: Loop) -> Bool {
        guard loop.held({ $0 === started }) else { return false }
        keepers.held { $0 += 1 }
        return true
    }

    /// For callers that hold the monitor.
    func release() { keepers.held { $0 -= 1 } }
    var isKept: Bool { keepers.held { $0 > 0 } }

    /// For callers that hold the monitor: gives up the loop, which the caller stops when it has unlocked.
    func take() -> Loop? {
        loop.held { loop in
            defer { loop = nil }
            return loop
        }
    }
}
