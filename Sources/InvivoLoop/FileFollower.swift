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

    private let loop: Loop
    private let settle: @Sendable () -> Settle
    private let onBurst: @Sendable ([FileBurst]) -> Void
    private let onTrouble: @Sendable (Failure) -> Void
    private let home = HomeProcess()
    private let monitor: Monitor
    private let state: Guarded<State>

    /// Creates a follower. `settle` returns the current times; it is called without a lock. `onBurst` receives all files of one burst in one call. `onTrouble` receives warnings: a file
    /// was removed (notFound), a file stays open for writing (busy), watches are unavailable (system).
    public convenience init(
        loop: Loop, settle: @escaping @Sendable () -> Settle, onBurst: @escaping @Sendable ([FileBurst]) -> Void,
        onTrouble: @escaping @Sendable (Failure) -> Void
    ) throws(Failure) {
        try self.init(loop: loop, settle: settle, world: LiveFileWorld(), onBurst: onBurst, onTrouble: onTrouble)
    }

    init(
        loop: Loop, settle: @escaping @Sendable () -> Settle, world: any FileWorld,
        onBurst: @escaping @Sendable ([FileBurst]) -> Void,
        onTrouble: @escaping @Sendable (Failure) -> Void
    ) throws(Failure) {
        self.loop = loop
        self.settle = settle
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
        let outcome = state.locked { state -> FollowEngine.Outcome? in
            guard !state.isStopped else { return nil }
            state.engine.take(settle)
            // When this returns false, the remaining events keep the descriptor readable.
            _ = state.engine.listen()
            return state.engine.advance()
        }
        guard let outcome else { return }
        waitForEvents()
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
