internal import InvivoBase
public import InvivoConfig

/// The changes of one reload. Every change of a runtime is a change set: there is no second way.
///
/// It consists of one part for each kind of change. `ChangeSet+Writing` has the functions of its authors.
public struct ChangeSet: Sendable {
    public enum Content: Sendable {
        case bytes([UInt8])
        /// A file, read when the set is staged.
        case file(Reason)
        /// The configuration of a document that the caller has read. Such a document has no traits.
        case config(ConfigNode)
        /// The document is removed, with all its layers.
        case none

        /// Why a file is read.
        public enum Reason: Sendable {
            case asked
            /// There were events. Staging the set determines whether its content differs.
            case heard
            /// Its bytes were refused before, and take part in the set.
            case refused
        }

        /// Whether it was refused before.
        var isRefused: Bool { if case .file(.refused) = self { true } else { false } }
    }

    /// The cause of the reload, for the report.
    public var cause: Cause
    private var beginning: Beginning
    var keys = KeyChanges()
    var documents = DocumentChanges()
    /// Assemblies to activate and deactivate, in this order.
    public var assemblies: [AssemblyChange] = []
    /// Runtime settings of configuration paths, in order; nil removes the setting.
    public var configured: [(path: String, node: ConfigNode?)] = []
    /// Processors, rules, trait types and bindings of settings, and declarations of secrets.
    var functions = FunctionChanges()
    var overrides: [OverrideChange] = []
    var targets: [TargetChange] = []
    var rebuilds: [Rebuild] = []
    /// The generation that the set was written for; nil: any. If another one is current, the set is refused.
    public var expectedGeneration: UInt64?
    /// The generation whose content the set brings back. Such a set changes nothing else.
    public var restoredGeneration: UInt64?

    public init(_ cause: Cause = Cause()) {
        self.cause = cause
        let now = monotonicNow()
        beginning = Beginning(events: now...now, numbers: ReloadNumbers())
    }

    private struct Beginning: Sendable {
        let events: ClosedRange<UInt64>
        let numbers: ReloadNumbers
    }

    /// Monotonic nanoseconds of the first and last event behind it; the time of the call where there was none.
    var events: ClosedRange<UInt64> {
        get { beginning.events }
        set { beginning = Beginning(events: newValue, numbers: numbers) }
    }

    /// For observers of phases.
    var numbers: ReloadNumbers {
        get { beginning.numbers }
        set { beginning = Beginning(events: events, numbers: newValue) }
    }

    /// Returns the failure of a set that was written for another generation than the `current` one.
    func staleness(in current: UInt64) -> Failure? {
        guard let expectedGeneration, expectedGeneration != current else { return nil }
        return Failure(
            .stale,
            "the change set expects generation \(expectedGeneration), but generation \(current) is current: read the state "
                + "again, and write the set for that generation")
    }

    /// Whether the set may make a path of the configuration secret.
    var declaresSecrets: Bool {
        functions.secrets.contains(where: \.isSecret) || functions.settings.added.contains { !$0.secrets.isEmpty }
            || assemblies.contains { change in
                if case .activate(let activation) = change {
                    activation.description?.secrets.isEmpty == false
                } else {
                    false
                }
            }
    }

    /// Whether the set changes nothing except its documents.
    var changesOnlyDocuments: Bool {
        configured.isEmpty && changesOnlyDocumentsAndSettings
    }

    private var changesOnlyDocumentsAndSettings: Bool {
        keys.isEmpty && assemblies.isEmpty && functions.isEmpty && overrides.isEmpty && targets.isEmpty
            && rebuilds.isEmpty && restoredGeneration == nil
    }

    /// Whether the set changes nothing except settings.
    var changesOnlySettings: Bool {
        !configured.isEmpty && changesOnlyDocumentsAndSettings && documents.isEmpty
    }

    /// Whether the set is not combined with others, because its author does not know their changes.
    var isAlone: Bool { expectedGeneration != nil || restoredGeneration != nil }

    /// Returns the set without the documents that may be invalid for now.
    func without(_ waiting: [NewDocument]) -> ChangeSet {
        var rest = self
        rest.documents.remove(waiting)
        return rest
    }

    /// Returns the cause without the documents of `unchanged`.
    func cause(besides unchanged: [Document]) -> Cause {
        let heard = documents.heard + documents.refused
        guard !heard.isEmpty else { return cause }
        let files = heard.filter { document in !unchanged.contains { $0 === document } }
        var whole = cause
        whole.add(files: (files.isEmpty && cause.isEmpty ? heard : files).map(\.name))
        return whole
    }

    /// Adds the changes of a later set, as if it were committed after this one. Where both change the same, the later one wins.
    mutating func join(_ later: ChangeSet) {
        cause.join(later.cause)
        events = min(events.lowerBound, later.events.lowerBound)...max(events.upperBound, later.events.upperBound)
        keys.join(later.keys)
        documents.join(later.documents)
        assemblies += later.assemblies
        configured += later.configured
        functions.join(later.functions)
        overrides += later.overrides
        targets += later.targets
        rebuilds += later.rebuilds
        numbers.add(later.numbers)
    }
}
