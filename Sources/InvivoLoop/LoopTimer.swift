internal import InvivoBase

/// A job that the loop runs later, once or repeatedly. Created by `Loop.schedule`.
///
/// Its alarm is confined to the loop's thread.
public final class LoopTimer: Sendable {
    private let loop: Loop
    private let repeating: UInt64
    /// Nil once the timer will not fire again.
    private let job: Guarded<(@Sendable () -> Void)?>

    init(loop: Loop, repeating: UInt64, job: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.repeating = repeating
        self.job = Guarded(job, by: Monitor())
    }

    /// Cancels the job: it does not begin after this call. A job that has begun may still run, unless this is the
    /// loop's thread. A second call is a no-op.
    public func cancel() {
        guard loop.home.isHere else { return }
        let job = job.locked { job in
            defer { job = nil }
            return job
        }
        guard job != nil else { return }
        if loop.isCurrent { end() } else { loop.post { self.end() } }
    }

    /// On the loop's thread.
    func start(after milliseconds: UInt64) {
        guard job.locked({ $0 != nil }) else { return }
        let alarm = LoopAlarm(loop: loop) { [self] in fire() }
        loop.confine(alarm, to: self)
        alarm.set(after: milliseconds, repeating: repeating)
    }

    private func fire() {
        let job = job.locked { job in
            defer { if repeating == 0 { job = nil } }
            return job
        }
        if repeating == 0 { end() }
        job?()
    }

    private func end() {
        loop.confined(to: self, as: LoopAlarm.self)?.close()
        loop.confine(nil, to: self)
    }
}
