internal import CInvivo
public import InvivoBase
internal import InvivoConfig
internal import Synchronization

/// The report of one reload.
public final class Report: Sendable {
    public struct Change: Sendable {
        public let key: String
        public let what: UInt32
        public let property: String
        /// The key whose traits gave the value; nil if it is `key`, or if none did.
        let specKey: String?
        /// Where the new value or definition is written; empty if there is none, or if a call gave it without a location.
        public let location: Location
        public let origin: Origin

        init(
            key: String, what: Int, property: String = "", of specKey: String? = nil,
            at location: Location = Location(), from origin: Origin = .none
        ) {
            self.key = key
            self.specKey = specKey == key ? nil : specKey
            self.what = UInt32(what)
            self.property = property
            self.location = location
            self.origin = origin
        }

        /// Whether `key` is a key, and not a path of the configuration or the name of a pool.
        var isOfKey: Bool { what != UInt32(INVIVO_CHANGED_CONFIGURED) && what != UInt32(INVIVO_CHANGED_CLEARED) }
    }

    /// The layer that a new value or definition belongs to.
    public struct Origin: Sendable {
        /// Mirrors `INVIVO_ORIGIN_...`.
        public enum Kind: UInt32, Sendable {
            case none
            case file
            case document
            case call
            case assembly
            case manifest
            case override
            case rollback
            case environment
        }
        public let kind: Kind
        /// The name of the document or assembly, the prefix of the environment's variables, or "".
        public let layer: String

        init(_ kind: Kind, _ layer: String = "") { (self.kind, self.layer) = (kind, layer) }
        static let none = Origin(.none)
    }

    public struct Warning: Sendable {
        /// Mirrors `INVIVO_WARNING_...`.
        public enum Kind: UInt32, Sendable {
            case other
            case kept
            case adjusted
            case foreign
            case unread
            case renamed
            case noTarget
            case refused
            case unrestored
            case setup
            case retyped
            case diverged
            case unknownTrait
            case skipped
        }
        public let kind: Kind
        public let message: String
        public let location: Location

        init(_ kind: Kind, _ message: String, at location: Location) {
            (self.kind, self.message, self.location) = (kind, message, location)
        }

        /// The message with its location.
        public var text: String { Failure(.ok, message, at: location).text }

        /// The location as the fields of a log entry; none without a location.
        public var fields: [(String, Value)] {
            guard !location.file.isEmpty else { return [] }
            return [
                ("file", .string(location.file)), ("line", .int64(Int64(location.line))),
                ("column", .int64(Int64(location.column))),
            ]
        }
    }

    public let generation: UInt64
    /// The text of `causes`.
    public let cause: String
    public let causes: Cause
    public let failure: Failure?
    /// The failure of stopping replaced objects.
    public let stopFailure: Failure?
    public let changes: [Change]
    /// The number of changes that a kept report does not contain.
    public let omitted: Int
    public let warnings: [Warning]
    /// Nanoseconds by phase (INVIVO_PHASE_...).
    public let phases: [UInt64]

    /// The value at each configuration path that changed or has a change below it; nil if it was removed.
    let settings: NameTable<ConfigNode?>

    /// The replaced keys with objects that are neither shared nor tracked.
    private let untrackedObjects: UntrackedObjects?

    /// The keys of replaced objects that stay started because their language still refers to them.
    private let referred: [String]
    private let stopGrace: UInt64

    init(
        generation: UInt64, causes: Cause, failure: Failure?, stopFailure: Failure?, changes: [Change],
        phases: [UInt64], warnings: [Warning] = [], settings: NameTable<ConfigNode?> = [:],
        untrackedObjects: UntrackedObjects? = nil, referred: [String] = [], stopGrace: UInt64 = .max
    ) {
        self.referred = referred
        self.stopGrace = stopGrace
        self.untrackedObjects = untrackedObjects
        self.warnings = warnings
        self.settings = settings
        self.generation = generation
        self.causes = causes
        cause = causes.text
        self.failure = failure
        self.stopFailure = stopFailure
        self.changes = changes
        omitted = 0
        self.phases = phases
    }

    /// Whether an exclusive object was stopped meanwhile.
    var hasOutage: Bool { phases[Int(INVIVO_PHASE_OUTAGE)] > 0 }

    /// A copy without the values, and with some changes and warnings only.
    private init(_ whole: Report, _ changes: [Change], _ warnings: [Warning], omitted: Int) {
        referred = whole.referred
        stopGrace = whole.stopGrace
        untrackedObjects = whole.untrackedObjects
        settings = [:]
        generation = whole.generation
        (cause, causes) = (whole.cause, whole.causes)
        failure = whole.failure
        stopFailure = whole.stopFailure
        phases = whole.phases
        (self.changes, self.warnings, self.omitted) = (changes, warnings, omitted)
    }

    /// Returns the report with the changes at these indices.
    func containing(only indices: [Int]) -> Report {
        indices.count == changes.count ? self : Report(self, indices.map { changes[$0] }, warnings, omitted: omitted)
    }

    private static let mostKept = 1000

    /// Returns the report as the history keeps it: without the values, which belong to its generation, and shortened if it is long.
    func kept() -> Report {
        let isShort = changes.count <= Self.mostKept && warnings.count <= Self.mostKept
        guard !isShort || !settings.isEmpty else { return self }
        let shown = Array(changes.prefix(Self.mostKept))
        return Report(
            self, shown, Array(warnings.prefix(Self.mostKept)), omitted: changes.count - shown.count)
    }

    /// The approximate size in memory, with the C strings of a report that was read.
    var bytes: Int {
        func size(_ string: String) -> Int { 2 * string.utf8.count + 48 }
        return 512 + size(cause) + causes.bytes + (failure.map { size($0.text) } ?? 0)
            + (stopFailure.map { size($0.text) } ?? 0)
            + changes.reduce(0) {
                $0 + size($1.key) + size($1.property) + 2 * size($1.location.file) + size($1.origin.layer) + 64
            }
            + warnings.reduce(0) { $0 + 2 * size($1.message) + 2 * size($1.location.file) + 64 }
    }

    /// Created on first use. Observers in several domains read one report at the same time.
    private struct Derived: Sendable {
        var untracked: [String: UInt64]?
        var strings: ReportStrings?
        var names: ReportNames?
    }
    private let derived = Mutex(Derived())

    /// The number of objects of earlier generations that live on and that nothing follows, by their key. Counted on first use.
    public var untracked: [String: UInt64] {
        if let known = derived.withLock(\.untracked) { return known }
        // Counting takes the container's monitor.
        let counted = untrackedObjects?.count() ?? [:]
        return derived.withLock { derived in
            let first = derived.untracked ?? counted
            derived.untracked = first
            return first
        }
    }

    /// The report's C strings and errors, created on first use and valid as long as the report.
    public var strings: ReportStrings {
        derived.withLock { derived in
            let first = derived.strings ?? ReportStrings(self)
            derived.strings = first
            return first
        }
    }

    /// The C strings of its causes, layers and files: few of those that read a report ask for them.
    public var names: ReportNames {
        derived.withLock { derived in
            let first = derived.names ?? ReportNames(self)
            derived.names = first
            return first
        }
    }

    public var text: String {
        if let failure {
            let isBlocked = failure.all.allSatisfy { $0.finding == .unknownTrait }
            return "\(failure.text)\ngeneration \(generation) stays: \(cause) was not applied"
                + (isBlocked ? "; it is blocked, and applied when trait types of these names are added" : "")
        }
        let shown = changes.prefix(8).map { change in
            let name = change.property.isEmpty ? change.key : "\(change.key).\(change.property)"
            let traits = change.specKey.map { " (traits of \($0))" } ?? ""
            return "\(name) \(Self.names[min(Int(change.what), Self.names.count - 1)])\(traits)"
        }
        var list = shown.joined(separator: ", ")
        if changes.count > 8 { list += " and \(changes.count + omitted - 8) more" }
        if list.isEmpty { list = "nothing changed" }
        return "generation \(generation): \(cause): \(list), \(Self.duration(phases[Int(INVIVO_PHASE_TOTAL)]))"
            + referredText
    }

    /// Names the replaced objects that are still referenced, and the time of their stop.
    private var referredText: String {
        guard !referred.isEmpty else { return "" }
        let names = referred.listed(most: 8)
        let limit = stopGrace == .max ? "" : ", at the latest after \(Self.duration(stopGrace)) (stop_grace)"
        return referred.count == 1
            ? "; the old instance of \(names) is still referred to and stays started: it is stopped when nothing refers to it"
                + "\(limit); an exclusive definition stops it first"
            : "; the old instances of \(names) are still referred to and stay started: they are stopped when nothing refers to "
                + "them\(limit); exclusive definitions stop them first"
    }

    /// How long each phase took.
    var phaseText: String {
        let names = ["detect", "settle", "stage", "plan", "commit"]
        return zip(names, phases).map { "\($0) \(Self.duration($1))" }.joined(separator: ", ")
    }

    private static let names = [
        "defined", "removed", "rebuilt", "reinjected", "tuned", "pending", "configured", "dormant", "cleared",
        "kept",
    ]

    static func duration(_ nanoseconds: UInt64) -> String {
        let (unit, size): (String, UInt64) =
            nanoseconds < 1_000_000
            ? ("us", 1_000) : nanoseconds < 1_000_000_000 ? ("ms", 1_000_000) : ("s", 1_000_000_000)
        let tenths = (nanoseconds / (size / 10))
        return "\(tenths / 10).\(tenths % 10) \(unit)"
    }
}
