public import InvivoBase
public import InvivoConfig
public import InvivoGraph
internal import InvivoWiring

/// The changes of one reload. Every change of a runtime is a change set: there is no second way.
public struct ChangeSet: Sendable {
    public enum Content: Sendable {
        case bytes([UInt8])
        /// Read when the set is staged.
        case file
        /// The configuration of a document that the caller has read. Such a document has no traits.
        case config(ConfigNode)
        /// The document is removed, with all its layers.
        case none
    }

    /// The cause of the reload, for the report.
    public var cause: String
    /// Whether a call waits for it and returns its failure, which is then not logged as an error.
    var isAnswered = false
    /// Files with events. Whether their content differs is found out when the set is staged.
    var heard: [Document] = []
    public var definitions: [Definition] = []
    public var removed: [(id: UInt32, key: String)] = []
    /// Keys among `removed` that this set had defined before. They need not be defined in the runtime.
    public private(set) var withdrawn: Set<UInt32> = []
    public var documents: [(document: Document, content: Content)] = []
    /// The documents that the set opens or names, in the order in which later ones win.
    enum Entry: Sendable {
        /// A document in memory by name. It is looked up or created when the set is staged, so a discarded set has no effect.
        case named(String, Content)
        case new(NewDocument)
    }
    private(set) var entries: [Entry] = []
    /// The number of entries that `openBelow` has put before the others.
    private var belowCount = 0
    /// Whether the set changes nothing besides its documents.
    var saysNothing: Bool {
        definitions.isEmpty && removed.isEmpty && bases.isEmpty && processors.isEmpty && removedProcessors.isEmpty
            && resets.isEmpty && resetScopes.isEmpty && assemblies.isEmpty && overrides.isEmpty
            && endedOverrides.isEmpty
            && late.isEmpty && attached.isEmpty && detached.isEmpty && configured.isEmpty && cleared.isEmpty
            && !looksForTypes
    }
    /// Whether a file is read for it.
    var hasFile: Bool { documents.contains { if case .file = $0.content { true } else { false } } }
    /// The documents that are opened by the commit of this set.
    var opened: [NewDocument] { entries.compactMap { if case .new(let document) = $0 { document } else { nil } } }
    /// New base values: key, property, value.
    public var bases: [(id: UInt32, property: String, value: Value)] = []
    /// Keys with shared objects that a commit overtook while they were built.
    var late: [UInt32: LateBuild] = [:]
    /// Assemblies to activate and deactivate, in this order.
    public var assemblies: [AssemblyChange] = []
    /// Runtime settings of configuration paths, in order; nil removes the setting.
    public var configured: [(path: String, node: ConfigNode?)] = []
    public var overrides: [Override] = []
    public var endedOverrides: [Override] = []
    public var processors: [Processor] = []
    public var removedProcessors: [String] = []
    /// Keys whose shared instances are released, alone or with all their dependencies.
    public var resets: [(id: UInt32, key: String, withDependencies: Bool)] = []
    public var resetScopes: Set<Scope> = []
    /// Pools whose entries are removed.
    var cleared: [PoolClearing] = []
    /// Whether definitions that are blocked on types are planned again, because a type was registered.
    var looksForTypes = false
    public var attached: [Target] = []
    public var detached: [Target] = []
    /// Monotonic nanoseconds of the first and last event behind it; the time of the call where there was none.
    public var firstEvent: UInt64
    public var lastEvent: UInt64

    public init(cause: String) {
        self.cause = cause
        firstEvent = monotonicNow()
        lastEvent = firstEvent
    }

    /// Counts the time of a set that was written over a while from its commit.
    public mutating func started() {
        firstEvent = monotonicNow()
        lastEvent = firstEvent
    }

    /// Sets the content of the document in memory with this name. The last call wins.
    public mutating func say(_ content: Content, in name: String) {
        entries.removeAll { if case .named(let other, _) = $0 { other.isSameName(as: name) } else { false } }
        entries.append(.named(name, content))
    }

    /// Opens a document with the set: its content is part of the same reload.
    public mutating func open(_ document: NewDocument) { entries.append(.new(document)) }

    /// Opens a document below the documents of `open`, and above those that were opened below before.
    public mutating func openBelow(_ document: NewDocument) {
        entries.insert(.new(document), at: belowCount)
        belowCount += 1
    }

    /// Returns the set without the documents that may be invalid for now.
    func withoutWaiting() -> ChangeSet {
        var rest = self
        rest.entries.removeAll { if case .new(let document) = $0 { document.waits } else { false } }
        return rest
    }

    /// Returns the cause without the documents of `unchanged`.
    func cause(besides unchanged: [Document]) -> String {
        let files = heard.filter { document in !unchanged.contains { $0 === document } }
        let names = (files.isEmpty && cause.isEmpty ? heard : files).map(\.name).filter { $0 != cause }
        return ((cause.isEmpty ? [] : [cause]) + names).joined(separator: ", ")
    }

    /// Drops the definitions of keys that are removed later, with the definitions that are inline in them.
    public mutating func withdraw(_ keys: [(id: UInt32, key: String)]) {
        guard !keys.isEmpty else { return }
        let ids = Set(keys.map(\.id))
        for definition in definitions where ids.contains(definition.id) { withdrawn.insert(definition.id) }
        dropInlines(of: keys.map(\.key))
        definitions.removeAll { ids.contains($0.id) }
        bases.removeAll { ids.contains($0.id) }
    }

    /// Drops the changes of keys that are defined again later, with the definitions that are inline in them.
    private mutating func replace(_ later: [Definition]) {
        guard !later.isEmpty else { return }
        let ids = Set(later.map(\.id))
        dropInlines(of: later.map(\.key))
        definitions.removeAll { ids.contains($0.id) }
        removed.removeAll { ids.contains($0.id) }
        bases.removeAll { ids.contains($0.id) }
    }

    /// Drops definitions that are inline in the holders, at any depth.
    private mutating func dropInlines(of holders: [String]) {
        var names = NameSet(holders)
        var count = -1
        while count != definitions.count {
            count = definitions.count
            definitions.removeAll { definition in
                guard let owner = definition.body.owner, names.contains(owner) else { return false }
                names.insert(definition.key)
                return true
            }
        }
    }

    /// Adds the changes of a later set, as if it were committed after this one. Where both change the same, the later one wins.
    mutating func join(_ later: ChangeSet) {
        if cause.isEmpty {
            cause = later.cause
        } else if !later.cause.isEmpty && later.cause != cause {
            cause += ", " + later.cause
        }
        heard += later.heard.filter { document in !heard.contains { $0 === document } }
        withdraw(later.removed)
        replace(later.definitions)
        definitions += later.definitions
        removed += later.removed
        withdrawn.formUnion(later.withdrawn)
        for change in later.documents { documents.removeAll { $0.document === change.document } }
        documents += later.documents
        for entry in later.entries {
            switch entry {
            case .named(let name, let content): say(content, in: name)
            case .new(let document): open(document)
            }
        }
        bases += later.bases
        late.merge(later.late) { $0.joined($1) }
        assemblies += later.assemblies
        configured += later.configured
        overrides += later.overrides
        endedOverrides += later.endedOverrides
        for processor in later.processors {
            processors.removeAll { $0.name.isSameName(as: processor.name) }
            removedProcessors.removeAll { $0.isSameName(as: processor.name) }
        }
        for name in later.removedProcessors { processors.removeAll { $0.name.isSameName(as: name) } }
        processors += later.processors
        removedProcessors += later.removedProcessors
        resets += later.resets
        resetScopes.formUnion(later.resetScopes)
        cleared += later.cleared
        if later.looksForTypes { looksForTypes = true }
        attached += later.attached
        detached += later.detached
        firstEvent = min(firstEvent, later.firstEvent)
        lastEvent = max(lastEvent, later.lastEvent)
    }
}
