public import InvivoBase
internal import Synchronization

/// The transition of a layer: the property moves linearly to the layer's value. Immutable.
public final class Ramp: Sendable {
    /// The longest duration, in seconds.
    public static let longest = 86_400

    /// In nanoseconds.
    public let duration: UInt64
    /// The value at which new objects start; nil if they have the end value at once. Of a nested struct, some of its fields.
    public let from: Value?

    public init(duration: UInt64, from: Value?) {
        self.duration = duration
        self.from = from
    }

    func isSame(as other: Ramp) -> Bool {
        guard duration == other.duration else { return false }
        return switch (from, other.from) {
        case (nil, nil): true
        case (let one?, let two?): one.isSame(as: two)
        default: false
        }
    }
}

/// The movement of one property of an object, or of a block, to its end value.
///
/// It begins when its commit is published. Any thread may read it.
public final class RampRun: Sendable {
    let from: Value
    public let end: Value
    private let duration: UInt64
    /// In nanoseconds on the clock of the ramps; `notBegun` before the commit is published.
    private let begun = Atomic<UInt64>(RampRun.notBegun)

    private static let notBegun = UInt64.max

    private init(_ from: Value, _ end: Value, _ ramp: Ramp) {
        self.from = from
        self.end = end
        duration = ramp.duration
    }

    /// Nil if there is nothing to move: the values are the same, or the start is no finite number.
    public static func between(_ start: Value, _ end: Value, over ramp: Ramp) -> RampRun? {
        guard ramp.duration > 0, let from = start.ofSameKinds(as: end), !from.isSame(as: end) else { return nil }
        return RampRun(from, end, ramp)
    }

    /// A second call is a no-op.
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
        return passed >= duration ? end : from.moved(to: end, by: Double(passed) / Double(duration))
    }
}

extension Value {
    /// The numbers of this value that `other` has, in its kinds. Nil if one of them is no finite number.
    fileprivate func ofSameKinds(as other: Value) -> Value? {
        if case .map(let wanted) = other {
            var pairs: [(name: String, value: Value)] = []
            for pair in wanted {
                guard let value = self[pair.name]?.ofSameKinds(as: pair.value) else { return nil }
                pairs.append((pair.name, value))
            }
            return .map(pairs)
        }
        guard kind.isNumber, let number = try? converted(to: other.kind) else { return nil }
        return switch number {
        case .double(let double): double.isFinite ? number : nil
        case .float(let float): float.isFinite ? number : nil
        default: number
        }
    }

    /// The value that lies at a part of the way to another one of the same kind. Integers are rounded to the nearest, half away from
    /// zero. Of a map, each number moves.
    func moved(to end: Value, by part: Double) -> Value {
        switch (self, end) {
        case (.map(let own), .map(let ends)):
            return .map(
                ends.map { pair in
                    let start = own.first { $0.name.isSameName(as: pair.name) }?.value ?? pair.value
                    return (name: pair.name, value: start.moved(to: pair.value, by: part))
                })
        case (.double(let start), .double(let end)): return .double(Self.between(start, end, part))
        case (.float(let start), .float(let end)):
            return .float(Float(Self.between(Double(start), Double(end), part)))
        default:
            if let start = signedInteger, let stop = end.signedInteger {
                return (try? Value.int64(Self.between(start, stop, part)).converted(to: end.kind)) ?? end
            }
            if let start = unsignedInteger, let stop = end.unsignedInteger {
                return (try? Value.uint64(Self.between(start, stop, part)).converted(to: end.kind)) ?? end
            }
            return end
        }
    }

    private static func between(_ start: Double, _ end: Double, _ part: Double) -> Double {
        // Their difference may be too large for a double.
        start * (1 - part) + end * part
    }

    private static func between(_ start: Int64, _ end: Int64, _ part: Double) -> Int64 {
        guard max(start.magnitude, end.magnitude) > 1 << 52 else {
            return Int64(between(Double(start), Double(end), part).rounded(.toNearestOrAwayFromZero))
        }
        let steps = Int64(bitPattern: steps(UInt64(bitPattern: start < end ? end &- start : start &- end), part))
        return start < end ? start &+ steps : start &- steps
    }

    private static func between(_ start: UInt64, _ end: UInt64, _ part: Double) -> UInt64 {
        guard max(start, end) > 1 << 52 else {
            return UInt64(between(Double(start), Double(end), part).rounded(.toNearestOrAwayFromZero))
        }
        return start < end ? start + steps(end - start, part) : start - steps(start - end, part)
    }

    /// A part of a distance that a double may not express exactly.
    private static func steps(_ distance: UInt64, _ part: Double) -> UInt64 {
        let steps = Double(distance) * part
        return steps < 0x1p64 ? min(UInt64(steps), distance) : distance
    }
}
