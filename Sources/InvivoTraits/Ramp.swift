public import InvivoBase

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
