internal import CPlatform
internal import Glibc
public import InvivoBase

public struct FollowID: Hashable, Sendable {
    let number: UInt64
}

/// A followed file that may have changed. Times are monotonic nanoseconds.
public struct FileBurst: Sendable {
    public let id: FollowID
    public let firstEventNs: UInt64
    public let lastEventNs: UInt64
}

/// Follows files through every way of saving them.
///
/// Only directories are watched: each one that decides what a path means. Events are hints; after they have settled a
/// look at the file decides whether there is anything to tell. All files of one burst are told in one call, on the loop
/// thread, without locks. State is guarded by the monitor; timers and events run on the loop thread.
public final class FileFollower: @unchecked Sendable {
    public struct Settle: Sendable {
        /// Milliseconds without events before a burst is told; 0 is allowed.
        public var quiet: UInt64 = 10
        /// Endless events are cut off after this many milliseconds.
        public var maximum: UInt64 = 250
        /// A file that is written to and not closed is not told before this many milliseconds.
        public var openForWriteCap: UInt64 = 2_000
        /// How often files are looked at though nothing was heard.
        public var sweep: UInt64 = 2_000
        public init() {}
    }

    private final class Entry {
        let id: FollowID
        let path: String
        /// As it was given, for messages.
        let shown: String
        var watches: Set<Int32> = []
        var interests: [Int32: Set<String>] = [:]
        var fileInterests: [Int32: Set<String>] = [:]
        var told: Signature?
        var first: UInt64 = 0
        var last: UInt64 = 0
        /// Written to and not closed, since when.
        var writingSince: UInt64 = 0
        var isForced = false
        var isMissing = false
        var isDirty: Bool { first != 0 }

        init(_ id: FollowID, _ path: String, shown: String) {
            self.id = id
            self.path = path
            self.shown = shown
        }
    }

    /// What tells one state of a file from another without reading it.
    private struct Signature: Equatable {
        let device: UInt64
        let inode: UInt64
        let size: Int64
        let modified: Int64
        let changed: Int64

        init?(_ path: String) {
            var facts = stat()
            guard stat(path, &facts) == 0 else { return nil }
            device = UInt64(facts.st_dev)
            inode = UInt64(facts.st_ino)
            size = Int64(facts.st_size)
            modified = Int64(facts.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(facts.st_mtim.tv_nsec)
            changed = Int64(facts.st_ctim.tv_sec) &* 1_000_000_000 &+ Int64(facts.st_ctim.tv_nsec)
        }
    }

    private let loop: Loop
    private let settle: Settle
    private let onBurst: @Sendable ([FileBurst]) -> Void
    private let onTrouble: @Sendable (Failure) -> Void
    private let monitor = Monitor()
    private var inotify: Inotify?
    private var entries: [FollowID: Entry] = [:]
    private var users: [Int32: Int] = [:]
    private var masks: [Int32: UInt32] = [:]
    private var nextNumber: UInt64 = 1
    private var isStopped = false
    private var timer: LoopTimer?
    private var timerDue = UInt64.max
    private var sweeper: LoopTimer?
    private var watchesFail = false

    public init(
        loop: Loop, settle: Settle, onBurst: @escaping @Sendable ([FileBurst]) -> Void,
        onTrouble: @escaping @Sendable (Failure) -> Void
    ) throws(Failure) {
        self.loop = loop
        self.settle = settle
        self.onBurst = onBurst
        self.onTrouble = onTrouble
        inotify = Inotify(loop: loop) { [weak self] events in self?.heard(events) }
        watchesFail = inotify == nil
        if let inotify { loop.perform { inotify.start() } }
        restartSweep()
    }

    // MARK: any thread

    /// Follows a file from now on; it need not exist. A relative path counts from the working directory of this moment.
    public func follow(_ path: String) throws(Failure) -> FollowID {
        let absolute = try Self.absolute(path)
        return try monitor.locked { () throws(Failure) -> FollowID in
            guard !isStopped else { throw Failure(.closed, "the runtime is closing") }
            let entry = Entry(FollowID(number: nextNumber), absolute, shown: path)
            nextNumber += 1
            entries[entry.id] = entry
            arm(entry)
            entry.told = Signature(absolute)
            entry.isMissing = entry.told == nil
            return entry.id
        }
    }

    public func unfollow(_ id: FollowID) {
        monitor.locked {
            guard let entry = entries.removeValue(forKey: id) else { return }
            drop(entry.watches)
        }
    }

    /// As if an event had come: told without quiet time.
    public func refresh(_ id: FollowID) {
        loop.post { [weak self] in
            guard let self else { return }
            self.monitor.locked {
                guard let entry = self.entries[id] else { return }
                self.mark(entry)
                entry.isForced = true
                entry.writingSince = 0
            }
            self.tellWhatIsDue()
        }
    }

    /// Removes everything. After it no callback is running or will run.
    public func stop() {
        let wasStopped = monitor.locked { () -> Bool in
            defer { isStopped = true }
            return isStopped
        }
        guard !wasStopped else { return }
        let end: @Sendable () -> Void = { [self] in
            monitor.locked {
                for entry in entries.values { drop(entry.watches) }
                entries = [:]
            }
            timer?.cancel()
            sweeper?.cancel()
            inotify?.stop()
            inotify = nil
        }
        loop.perform(end)
    }

    private static func absolute(_ path: String) throws(Failure) -> String {
        guard !path.isEmpty else { throw Failure(.argument, "the path is empty") }
        if path.hasPrefix("/") { return path }
        guard let current = getcwd(nil, 0) else {
            throw Failure(.system, "the working directory is gone: \(String(cString: strerror(errno)))", at: Place(file: path))
        }
        defer { free(current) }
        return String(cString: current) + "/" + path
    }

    // MARK: watches (under the monitor)

    private static let onTheWay = UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)
    private static let forTheFile = onTheWay | UInt32(IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB)

    /// Watches what the path means now. New watches come before old ones go, so nothing is missed between.
    private func arm(_ entry: Entry) {
        guard let inotify else { return }
        let former = entry.watches
        var watches: Set<Int32> = []
        entry.interests = [:]
        entry.fileInterests = [:]
        for step in PathTrail(entry.path).steps {
            let mask = (step.isFile ? Self.forTheFile : Self.onTheWay) | UInt32(IN_MASK_ADD) | UInt32(IN_ONLYDIR)
            let (watch, error) = inotify.add(step.directory, mask)
            guard watch >= 0 else {
                if error == ENOSPC || error == ENOMEM { fallBackToPolling(step.directory, error) }
                continue
            }
            if watches.insert(watch).inserted { users[watch, default: 0] += 1 }
            entry.interests[watch, default: []].insert(step.name)
            if step.isFile { entry.fileInterests[watch, default: []].insert(step.name) }
        }
        entry.watches = watches
        drop(former)
    }

    private func drop(_ watches: Set<Int32>) {
        for watch in watches {
            let count = (users[watch] ?? 1) - 1
            users[watch] = count > 0 ? count : nil
            if count <= 0 { inotify?.remove(watch) }
        }
    }

    private func fallBackToPolling(_ directory: String, _ error: Int32) {
        guard !watchesFail else { return }
        watchesFail = true
        let failure = Failure(
            .system, "'\(directory)' cannot be watched (\(String(cString: strerror(error)))); files are looked at every 200 ms instead")
        loop.post { [weak self] in
            self?.restartSweep()
            self?.onTrouble(failure)
        }
    }

    private func restartSweep() {
        let interval = watchesFail ? 200 : settle.sweep
        let former = sweeper
        sweeper = loop.schedule(after: interval, repeating: interval) { [weak self] in self?.sweep() }
        former?.cancel()
    }

    // MARK: the loop thread

    private func mark(_ entry: Entry) {
        let now = monotonicNow()
        if entry.first == 0 { entry.first = now }
        entry.last = now
    }

    private func heard(_ events: [Inotify.Event]) {
        monitor.locked {
            var rearmed: [FollowID: Entry] = [:]
            for event in events {
                if event.mask & UInt32(IN_Q_OVERFLOW) != 0 {
                    for entry in entries.values {
                        mark(entry)
                        rearmed[entry.id] = entry
                    }
                    continue
                }
                if event.mask & UInt32(IN_IGNORED) != 0 { users[event.watch] = nil }
                for entry in entries.values where entry.watches.contains(event.watch) {
                    heard(event, entry, &rearmed)
                }
            }
            for entry in rearmed.values { arm(entry) }
        }
        tellWhatIsDue()
    }

    private func heard(_ event: Inotify.Event, _ entry: Entry, _ rearmed: inout [FollowID: Entry]) {
        if event.name.isEmpty {
            // The directory itself went or moved, or the watch ended with it.
            if event.mask & UInt32(IN_IGNORED) != 0 { entry.watches.remove(event.watch) }
            if event.mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED) != 0 {
                mark(entry)
                rearmed[entry.id] = entry
            }
            return
        }
        guard entry.interests[event.watch]?.contains(event.name) == true else { return }
        mark(entry)
        let isFile = entry.fileInterests[event.watch]?.contains(event.name) == true
        if event.mask & UInt32(IN_MODIFY) != 0 {
            if entry.writingSince == 0 { entry.writingSince = monotonicNow() }
        } else if event.mask & UInt32(IN_CLOSE_WRITE) != 0 {
            entry.writingSince = 0
        } else {
            rearmed[entry.id] = entry
            guard isFile else { return }
            if event.mask & UInt32(IN_CREATE) != 0 {
                // Made just now and still empty: its writer is about to fill it.
                var facts = stat()
                let isEmptyFile = stat(entry.path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG && facts.st_size == 0
                entry.writingSince = isEmptyFile ? monotonicNow() : 0
            } else if event.mask & UInt32(IN_ATTRIB) == 0 {
                entry.writingSince = 0
            }
        }
    }

    /// Looks at every file: what was changed without an event, or while nothing could be watched.
    private func sweep() {
        monitor.locked {
            for entry in entries.values where !entry.isDirty && Signature(entry.path) != entry.told {
                guard !(entry.isMissing && Signature(entry.path) == nil) else { continue }
                mark(entry)
                arm(entry)
            }
        }
        tellWhatIsDue()
    }

    /// Tells the burst that is due, and sets the timer for the next.
    private func tellWhatIsDue() {
        var bursts: [FileBurst] = []
        var troubles: [Failure] = []
        let quiet = settle.quiet * 1_000_000
        let maximum = settle.maximum * 1_000_000
        let cap = settle.openForWriteCap * 1_000_000
        let next = monitor.locked { () -> UInt64 in
            guard !isStopped else { return .max }
            let now = monotonicNow()
            var next = UInt64.max
            var ready: [Entry] = []
            for entry in entries.values where entry.isDirty {
                if entry.writingSince != 0 {
                    guard now >= entry.writingSince + cap else {
                        next = min(next, entry.writingSince + cap)
                        continue
                    }
                    entry.writingSince = 0
                    troubles.append(
                        Failure(
                            .busy, "the file has been open for writing for \(settle.openForWriteCap) ms; it is read as it is",
                            at: Place(file: entry.shown)))
                }
                ready.append(entry)
            }
            guard !ready.isEmpty else { return next }
            let due = min(
                (ready.map(\.last).max() ?? now) + quiet, (ready.map(\.first).min() ?? now) + maximum)
            guard now >= due || ready.contains(where: \.isForced) else { return min(next, due) }
            for entry in ready.sorted(by: { $0.id.number < $1.id.number }) {
                let signature = Signature(entry.path)
                let burst = FileBurst(id: entry.id, firstEventNs: entry.first, lastEventNs: entry.last)
                entry.first = 0
                let isForced = entry.isForced
                entry.isForced = false
                if signature == nil && !isForced {
                    if !entry.isMissing {
                        troubles.append(
                            Failure(.notFound, "the file is gone; what it said last stays until it is back", at: Place(file: entry.shown)))
                    }
                    entry.isMissing = true
                    continue
                }
                entry.isMissing = signature == nil
                if isForced || signature != entry.told { bursts.append(burst) }
                entry.told = signature
            }
            return next
        }
        setTimer(next)
        for trouble in troubles { onTrouble(trouble) }
        if !bursts.isEmpty { onBurst(bursts) }
    }

    private func setTimer(_ due: UInt64) {
        guard due != .max else { return }
        if due >= timerDue && timer != nil { return }
        timer?.cancel()
        timerDue = due
        let now = monotonicNow()
        let delay = due > now ? (due - now + 999_999) / 1_000_000 : 0
        timer = loop.schedule(after: delay) { [weak self] in
            guard let self else { return }
            self.timer = nil
            self.timerDue = .max
            self.tellWhatIsDue()
        }
    }
}
