internal import InvivoBase
internal import InvivoConfig
internal import InvivoLoop

// The values that the phases of a reload pass on. They are classes, because a copy of a set or plan would retain dozens
// of references.

/// The files that a reload has read, with the results.
struct FilesRead {
    /// Documents that were read again and have the same content as before.
    var unchanged: [Document] = []
    /// The files that were read, with the hash of the content. Nil: the content is unknown.
    var read: [(document: Document, hash: ContentHash?)] = []
    /// The files that could not be read because descriptors or memory were exhausted.
    var unread: [Document] = []
    /// Followed files that are left out, because they are open for writing.
    var busy: [Document] = []
}

/// A staged change set, with its parsed documents. Immutable.
final class Staged {
    let set: ChangeSet
    let documents: [(document: Document, next: Document.State)]
    /// The content that a rollback brings back.
    let restored: FormerContent?
    /// The new copy of the environment, with its layer; nil if they stay.
    let environment: ConfigLayers.NewEnvironment?

    init(
        _ set: ChangeSet, _ documents: [(document: Document, next: Document.State)] = [],
        environment: ConfigLayers.NewEnvironment? = nil, restoring restored: FormerContent? = nil
    ) {
        self.environment = environment
        self.set = set
        self.documents = documents
        self.restored = restored
    }
}

/// A change set that was staged and planned. Nothing of it is visible yet. Used once, by the thread that has the turn.
final class PreparedReload {
    enum Outcome {
        /// The documents have their former content, and the set changes nothing else.
        case nothing
        case planned(Plan)
        case failed(Failure)
    }

    let set: ChangeSet
    /// The set as it was given, if files whose bytes were refused before take part in `set`.
    let given: ChangeSet?
    /// Why these files were refused again, although the rest was not.
    var refused: Failure?
    var clock: PhaseClock
    var outcome = Outcome.nothing
    var warnings: [Report.Warning] = []
    var files = FilesRead()
    /// The rules of the plan, if they were begun.
    var rules: RuleRun?
    /// Whether all events concerned documents that are not open.
    let concernsNoOpenDocument: Bool
    /// Whether a call waits for it and returns its failure, which is then not logged as an error.
    var isAnswered = false

    init(_ set: ChangeSet, given: ChangeSet, concernsNoOpenDocument: Bool) {
        self.set = set
        self.given = set.documents.refused.isEmpty ? nil : given
        self.concernsNoOpenDocument = concernsNoOpenDocument
        clock = PhaseClock(set.events)
    }

    var failure: Failure? { if case .failed(let failure) = outcome { failure } else { nil } }

    /// Whether host code runs before it is live, which may take long.
    var runsHostCode: Bool { if case .planned(let plan) = outcome { plan.runsHostCode } else { false } }

    /// Removes and returns the outcome. A plan in it then has one reference, so that changing it copies nothing.
    func takeOutcome() -> Outcome {
        defer { outcome = .nothing }
        return outcome
    }
}

/// A finished reload that is not reported yet.
final class Attempt {
    let set: ChangeSet
    let report: Report
    let warnings: [Report.Warning]
    let files: FilesRead
    /// The documents have their former content: nothing is reported.
    let isNothing: Bool
    let changed: ChangedObjects
    /// Whether all events concerned documents that are not open.
    let concernsNoOpenDocument: Bool
    /// Whether a call waits for it and returns its failure, which is then not logged as an error.
    let isAnswered: Bool
    /// Why files were refused again, although the rest was not.
    let refused: Failure?

    init(_ prepared: PreparedReload, _ report: Report, _ changed: ChangedObjects, isNothing: Bool) {
        self.changed = changed
        set = prepared.set
        warnings = prepared.warnings
        files = prepared.files
        concernsNoOpenDocument = prepared.concernsNoOpenDocument
        isAnswered = prepared.isAnswered
        refused = prepared.refused
        self.report = report
        self.isNothing = isNothing
    }
}
