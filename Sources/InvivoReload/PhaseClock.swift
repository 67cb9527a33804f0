internal import CInvivo
internal import CPlatform
internal import InvivoBase

/// The time of each phase.
struct PhaseClock {
    private var phases = [UInt64](repeating: 0, count: Int(INVIVO_PHASE_COUNT))
    private var last: UInt64
    private var first: UInt64

    init(_ events: ClosedRange<UInt64>) {
        let now = monotonicNow()
        phases[Int(INVIVO_PHASE_DETECT)] = events.upperBound - events.lowerBound
        phases[Int(INVIVO_PHASE_SETTLE)] = now &- events.upperBound
        first = events.lowerBound
        last = now
    }

    mutating func end(_ phase: Int) {
        let now = monotonicNow()
        phases[phase] += now &- last
        last = now
    }

    /// Nanoseconds that were counted elsewhere.
    mutating func note(_ phase: Int, _ nanoseconds: UInt64) { phases[phase] = nanoseconds }

    /// Measures the total from the modification time of a file, if the clocks permit the comparison.
    mutating func fileChanged(wall: UInt64) {
        let now = monotonicNow()
        let wallNow = iv_wall_ns()
        guard wall <= wallNow, wallNow - wall < now else { return }
        let changed = now - (wallNow - wall)
        // A modification long before the event did not cause it.
        if changed < first && first - changed < 1_000_000_000 { first = changed }
    }

    mutating func finish() -> [UInt64] {
        phases[Int(INVIVO_PHASE_TOTAL)] = monotonicNow() &- first
        return phases
    }
}
