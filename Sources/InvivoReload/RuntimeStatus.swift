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
    /// The number of steps of properties that move, in this generation.
    public var step: UInt64 = 0
    /// The number of blocks and objects with properties that move.
    public var moving = 0
    public var counts: (reloads: UInt64, failures: UInt64) = (0, 0)
    public var lastError: Failure?
    /// The reload that runs, and what it does; nil without one.
    public var running: String?
    /// The change sets that wait for the worker.
    public var waitingSets = 0
    public var waitingJobs = 0
    /// The documents whose files have other bytes than the live content.
    public var diverged: [String] = []
    public var kept: [Kept] = []
    /// The changes that wait for objects to be created again: of properties, or, without one, of definitions.
    public var restarts: [(key: String, property: String, since: UInt64)] = []
    /// The keys of objects that a failed commit could not restore.
    public var unrestored: [String] = []
    /// The former generations, the oldest first.
    public var former: [Former] = []
    /// The open pins, the oldest first.
    public var pins: [Pins.Open] = []
    /// When it was taken, in monotonic nanoseconds.
    public var time: UInt64 = 0
}
