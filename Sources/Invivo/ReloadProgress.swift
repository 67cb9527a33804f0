internal import CInvivo

/// One phase of a reload, or the end of a former generation.
public struct ReloadProgress: Sendable {
    /// The phases of reloads.
    public enum Phase: UInt32, Sendable {
        /// An edit of a followed file was noticed, before its quiet time has passed; or a call began a reload.
        case detected
        /// The plan is complete, and no object was created yet.
        case planned
        /// The new generation is visible.
        case committed
        /// The reload has failed, and the generation stays.
        case refused
        /// Nothing was to change.
        case unchanged
        /// Nothing reads a former generation any more, and the objects that end with it were stopped.
        case retired
    }

    /// The phase.
    public let phase: Phase
    /// The number of the reload, the same in all its phases; 0 for `retired`.
    public let reload: UInt64
    /// The current generation; for `retired` the one that has ended.
    public let generation: UInt64
    /// The cause of the reload; for `detected` of a file its name.
    public let cause: String
    /// Why the reload was refused.
    public let error: InvivoError?

    /// Nil for a phase that this version does not know.
    init?(_ progress: invivo_progress, _ table: Table) {
        guard let phase = Phase(rawValue: progress.phase) else { return nil }
        self.phase = phase
        (reload, generation) = (progress.reload, progress.generation)
        cause = String(text: progress.cause)
        error = progress.error.map { InvivoError(reading: $0, status: table.pointee.error_code($0), table: table) }
    }
}
