/// How often reclaiming may interrupt the process's running threads: a burst at once, then at a steady rate.
public struct BarrierCredit {
    private static let burst: UInt64 = 64
    private static let interval: UInt64 = 500_000
    private var left = burst
    private var refilled = monotonicNow()

    public init() {}

    /// Whether a barrier may be issued now.
    public mutating func take() -> Bool {
        let now = monotonicNow()
        let earned = (now - refilled) / Self.interval
        if earned > 0 {
            left = min(Self.burst, left + earned)
            refilled += earned * Self.interval
        }
        guard left > 0 else { return false }
        left -= 1
        return true
    }
}
