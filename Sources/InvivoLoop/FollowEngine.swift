internal import InvivoBase

/// Detecting and settling, without threads. Its input is events and file states; its output is bursts and the time of
/// the next check. Guarded by the monitor of its `FileFollower`.
///
/// Only directories are watched: each one on the path. Events are hints. A check of the file decides whether there is a
/// change to report.
final class FollowEngine {
    struct Outcome: Sendable {
        var bursts: [FileBurst] = []
        var troubles: [Failure] = []
        /// The time of the next call without events (monotonic nanoseconds).
        var next: UInt64?
    }

    /// The interval of checks for files whose directories cannot be watched, and the settle time of a file without a
    /// sign of being complete (nanoseconds).
    static let pollInterval: UInt64 = 200_000_000
    static let grace: UInt64 = 20_000_000

    let world: any FileWorld
    private(set) var quiet: UInt64
    private(set) var maximum: UInt64
    private(set) var cap: UInt64
    private let sweepInterval: UInt64
    private var lastNumber: UInt64 = 0
    private(set) var followed: [FollowID: Followed] = [:]
    var pending: [FollowID: PendingChange] = [:]
    let watches: WatchTable
    private var nextSweep: UInt64 = 0
    private var nextPoll: UInt64 = 0
    /// The number of the event round. Files that were checked in the same round are reported without another check.
    private(set) var round: UInt64 = 0
    private(set) var counts = FollowCounts()

    init(world: any FileWorld, settle: FileFollower.Settle) {
        self.world = world
        (quiet, maximum, cap) = settle.nanoseconds
        sweepInterval = max(nanoseconds(settle.sweep), 1_000_000)
        watches = WatchTable(world, pollInterval: min(sweepInterval, Self.pollInterval))
    }

    /// Sets the times for which changes settle, except the interval of checks. They apply to pending changes, too.
    func take(_ settle: FileFollower.Settle) { (quiet, maximum, cap) = settle.nanoseconds }

    // MARK: - What is followed

    func follow(_ path: String, shown: String? = nil) -> FollowID {
        lastNumber += 1
        let file = Followed(FollowID(number: lastNumber), path, shown: shown ?? path)
        if followed.isEmpty {
            nextSweep = world.now() + sweepInterval
            nextPoll = world.now() + watches.pollInterval
        }
        followed[file.id] = file
        watches.add(file.id, path)
        file.reported = world.signature(path)
        return file.id
    }

    /// Schedules another report of a file that was being written when it was read. `since` is the time of the first
    /// event of the change. The file is reported soon, independent of further events, and immediately when it is
    /// closed.
    func lookAgain(_ id: FollowID, since: UInt64) {
        guard let file = followed[id] else { return }
        file.putOffSince = file.putOffSince == 0 ? since : min(file.putOffSince, since)
        guard pending[id] == nil else { return }
        var change = touched(id, at: world.now())
        change.seen = world.signature(file.path)
        change.isForced = true
        pending[id] = change
    }

    /// Reports the file again at the next check of all files, after a failure for lack of descriptors or memory.
    func readAgain(_ id: FollowID) { followed[id]?.isUnread = true }

    func unfollow(_ id: FollowID) {
        guard followed.removeValue(forKey: id) != nil else { return }
        pending[id] = nil
        watches.remove(id)
    }

    func removeAll() {
        watches.removeAll()
        followed = [:]
        pending = [:]
    }

    /// The way in which a file is currently followed.
    func following(_ id: FollowID) -> FollowMode? { watches.mode(id) }

    // MARK: - Events

    /// Reads the pending events. Returns false when more remain.
    func listen() -> Bool {
        let now = world.now()
        round += 1
        // The files with events, and whether their paths may resolve differently.
        var hasMoved: [FollowID: Bool] = [:]
        let isAll = world.drain { event in
            if event.changes.contains(.overflow) {
                counts.overflows += 1
                counts.rescans += 1
                for id in followed.keys {
                    // The lost events may include a close.
                    var change = touched(id, at: now)
                    change.state = .uncertain
                    pending[id] = change
                    hasMoved[id] = true
                }
                return
            }
            for (id, moved) in watches.concerned(by: event) {
                guard let file = followed[id] else { continue }
                var change = touched(id, at: now)
                if !event.name.isEmpty { note(event.changes, file, &change, now) }
                pending[id] = change
                hasMoved[id] = hasMoved[id] == true || moved
            }
        }
        for (id, moved) in hasMoved.sorted(by: { $0.key.number < $1.key.number }) {
            if let file = followed[id] { look(file, hasMoved: moved) }
        }
        return isAll
    }

    private func note(
        _ changes: WatchEvent.Changes, _ file: Followed, _ change: inout PendingChange, _ now: UInt64
    ) {
        if changes.contains(.modified) {
            if case .open = change.state {} else { change.state = .open(since: now) }
            change.isForced = true
        } else if changes.contains(.closedAfterWriting) {
            change.state = .whole
            change.isForced = true
            file.isOpenReported = false
        } else if changes.contains(.movedIn) {
            change.state = .whole
            file.isOpenReported = false
        } else if changes.contains(.created) {
            change.state = .begun(since: now)
        } else if changes.contains(.removed) {
            change.state = .uncertain
        }
    }

    /// Checks a file after an event; drops the change when the file is unchanged.
    private func look(_ file: Followed, hasMoved: Bool) {
        guard var change = pending[file.id] else { return }
        if hasMoved { watches.walk(file.id) }
        change.seen = world.signature(file.path)
        if change.seen.isLink && watches.endsWithoutLink(file.id) {
            // Watched first, then looked at.
            watches.walk(file.id)
            change.seen = world.signature(file.path)
        }
        change.seenIn = round
        switch change.state {
        case .begun where change.seen.kind != .file || change.seen.size > 0: change.state = .uncertain
        // Not the file that is being written to any more.
        case .open where change.seen.kind != .file: change.state = .uncertain
        default: break
        }
        let isNothing = !change.isForced && file.isUnchanged(change.seen)
        pending[file.id] = isNothing ? nil : change
    }

    /// The pending change of a file with a new event; store it back when done.
    private func touched(_ id: FollowID, at now: UInt64) -> PendingChange {
        var change = pending[id] ?? PendingChange(at: now)
        change.last = now
        return change
    }

    // MARK: - Checks without events

    /// Checks the files that are due; returns the time of the next check.
    func sweep() -> UInt64? {
        guard !followed.isEmpty else { return nil }
        let now = world.now()
        let isSweep = now >= nextSweep
        let isPoll = watches.unwatched > 0 && now >= nextPoll
        guard isSweep || isPoll else { return watches.unwatched > 0 ? min(nextSweep, nextPoll) : nextSweep }
        counts.rescans += 1
        for file in followed.values {
            let isWatched = watches.isWatched(file.id)
            guard pending[file.id] == nil, isSweep || !isWatched else { continue }
            let signature = world.signature(file.path)
            // Where events are available, they cover changes within one tick of the file system's clock.
            let isSame = isWatched ? signature == file.reported : file.isUnchanged(signature)
            let isUnread = isSweep && file.isUnread
            if isSweep && !isWatched { watches.walk(file.id) }
            guard !isSame || isUnread else { continue }
            if watches.isWatched(file.id) && !isSame { counts.unannounced += 1 }
            var change = touched(file.id, at: now)
            change.seen = signature
            change.isForced = isUnread
            pending[file.id] = change
            watches.walk(file.id)
        }
        if isSweep { nextSweep = now + sweepInterval }
        nextPoll = now + watches.pollInterval
        return watches.unwatched > 0 ? min(nextSweep, nextPoll) : nextSweep
    }
}

extension FileFollower.Settle {
    fileprivate var nanoseconds: (quiet: UInt64, maximum: UInt64, cap: UInt64) {
        (InvivoLoop.nanoseconds(quiet), InvivoLoop.nanoseconds(maximum), InvivoLoop.nanoseconds(openForWriteCap))
    }
}

/// Milliseconds of a setting as nanoseconds, at most a year.
private func nanoseconds(_ milliseconds: UInt64) -> UInt64 { min(milliseconds, 31_536_000_000) * 1_000_000 }
