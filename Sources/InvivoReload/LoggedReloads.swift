internal import InvivoBase
internal import InvivoLoop

/// The messages about reloads that were logged: a warning that still holds, and the same refused edit, are not repeated.
struct LoggedReloads {
    fileprivate typealias Read = [ObjectIdentifier: ContentHash?]

    /// The last edit that was refused.
    struct Refused {
        fileprivate let text: String
        fileprivate let read: Read
    }

    /// Nil when the last reload of documents succeeded.
    var refused: Refused?
    /// The warnings that hold, by the document that they are about; "" for those about none.
    private var warnings: [String: Set<String>] = [:]

    /// Returns the new warnings, and whether the same edit was refused with the same error before.
    mutating func news(of attempt: Attempt) -> (warnings: [Report.Warning], isRepeated: Bool) {
        var held = warnings
        // A warning about no document, or about one that was read, holds only if this reload has it, too.
        held[""] = nil
        for (document, _) in attempt.set.documents.contents { held[document.name] = nil }
        var added: [Report.Warning] = []
        for warning in attempt.warnings {
            held[warning.location.file, default: []].insert(warning.message)
            if warnings[warning.location.file]?.contains(warning.message) != true { added.append(warning) }
        }
        warnings = held
        guard let failure = attempt.report.failure else {
            if !attempt.set.documents.contents.isEmpty { refused = nil }
            return (added, false)
        }
        guard !attempt.set.documents.withEvents.isEmpty else { return (added, false) }
        let now = Refused(
            text: failure.text,
            read: Dictionary(
                attempt.files.read.map { (ObjectIdentifier($0.document), $0.hash) }, uniquingKeysWith: { $1 }))
        defer { refused = now }
        return (added, refused?.text == now.text && refused?.read == now.read)
    }
}
