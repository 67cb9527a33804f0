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

/// How a file is followed.
public enum FollowMode: Sendable, Equatable {
    /// Every directory that decides what its path means is watched.
    case watching
    /// It is looked at again and again.
    case polling(milliseconds: UInt64, reason: String)
}

/// What became of following files without an event. Counts since following began.
public struct FollowCounts: Sendable, Equatable {
    /// How often the kernel's queue of events overflowed.
    public var overflows: UInt64 = 0
    /// How often files were looked at without an event: after an overflow, and at times.
    public var rescans: UInt64 = 0
    /// Changes that were found so in files whose directories are watched.
    public var unannounced: UInt64 = 0
    public init() {}
}

extension FileFollower {
    /// How long changes are let settle before they are told; all in milliseconds.
    public struct Settle: Sendable {
        /// Without events before a burst is told; 0: at once, when the file has been closed or moved into its place.
        public var quiet: UInt64 = 10
        /// Endless events are cut off after this; so long may a file be away before it counts as gone.
        public var maximum: UInt64 = 250
        /// A file that is written to and not closed is told after this, and reported.
        public var openForWriteCap: UInt64 = 2_000
        /// How often files are looked at though nothing was heard.
        public var sweep: UInt64 = 2_000
        public init() {}
    }
}
