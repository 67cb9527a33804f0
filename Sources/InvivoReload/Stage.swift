internal import InvivoBase
internal import InvivoConfig
internal import InvivoLoop
internal import InvivoSpec
internal import InvivoWiring

/// Reads and parses the changed documents. By the thread that has the turn.
struct Stage {
    let options: RuntimeOptions
    let log: Log
    /// A thread of this process that is not its first one; 0 without one. See `FileReader.read`.
    let thread: Int32
    /// Whether files that are open for writing are left out, or refused.
    let heedsWriters: Bool
    /// The open documents, in their order.
    let open: [Document]
    /// The copy of the environment from which they were read.
    let environment: Environment
    /// The beginning of the names of variables that are a layer of the configuration; nil without that layer.
    let environmentPrefix: String?

    /// Nil if the bytes are the same as before, and nothing else has changed.
    func run(_ set: ChangeSet, _ files: inout FilesRead, _ clock: inout PhaseClock) throws(Failure) -> Staged? {
        var failures: [Failure] = []
        var found: [(document: Document, next: Document.State)] = []
        let nextEnvironment = set.rebuilds.environment ?? environment
        for (document, content) in set.documents.contents {
            do throws(Failure) {
                var next = Document.State()
                let bytes: [UInt8]
                var modified: UInt64?
                switch content {
                case .none:
                    found.append((document, next))
                    continue
                case .config(let node):
                    next.isOpen = true
                    next.config = node
                    found.append((document, next))
                    continue
                case .bytes(let given):
                    bytes = given
                    guard bytes.count <= options.maxDocumentBytes else {
                        throw Failure(
                            .tooLarge,
                            "the document has \(bytes.count) bytes, at most \(options.maxDocumentBytes) are allowed; "
                                + "max_document_bytes permits more",
                            at: Location(file: document.name))
                    }
                    next.hash = ContentHash.of(bytes)
                case .file(let reason):
                    guard let path = document.path else { continue }
                    files.read.append((document, nil))
                    let read: FileContent
                    do throws(Failure) {
                        read = try FileReader.read(path, limit: options.maxDocumentBytes, thread: thread)
                    } catch {
                        if error.code == .system { files.unread.append(document) }
                        throw error
                    }
                    if read.isBeingWritten && heedsWriters {
                        // Its events follow.
                        if case .refused = reason { continue }
                        // A file that the set opens is part of it, and is not left for later.
                        let isNew = set.documents.opened.contains { $0.document === document }
                        guard set.documents.heard.isEmpty || isNew else {
                            files.busy.append(document)
                            files.unchanged.append(document)
                            continue
                        }
                        throw Failure(.busy, "the file is open for writing", at: Location(file: document.name))
                    }
                    files.read[files.read.count - 1].hash = read.hash
                    document.read = read.hash
                    if read.hash == document.divergence?.refused {
                        log(.debug, "\(document.name): the bytes that a rollback has refused")
                        files.unchanged.append(document)
                        continue
                    }
                    if case .refused = reason, let unparsable = document.unparsable, unparsable.hash == read.hash,
                        unparsable.environment.isSame(as: nextEnvironment)
                    {
                        throw unparsable.failure
                    }
                    bytes = read.bytes
                    next.hash = read.hash
                    modified = read.modifiedNs
                }
                let isSame =
                    document.state.isOpen && next.hash == document.state.hash
                    && !environment.differs(from: nextEnvironment, in: document.state.traits.variables)
                log(.debug, "\(document.name): \(bytes.count) bytes\(isSame ? ", the same as before" : "")")
                if isSame {
                    files.unchanged.append(document)
                    continue
                }
                if let modified { clock.fileChanged(wall: modified) }
                next.isOpen = true
                do throws(Failure) { try next.read(bytes, of: document, options.specLimits, nextEnvironment) } catch {
                    // The limits of time and size may be others the next time.
                    if let hash = next.hash, error.code != .timeout, error.code != .tooLarge {
                        document.unparsable = (hash, error, nextEnvironment)
                    }
                    throw error
                }
                found.append((document, next))
            } catch {
                try Loading.check()
                failures.append(error)
            }
        }
        let layer = try readEnvironment(set, &found, &failures)
        if let failure = Failure.gathered(failures) { throw failure }
        return found.isEmpty && set.changesOnlyDocuments ? nil : Staged(set, found, environment: layer)
    }

    /// Reads the live content of the documents again that name a changed variable, unless the set reads them anyway. Returns the
    /// new layer of the environment.
    private func readEnvironment(
        _ set: ChangeSet, _ found: inout [(document: Document, next: Document.State)], _ failures: inout [Failure]
    ) throws(Failure) -> ConfigLayers.NewEnvironment? {
        guard let next = set.rebuilds.environment else { return nil }
        var layer: ConfigLayers.NewEnvironment?
        do throws(Failure) {
            layer = .init(next, try EnvironmentLayer.node(next, environmentPrefix, options.specLimits))
        } catch { failures.append(error) }
        let read = Set(found.map { ObjectIdentifier($0.document) })
        for document in open where document.state.isOpen && !read.contains(ObjectIdentifier(document)) {
            try Loading.check()
            guard environment.differs(from: next, in: document.state.traits.variables) else { continue }
            var state = Document.State()
            (state.isOpen, state.hash) = (true, document.state.hash)
            do throws(Failure) {
                try state.read(document.state.text, of: document, options.specLimits, next)
                found.append((document, state))
            } catch {
                try Loading.check()
                failures.append(error)
            }
        }
        return layer
    }
}
