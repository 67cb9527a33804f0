import Glibc
import InvivoBase
import InvivoObjects

/// A build that a test scripts.
final class ScriptedBuild: WaitingBuild, @unchecked Sendable {
    var parent: ScriptedBuild?
    var awaited: (name: String, builder: (any WaitingBuild)?)?
    var keysInProgress: [String]
    var innerBuilds: [any WaitingBuild] = []
    var canBackOff = false
    var isReportedAsSlow = false
    var rootBuild: any WaitingBuild { parent?.rootBuild ?? self }

    init(_ keys: String...) { keysInProgress = keys }

    func waits(for name: String, of builder: ScriptedBuild) { awaited = (name, builder) }
}

/// A runtime with domains and without objects.
final class ScriptedRuntime: JobRuntime, @unchecked Sendable {
    let monitor = Monitor()
    let waits: Waits
    let domains: DomainTable
    let messages = Messages()
    /// The build of the test's thread.
    var build: ScriptedBuild?
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

    var currentBuild: (any WaitingBuild)? { currentThread().identity == identity ? build : nil }
    var buildBeneath: (any WaitingBuild)? { currentBuild }
    var isBuildingHere: Bool { currentBuild != nil }
    func run(for build: (any WaitingBuild)?, _ body: () -> Failure?) -> Failure? { body() }
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
