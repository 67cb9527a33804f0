internal import Glibc
internal import InvivoBase

/// The watched directories with their files, and the files that an event affects. Guarded by the monitor of its
/// `FileFollower`.
final class WatchTable {
    /// A name in a watched directory.
    private struct Hop: Hashable {
        let watch: Int32
        let name: String
    }

    /// The watches on the path of one file.
    private struct Trail {
        let path: String
        var hops: Set<Hop> = []
        /// Its own entry, if that was no link at the last walk: its events do not change the path.
        var end: Hop?
        /// Every directory of the trail is watched. If not, the file is looked at often.
        var isWatched = false
        /// Why it is not, for messages.
        var pollingReason = ""
    }

    private let world: any FileWorld
    /// The interval of checks of files whose directories cannot be watched (nanoseconds).
    let pollInterval: UInt64
    private var trails: [FollowID: Trail] = [:]
    private var files: [Int32: [String: [FollowID]]] = [:]
    /// The number of files with a directory that cannot be watched.
    private(set) var unwatched = 0
    private var reported: Set<Int32> = []
    private var troubles: [Failure] = []

    init(_ world: any FileWorld, pollInterval: UInt64) {
        self.world = world
        self.pollInterval = pollInterval
    }

    func add(_ id: FollowID, _ path: String) {
        trails[id] = Trail(path: path)
        unwatched += 1
        walk(id)
    }

    func remove(_ id: FollowID) {
        guard let trail = trails.removeValue(forKey: id) else { return }
        if !trail.isWatched { unwatched -= 1 }
        for hop in trail.hops { leave(hop, id) }
    }

    func removeAll() {
        for watch in files.keys { world.unwatch(watch) }
        files = [:]
        trails = [:]
        unwatched = 0
    }

    func isWatched(_ id: FollowID) -> Bool { trails[id]?.isWatched ?? false }

    /// Whether the file's own entry was no link.
    func endsWithoutLink(_ id: FollowID) -> Bool { trails[id]?.end != nil }

    /// The way in which a file is currently followed.
    func mode(_ id: FollowID) -> FollowMode? {
        guard let trail = trails[id] else { return nil }
        if trail.isWatched { return .watching }
        return .polling(milliseconds: pollInterval / 1_000_000, reason: trail.pollingReason)
    }

    /// Returns the failures since the last call, and clears them.
    func takeTroubles() -> [Failure] {
        defer { troubles = [] }
        return troubles
    }

    /// Watches the directories that the path leads through now. New watches are added before old ones are removed, so
    /// that no change is missed.
    func walk(_ id: FollowID) {
        guard var trail = trails[id] else { return }
        var hops: Set<Hop> = []
        var ends: [Hop] = []
        var isWatched = true
        trail.pollingReason = ""
        PathTrail.walk(trail.path, in: world) { step in
            switch world.watch(step.directory, files: step.isLast) {
            case .watch(let watch, let isRemote):
                if isRemote {
                    isWatched = false
                    trail.pollingReason = "\(step.directory) is on a file system that other machines change"
                }
                let hop = Hop(watch: watch, name: step.name)
                if step.isLast { ends.append(hop) }
                guard hops.insert(hop).inserted, !trail.hops.contains(hop) else { return }
                files[watch, default: [:]][step.name, default: []].append(id)
            case .refused(let error):
                // A removed directory is no failure: the event of its removal was received one step before.
                guard error != ENOENT && error != ENOTDIR else { return }
                isWatched = false
                trail.pollingReason = "\(step.directory) cannot be watched: \(systemText(error))\(advice(error))"
                report(error, step.directory, of: trail.path)
            }
        }
        for hop in trail.hops.subtracting(hops) { leave(hop, id) }
        trail.hops = hops
        trail.end = ends.count == 1 ? ends.first : nil
        if trail.isWatched != isWatched { unwatched += isWatched ? -1 : 1 }
        trail.isWatched = isWatched
        trails[id] = trail
        if unwatched == 0 { reported = [] }
    }

    /// The files that an event concerns, and whether their paths may lead elsewhere now.
    func concerned(by event: WatchEvent) -> [(id: FollowID, hasMoved: Bool)] {
        guard let names = files[event.watch] else { return [] }
        guard event.name.isEmpty else {
            let hop = Hop(watch: event.watch, name: event.name)
            // An event of the file's own entry changes the path only if the entry is a link; a check decides.
            let isEntry = !event.changes.isDisjoint(with: .entries)
            return (names[event.name] ?? []).map { ($0, isEntry && trails[$0]?.end != hop) }
        }
        guard !event.changes.isDisjoint(with: [.directoryLeft, .watchEnded]) else { return [] }
        let ids = names.values.joined()
        if event.changes.contains(.watchEnded) {
            // A watch that has ended belongs to none of their paths any more; `walk` creates a new one.
            for id in ids {
                let hops = trails[id]?.hops ?? []
                trails[id]?.hops = hops.filter { $0.watch != event.watch }
            }
            files[event.watch] = nil
        }
        return ids.map { ($0, true) }
    }

    private func leave(_ hop: Hop, _ id: FollowID) {
        guard files[hop.watch]?[hop.name] != nil else { return }
        files[hop.watch]?[hop.name]?.removeAll { $0 == id }
        if files[hop.watch]?[hop.name]?.isEmpty == true { files[hop.watch]?[hop.name] = nil }
        guard files[hop.watch]?.isEmpty == true else { return }
        files[hop.watch] = nil
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
    private func report(_ error: Int32, _ directory: String, of path: String) {
        guard reported.insert(error).inserted else { return }
        troubles.append(
            Failure(
                .system,
                "the directory '\(directory)' on its path cannot be watched: \(systemText(error)); files below it are looked at "
                    + "every \(pollInterval / 1_000_000) ms instead\(advice(error))",
                at: Location(file: path)))
    }
}
