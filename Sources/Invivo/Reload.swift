internal import CInvivo

/// The result of one reload.
public struct Reload: Sendable {
    /// The current generation: the new one, or after a failure the one that stays.
    public let generation: UInt64
    /// The cause of the reload: `tuning.yaml`, `define synth.lead`.
    public let cause: String
    /// The parts of the cause: the edits and calls that began the reload.
    public let causes: [Cause]
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
    /// The same warnings with their kinds and locations as data.
    public let warningDetails: [Warning]
    /// The durations of the phases.
    public let durations: Durations
    private let text: String

    /// Whether it was committed.
    public var isCommitted: Bool { error == nil }

    /// One part of the cause of a reload.
    public struct Cause: Sendable, Hashable {
        /// The kind of the part.
        public let kind: Kind
        /// The key, source, assembly or other name; empty if the kind has none.
        public let name: String

        /// The kinds of causes.
        public enum Kind: UInt32, Sendable {
            /// A file was opened, edited or read again.
            case file
            /// A call opened or changed a document in memory.
            case document
            /// A source was closed.
            case close
            /// A key was defined.
            case define
            /// A definition was removed.
            case remove
            /// A base value was set: `key.property`.
            case set
            /// A runtime setting of a path.
            case configure
            /// The instance of a key was reset.
            case reset
            /// The instances of a scope were reset.
            case resetScope
            /// An override of a key began.
            case override
            /// An override of a key ended.
            case overrideEnd
            /// An assembly was activated.
            case activate
            /// An assembly was deactivated.
            case deactivate
            /// An assembly was mounted under a prefix.
            case mount
            /// A target was attached to a key.
            case attach
            /// A target was detached from a key, or its object has ended.
            case detach
            /// A pool was cleared.
            case clear
            /// A processor was added.
            case process
            /// A processor was removed.
            case unprocess
            /// A rule was added.
            case rule
            /// A rule was removed.
            case ruleRemove
            /// The content of a former generation came back; the name is its number.
            case rollback
            /// A type was registered that definitions were blocked on.
            case type
            /// An application was started.
            case manifest
            /// An object was built while a reload replaced its definition.
            case overtaken
            /// Further parts were omitted.
            case more
            /// A trait type was added.
            case trait
            /// A trait type was removed.
            case traitRemove
            /// The copy of the environment was refreshed.
            case environment
            /// A section was bound to settings.
            case bind
            /// A binding of settings was removed.
            case unbind
        }
    }

    /// The origin of a new value or definition.
    public struct Origin: Sendable, Hashable {
        /// The kind of the layer.
        public internal(set) var kind = Kind.none
        /// The name of the source or assembly; empty if the layer has none.
        public internal(set) var layer = ""
        /// The file of the location, or empty.
        public internal(set) var file = ""
        /// The line, from 1; 0 if it is unknown.
        public internal(set) var line = 0
        /// The column, from 1; 0 if it is unknown.
        public internal(set) var column = 0

        /// The kinds of layers.
        public enum Kind: UInt32, Sendable {
            /// There is no new value or definition, or the object's own value is back.
            case none
            /// A file that is followed or was opened.
            case file
            /// A document in memory.
            case document
            /// A call: a definition, a runtime setting or a base value.
            case call
            /// A definition of an assembly.
            case assembly
            /// The manifest of the application.
            case manifest
            /// The definition of an override.
            case override
            /// A rollback brought the value or definition back; the location is the one in the former content.
            case rollback
            /// A variable of the environment; the layer is the prefix, and the file the name of the variable.
            case environment
        }
    }

    /// A warning of a reload.
    public struct Warning: Sendable, Hashable, CustomStringConvertible {
        /// The kind of the warning.
        public let kind: Kind
        /// The text, with the location.
        public let text: String
        /// The file of the location, or empty.
        public let file: String
        /// The line, from 1; 0 if it is unknown.
        public let line: Int
        /// The column, from 1; 0 if it is unknown.
        public let column: Int
        /// The text, with the location.
        public var description: String { text }

        /// The kinds of warnings.
        public enum Kind: UInt32, Sendable {
            case other
            /// An object keeps a former dependency (`OnChange.keep`).
            case kept
            /// A setter clamped or ignored the value of a document.
            case adjusted
            /// Other code changed a property; its value stays.
            case foreign
            /// Nothing reads a configuration value that resembles one that is read.
            case unread
            /// A document uses the former name of a property.
            case renamed
            /// Traits wait for a target with their key.
            case noTarget
            /// The bytes of a file are still refused; the rest was committed.
            case refused
            /// A former value still cannot be restored.
            case unrestored
            /// The setup of an object failed, or `refresh` or `finalize`.
            case setup
            /// The type of a key changed: the new object has no former object.
            case retyped
            /// A file has other bytes than the content that a rollback brought back.
            case diverged
            /// A live document uses a trait type that was removed.
            case unknownTrait
            /// A trait with an error was skipped, because its document keeps going.
            case skipped
        }
    }

    /// One change.
    public struct Change: Sendable, Hashable {
        /// The key.
        public let key: String
        /// The kind of the change.
        public let kind: Kind
        /// The property that was tuned, or empty.
        public let property: String
        /// Where the new value or definition is written, `tuning.yaml:3:12`; empty if there is none, or if a call gave it
        /// without a location.
        public internal(set) var location = ""
        /// The origin of the new value or definition.
        public internal(set) var origin = Origin()
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
                origin: Origin(report, index, table),
                untracked: Int(clamping: table.pointee.report_untracked(report, index)))
        }
        omitted = Int(clamping: table.pointee.report_omitted(report))
        causes = (0..<table.pointee.report_cause_count(report)).map { index in
            Cause(
                kind: Cause.Kind(rawValue: table.pointee.report_cause_kind(report, index)) ?? .more,
                name: String(text: table.pointee.report_cause_name(report, index)))
        }
        warningDetails = (0..<table.pointee.report_warning_count(report)).map { Warning(report, $0, table) }
        warnings = warningDetails.map(\.text)
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

extension Reload.Origin {
    fileprivate init(_ report: OpaquePointer, _ index: Int, _ table: Table) {
        kind = Kind(rawValue: table.pointee.report_origin(report, index)) ?? .none
        layer = String(text: table.pointee.report_layer(report, index))
        file = String(text: table.pointee.report_file(report, index))
        line = Int(table.pointee.report_line(report, index))
        column = Int(table.pointee.report_column(report, index))
    }
}

extension Reload.Warning {
    fileprivate init(_ report: OpaquePointer, _ index: Int, _ table: Table) {
        kind = Kind(rawValue: table.pointee.report_warning_kind(report, index)) ?? .other
        text = String(text: table.pointee.report_warning(report, index))
        file = String(text: table.pointee.report_warning_file(report, index))
        line = Int(table.pointee.report_warning_line(report, index))
        column = Int(table.pointee.report_warning_column(report, index))
    }
}
