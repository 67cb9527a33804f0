internal import InvivoBase
internal import InvivoLoop
internal import InvivoWiring

/// The documents of a runtime, and the files that are followed for them. Any thread may call.
final class Documents: Sendable {
    private struct State {
        var open = OpenDocuments()
        var follower: FileFollower?
        var followed: [FollowID: Document] = [:] { didSet { isFollowingDue = true } }
        /// The number of calls that are about to follow a file.
        var followings = 0
        private(set) var refused = RefusedFiles()
        /// Whether documents may refer to other files than those that are followed.
        var isFollowingDue = false

        mutating func refuse(_ document: Document, isBlocked: Bool) {
            refused.insert(document, isBlocked: isBlocked)
            isFollowingDue = true
        }
        mutating func accept(_ document: Document) { if refused.remove(document) { isFollowingDue = true } }
        mutating func insert(_ document: Document) { if open.insert(document) { isFollowingDue = true } }
        mutating func remove(_ document: Document) { if open.remove(document) { isFollowingDue = true } }
    }

    /// Called on the loop thread with the files of one burst, and with whether they are small.
    typealias Changed = @Sendable (ChangeSet, _ areSmall: Bool) -> Void

    let container: Container
    let options: FixedOptions
    private let reclaimer: Reclaimer
    private let announcer: Announcer
    private let edits: EditDetection
    let included: IncludedFiles
    private let changed: Changed
    private let state: Guarded<State>

    init(
        _ container: Container, _ options: FixedOptions, _ reclaimer: Reclaimer,
        _ announcer: Announcer, changed: @escaping Changed
    ) {
        self.container = container
        self.options = options
        self.reclaimer = reclaimer
        self.announcer = announcer
        edits = EditDetection(container, announcer.observers.phases)
        included = IncludedFiles(container, roots: options.documentRoots)
        self.changed = changed
        state = Guarded(State(), by: container.monitor)
    }

    var loop: LoopThread { reclaimer.loop }

    // MARK: open documents

    /// In the order in which they were opened.
    var open: [Document] { state.locked { $0.open.all } }

    func phase(of document: Document) -> Document.Phase { container.monitor.locked { document.phase } }

    /// The document is closed if no commit has opened it. Returns whether that is so.
    func closeIfNew(_ document: Document) -> Bool {
        container.monitor.locked {
            guard document.phase == .new else { return false }
            document.phase = .closed
            return true
        }
    }

    func setClosed(_ document: Document) { container.monitor.locked { document.phase = .closed } }

    /// Fails when a source of the set was closed while the set was written.
    func requireUnclosed(_ changes: DocumentChanges) throws(Failure) {
        guard let closed = changes.opened.first(where: { phase(of: $0.document) == .closed }) else { return }
        throw Failure(
            .argument,
            "the source was closed before its change set was committed: close it after the commit, or discard the set and "
                + "leave the file out of the next one", at: Location(file: closed.document.name))
    }

    /// After a commit: the documents that the set opened are open. By the thread that has the turn.
    func keepOpened(_ changes: DocumentChanges) {
        state.locked { state in
            for new in changes.opened where new.document.phase == .new {
                new.document.phase = .open
                state.insert(new.document)
            }
        }
    }

    /// After a commit: its documents have the next states. Those without a handle are open as long as they have content: documents
    /// in memory that a change set has named, and closed ones whose content a rollback has brought back.
    func keep(_ committed: [(document: Document, next: Document.State)]) {
        let leadElsewhere = committed.contains { !$0.next.hasSameReferences(as: $0.document.state) }
        included.measure(committed)
        for (document, next) in committed { document.state = next }
        state.locked { state in
            if leadElsewhere { state.isFollowingDue = true }
            for (document, _) in committed where document.handleBits == 0 || document.phase == .closed {
                if !document.state.isOpen {
                    state.remove(document)
                } else {
                    state.insert(document)
                }
            }
        }
    }

    /// Closes the documents of a failed set, and no longer follows their files. `endIdleFollowing` ends the watches
    /// that were started for them.
    func drop(_ changes: DocumentChanges) {
        for new in changes.opened {
            let isOpen = container.monitor.locked { () -> Bool in
                if new.document.phase == .new { new.document.phase = .closed }
                return new.document.phase == .open
            }
            guard !isOpen else { continue }
            unfollow(new.document)
            new.document.closeHandle()
        }
    }

    // MARK: the documents of a change set

    /// Returns the changes with the documents that they name or open. A new document in memory is created here; it is open
    /// when the set is committed. By the thread that has the turn.
    func withEntries(_ changes: DocumentChanges) -> DocumentChanges {
        var whole = changes
        state.locked { state in
            for entry in changes.entries {
                let document: Document
                let content: ChangeSet.Content
                switch entry {
                case .named(let name, let next):
                    content = next
                    if let found = state.open.inMemory(name) {
                        document = found
                    } else {
                        document = Document(name: name, path: nil, container)
                        document.order = state.open.takeOrder()
                    }
                case .new(let new), .below(let new):
                    guard new.document.phase == .new else { continue }
                    document = new.document
                    content = new.content
                    document.order = state.open.takeOrder()
                }
                whole.set(content, of: document)
            }
        }
        return whole
    }

    /// Removes the documents that are not open from a set of file events. An event may arrive before the turn of the
    /// set that opens the file and reads it anyway, or after the document was closed.
    func withoutClosed(_ changes: DocumentChanges) -> DocumentChanges {
        let changed = changes.withEvents
        guard !changed.isEmpty else { return changes }
        let gone = container.monitor.locked { changed.filter { $0.phase != .open } }
        guard !gone.isEmpty else { return changes }
        var rest = changes
        rest.leave(gone)
        return rest
    }

    /// Adds files whose bytes were refused: what was missing may be in the set.
    func adding(_ retried: Retried, to changes: DocumentChanges, addsTypes: Bool) -> DocumentChanges {
        let refused = state.locked { state in
            retried.documents(of: state.refused, addsTypes: addsTypes).filter { $0.phase == .open }
        }
        guard !refused.isEmpty else { return changes }
        var whole = changes
        for document in refused where !changes.contains(document) { whole.set(.file(.refused), of: document) }
        return whole
    }

    /// Notes the files of a failed set whose bytes differ from the live content as refused. After a success, no file of the set is
    /// one. By the thread that has the turn.
    func noteRefused(_ attempt: Attempt) {
        let changes = attempt.set.documents
        guard !changes.contents.isEmpty else { return }
        // Not if an exclusive object was stopped for it: that would happen again in each change set.
        let isTriedAgain = attempt.report.failure != nil && !attempt.report.hasOutage
        let faults = attempt.report.failure?.filesAtFault ?? [:]
        state.locked { state in
            for (document, _) in changes.contents { state.accept(document) }
            for (document, hash) in attempt.files.read {
                guard let hash else { continue }
                // Only other bytes, which the rollback did not refuse, are tried.
                if hash != document.divergence?.refused { document.divergence = nil }
                if isTriedAgain && document.phase == .open && hash != document.state.hash {
                    state.refuse(document, isBlocked: faults[document.name] == true)
                }
            }
        }
    }

    /// Notes why files that were tried again were refused.
    func noteRefused(_ tried: [Document], _ failure: Failure) {
        guard !tried.isEmpty else { return }
        let faults = failure.filesAtFault
        state.locked { state in
            for document in tried where state.refused.contains(document) {
                state.refuse(document, isBlocked: faults[document.name] == true)
            }
        }
    }

    /// Trying these files again had an outage: they are tried when their bytes change, or on request.
    func forgetRefused(_ files: [Document]) {
        state.locked { state in for document in files { state.accept(document) } }
    }

    /// After a rollback: the bytes of the files that differ from the content that it has brought back are refused. Returns these
    /// documents. By the thread that has the turn.
    func noteRestored(_ restored: [Document]) -> [Document] {
        state.locked { state in
            for document in restored { state.accept(document) }
            return restored.filter { document in
                document.divergence = nil
                guard document.phase == .open, document.follow != nil, let read = document.read,
                    read != document.state.hash
                else { return false }
                document.divergence = Document.Divergence(live: document.state.hash, refused: read)
                return true
            }
        }
    }

    /// The bytes of a file that a rollback refused are tried again. By the thread that has the turn.
    func retry(_ document: Document) { container.monitor.locked { document.divergence = nil } }

    // MARK: following

    /// Follows the files that a set opens, before they are read: no change between reading and following is missed.
    func follow(_ changes: DocumentChanges) throws(Failure) {
        do throws(Failure) {
            try requireUnclosed(changes)
            for new in changes.opened {
                if let path = new.document.path { try follow(new.document, path) }
            }
        } catch {
            giveUp(changes)
            throw error
        }
    }

    /// Follows a file that documents refer to.
    func follow(_ file: Document) throws(Failure) {
        guard let path = file.path else { return }
        try follow(file, path)
        container.monitor.locked { file.phase = .open }
    }

    /// Begins and ends the following of files that documents refer to: those of the live documents, and those that refused ones wait
    /// for. By the thread that has the turn.
    func followIncluded() {
        let hasFiles = included.hasFiles
        let (refused, isDue) = state.locked { state in
            defer { state.isFollowingDue = false }
            let isDue = hasFiles && (state.isFollowingDue || !state.refused.isEmpty)
            return (isDue ? state.refused.documents : [], isDue)
        }
        guard isDue else { return }
        let (begin, end) = included.following(open, refused: refused)
        for file in begin {
            do throws(Failure) { try follow(file) } catch {
                announcer.noteWarning(error)
                state.locked { $0.isFollowingDue = true }
            }
        }
        for file in end {
            unfollow(file)
            state.locked { state in
                file.phase = .closed
                if file.state.isOpen { state.insert(file) }
            }
        }
    }

    private func follow(_ document: Document, _ path: FilePath) throws(Failure) {
        state.locked { $0.followings += 1 }
        defer { state.locked { $0.followings -= 1 } }
        let id = try startedFollower().follow(path)
        state.locked { state in
            document.follow = id
            state.followed[id] = document
        }
    }

    func unfollow(_ document: Document) {
        let (id, follower) = state.locked { state -> (FollowID?, FileFollower?) in
            state.remove(document)
            document.divergence = nil
            state.accept(document)
            if let id = document.follow { state.followed[id] = nil }
            defer { document.follow = nil }
            return (document.follow, state.follower)
        }
        if let id { follower?.unfollow(id) }
        edits.forget(document)
    }

    private func startedFollower() throws(Failure) -> FileFollower {
        if let running = state.locked({ $0.follower }) { return running }
        let made = try FileFollower(
            loop: try loop.start(), settle: { [options = container.options] in .init(options.current) },
            onBurst: { [weak self] bursts in self?.filesChanged(bursts) },
            onTrouble: { [announcer] failure in announcer.noteWarning(failure) },
            detection: .init(isAskedFor: { [edits] in edits.isAskedFor }) { [weak self] found in self?.detected(found) }
        )
        let kept = state.locked { state -> FileFollower? in
            if state.follower == nil && !container.isClosing { state.follower = made }
            return state.follower
        }
        if kept !== made { made.stop() }
        if let kept { return kept }
        throw Failure(.closed, "the runtime is closing")
    }

    /// The times for which changes of files settle may have changed.
    func settleChanged() { state.locked { $0.follower }?.settleChanged() }

    /// Ends the follower and the loop if nothing needs them any more.
    func endIdleFollowing() {
        let (idle, idleLoop) = state.locked { state -> (FileFollower?, Loop?) in
            guard state.followed.isEmpty, state.followings == 0, !container.isClosing else { return (nil, nil) }
            let isLoopNeeded =
                options.isLoopDefault || reclaimer.needsLoop || PinWatch.needsLoop(of: container) || loop.isKept
            defer { state.follower = nil }
            return (state.follower, isLoopNeeded ? nil : loop.take())
        }
        idle?.stop()
        idleLoop?.stop()
    }

    /// On the loop thread: files have edits that are not reported yet, or turned out to have none.
    private func detected(_ found: FileDetection) {
        edits.note {
            state.held { state in
                (found.begun.compactMap { state.followed[$0] }, found.dropped.compactMap { state.followed[$0] })
            }
        }
    }

    /// On the loop thread: all files of one burst are one change set.
    private func filesChanged(_ bursts: [FileBurst]) {
        var set = ChangeSet()
        var first = set.events.lowerBound
        state.locked { state in
            for burst in bursts {
                guard let document = state.followed[burst.id] else { continue }
                first = min(first, burst.firstEventNs)
                set.documents.set(.file(.event), of: document)
            }
            let changed = set.documents.withEvents
            for document in state.refused.documents
            where document.awaited.contains(where: { file in changed.contains { $0 === file } }) {
                set.documents.set(.file(.event), of: document)
            }
        }
        set.events = first...max(first, bursts.map(\.lastEventNs).max() ?? first)
        guard !set.documents.contents.isEmpty else { return }
        set.numbers = edits.take(set.documents.withEvents)
        container.log(.trace, "heard of \(set.documents.withEvents.map(\.name).listed())")
        // Reading and parsing such small files takes less time than waking a thread.
        changed(set, bursts.allSatisfy { $0.size <= 16_384 })
    }

    // MARK: files that are being written

    /// The reload of a set goes on when files that are being written are reported again.
    func putOff(_ numbers: ReloadNumbers, _ documents: [Document]) { edits.putOff(documents, numbers) }

    /// Suppresses the failure of a followed file that was read in the middle of a save. The follower reports the file
    /// again, and the other files of the set are then read with it. Returns false if the file is unchanged since it was
    /// read, or has been written for too long.
    func putOff(_ attempt: Attempt, _ failure: Failure) -> Bool {
        let set = attempt.set
        if failure.code == .closed && !set.documents.withEvents.isEmpty {
            // Abandoned for a close, which may be refused: the edit is not lost.
            putOff(set.numbers, set.documents.withEvents)
            lookAgain(set.documents.withEvents, since: set.events.lowerBound)
            return true
        }
        guard !set.documents.withEvents.isEmpty && isYoung(set.events) else { return false }
        let names = Set((failure.all + failure.all.flatMap(\.cause)).map(\.location.file))
        let atFault = attempt.files.read.filter {
            names.contains($0.document.name) || names.contains($0.document.path?.shown ?? "")
        }
        let moved = movedOn(atFault.isEmpty ? attempt.files.read : atFault)
        guard !moved.isEmpty else { return false }
        state.locked { state in
            for (document, content) in set.documents.contents {
                guard case .file = content, !state.refused.contains(document),
                    !(moved + attempt.files.busy).contains(where: { $0 === document })
                else { continue }
                state.refuse(document, isBlocked: false)
            }
        }
        putOff(set.numbers, moved)
        lookAgain(moved, since: set.events.lowerBound)
        return true
    }

    /// Lets the follower report files with events since `first` again, because they are being written.
    func lookAgain(_ documents: [Document], since first: UInt64) {
        guard !documents.isEmpty else { return }
        container.log(.debug, "\(documents.map(\.name).listed()): being written; read again later")
        state.locked { $0.follower }?.lookAgain(documents.compactMap(\.follow), since: first)
    }

    /// Lets the follower report files again that could not be read for lack of descriptors or memory.
    func readAgain(_ documents: [Document]) {
        guard !documents.isEmpty else { return }
        state.locked { $0.follower }?.readAgain(documents.compactMap(\.follow))
    }

    // MARK: facts and close

    /// For close: the numbers of the reloads of edits that do not take place.
    func takeDetected() -> ReloadNumbers { edits.takeAll() }

    /// Nil if no file is followed.
    var followCounts: FollowCounts? { state.locked { $0.follower }?.counts }

    /// The open documents in the order in which later ones win.
    func facts() -> [DocumentFacts] {
        let (facts, follows, follower) = state.locked { state in
            let documents = state.open.all.sorted { $0.state.order < $1.state.order }
            return (
                documents.map {
                    DocumentFacts(
                        document: $0, isFollowed: $0.follow != nil, divergence: $0.divergence,
                        isRefused: state.refused.contains($0))
                }, documents.map(\.follow), state.follower
            )
        }
        return zip(facts, follows).map { fact, id in
            var fact = fact
            fact.mode = id.flatMap { id in follower?.following(id) }
            return fact
        }
    }

    /// For close, with the monitor held. The caller ends the result without it.
    func takeAll() -> Closing {
        state.held { state in
            defer {
                for document in state.refused.documents { state.accept(document) }
                state.open = OpenDocuments()
                state.followed = [:]
                state.follower = nil
            }
            return Closing(follower: state.follower, documents: state.open.all + state.refused.documents)
        }
    }
}
