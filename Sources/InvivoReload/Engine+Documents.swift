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
        NewDocument(Document(name: name, path: path, engine: self), .file, waits: waits)
    }

    /// The same for a document in memory.
    public func newDocument(_ content: ChangeSet.Content, name: String) -> NewDocument {
        NewDocument(Document(name: name, path: nil, engine: self), content, waits: false)
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
            switch phase(of: document) {
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
        var isNew = false
        try takeTurn()
        container.monitor.locked {
            isNew = document.phase == .new
            if isNew { document.phase = .closed }
        }
        endTurn()
        if !isNew {
            try commit { (set) throws(Failure) in
                guard phase(of: document) == .open else { throw .badHandle(document.handleBits, .source) }
                set.cause = "\(document.name) closed"
                set.documents = [(document, .none)]
            } then: {
                container.monitor.locked { document.phase = .closed }
            }
        }
        unfollow(document)
        document.closeHandle()
        if isNew { endIdleFollowing() }
    }

    private func phase(of document: Document) -> Document.Phase { container.monitor.locked { document.phase } }

    // MARK: documents that a change set opens

    /// Fails when a source of the set was closed while the set was written.
    func requireUnclosed(_ set: ChangeSet) throws(Failure) {
        guard let closed = set.opened.first(where: { phase(of: $0.document) == .closed }) else { return }
        throw Failure(
            .argument,
            "the source was closed before its change set was committed: close it after the commit, or discard the set and "
                + "leave the file out of the next one", at: Place(file: closed.document.name))
    }

    /// Follows the files that a set opens, before they are read: no change between reading and following is missed.
    func follow(_ set: ChangeSet) throws(Failure) {
        do throws(Failure) { try requireUnclosed(set) } catch {
            giveUp(set)
            throw error
        }
        for new in set.opened {
            guard let path = new.document.path else { continue }
            do throws(Failure) { try follow(new.document, path) } catch {
                giveUp(set)
                throw error
            }
        }
    }

    /// After a commit: what the set has opened is open. By the thread that has the turn.
    func keepOpened(_ set: ChangeSet) {
        container.monitor.locked {
            for new in set.opened where new.document.phase == .new {
                new.document.phase = .open
                openDocuments.insert(new.document)
            }
        }
    }

    /// After a set that has failed: its documents are closed, and nothing of them is followed. `endIdleFollowing` ends the
    /// watches that were started for them.
    func drop(_ set: ChangeSet) {
        for new in set.opened {
            let isOpen = container.monitor.locked { () -> Bool in
                if new.document.phase == .new { new.document.phase = .closed }
                return new.document.phase == .open
            }
            guard !isOpen else { continue }
            unfollow(new.document)
            new.document.closeHandle()
        }
    }

    /// The same, for a set that has not come to its turn or has lost it.
    func giveUp(_ set: ChangeSet) {
        guard !set.entries.isEmpty else { return }
        drop(set)
        endIdleFollowing()
    }

    private func unfollow(_ document: Document) {
        let (id, follower) = container.monitor.locked { () -> (FollowID?, FileFollower?) in
            openDocuments.remove(document)
            owed.removeAll { $0 === document }
            if let id = document.follow { followed[id] = nil }
            return (document.follow, self.follower)
        }
        if let id { follower?.unfollow(id) }
    }

    /// The set with the documents that it names or opens. One in memory that is new is made here and counts as open once it is
    /// committed. By the thread that has the turn.
    func withEntries(_ set: ChangeSet) -> ChangeSet {
        var whole = set
        container.monitor.locked {
            for entry in set.entries {
                let document: Document
                let said: ChangeSet.Content
                switch entry {
                case .named(let name, let content):
                    said = content
                    if let found = openDocuments.inMemory(name) {
                        document = found
                    } else {
                        document = Document(name: name, path: nil, engine: self)
                        documentCount += 1
                        document.order = documentCount
                    }
                case .new(let new):
                    guard new.document.phase == .new else { continue }
                    document = new.document
                    said = new.content
                    documentCount += 1
                    document.order = documentCount
                }
                whole.documents.removeAll { $0.document === document }
                whole.documents.append((document, said))
            }
        }
        return whole
    }

    /// After a commit: what change sets alone speak of is open as long as it says something.
    func keepNamedDocuments(_ committed: [Document]) {
        container.monitor.locked {
            for document in committed where document.path == nil && document.handleBits == 0 {
                if document.state.isOpen { openDocuments.insert(document) } else { openDocuments.remove(document) }
            }
        }
    }

    // MARK: change sets that are being written

    public func opened(changes: UInt64) throws(Failure) {
        try container.monitor.locked { () throws(Failure) in
            guard !container.isClosing else { throw Failure(.closed, "the runtime is closing") }
            openChanges.insert(changes)
        }
    }

    public func closed(changes: UInt64) { container.monitor.locked { _ = openChanges.remove(changes) } }

    private func follow(_ document: Document, _ path: FilePath) throws(Failure) {
        container.monitor.locked { followings += 1 }
        defer { container.monitor.locked { followings -= 1 } }
        let id = try startedFollower().follow(path)
        container.monitor.locked {
            document.follow = id
            followed[id] = document
        }
    }

    private func startedFollower() throws(Failure) -> FileFollower {
        if let running = container.monitor.locked({ follower }) { return running }
        var settle = FileFollower.Settle()
        settle.quiet = options.quiet
        settle.maximum = options.settleMaximum
        settle.openForWriteCap = options.writerPatience
        let made = try FileFollower(
            loop: try loop.start(), settle: settle,
            onBurst: { [weak self] bursts in self?.filesChanged(bursts) },
            onTrouble: { [weak self] failure in self?.announcer.noteWarning(failure) })
        let kept = container.monitor.locked { () -> FileFollower? in
            if follower == nil && !container.isClosing { follower = made }
            return follower
        }
        if kept !== made { made.stop() }
        guard let kept else { throw Failure(.closed, "the runtime is closing") }
        return kept
    }

    /// After sources that failed: what was started for it ends, unless something else has come to need it.
    func endIdleFollowing() {
        let (idle, idleLoop) = container.monitor.locked { () -> (FileFollower?, Loop?) in
            guard followed.isEmpty, followings == 0, !container.isClosing else { return (nil, nil) }
            let isLoopNeeded = options.isLoopDefault || reclaimer.needsLoop
            defer { follower = nil }
            return (follower, isLoopNeeded ? nil : loop.take())
        }
        idle?.stop()
        idleLoop?.stop()
    }

    /// On the loop thread: all files of one burst are one change set.
    private func filesChanged(_ bursts: [FileBurst]) {
        var set = ChangeSet(cause: "")
        container.monitor.locked {
            for burst in bursts {
                guard let document = followed[burst.id] else { continue }
                set.documents.append((document, .file))
                set.heard.append(document)
                set.firstEvent = min(set.firstEvent, burst.firstEventNs)
            }
            set.lastEvent = bursts.map(\.lastEventNs).max() ?? set.lastEvent
        }
        guard !set.documents.isEmpty else { return }
        container.log(.trace, "heard of \(set.heard.map(\.name).joined(separator: ", "))")
        // So small that reading and parsing them takes less time than waking a thread to do it.
        let isSmall = bursts.allSatisfy { $0.size <= 16_384 }
        if isSmall && attemptHere(set) { return }
        submitUnasked(set)
    }
}
