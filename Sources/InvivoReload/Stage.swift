internal import InvivoBase
internal import InvivoConfig
internal import InvivoLoop
internal import InvivoSpec
internal import InvivoWiring

/// Reads and parses the changed documents. By the thread that has the turn.
struct Stage {
    let documents: Documents
    let live: DocumentIndex
    let options: RuntimeOptions
    let log: Log
    /// A thread of this process that is not its first one; 0 without one. See `FileReader.read`.
    let thread: Int32
    /// Whether files that are open for writing are left out, or refused.
    let heedsWriters: Bool
    /// The copy of the environment before and after the change set.
    let environment, next: Environment
    let environmentPrefix: String?

    /// The result of a stage that has not ended early.
    struct Result {
        /// Nil if the bytes are the same as before, and nothing else has changed. After a failure of documents that were not refused
        /// before, the well-formed parts.
        let staged: Staged?
        /// All errors of the documents.
        let failure: Failure?
    }

    func run(_ set: ChangeSet, _ files: inout FilesRead, _ clock: inout PhaseClock) throws(Failure) -> Result {
        let reading = Reading(files, clock)
        defer { (files, clock) = (reading.files, reading.clock) }
        let staged = StagedDocuments(documents, options) { (file, staged) throws(Failure) in
            try read(file, .asked, set, staged, reading) ?? file.state
        }
        var failures: [Failure] = []
        // Values first: the other documents have their content.
        let (values, others) = (
            set.documents.contents.filter { $0.document.role == .value },
            set.documents.contents.filter { $0.document.role != .value }
        )
        for (document, content) in values + others {
            do throws(Failure) {
                guard let next = try next(document, content, set, staged, reading) else { continue }
                staged.set(document, next)
            } catch {
                try Loading.check()
                if content.isRefused || error.code == .busy { reading.failsAsBefore = true }
                // It is reported at the references to the file, if there are any.
                if document.role == .source { failures.append(error) } else { staged.fail(document, error) }
            }
        }
        for (document, parts) in reading.parts { staged.set(document, parts) }
        let layer = try readEnvironment(set, staged, &failures)
        failures += staged.followValues(next)
        failures += staged.place()
        if let failure = Failure.gathered(failures) {
            for (document, _) in reading.files.read { document.awaited = staged.touched }
            let isNew = set.documents.contents.contains { !$0.content.isRefused } && !reading.failsAsBefore
            return Result(
                staged: isNew ? Staged(set, staged.result, environment: layer) : nil, failure: failure)
        }
        for (document, _) in reading.files.read { document.awaited = [] }
        let found = staged.result
        let isNothing = found.isEmpty && set.changesOnlyDocuments
        return Result(staged: isNothing ? nil : Staged(set, found, environment: layer), failure: nil)
    }

    /// Reads the live content of the documents again that name a changed variable, unless the set reads them anyway. Returns the
    /// new layer of the environment.
    private func readEnvironment(
        _ set: ChangeSet, _ staged: StagedDocuments, _ failures: inout [Failure]
    ) throws(Failure) -> ConfigLayers.NewEnvironment? {
        guard set.rebuilds.environment != nil else { return nil }
        var layer: ConfigLayers.NewEnvironment?
        do throws(Failure) {
            layer = .init(next, try EnvironmentLayer.node(next, environmentPrefix, options.specLimits))
        } catch { failures.append(error) }
        for document in live.documents(expanding: next.changes(since: environment)) where !staged.has(document) {
            try Loading.check()
            do throws(Failure) { try staged.readAgain(document, next) } catch {
                try Loading.check()
                failures.append(error)
            }
        }
        return layer
    }

    /// The results that reading files adds to.
    private final class Reading {
        var files: FilesRead
        var clock: PhaseClock
        /// The well-formed parts of sources with errors.
        var parts: [(document: Document, state: Document.State)] = []
        /// Whether a document that was refused before has errors again, or is not readable yet.
        var failsAsBefore = false

        init(_ files: FilesRead, _ clock: PhaseClock) { (self.files, self.clock) = (files, clock) }
    }

    /// Returns the next state of a document; nil if it stays.
    private func next(
        _ document: Document, _ content: ChangeSet.Content, _ set: ChangeSet, _ staged: StagedDocuments,
        _ reading: Reading
    ) throws(Failure) -> Document.State? {
        var next = Document.State()
        switch content {
        case .none: return next
        case .config(let node):
            next.isOpen = true
            next.config = node
            return next
        case .bytes(let bytes):
            guard bytes.count <= options.maxDocumentBytes else {
                throw Failure(
                    .tooLarge,
                    "the document has \(bytes.count) bytes, at most \(options.maxDocumentBytes) are allowed; "
                        + "max_document_bytes permits more",
                    at: Location(file: document.name))
            }
            next.hash = ContentHash.of(bytes)
            return try parse(bytes, into: &next, document, staged, reading) ? next : nil
        case .file(let reason): return try read(document, reason, set, staged, reading)
        }
    }

    /// Reads the file of a document. Nil if the document stays as it is.
    private func read(
        _ document: Document, _ reason: ChangeSet.Content.Reason, _ set: ChangeSet, _ staged: StagedDocuments,
        _ reading: Reading
    ) throws(Failure) -> Document.State? {
        guard document.path != nil else { return nil }
        reading.files.read.append((document, nil))
        let number = reading.files.read.count - 1
        let content: FileContent
        do throws(Failure) {
            content = try document.readFile(limit: options.maxDocumentBytes, thread: thread)
        } catch {
            if error.code == .system { reading.files.unread.append(document) }
            throw error
        }
        if content.isBeingWritten && heedsWriters {
            // Its events follow.
            if case .refused = reason { return nil }
            // A file that the set opens is part of it, and is not left for later.
            let isNew = set.documents.opened.contains { $0.document === document }
            guard set.documents.withEvents.isEmpty || isNew || !document.state.isOpen && document.role != .source else {
                reading.files.busy.append(document)
                reading.files.unchanged.append(document)
                return nil
            }
            throw Failure(.busy, "the file is open for writing", at: Location(file: document.name))
        }
        reading.files.read[number].hash = content.hash
        document.read = content.hash
        if content.hash == document.divergence?.refused {
            log(.debug, "\(document.name): the bytes that a rollback has refused")
            reading.files.unchanged.append(document)
            return nil
        }
        if case .refused = reason, let unparsable = document.unparsable, unparsable.hash == content.hash,
            unparsable.environment.isSame(as: self.next)
        {
            throw unparsable.failure
        }
        var next = Document.State()
        next.hash = content.hash
        guard try parse(content.bytes, into: &next, document, staged, reading) else { return nil }
        reading.clock.fileChanged(wall: content.modifiedNs)
        return next
    }

    /// Returns false if the bytes are the same as before.
    private func parse(
        _ bytes: [UInt8], into next: inout Document.State, _ document: Document, _ staged: StagedDocuments,
        _ reading: Reading
    ) throws(Failure) -> Bool {
        let isSame =
            document.state.isOpen && next.hash == document.state.hash
            && !environment.differs(from: self.next, in: document.state.traits.variables)
        // The length of a file that is a value is the length of the value.
        let size = document.role == .value ? "read" : "\(bytes.count) bytes"
        log(.debug, "\(document.name): \(size)\(isSame ? ", the same as before" : "")")
        guard !isSame else {
            reading.files.unchanged.append(document)
            return false
        }
        (next.isOpen, next.order) = (true, document.state.order)
        var isReference = false
        do throws(Failure) {
            if document.role == .value {
                try next.read(value: bytes, of: document)
            } else {
                let failure = try next.readParts(bytes, of: document, options.specLimits, self.next) {
                    reference throws(Failure) in
                    do throws(Failure) { return try staged.content(reference, of: document) } catch {
                        isReference = true
                        throw error
                    }
                }
                if let failure {
                    if document.role == .source { reading.parts.append((document, next)) }
                    throw failure
                }
            }
        } catch {
            // The limits of time and size, and the files of values, may be others the next time.
            if let hash = next.hash, error.code != .timeout, error.code != .tooLarge, !isReference {
                document.unparsable = (hash, error, self.next)
            }
            throw error
        }
        return true
    }
}
