internal import InvivoBase

/// A job that the loop runs later, once or again and again. Made by `Loop.schedule`.
public final class LoopTimer: @unchecked Sendable {
    private let loop: Loop
    private let monitor = Monitor()
    private let repeating: UInt64
    /// Under the monitor; nil once the timer will not fire again.
    private var job: (@Sendable () -> Void)?
    /// On the loop's thread alone.
    private var alarm: LoopAlarm?

    init(loop: Loop, repeating: UInt64, job: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.repeating = repeating
        self.job = job
    }

    /// The job is not begun after this; from another thread than the loop's it may just be running. May be called again.
    public func cancel() {
        guard loop.home.isHere else { return }
        let job = monitor.locked {
            defer { self.job = nil }
            return self.job
        }
        guard job != nil else { return }
        if loop.isCurrent { end() } else { loop.post { self.end() } }
    }

    /// On the loop's thread.
    func start(after milliseconds: UInt64) {
        guard monitor.locked({ job != nil }) else { return }
        let alarm = LoopAlarm(loop: loop) { [self] in fire() }
        self.alarm = alarm
        alarm.set(after: milliseconds, repeating: repeating)
    }

    private func fire() {
        let job = monitor.locked {
            defer { if repeating == 0 { self.job = nil } }
            return self.job
        }
        if repeating == 0 { end() }
        job?()
    }

    private func end() {
        alarm?.close()
        alarm = nil
    }
}
