public import InvivoBase
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
            case event
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
    /// In order.
    private var config: [ConfigChange] = []
    var functions = FunctionChanges()
    var overrides: [OverrideChange] = []
    var targets: [TargetChange] = []
    var rebuilds: [Rebuild] = []
    /// The generation that the set was written for; nil: any. If another one is current, the set is refused.
    public var expectedGeneration: UInt64?

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

    private enum ConfigChange {
        /// A runtime setting; nil removes it.
        case setting(path: String, ConfigNode?)
        /// A path becomes secret, or ceases to be.
        case secret(path: String, Bool, at: Location)
    }

    /// Sets a configuration path, or removes what a former set has set. The last call wins.
    public mutating func configure(_ path: String, _ node: ConfigNode?) { config.append(.setting(path: path, node)) }

    /// Declares a configuration path as secret, or revokes that. `location` is that of the declaration in a manifest.
    public mutating func declare(secret path: String, _ isSecret: Bool, at location: Location = Location()) {
        config.append(.secret(path: path, isSecret, at: location))
    }

    /// The location of the declaration of a secret; no location if the set does not declare it in a manifest.
    func location(ofSecret path: String) -> Location {
        for case .secret(let declared, true, let location) in config where declared.isSameName(as: path) {
            return location
        }
        return Location()
    }

    /// Declares the secrets that the other set declares, and those of its bindings.
    public mutating func declareSecrets(of other: ChangeSet) {
        for (path, isSecret) in other.secrets { declare(secret: path, isSecret) }
        for binding in other.functions.settings.added {
            for path in binding.secrets { declare(secret: path, true) }
        }
    }

    /// The configuration paths that the set makes secret: those that it declares, and those of its bindings and assemblies.
    var secretPaths: [String] {
        let described = assemblies.flatMap { change -> [String] in
            if case .activate(let activation) = change { activation.description?.secrets ?? [] } else { [] }
        }
        return secrets.filter(\.isSecret).map(\.path) + functions.settings.added.flatMap(\.secrets) + described
    }

    /// Runtime settings of configuration paths, in order; nil removes the setting.
    var configured: [(path: String, node: ConfigNode?)] {
        config.compactMap { if case .setting(let path, let node) = $0 { (path, node) } else { nil } }
    }

    /// The configuration paths that become secret, or cease to be, in order.
    var secrets: [(path: String, isSecret: Bool)] {
        config.compactMap { if case .secret(let path, let isSecret, _) = $0 { (path, isSecret) } else { nil } }
    }

    /// The generation whose content the set brings back. Such a set changes nothing else.
    var restoredGeneration: UInt64? { rebuilds.restored }

    /// Whether the set may make a path of the configuration secret.
    var declaresSecrets: Bool {
        secrets.contains(where: \.isSecret) || functions.settings.added.contains { !$0.secrets.isEmpty }
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
        config.isEmpty && changesOnlyDocumentsAndConfig
    }

    private var changesOnlyDocumentsAndConfig: Bool {
        keys.isEmpty && assemblies.isEmpty && functions.isEmpty && overrides.isEmpty && targets.isEmpty
            && rebuilds.isEmpty
    }

    /// Whether the set changes nothing except settings.
    var changesOnlySettings: Bool {
        !config.isEmpty && secrets.isEmpty && changesOnlyDocumentsAndConfig && documents.isEmpty
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
        let changed = documents.withEvents + documents.refused
        guard !changed.isEmpty else { return cause }
        let files = changed.filter { document in !unchanged.contains { $0 === document } }
        var whole = cause
        whole.add(files: (files.isEmpty && cause.isEmpty ? changed : files).map(\.name))
        return whole
    }

    /// Adds the changes of a later set, as if it were committed after this one. Where both change the same, the later one wins.
    mutating func join(_ later: ChangeSet) {
        cause.join(later.cause)
        events = min(events.lowerBound, later.events.lowerBound)...max(events.upperBound, later.events.upperBound)
        keys.join(later.keys)
        documents.join(later.documents)
        assemblies += later.assemblies
        config += later.config
        functions.join(later.functions)
        overrides += later.overrides
        targets += later.targets
        rebuilds += later.rebuilds
        numbers.add(later.numbers)
    }
}
