internal import InvivoBase
internal import InvivoConfig
internal import InvivoLoop
internal import InvivoSpec
internal import InvivoWiring

/// Reads what a change set brings.
extension Engine {
    /// Not changed any more when it has been staged.
    final class Staged {
        let set: ChangeSet
        fileprivate(set) var documents: [(document: Document, next: Document.State)] = []

        init(_ set: ChangeSet) { self.set = set }
    }

    /// Reads and parses what documents changed. Nil when the same bytes came again and nothing else is to be done.
    func stage(_ set: ChangeSet, _ prepared: Prepared) throws(Failure) -> Staged? {
        let staged = Staged(set)
        let thread = set.heard.isEmpty ? threadOfOwn : 0
        var failures: [Failure] = []
        for (document, content) in set.documents {
            do throws(Failure) {
                var next = Document.State()
                let bytes: [UInt8]
                var modified: UInt64?
                switch content {
                case .none:
                    staged.documents.append((document, next))
                    continue
                case .config(let node):
                    next.isOpen = true
                    next.config = node
                    staged.documents.append((document, next))
                    continue
                case .bytes(let given):
                    bytes = given
                    guard bytes.count <= options.maxDocumentBytes else {
                        throw Failure(
                            .tooLarge,
                            "the document has \(bytes.count) bytes, at most \(options.maxDocumentBytes) are allowed; "
                                + "max_document_bytes permits more",
                            at: Place(file: document.name))
                    }
                    next.hash = ContentHash.of(bytes)
                case .file:
                    guard let path = document.path else { continue }
                    prepared.read.append((document, nil))
                    let read: FileContent
                    do throws(Failure) {
                        read = try FileReader.read(path, limit: options.maxDocumentBytes, thread: thread)
                    } catch {
                        if error.code == .system { prepared.unread.append(document) }
                        throw error
                    }
                    if read.isBeingWritten && prepared.heedsWriters {
                        // One that the set opens is part of it: it is not left for later.
                        let isNew = set.opened.contains { $0.document === document }
                        guard set.heard.isEmpty || isNew else {
                            prepared.busy.append(document)
                            prepared.unchanged.append(document)
                            continue
                        }
                        throw Failure(.busy, "the file is open for writing", at: Place(file: document.name))
                    }
                    prepared.read[prepared.read.count - 1].hash = read.hash
                    bytes = read.bytes
                    next.hash = read.hash
                    modified = read.modifiedNs
                }
                let isSame = document.state.isOpen && next.hash == document.state.hash
                container.log(.debug, "\(document.name): \(bytes.count) bytes\(isSame ? ", the same as before" : "")")
                if isSame {
                    prepared.unchanged.append(document)
                    continue
                }
                if let modified { prepared.clock.fileChanged(wall: modified) }
                next.isOpen = true
                let parsed = try SpecReader.read(
                    bytes, file: document.name, format: SpecFormat.of(fileName: document.name),
                    limits: options.specLimits)
                let said = try TraitDocument(parsed)
                next.config = try said.config.map { config throws(Failure) in
                    try ConfigNode(document: config, like: document.state.config)
                }
                for entry in said.entries {
                    next.traits[entry.target, default: []] += entry.traits
                    if next.places[entry.target] == nil { next.places[entry.target] = entry.targetPlace }
                }
                staged.documents.append((document, next))
            } catch {
                try Loading.check()
                failures.append(error)
            }
        }
        if let failure = Failure.gathered(failures) { throw failure }
        let nothing =
            staged.documents.isEmpty && set.definitions.isEmpty && set.removed.isEmpty && set.bases.isEmpty
            && set.processors.isEmpty && set.removedProcessors.isEmpty && set.resets.isEmpty && set.resetScopes.isEmpty
            && set.assemblies.isEmpty && set.overrides.isEmpty && set.endedOverrides.isEmpty && set.late.isEmpty
            && set.attached.isEmpty
            && set.detached.isEmpty && set.configured.isEmpty && set.cleared.isEmpty && !set.looksForTypes
        return nothing ? nil : staged
    }
}
