internal import InvivoBase
internal import InvivoLoop

// The phases of a reload. These are objects because sets and plans are large, and go from hand to hand: each copy of one counts
// dozens of references.

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

/// A change set whose documents were read. Not changed any more when it has been staged.
final class Staged {
    let set: ChangeSet
    let documents: [(document: Document, next: Document.State)]

    init(_ set: ChangeSet, _ documents: [(document: Document, next: Document.State)] = []) {
        self.set = set
        self.documents = documents
    }
}

/// A change set that was staged and planned; nothing of it is visible yet. Belongs to the thread that has the turn, which uses it
/// up.
final class PreparedReload {
    enum Outcome {
        /// The documents have their former content, and the set changes nothing else.
        case nothing
        case planned(Plan)
        case failed(Failure)
    }

    let set: ChangeSet
    var clock: PhaseClock
    var outcome = Outcome.nothing
    var warnings: [(String, Location)] = []
    var files = FilesRead()
    /// Whether all events concerned documents that are not open.
    let isNobodys: Bool
    /// Whether a call waits for it and returns its failure, which is then not logged as an error.
    var isAnswered = false

    init(_ set: ChangeSet, isNobodys: Bool) {
        self.set = set
        self.isNobodys = isNobodys
        clock = PhaseClock(set.events)
    }

    var failure: Failure? { if case .failed(let failure) = outcome { failure } else { nil } }

    /// Whether committing it runs code of the host, which may take its time.
    var runsHostCode: Bool { if case .planned(let plan) = outcome { plan.runsHostCode } else { false } }

    /// Gives up the outcome, so that a plan in it has one reference when it is carried out.
    func takeOutcome() -> Outcome {
        defer { outcome = .nothing }
        return outcome
    }
}

/// A transaction that is over and not reported yet.
final class Attempt {
    let set: ChangeSet
    let report: Report
    let warnings: [(String, Location)]
    let files: FilesRead
    /// The documents have their former content: nothing is reported.
    let isNothing: Bool
    /// Whether all events concerned documents that are not open.
    let isNobodys: Bool
    /// Whether a call waits for it and returns its failure, which is then not logged as an error.
    let isAnswered: Bool

    init(_ prepared: PreparedReload, _ report: Report, isNothing: Bool) {
        set = prepared.set
        warnings = prepared.warnings
        files = prepared.files
        isNobodys = prepared.isNobodys
        isAnswered = prepared.isAnswered
        self.report = report
        self.isNothing = isNothing
    }
}
