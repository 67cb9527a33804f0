internal import InvivoBase
internal import InvivoGraph
internal import InvivoSpec

/// A generation whose content a rollback can bring back, or the current one.
public struct KeptGeneration: Sendable {
    /// Commits that change no content, as of a target that is attached, are generations with the same content.
    public internal(set) var numbers: ClosedRange<UInt64>
    /// The cause of the commit that made it; "" for the first one.
    public var cause: String { origin.text }
    let origin: Cause
    /// When that was, in nanoseconds since 1970 (UTC).
    public let time: UInt64
    /// The names under which it is kept.
    public internal(set) var marks: [String] = []

    /// The number, or the first and the last one.
    var text: String {
        numbers.count == 1 ? "\(numbers.upperBound)" : "\(numbers.lowerBound) to \(numbers.upperBound)"
    }
}
