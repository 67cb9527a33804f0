internal import InvivoBase
internal import InvivoSpec

/// The traits with errors that a plan skips, because their documents keep going. Each is a warning once.
final class SkippedTraits {
    private let documents: DocumentsNext
    private var warnings: [Report.Warning] = []
    private var texts: Set<String> = []

    init(_ documents: DocumentsNext) { self.documents = documents }

    /// Returns whether a trait with an error is skipped, and notes it.
    func skips(_ spec: TraitSpec, _ failure: Failure) -> Bool {
        guard documents.skips(spec) else { return false }
        let path = failure.path.isEmpty ? "" : "\(failure.path): "
        let cause = failure.cause.first.map { " (because \($0.text))" } ?? ""
        let warning = Report.Warning(.skipped, "\(path)\(failure.message)\(cause); skipped", at: failure.location)
        if texts.insert(warning.text).inserted { warnings.append(warning) }
        return true
    }

    func take() -> [Report.Warning] {
        defer { warnings = [] }
        return warnings
    }
}
