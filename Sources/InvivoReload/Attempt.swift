internal import InvivoBase
internal import InvivoLoop

// The phases of a reload. These are objects because sets and plans are large, and go from hand to hand: each copy of one counts
// dozens of references.

/// The files that a reload has read, and what was found.
struct FilesRead {
    /// Documents that were brought up and say what they said before.
    var unchanged: [Document] = []
    /// The files that were read; without a hash what was found cannot be told.
    var read: [(document: Document, hash: ContentHash?)] = []
    /// The files that could not be read for want of descriptors or memory.
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

/// A change set that was staged and planned; nothing of it is visible yet. Belongs to whoever has the turn, who uses it up.
final class PreparedReload {
    let set: ChangeSet
    var clock: PhaseClock
    /// Nil when it failed, and when the same bytes came again.
    var plan: Plan?
    var failure: Failure?
    var warnings: [(String, Place)] = []
    var files = FilesRead()
    /// Everything that was heard concerned documents that are not open.
    let isNobodys: Bool
    /// Whether committing it runs code of the host, which may take its time.
    var runsHostCode: Bool { plan?.runsHostCode ?? false }

    init(_ set: ChangeSet, isNobodys: Bool) {
        self.set = set
        self.isNobodys = isNobodys
        clock = PhaseClock(set)
    }
}

/// A transaction that is over, but for those who hear of it.
final class Attempt {
    let set: ChangeSet
    let report: Report
    let warnings: [(String, Place)]
    let files: FilesRead
    /// The same bytes came again: there is nothing to tell.
    let isNothing: Bool
    /// Everything that was heard concerned documents that are not open.
    let isNobodys: Bool

    init(_ prepared: PreparedReload, _ report: Report, isNothing: Bool) {
        set = prepared.set
        warnings = prepared.warnings
        files = prepared.files
        isNobodys = prepared.isNobodys
        self.report = report
        self.isNothing = isNothing
    }
}
