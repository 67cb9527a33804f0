public import InvivoBase
public import InvivoLoop
public import InvivoWiring

extension Engine {
    /// Opens a document and commits what it says before it answers. With `waits`, a file need not be there or good yet.
    public func openDocument(path: String?, name: String, text: [UInt8]?, waits: Bool) throws(Failure) -> Document {
        let document = try prepareDocument(
            path: try path.map { path throws(Failure) in try FilePath(path) }, name: name)
        var set = ChangeSet(cause: name)
        set.documents = [(document, path == nil ? .bytes(text ?? []) : .file)]
        let mayBeWrong = waits && path != nil
        do throws(Failure) {
            try commit(set, answered: !mayBeWrong)
        } catch {
            guard mayBeWrong else {
                forget(document)
                throw error
            }
        }
        return document
    }

    /// A document that is followed already and says nothing yet: for a change set that brings it in with other things.
    public func prepareDocument(path: FilePath?, name: String) throws(Failure) -> Document {
        let document = Document(name: name, path: path, engine: self)
        document.order = container.monitor.locked { () -> UInt64 in
            documentCount += 1
            return documentCount
        }
        // Followed first, so that no change between reading and following is missed.
        if let path {
            do throws(Failure) { try followAgain(document, path) } catch {
                endIdleFollowing()
                throw error
            }
        }
        do throws(Failure) {
            try container.monitor.locked { () throws(Failure) in
                // Close makes the handles of open documents stale, and has nothing to do with others.
                guard !container.isClosing else { throw Failure(.closed, "the runtime is closing") }
                openDocuments.append(document)
                _ = document.open()
            }
        } catch {
            unfollow(document)
            throw error
        }
        return document
    }

    /// Takes back `prepareDocument`.
    public func forget(_ document: Document) {
        unfollow(document)
        document.closeHandle()
        endIdleFollowing()
    }

    public func update(_ document: Document, text: [UInt8]) throws(Failure) {
        guard document.path == nil else {
            throw Failure(.unsupported, "'\(document.name)' is a file: write the file, then refresh")
        }
        var set = ChangeSet(cause: document.name)
        set.documents = [(document, .bytes(text))]
        try commit(set)
    }

    public func refresh(_ document: Document, answered: Bool = true) throws(Failure) {
        guard document.path != nil else { return }
        var set = ChangeSet(cause: document.name)
        set.documents = [(document, .file)]
        try commit(set, answered: answered)
    }

    public func close(_ document: Document) throws(Failure) {
        var set = ChangeSet(cause: "\(document.name) closed")
        set.documents = [(document, .none)]
        try commit(set)
        unfollow(document)
        document.closeHandle()
    }

    private func unfollow(_ document: Document) {
        let follower = container.monitor.locked { () -> FileFollower? in
            openDocuments.removeAll { $0 === document }
            owed.removeAll { $0 === document }
            if let id = document.follow { followed[id] = nil }
            return self.follower
        }
        if let id = document.follow { follower?.unfollow(id) }
    }

    /// The set with the documents in memory that it names. One that is new is made here and counts as open once it is
    /// committed. By the thread that has the turn.
    func withNamedDocuments(_ set: ChangeSet) -> ChangeSet {
        var whole = set
        container.monitor.locked {
            for (name, content) in set.named {
                let document: Document
                if let found = openDocuments.first(where: { $0.path == nil && $0.name.isSameName(as: name) }) {
                    document = found
                } else {
                    document = Document(name: name, path: nil, engine: self)
                    documentCount += 1
                    document.order = documentCount
                }
                whole.documents.removeAll { $0.document === document }
                whole.documents.append((document, content))
            }
        }
        return whole
    }

    /// After a commit: what change sets alone speak of is open as long as it says something.
    func keepNamedDocuments(_ committed: [Document]) {
        container.monitor.locked {
            for document in committed where document.path == nil && document.handleBits == 0 {
                openDocuments.removeAll { $0 === document }
                if document.state.isOpen { openDocuments.append(document) }
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

    func followAgain(_ document: Document, _ path: FilePath) throws(Failure) {
        container.monitor.locked { followings += 1 }
        defer { container.monitor.locked { followings -= 1 } }
        let id = try startedFollower().follow(path)
        document.follow = id
        container.monitor.locked { followed[id] = document }
    }

    private func startedFollower() throws(Failure) -> FileFollower {
        if let running = container.monitor.locked({ follower }) { return running }
        var settle = FileFollower.Settle()
        settle.quiet = options.quiet
        settle.maximum = options.settleMaximum
        settle.openForWriteCap = options.writerPatience
        let made = try FileFollower(
            loop: try loop(), settle: settle,
            onBurst: { [weak self] bursts in self?.filesChanged(bursts) },
            onTrouble: { [weak self] failure in self?.trouble(failure) })
        let kept = container.monitor.locked { () -> FileFollower? in
            if follower == nil && !container.isClosing { follower = made }
            return follower
        }
        if kept !== made { made.stop() }
        guard let kept else { throw Failure(.closed, "the runtime is closing") }
        return kept
    }

    /// After a source that failed: what was started for it ends, unless something else has come to need it.
    private func endIdleFollowing() {
        let (idle, loop) = container.monitor.locked { () -> (FileFollower?, Loop?) in
            guard followed.isEmpty, followings == 0, !container.isClosing else { return (nil, nil) }
            let isLoopNeeded = options.isLoopDefault || isReclaimScheduled
            defer {
                follower = nil
                if !isLoopNeeded { loopThread = nil }
            }
            return (follower, isLoopNeeded ? nil : loopThread)
        }
        idle?.stop()
        loop?.stop()
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

    private func trouble(_ failure: Failure) {
        container.log(.warning, failure.text)
        container.monitor.locked { lastFailure = failure }
    }

    // MARK: targets

    /// Attaches a live object to a spec key; what documents say is applied before this answers.
    public func attach(_ object: UInt64, key: String) throws(Failure) -> Target {
        guard let record = ObjectTable.record(object) else { throw Failure(.handle, "the object handle is stale") }
        let id = try container.intern(key)
        let target = Target(id: id, key: key, object: object, type: Container.type(record), engine: self)
        // One turn for all of it: another thread may attach the same object.
        var former: Target?
        try commit { (set) throws(Failure) in
            former = container.monitor.locked { attachments[object] }
            set.cause = "attach \(key)"
            if let former { set.detached = [former] }
            set.attached = [target]
        } then: {
            former?.closeHandle()
            _ = target.open()
            container.monitor.locked { attachments[object] = target }
            // Attached, it belongs to its domain.
            record.pointee.thread = Container.type(record).domain?.thread ?? 0
            let extra = container.extra(record)
            if !extra.tellsOfDisposal {
                extra.tellsOfDisposal = true
                extra.beforeDisposal.append { [weak self] in self?.objectGone(object) }
            }
        }
        return target
    }

    public func detach(_ target: Target) throws(Failure) {
        try commit { (set) throws(Failure) in
            guard container.monitor.locked({ attachments[target.object] === target }) else {
                throw Failure(.handle, "the target is detached already: its object was attached anew, or is gone")
            }
            set.cause = "detach \(target.key)"
            set.detached = [target]
        } then: {
            container.monitor.locked { _ = attachments.removeValue(forKey: target.object) }
            target.closeHandle()
        }
    }

    /// A target is being disposed of: it is forgotten without touching it.
    private func objectGone(_ object: UInt64) {
        let target = container.monitor.locked { attachments.removeValue(forKey: object) }
        guard let target else { return }
        target.closeHandle()
        container.monitor.locked { goneTargets.append(target) }
    }

    public func declare(key: String, type: ObjectType) throws(Failure) {
        let id = try container.intern(key)
        try takeTurn()
        declared[id] = type
        endTurn()
    }
}
