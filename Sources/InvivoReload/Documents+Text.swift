internal import InvivoBase
internal import InvivoSpec
internal import InvivoWiring

/// The text of live documents. By the thread that has the turn.
struct DocumentTexts {
    let documents: DocumentIndex
    let limits: SpecLimits

    /// A live document, with references to files and environment variables as they were written.
    func text(ofDocument name: String, as format: SpecFormat) throws(Failure) -> String {
        guard let document = Self.withText(documents.documents(named: name)).last else { throw missing(name) }
        return try SpecText.document(document.state.text, file: document.name, as: format, limits: limits)
    }

    /// The traits of a key, or of all keys, in one live document or in all of them.
    func text(ofTraits key: String?, in name: String?, as format: SpecFormat) throws(Failure) -> String {
        var chosen = key.map(documents.documents(tuning:)) ?? name.map(documents.documents(named:)) ?? documents.all
        if let name {
            if Self.withText(documents.documents(named: name)).isEmpty { throw missing(name) }
            chosen = chosen.filter { $0.name.isSameName(as: name) }
        }
        return try SpecText.traits(
            Self.withText(chosen).map { ($0.state.text, $0.name) }, of: key, as: format, limits: limits)
    }

    /// Those with a text, in the order in which later ones win.
    private static func withText(_ documents: [Document]) -> [Document] {
        documents.filter { $0.role != .value && !$0.state.text.isEmpty }.sorted { $0.state.order < $1.state.order }
    }

    private func missing(_ name: String) -> Failure {
        let known = Self.withText(documents.all).map(\.name)
        return Failure(
            .notFound, "there is no live document '\(name)'\(suggestion(for: name, among: known))", path: name)
    }
}
