public import InvivoBase
internal import InvivoGraph
public import InvivoLoop
internal import InvivoWiring

extension Engine {
    /// Opens a document and commits what it says before it answers. With `waits`, a file need not be there or good yet.
    public func openDocument(_ new: NewDocument) throws(Failure) -> Document {
        var set = ChangeSet(cause: new.document.name)
        set.open(new)
        try commit(set)
        return new.document
    }

    /// A file for a change set to open. It is read by the commit, and followed from then on.
    public func newDocument(_ path: FilePath, name: String, waits: Bool) -> NewDocument {
        NewDocument(Document(name: name, path: path, container), .file, waits: waits)
    }

    /// The same for a document in memory.
    public func newDocument(_ content: ChangeSet.Content, name: String) -> NewDocument {
        NewDocument(Document(name: name, path: nil, container), content, waits: false)
    }

    public func update(_ document: Document, text: [UInt8]) throws(Failure) {
        guard document.path == nil else {
            throw Failure(.unsupported, "'\(document.name)' is a file: write the file, then refresh")
        }
        try commit(document, .bytes(text))
    }

    public func refresh(_ document: Document, answered: Bool = true) throws(Failure) {
        guard document.path != nil else { return }
        try commit(document, .file)
    }

    private func commit(_ document: Document, _ content: ChangeSet.Content) throws(Failure) {
        try commit { (set) throws(Failure) in
            switch documents.phase(of: document) {
            case .open: break
            case .closed: throw .badHandle(document.handleBits, .source)
            case .new:
                throw Failure(
                    .notReady, "the change set that opens the source is not committed yet",
                    at: Place(file: document.name))
            }
            set.cause = document.name
            set.documents = [(document, content)]
        }
    }

    /// Closes a document. One that no set has opened yet is left out of the set.
    public func close(_ document: Document) throws(Failure) {
        try turns.take()
        let isNew = documents.closeIfNew(document)
        turns.end()
        if !isNew {
            try commit { (set) throws(Failure) in
                guard documents.phase(of: document) == .open else { throw .badHandle(document.handleBits, .source) }
                set.cause = "\(document.name) closed"
                set.documents = [(document, .none)]
            } then: {
                documents.setClosed(document)
            }
        }
        documents.unfollow(document)
        document.closeHandle()
        if isNew { documents.endIdleFollowing() }
    }

    // MARK: change sets that are being written

    public func opened(changes: UInt64) throws(Failure) {
        try container.monitor.locked { () throws(Failure) in
            guard !container.isClosing else { throw Failure(.closed, "the runtime is closing") }
            openChanges.insert(changes)
        }
    }

    public func closed(changes: UInt64) { container.monitor.locked { _ = openChanges.remove(changes) } }
}
