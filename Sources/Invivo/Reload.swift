internal import CInvivo

/// The result of one reload.
public struct Reload: Sendable {
    /// The current generation: the new one, or after a failure the one that stays.
    public let generation: UInt64
    /// The cause of the reload: `tuning.yaml`, `define synth.lead`.
    public let cause: String
    /// Why it failed; nil when it was committed.
    public let error: InvivoError?
    /// The error of stopping a replaced object; the reload is committed nevertheless.
    public let stopError: InvivoError?
    /// The changes of the reload.
    public let changes: [Change]
    /// The number of changes that a report of `Runtime.reports` does not contain: it has the first 1000.
    public let omitted: Int
    /// The warnings, each with its source location: unused values with a name similar to a used one, and all other log
    /// entries of this reload at the level `warning`.
    public let warnings: [String]
    /// The durations of the phases.
    public let durations: Durations
    private let text: String

    /// Whether it was committed.
    public var isCommitted: Bool { error == nil }

    /// One change.
    public struct Change: Sendable, Hashable {
        /// The key.
        public let key: String
        /// The kind of the change.
        public let kind: Kind
        /// The property that was tuned, or empty.
        public let property: String
        /// Where the new value or definition is written, `tuning.yaml:3:12`; empty if a call gave it, or if there is none.
        public internal(set) var location = ""
        /// The number of live objects of prototype or graph scope that the key has created before, and that no reload
        /// updates.
        public internal(set) var untracked = 0

        /// The kinds of changes.
        public enum Kind: UInt32, Sendable {
            /// A new definition.
            case defined
            /// A definition was removed.
            case removed
            /// The shared instance is a new one.
            case remade
            /// The instance is the same, something injected into it is new.
            case reinjected
            /// A property of the instance or block has another value.
            case tuned
            /// Takes effect at the next construction of the object, or when the target is defined.
            case pending
            /// The configuration value at the path, which is given as the key, has changed.
            case configured
            /// The definition is blocked on a missing dependency.
            case dormant
            /// The entries of a pool were removed; the key is the pool's name.
            case cleared
            /// The object keeps a former object or value (`OnChange.keep`).
            case kept
        }
    }

    /// The durations of the phases of a reload.
    public struct Durations: Sendable, Hashable {
        /// From the first event to the last one.
        public let detect: Duration
        public let settle: Duration
        public let stage: Duration
        public let plan: Duration
        public let commit: Duration
        /// From the change of the file, or from the call, to the commit.
        public let total: Duration
        /// The time for which an exclusive object was not available.
        public let outage: Duration
    }

    init(_ report: OpaquePointer, _ table: Table) {
        func duration(_ phase: Int) -> Duration {
            .nanoseconds(Int64(clamping: table.pointee.report_nanoseconds(report, UInt32(phase))))
        }
        generation = table.pointee.report_generation(report)
        cause = String(text: table.pointee.report_cause(report))
        let status = table.pointee.report_status(report)
        error =
            status == 0 ? nil : InvivoError(reading: table.pointee.report_error(report), status: status, table: table)
        let stopped = table.pointee.report_stop_error(report)
        stopError = stopped.map { InvivoError(reading: $0, status: invivo_status(INVIVO_E_STOP), table: table) }
        changes = (0..<table.pointee.report_count(report)).map { index in
            Change(
                key: String(text: table.pointee.report_key(report, index)),
                kind: Change.Kind(rawValue: table.pointee.report_change(report, index)) ?? .tuned,
                property: String(text: table.pointee.report_property(report, index)),
                location: String(text: table.pointee.report_location(report, index)),
                untracked: Int(clamping: table.pointee.report_untracked(report, index)))
        }
        omitted = Int(clamping: table.pointee.report_omitted(report))
        warnings = (0..<table.pointee.report_warning_count(report)).map {
            String(text: table.pointee.report_warning(report, $0))
        }
        durations = Durations(
            detect: duration(INVIVO_PHASE_DETECT), settle: duration(INVIVO_PHASE_SETTLE),
            stage: duration(INVIVO_PHASE_STAGE), plan: duration(INVIVO_PHASE_PLAN),
            commit: duration(INVIVO_PHASE_COMMIT),
            total: duration(INVIVO_PHASE_TOTAL), outage: duration(INVIVO_PHASE_OUTAGE))
        self.text = String(text: table.pointee.report_text(report))
    }
}

/// A one-line description: `generation 7: tuning.yaml: synth.lead.gain tuned, 1.3 ms`.
extension Reload: CustomStringConvertible {
    public var description: String { text }
}
