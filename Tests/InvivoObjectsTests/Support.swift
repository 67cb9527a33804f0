import Glibc
import InvivoBase
import InvivoObjects

/// An object that a test lets builds wait for.
final class ScriptedObject: Awaited {
    let awaitedName: String
    let maker: BuildChain?

    init(_ name: String, of maker: BuildChain? = nil) { (awaitedName, self.maker) = (name, maker) }
}

/// A runtime with domains and without objects.
final class ScriptedRuntime: JobRuntime, @unchecked Sendable {
    let monitor = Monitor()
    let waits: Waits
    let domains: DomainTable
    let messages = Messages()
    /// The chain of the build that the test's thread is in.
    var chain: BuildChain?
    private let identity = currentThread().identity

    init(
        defaultDomain: Domain = Domain(name: "main", kind: .thread(identity: currentThread().identity)),
        patience: Job.Patience = Job.Patience()
    ) {
        waits = Waits(monitor)
        domains = DomainTable(
            defaultDomain: defaultDomain, monitor: monitor, waits: waits,
            log: Log(level: Log.Level.warning.rawValue, sink: messages.sink), patience: patience)
        domains.connect(to: self)
    }

    private var current: BuildChain? { currentThread().identity == identity ? chain : nil }
    var outsideBuilds: JobContext { JobContext { body in body() } }
    var insideBuild: JobContext { JobContext(chain: current) { body in body() } }
    var beneath: Waits.Suspension? { current.map { Waits.Suspension($0, keys: []) } }
    var isBuildingHere: Bool { current != nil }
}

/// The messages of a log.
final class Messages: Sendable {
    private let texts = Guarded<[String]>([], by: Monitor())
    var all: [String] { texts.locked { $0 } }
    var sink: Log.Sink { { [self] _, message, _, _ in texts.locked { $0.append(message) } } }
}

/// Jobs that a posted domain's host has received and not run yet.
final class HostLoop: Sendable {
    private let jobs = Guarded<[Job]>([], by: Monitor())

    func domain(_ name: String = "host", isHere: (@Sendable () -> Bool)? = nil) -> Domain {
        Domain(
            name: name,
            kind: .posted(anyThread: false) { [self] job throws(Failure) in jobs.locked { $0.append(job) } },
            isHere: isHere)
    }

    func takeFirst() -> Job? { jobs.locked { $0.isEmpty ? nil : $0.removeFirst() } }

    /// Waits for the next job.
    func take() -> Job {
        while true {
            if let job = takeFirst() { return job }
            sched_yield()
        }
    }
}

/// Waits until `condition` holds; another thread makes it hold.
func wait(until condition: () -> Bool) { while !condition() { sched_yield() } }

/// A value that several threads set and read.
final class Shared<Value: Sendable>: Sendable {
    private let stored: Guarded<Value>
    init(_ value: Value) { stored = Guarded(value, by: Monitor()) }
    var value: Value {
        get { stored.locked { $0 } }
        set { stored.locked { $0 = newValue } }
    }
}
