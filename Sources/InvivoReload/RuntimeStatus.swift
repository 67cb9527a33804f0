internal import CPlatform
public import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

/// The state of a runtime that explains why something takes effect late, or not at all.
public struct RuntimeStatus: Sendable {
    public struct Kept: Sendable {
        public let key: String
        public let dependency: String
        public let since: UInt64
    }

    public struct Former: Sendable {
        public let generation: UInt64
        /// Nanoseconds since it was replaced.
        public let age: UInt64
        public let objects: Int
        /// Of the instances of these objects, without what they point to.
        public let bytes: UInt64
        /// The threads that read it.
        public let threads: [UInt32]
    }

    public var generation: UInt64 = 0
    public var reloads: UInt64 = 0
    public var failures: UInt64 = 0
    public var lastError: Failure?
    /// The reload that runs, and what it does; nil without one.
    public var running: String?
    /// The change sets that wait for the worker.
    public var waitingSets = 0
    public var waitingJobs = 0
    /// The documents whose files have other bytes than the live content.
    public var diverged: [String] = []
    public var kept: [Kept] = []
    /// The keys of objects that a failed commit could not restore.
    public var unrestored: [String] = []
    /// The former generations, the oldest first.
    public var former: [Former] = []
    /// The open pins, the oldest first.
    public var pins: [Pins.Open] = []
    /// When it was taken, in monotonic nanoseconds.
    public var time: UInt64 = 0
}

extension Engine {
    public func status() -> RuntimeStatus {
        reclaimer.handOver()
        var status = RuntimeStatus()
        status.time = iv_coarse_ns()
        status.generation = container.currentGraph().generation
        (status.reloads, status.failures) = announcer.counts
        status.lastError = announcer.lastFailure
        (status.running, status.waitingSets) = turns.work
        status.diverged = documents.facts().filter { $0.divergence != nil }.map(\.document.name)
        status.pins = Pins.open(container.core, tag: container.tag)
        status.former = reclaimer.former()
        let unfinished = container.life.owners.unfinishedKeys
        let (graph, snapshot) = (container.currentGraph(), generations.snapshot)
        let (restores, marks) = container.monitor.locked {
            status.waitingJobs = container.domains.waitingJobs.count
            return (reloader.restores.keys, snapshot.kept.holders.map { ($0, snapshot.kept.of($0, in: graph)) })
        }
        status.unrestored = restores.union(unfinished).map(container.keyName).sorted()
        for (holder, dependencies) in marks {
            for (dependency, since) in dependencies {
                let shown = container.names.configPath(dependency) ?? container.keyName(dependency)
                status.kept.append(.init(key: container.keyName(holder), dependency: shown, since: since))
            }
        }
        status.kept.sort { ($0.key, $0.dependency) < ($1.key, $1.dependency) }
        return status
    }
}
