internal import InvivoBase

/// The documents that a change set opens, reads again and closes.
struct DocumentChanges: Sendable {
    /// A document of a set that is looked up or created when the set is staged, so a discarded set has no effect.
    enum Entry: Sendable {
        /// A document in memory, by name.
        case named(String, ChangeSet.Content)
        case new(NewDocument)
        /// A new document below the others.
        case below(NewDocument)

        /// The document that the commit of the set opens.
        var opened: NewDocument? {
            switch self {
            case .new(let document), .below(let document): document
            case .named: nil
            }
        }
    }

    /// What the set has a content for.
    private enum Subject: Hashable {
        case document(ObjectIdentifier)
        /// A document in memory, by name.
        case named(Name)
    }

    /// Documents with their new content.
    private(set) var contents: [(document: Document, content: ChangeSet.Content)] = []
    /// The documents that the set opens or names, in the order in which later ones win.
    private(set) var entries: [Entry] = []
    private var subjects: Set<Subject> = []

    var isEmpty: Bool { contents.isEmpty && entries.isEmpty }

    /// Whether it has a content for a document.
    func contains(_ document: Document) -> Bool { subjects.contains(.document(ObjectIdentifier(document))) }

    /// The files with events.
    var withEvents: [Document] { files(.event) }

    /// The files whose bytes were refused before.
    var refused: [Document] { files(.refused) }

    private func files(_ reason: ChangeSet.Content.Reason) -> [Document] {
        contents.compactMap { document, content in
            if case .file(reason) = content { document } else { nil }
        }
    }

    /// Whether a file is read for it.
    var hasFile: Bool { contents.contains { if case .file = $0.content { true } else { false } } }

    /// The documents that are opened by the commit of the set.
    var opened: [NewDocument] { entries.compactMap(\.opened) }

    /// Sets the content of the document in memory with this name. The last call wins.
    mutating func say(_ content: ChangeSet.Content, in name: String) {
        if !subjects.insert(.named(Name(name))).inserted {
            entries.removeAll { if case .named(let other, _) = $0 { other.isSameName(as: name) } else { false } }
        }
        entries.append(.named(name, content))
    }

    mutating func open(_ document: NewDocument) { entries.append(.new(document)) }

    /// Opens a document below the documents of `open`, and above those that were opened below before.
    mutating func openBelow(_ document: NewDocument) {
        let count = entries.prefix { if case .below = $0 { true } else { false } }.count
        entries.insert(.below(document), at: count)
    }

    /// Removes the documents that may be invalid for now.
    mutating func remove(_ waiting: [NewDocument]) {
        entries.removeAll { entry in waiting.contains { $0 === entry.opened } }
    }

    /// Sets the content of a document. The last call wins.
    mutating func set(_ content: ChangeSet.Content, of document: Document) {
        if !subjects.insert(.document(ObjectIdentifier(document))).inserted {
            contents.removeAll { $0.document === document }
        }
        contents.append((document, content))
    }

    /// Leaves documents as they are.
    mutating func leave(_ documents: [Document]) {
        let ids = Set(documents.map(ObjectIdentifier.init))
        contents.removeAll { ids.contains(ObjectIdentifier($0.document)) }
        subjects.subtract(ids.map(Subject.document))
    }

    /// Adds later changes. Where both change the same document, the later one wins.
    mutating func join(_ later: DocumentChanges) {
        leave(later.contents.map(\.document).filter(contains))
        for (document, content) in later.contents { set(content, of: document) }
        for entry in later.entries {
            switch entry {
            case .named(let name, let content): say(content, in: name)
            case .new(let document), .below(let document): open(document)
            }
        }
    }

    /// The error of a plan that has exceeded its time: of the only document, or else of all of them.
    func tookTooLong(_ failure: Failure) -> Failure {
        let names = contents.map(\.document.name)
        guard names.count > 1 else {
            return Failure(failure.code, failure.message, at: Location(file: names.first ?? ""))
        }
        return Failure(failure.code, "\(names.count) documents (\(names.listed(most: 3))): \(failure.message)")
    }
}
