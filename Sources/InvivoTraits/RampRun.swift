public import InvivoBase
internal import Synchronization

/// The movement of one property of an object, or of a block, to its end value.
///
/// It begins when its commit is published. Any thread may read it.
public final class RampRun: Sendable {
    let from: Value
    public let end: Value
    private let duration: UInt64
    private let property: Property?
    /// In nanoseconds on the clock of the ramps; `notBegun` before the commit is published.
    private let begun = Atomic<UInt64>(RampRun.notBegun)

    private static let notBegun = UInt64.max

    private init(_ from: Value, _ end: Value, _ ramp: Ramp, _ property: Property?) {
        (self.from, self.end, self.property) = (from, end, property)
        duration = ramp.duration
    }

    /// Nil if nothing moves: the values are equal, or the start is not a finite number.
    static func between(_ start: Value, _ end: Value, over ramp: Ramp, of property: Property?) -> RampRun? {
        guard ramp.duration > 0, let from = start.ofSameKinds(as: end), !from.isSame(as: end) else { return nil }
        return RampRun(from, end, ramp, property)
    }

    /// Starts the movement. A second call is a no-op.
    public func begin(at now: UInt64) {
        _ = begun.compareExchange(expected: Self.notBegun, desired: now, ordering: .acquiringAndReleasing)
    }

    /// Whether the end value is due.
    public func isOver(at now: UInt64) -> Bool {
        let begun = begun.load(ordering: .acquiring)
        return begun != Self.notBegun && now >= begun && now - begun >= duration
    }

    /// The value at a moment: the start value before the run has begun, and exactly the end value when it is over.
    public func value(at now: UInt64) -> Value {
        let begun = begun.load(ordering: .acquiring)
        guard begun != Self.notBegun, now > begun else { return from }
        let passed = now - begun
        guard passed < duration else { return end }
        return from.moved(to: end, by: Double(passed) / Double(duration), of: property)
    }
}
