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

/// The numbers of the reloads that became one: of the change sets that were joined, and of the edits in them. Empty if no observer
/// asked for phases when they began.
struct ReloadNumbers: Sendable {
    private(set) var all: [UInt64] = []

    init() {}
    init(_ number: UInt64) { all = [number] }

    var isEmpty: Bool { all.isEmpty }

    mutating func add(_ others: ReloadNumbers) { all += others.all }

    /// Removes and returns them.
    mutating func take() -> ReloadNumbers {
        defer { all = [] }
        return self
    }
}
