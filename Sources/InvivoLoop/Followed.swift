/// One followed file, as `FollowEngine` knows it.
final class Followed {
    let id: FollowID
    let path: String
    /// The path as it was given, for messages.
    let shown: String
    /// The state that was last reported, or found when following began.
    var reported = FileSignature()
    /// The time since which a change is deferred because the file is being written; 0 without one.
    var putOffSince: UInt64 = 0
    /// The reported content could not be read for lack of descriptors or memory: the next check reports it again.
    var isUnread = false
    /// Whether it was reported as open for writing, and has not been closed since.
    var isOpenReported = false

    init(_ id: FollowID, _ path: String, shown: String) {
        self.id = id
        self.path = path
        self.shown = shown
    }

    /// Whether a check found no change. A fresh signature proves that only if no event announced a change.
    func isUnchanged(_ signature: FileSignature) -> Bool {
        signature == reported && !reported.isFresh
    }
}

/// A change of a followed file that is not reported yet. Times are monotonic nanoseconds.
struct PendingChange {
    enum State: Equatable {
        /// No event shows that the content is complete: the file gets a short time to settle, even if the quiet time is
        /// 0.
        case uncertain
        /// Closed after writing, or renamed to the path.
        case whole
        /// Created, still empty and not closed: about to be written.
        case begun(since: UInt64)
        /// Written to and not closed.
        case open(since: UInt64)
    }
    var first: UInt64
    var last: UInt64
    var state = State.uncertain
    /// The state at the last check.
    var seen = FileSignature()
    /// The round of listening of that look.
    var seenIn: UInt64 = 0
    /// The content was written: the change is reported even if the signature is the same.
    var isForced = false

    init(at now: UInt64) {
        first = now
        last = now
    }
}
