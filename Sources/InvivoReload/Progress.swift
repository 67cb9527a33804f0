public import InvivoBase

/// One phase of a reload, or the end of a former generation, for observers that ask for them.
public struct Progress: Sendable {
    /// Mirrors `INVIVO_PROGRESS_...`.
    public enum Phase: UInt32, Sendable {
        case detected
        case planned
        case committed
        case refused
        case unchanged
        case retired
    }

    public let phase: Phase
    /// The number of the reload; 0 for `retired`.
    public let reload: UInt64
    /// The current generation; for `retired` the one that has ended.
    public let generation: UInt64
    public let cause: String
    /// Why it was refused.
    public let failure: Failure?
}
