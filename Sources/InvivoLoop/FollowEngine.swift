internal import Glibc
internal import InvivoBase

/// Detecting and settling, without threads: what has been heard and seen goes in, bursts and the time of the next look
/// come out. Guarded by the monitor of its `FileFollower`.
///
/// Only directories are watched, each that decides what a path means. Events are hints: what a look at the file finds
/// decides whether there is anything to tell.
final class FollowEngine {
    struct Outcome {
        var bursts: [FileBurst] = []
        var troubles: [Failure] = []
        /// When to advance again though nothing was heard (monotonic nanoseconds).
        var next: UInt64?
    }

    /// How often a file is looked at whose directories cannot be watched, and what a file without any sign of being
    /// whole is given (nanoseconds).
    static let pollInterval: UInt64 = 200_000_000
    static let grace: UInt64 = 20_000_000

    let world: any FileWorld
    let quiet: UInt64
    let maximum: UInt64
    let cap: UInt64
    private let sweepInterval: UInt64
    private var lastNumber: UInt64 = 0
    private(set) var followed: [FollowID: Followed] = [:]
    var pending: Set<FollowID> = []
    /// Who is concerned by a name in a watched directory.
    private var watches: [Int32: [String: [Followed]]] = [:]
    /// How many files have a directory on their way that cannot be watched.
    private var unwatched = 0
    private var nextSweep: UInt64 = 0
    private var nextPoll: UInt64 = 0
    /// Of listening: what was looked at in this round need not be looked at again to be told.
    private(set) var round: UInt64 = 0
    var troubles: [Failure] = []
    private var reported: Set<Int32> = []
    private(set) var counts = FollowCounts()

    init(world: any FileWorld, settle: FileFollower.Settle) {
        self.world = world
        quiet = nanoseconds(settle.quiet)
        maximum = nanoseconds(settle.maximum)
        cap = nanoseconds(settle.openForWriteCap)
        sweepInterval = max(nanoseconds(settle.sweep), 1_000_000)
    }

    // MARK: - What is followed

    func follow(_ path: String, shown: String? = nil) -> FollowID {
        lastNumber += 1
        let file = Followed(FollowID(number: lastNumber), path, shown: shown ?? path)
        if followed.isEmpty {
            nextSweep = world.now() + sweepInterval
            nextPoll = world.now() + min(sweepInterval, Self.pollInterval)
        }
        followed[file.id] = file
        unwatched += 1
        walk(file)
        file.told = world.signature(path)
        return file.id
    }

    /// The file was being written when it was read for a change that was first heard of at `since`: it is told again soon,
    /// whatever is heard of it, and at once when it is closed.
    func lookAgain(_ id: FollowID, since: UInt64) {
        guard let file = followed[id] else { return }
        file.putOffSince = file.putOffSince == 0 ? since : min(file.putOffSince, since)
        guard file.pending == nil else { return }
        var change = touch(file)
        change.seen = world.signature(file.path)
        change.isForced = true
        file.pending = change
    }

    /// The file could not be read for want of descriptors or memory: the next look at all files tells it again.
    func readAgain(_ id: FollowID) { followed[id]?.isUnread = true }

    func unfollow(_ id: FollowID) {
        guard let file = followed.removeValue(forKey: id) else { return }
        pending.remove(id)
        if !file.isWatched { unwatched -= 1 }
        for hop in file.hops { leave(hop, file) }
    }

    func removeAll() {
        for watch in watches.keys { world.unwatch(watch) }
        watches = [:]
        followed = [:]
        pending = []
        unwatched = 0
    }

    // MARK: - Watches

    /// Watches what the path means now. The new watches come before the old ones go, so that nothing is missed between.
    private func walk(_ file: Followed) {
        var hops: Set<Followed.Hop> = []
        var ends: [Followed.Hop] = []
        var isWatched = true
        var reason = ""
        PathTrail.walk(file.path, in: world) { step in
            switch world.watch(step.directory, files: step.isLast) {
            case .watch(let watch, let isRemote):
                if isRemote {
                    isWatched = false
                    reason = "\(step.directory) is on a file system that other machines change"
                }
                let hop = Followed.Hop(watch: watch, name: step.name)
                if step.isLast { ends.append(hop) }
                guard hops.insert(hop).inserted, !file.hops.contains(hop) else { return }
                watches[watch, default: [:]][step.name, default: []].append(file)
            case .refused(let error):
                // A directory that has just gone is no trouble: whatever took it away was heard one step before.
                guard error != ENOENT && error != ENOTDIR else { return }
                isWatched = false
                reason = "\(step.directory) cannot be watched: \(systemText(error))\(advice(error))"
                report(error, step.directory)
            }
        }
        for hop in file.hops.subtracting(hops) { leave(hop, file) }
        file.hops = hops
        file.end = ends.count == 1 ? ends.first : nil
        if file.isWatched != isWatched { unwatched += isWatched ? -1 : 1 }
        file.isWatched = isWatched
        file.pollingReason = reason
        if unwatched == 0 { reported = [] }
    }

    /// How a file is followed at the moment.
    func following(_ id: FollowID) -> FollowMode? {
        guard let file = followed[id] else { return nil }
        if file.isWatched { return .watching }
        return .polling(milliseconds: pollEvery / 1_000_000, reason: file.pollingReason)
    }

    private var pollEvery: UInt64 { min(sweepInterval, Self.pollInterval) }

    private func leave(_ hop: Followed.Hop, _ file: Followed) {
        guard watches[hop.watch]?[hop.name] != nil else { return }
        watches[hop.watch]?[hop.name]?.removeAll { $0 === file }
        if watches[hop.watch]?[hop.name]?.isEmpty == true { watches[hop.watch]?[hop.name] = nil }
        guard watches[hop.watch]?.isEmpty == true else { return }
        watches[hop.watch] = nil
        world.unwatch(hop.watch)
    }

    private func advice(_ error: Int32) -> String {
        switch error {
        case ENOSPC: " (raise fs.inotify.max_user_watches)"
        case EMFILE: " (raise fs.inotify.max_user_instances, or the limit of open files)"
        default: ""
        }
    }

    /// Once for each reason, until everything is watched.
    private func report(_ error: Int32, _ directory: String) {
        guard reported.insert(error).inserted else { return }
        troubles.append(
            Failure(
                .system,
                "the directory cannot be watched: \(systemText(error)); files there are looked at every "
                    + "\(pollEvery / 1_000_000) ms instead\(advice(error))",
                at: Place(file: directory)))
    }

    // MARK: - What is heard

    /// Takes in what the watches say. False when there is more.
    func listen() -> Bool {
        let now = world.now()
        round += 1
        var heard: [Followed] = []
        func hear(_ file: Followed, hasMoved: Bool) {
            if file.heardIn != round {
                file.heardIn = round
                file.hasMoved = false
                heard.append(file)
            }
            if hasMoved { file.hasMoved = true }
        }
        let isAll = world.drain { event in
            if event.changes.contains(.overflow) {
                counts.overflows += 1
                counts.rescans += 1
                for file in followed.values {
                    // A close may be among what was lost.
                    var change = touch(file, at: now)
                    change.state = .uncertain
                    file.pending = change
                    hear(file, hasMoved: true)
                }
                return
            }
            guard let names = watches[event.watch] else { return }
            if event.name.isEmpty {
                guard !event.changes.isDisjoint(with: [.directoryLeft, .watchEnded]) else { return }
                for file in names.values.joined() {
                    file.pending = touch(file, at: now)
                    // A watch that has ended is none of its hops any more: walking makes it anew.
                    if event.changes.contains(.watchEnded) { file.hops = file.hops.filter { $0.watch != event.watch } }
                    hear(file, hasMoved: true)
                }
                if event.changes.contains(.watchEnded) { watches[event.watch] = nil }
                return
            }
            for file in names[event.name] ?? [] {
                note(event.changes, file, now)
                // What happens to the file's own entry leads elsewhere only when it is a link: a look tells.
                let isOnTheWay = file.end != Followed.Hop(watch: event.watch, name: event.name)
                hear(file, hasMoved: isOnTheWay && !event.changes.isDisjoint(with: .entries))
            }
        }
        for file in heard { look(file) }
        return isAll
    }

    private func note(_ changes: WatchEvent.Changes, _ file: Followed, _ now: UInt64) {
        var change = touch(file, at: now)
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
        file.pending = change
    }

    /// Looks at a file of which something was heard; forgets what turns out to be nothing.
    private func look(_ file: Followed) {
        guard var change = file.pending else { return }
        if file.hasMoved { walk(file) }
        change.seen = world.signature(file.path)
        if change.seen.isLink && file.end != nil {
            // Watched first, then looked at.
            walk(file)
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
        file.pending = isNothing ? nil : change
        if isNothing { pending.remove(file.id) }
    }

    /// The pending change of a file of which something was heard just now; store it back when done.
    private func touch(_ file: Followed, at time: UInt64? = nil) -> PendingChange {
        let now = time ?? world.now()
        pending.insert(file.id)
        var change = file.pending ?? PendingChange(at: now)
        change.last = now
        return change
    }

    // MARK: - What is seen without being heard

    /// Looks at the files whose time has come; says when the next time is.
    func sweep() -> UInt64? {
        guard !followed.isEmpty else { return nil }
        let now = world.now()
        let isSweep = now >= nextSweep
        let isPoll = unwatched > 0 && now >= nextPoll
        guard isSweep || isPoll else { return unwatched > 0 ? min(nextSweep, nextPoll) : nextSweep }
        counts.rescans += 1
        for file in followed.values {
            guard file.pending == nil, isSweep || !file.isWatched else { continue }
            let signature = world.signature(file.path)
            // Where events come, they speak for what happened within one tick of the file system's clock.
            let isSame = file.isWatched ? signature == file.told : file.isUnchanged(signature)
            let isUnread = isSweep && file.isUnread
            if isSweep && !file.isWatched { walk(file) }
            guard !isSame || isUnread else { continue }
            if file.isWatched && !isSame { counts.unannounced += 1 }
            var change = touch(file, at: now)
            change.seen = signature
            change.isForced = isUnread
            file.pending = change
            walk(file)
        }
        if isSweep { nextSweep = now + sweepInterval }
        nextPoll = now + min(sweepInterval, Self.pollInterval)
        return unwatched > 0 ? min(nextSweep, nextPoll) : nextSweep
    }
}

/// Milliseconds of a setting as nanoseconds; an absurd one is as good as a year.
private func nanoseconds(_ milliseconds: UInt64) -> UInt64 { min(milliseconds, 31_536_000_000) * 1_000_000 }
