/// One followed file, as `FollowEngine` knows it.
final class Followed {
    let id: FollowID
    let path: String
    /// The path as it was given, for messages.
    let shown: String
    /// The state that was last told, or found when following began.
    var told = FileSignature()
    /// Since when a change of it could not be taken in, because it was being written; 0 when none waits.
    var putOffSince: UInt64 = 0
    /// What was told of it could not be read for want of descriptors or memory: the next look tells it again.
    var isUnread = false
    /// It was reported as kept open, and has not been closed since.
    var isOpenReported = false

    init(_ id: FollowID, _ path: String, shown: String) {
        self.id = id
        self.path = path
        self.shown = shown
    }

    /// A look at the file shows nothing new. A fresh signature proves that only where no event gave reason to doubt it.
    func isUnchanged(_ signature: FileSignature) -> Bool {
        signature == told && !told.isFresh
    }
}

/// What has been heard of a followed file and not been told yet. Times are monotonic nanoseconds.
struct PendingChange {
    enum State: Equatable {
        /// Nothing says that the content is whole: it is given a little time even when the quiet time is 0.
        case uncertain
        /// Closed after writing, or moved into its place.
        case whole
        /// Made, still empty and not closed: about to be written.
        case begun(since: UInt64)
        /// Written to and not closed.
        case open(since: UInt64)
    }
    var first: UInt64
    var last: UInt64
    var state = State.uncertain
    /// What the last look found.
    var seen = FileSignature()
    /// The round of listening of that look.
    var seenIn: UInt64 = 0
    /// The content was written to: told whatever the signature says.
    var isForced = false

    init(at now: UInt64) {
        first = now
        last = now
    }
}
