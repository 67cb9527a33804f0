internal import InvivoBase

/// A document that a change set opens when it is committed. Its handle is valid before that, and becomes stale when no
/// set is left that could open it.
public final class NewDocument: Sendable {
    public let document: Document
    let content: ChangeSet.Content
    /// Whether the set is committed without it while the file is missing or invalid.
    let waits: Bool

    init(_ document: Document, _ content: ChangeSet.Content, waits: Bool) {
        self.document = document
        self.content = content
        self.waits = waits
        _ = document.open()
    }

    /// No other set can open it any more.
    deinit { if document.phase != .open { document.closeHandle() } }
}
