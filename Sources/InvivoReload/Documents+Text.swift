internal import InvivoBase
internal import InvivoSpec
internal import InvivoWiring

/// The text of live documents.
extension Documents {
    /// A live document, with references to files and environment variables as they were written. By the thread that has the turn.
    func text(ofDocument name: String, as format: SpecFormat) throws(Failure) -> String {
        let live = live
        guard let document = live.last(where: { $0.name.isSameName(as: name) }) else {
            throw missing(name, among: live)
        }
        return try SpecText.document(document.state.text, file: document.name, as: format, limits: limits)
    }

    /// The traits of a key, or of all keys, in one live document or in all of them. By the thread that has the turn.
    func text(ofTraits key: String?, in name: String?, as format: SpecFormat) throws(Failure) -> String {
        let live = live
        let chosen = live.filter { document in name.map { document.name.isSameName(as: $0) } ?? true }
        if let name, chosen.isEmpty { throw missing(name, among: live) }
        let found = key.map { key in chosen.filter { $0.state.traits.contains(key) } } ?? chosen
        return try SpecText.traits(
            found.map { ($0.state.text, $0.name) }, of: key, as: format, limits: limits)
    }

    /// The documents with content, in the order in which later ones win.
    private var live: [Document] {
        facts().map(\.document).filter { $0.role != .value && $0.state.isOpen && !$0.state.text.isEmpty }
    }

    private var limits: SpecLimits { container.options.current.specLimits }

    private func missing(_ name: String, among live: [Document]) -> Failure {
        Failure(
            .notFound, "there is no live document '\(name)'\(suggestion(for: name, among: live.map(\.name)))",
            path: name)
    }
}
