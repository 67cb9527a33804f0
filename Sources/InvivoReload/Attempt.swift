internal import InvivoBase
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
