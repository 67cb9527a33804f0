internal import CInvivo

/// Live documents as text.
extension Runtime {
    /// The languages of documents.
    public enum DocumentFormat: UInt32, Sendable, CaseIterable {
        case yaml
        /// On one line.
        case json
    }

    /// Writes a live document as text, with references to files and environment variables as they were written.
    ///
    /// Comments are dropped. Reading the text gives an equal document. JSON cannot express infinities, NaN, and an environment
    /// variable without quotes.
    public func documentText(_ name: String, as format: DocumentFormat = .yaml) throws(InvivoError) -> String {
        var text = invivo_null()
        try core.call(naming: name) { $0.pointee.document_text(core.handle, $1, format.rawValue, &text, $2) }
        return try InvivoValue(taking: &text, core).get(String.self)
    }

    /// Writes the traits of live documents as a document with `traits:`.
    ///
    /// - Parameters:
    ///   - key: The key; nil: all keys with traits.
    ///   - document: The only document to take traits from; nil: all live documents, the later ones on top.
    public func traitsText(
        of key: String? = nil, in document: String? = nil, as format: DocumentFormat = .yaml
    ) throws(InvivoError) -> String {
        var text = invivo_null()
        try withArena { arena throws(InvivoError) in
            let (key, document) = (try arena.name(key), try arena.name(document))
            try core.call { $0.pointee.traits_text(core.handle, key, document, format.rawValue, &text, $1) }
        }
        return try InvivoValue(taking: &text, core).get(String.self)
    }
}
