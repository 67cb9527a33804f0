/// One followed file of a follower.
public struct FollowID: Hashable, Sendable {
    let number: UInt64
}

/// A followed file that may have changed. Times are monotonic nanoseconds.
public struct FileBurst: Sendable {
    public let id: FollowID
    public let firstEventNs: UInt64
    public let lastEventNs: UInt64
    /// As the last look found it; `Int64.max` where there is no regular file.
    public let size: Int64
}

/// Followed files whose changes were noticed, before they settle.
public struct FileDetection: Sendable {
    /// Files with a change that is new.
    public let begun: [FollowID]
    /// Files whose change turned out to be none, and is not reported.
    public let dropped: [FollowID]
}

/// The way in which a file is followed.
public enum FollowMode: Sendable, Equatable {
    /// All directories on the path are watched.
    case watching
    /// The file is checked at intervals.
    case polling(milliseconds: UInt64, reason: String)
}

/// Counts of changes that were found without an event, since following began.
public struct FollowCounts: Sendable, Equatable {
    /// The number of overflows of the kernel's event queue.
    public var overflows: UInt64 = 0
    /// The number of checks of all files without an event: after an overflow, and at intervals.
    public var rescans: UInt64 = 0
    /// Changes that were found so in files whose directories are watched.
    public var unannounced: UInt64 = 0
    public init() {}
}

extension FileFollower {
    /// The times for which changes settle before they are reported, in milliseconds.
    public struct Settle: Sendable {
        /// The quiet time after the last event of a burst. 0: a burst is reported as soon as the file is closed or
        /// renamed.
        public var quiet: UInt64 = 10
        /// The longest time that a burst lasts, and the time after which a missing file is treated as removed.
        public var maximum: UInt64 = 250
        /// The time after which a file that is still open for writing is reported, with a warning.
        public var openForWriteCap: UInt64 = 2_000
        /// The interval of checks without events.
        public var sweep: UInt64 = 2_000
        public init() {}
    }
}
