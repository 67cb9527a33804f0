public import InvivoBase

/// Follows the documents of one runtime through every way of saving a file.
///
/// `follow`, `unfollow` and `stop` may be called from any thread. Call `follow` before the first read, so that no
/// change is missed. The callbacks run on the loop's thread without a lock. The state is guarded by the monitor, which
/// is never held during a callback. The loop's handles are confined to the loop's thread.
public final class FileFollower: Sendable {
    private struct State {
        let engine: FollowEngine
        var isStopped = false
        var isTornDown = false
        /// The files whose pending change `detect` has returned.
        var detected: Set<FollowID> = []

        /// Returns the files with a pending or reported change that is new since the last call, and those whose change is gone without
        /// a report. Nil if there are none. After `advance`, with the bursts that it reported.
        mutating func detect(_ bursts: [FileBurst]) -> FileDetection? {
            guard !(engine.pending.isEmpty && bursts.isEmpty && detected.isEmpty) else { return nil }
            let reported = Set(bursts.map(\.id))
            let now = Set(engine.pending.keys)
            let begun = now.union(reported).subtracting(detected)
            let dropped = detected.subtracting(now).subtracting(reported)
            detected = now
            guard !(begun.isEmpty && dropped.isEmpty) else { return nil }
            return FileDetection(begun: begun.sorted { $0.number < $1.number }, dropped: Array(dropped))
        }
    }

    /// The handles of the loop.
    private final class Handles {
        var readiness: LoopReadiness?
        var readinessDescriptor: Int32 = -1
        let alarm: LoopAlarm
        /// The time of the next alarm.
        var alarmDue: UInt64?

        init(_ alarm: LoopAlarm) { self.alarm = alarm }
    }

    /// The receiver of changes that have not settled.
    public struct Detection: Sendable {
        let isAskedFor: @Sendable () -> Bool
        let detected: @Sendable (FileDetection) -> Void

        public init(
            isAskedFor: @escaping @Sendable () -> Bool, _ detected: @escaping @Sendable (FileDetection) -> Void
        ) {
            (self.isAskedFor, self.detected) = (isAskedFor, detected)
        }
    }

    private let loop: Loop
    private let settle: @Sendable () -> Settle
    private let onBurst: @Sendable ([FileBurst]) -> Void
    private let onTrouble: @Sendable (Failure) -> Void
    private let detection: Detection?
    private let home = HomeProcess()
    private let monitor: Monitor
    private let state: Guarded<State>

    /// Creates a follower. `settle` returns the current times; it is called without a lock. `onBurst` receives all files of
    /// one burst in one call. `onTrouble` receives warnings: a file was removed (notFound), a file stays open for writing
    /// (busy), watches are unavailable (system). `detection` receives changes before they settle.
    public convenience init(
        loop: Loop, settle: @escaping @Sendable () -> Settle, onBurst: @escaping @Sendable ([FileBurst]) -> Void,
        onTrouble: @escaping @Sendable (Failure) -> Void, detection: Detection? = nil
    ) throws(Failure) {
        try self.init(
            loop: loop, settle: settle, world: LiveFileWorld(), onBurst: onBurst, onTrouble: onTrouble,
            detection: detection)
    }

    init(
        loop: Loop, settle: @escaping @Sendable () -> Settle, world: any FileWorld,
        onBurst: @escaping @Sendable ([FileBurst]) -> Void,
        onTrouble: @escaping @Sendable (Failure) -> Void, detection: Detection? = nil
    ) throws(Failure) {
        self.loop = loop
        self.settle = settle
        self.detection = detection
        self.onBurst = onBurst
        self.onTrouble = onTrouble
        monitor = Monitor()
        state = Guarded(State(engine: FollowEngine(world: world, settle: settle())), by: monitor)
        guard loop.post({ [self] in begin() }) else {
            state.locked { $0.engine.world.close() }
            throw Failure(.closed, "the loop has ended: no files can be followed")
        }
    }

    // MARK: - From any thread

    /// Follows a file from now on; it need not exist. A relative path counts from the working directory of this moment.
    func follow(_ path: String) throws(Failure) -> FollowID { try follow(FilePath(path)) }

    /// Follows a file from now on; it need not exist.
    public func follow(_ path: FilePath) throws(Failure) -> FollowID {
        guard home.isHere else {
            throw Failure(.forked, "the files are followed by the parent process", at: Location(file: path.shown))
        }
        let id = try state.locked { state throws(Failure) -> FollowID in
            guard !state.isStopped else {
                throw Failure(.closed, "files are followed no more", at: Location(file: path.shown))
            }
            return state.engine.follow(path.absolute, shown: path.shown)
        }
        wake()
        return id
    }

    /// A call of `onBurst` that has begun may still name it.
    public func unfollow(_ id: FollowID) {
        guard home.isHere else { return }
        state.locked { $0.engine.unfollow(id) }
    }

    /// Reports files again that were being written when they were read. `since` is the time of the first event of the
    /// change.
    public func lookAgain(_ ids: [FollowID], since: UInt64) {
        guard home.isHere else { return }
        state.locked { state in for id in ids { state.engine.lookAgain(id, since: since) } }
        wake()
    }

    /// Reports files again at the next check of all files, after a failure for lack of descriptors or memory.
    public func readAgain(_ ids: [FollowID]) {
        guard home.isHere else { return }
        state.locked { state in for id in ids { state.engine.readAgain(id) } }
    }

    /// Removes everything. After it no callback is running or will run, unless it is called from inside one, which then
    /// is the last. May be called again; in a process forked from the one that follows it does nothing.
    public func stop() {
        guard home.isHere else { return }
        state.locked { state in
            state.isStopped = true
            // Immediately, because the kernel makes the close wait for watches that have just been removed.
            state.engine.removeAll()
        }
        if loop.isCurrent { return tearDown() }
        // If the loop refuses it is ending, and tears this down itself.
        loop.post { [self] in tearDown() }
        monitor.locked { while !state.held({ $0.isTornDown }) { monitor.wait() } }
    }

    /// The way in which a file is followed; nil when it is not.
    public func following(_ id: FollowID) -> FollowMode? {
        home.isHere ? state.locked { $0.engine.following(id) } : nil
    }

    /// The times for which changes settle have changed.
    public func settleChanged() { if home.isHere { wake() } }

    public var counts: FollowCounts { home.isHere ? state.locked { $0.engine.counts } : FollowCounts() }

    func wake() { loop.post { [self] in pump() } }

    // MARK: - On the loop's thread

    private func begin() {
        guard !state.locked({ $0.isTornDown }) else { return }
        loop.enter(self)
        let alarm = LoopAlarm(loop: loop) { [self] in
            handles?.alarmDue = nil
            pump()
        }
        loop.confine(Handles(alarm), to: self)
        waitForEvents()
        pump()
    }

    /// Nil before `begin` and after `tearDown`.
    private var handles: Handles? { loop.confined(to: self, as: Handles.self) }

    /// The descriptor of events may have come later than following.
    private func waitForEvents() {
        let descriptor = state.locked { $0.engine.world.descriptor }
        guard let handles, descriptor >= 0 && descriptor != handles.readinessDescriptor else { return }
        handles.readiness?.close()
        handles.readiness = LoopReadiness(loop: loop, descriptor: descriptor) { [self] in pump() }
        handles.readinessDescriptor = descriptor
    }

    /// Reads events, checks files, and reports bursts that are due.
    private func pump() {
        let settle = settle()
        let asked = detection.flatMap { $0.isAskedFor() ? $0 : nil }
        let (found, detected) = state.locked { state -> (FollowEngine.Outcome?, FileDetection?) in
            guard !state.isStopped else { return (nil, nil) }
            state.engine.take(settle)
            // When this returns false, the remaining events keep the descriptor readable.
            _ = state.engine.listen()
            let outcome = state.engine.advance()
            return (outcome, asked == nil ? nil : state.detect(outcome.bursts))
        }
        guard let outcome = found else { return }
        waitForEvents()
        if let asked, let detected { asked.detected(detected) }
        for trouble in outcome.troubles where !state.locked({ $0.isStopped }) { onTrouble(trouble) }
        if !outcome.bursts.isEmpty && !state.locked({ $0.isStopped }) { onBurst(outcome.bursts) }
        // Last, because no other thread waits for it. Usually the time of the next check stays the same.
        guard let handles, outcome.next != handles.alarmDue else { return }
        handles.alarmDue = outcome.next
        if let next = outcome.next {
            let now = monotonicNow()
            handles.alarm.set(after: next > now ? (next - now + 999_999) / 1_000_000 : 0)
        } else {
            handles.alarm.unset()
        }
    }

    private func tearDown() {
        guard !state.locked({ $0.isTornDown }) else { return }
        loop.leave(self)
        handles?.readiness?.close()
        handles?.alarm.close()
        loop.confine(nil, to: self)
        state.locked { state in
            state.isStopped = true
            state.engine.removeAll()
            state.engine.world.close()
            state.isTornDown = true
            monitor.broadcast()
        }
    }
}

extension FileFollower: LoopResident {
    func loopEnds() { tearDown() }
}
