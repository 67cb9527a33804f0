internal import InvivoBase
internal import InvivoConfig
internal import InvivoLoop
internal import InvivoSpec

/// The next states of documents while a change set is staged, over the live ones. By the thread that has the turn.
final class StagedDocuments {
    private let documents: Documents
    private let options: RuntimeOptions
    /// Reads and parses a file that no live document includes yet.
    private let read: (Document, StagedDocuments) throws(Failure) -> Document.State
    private var staged: [Document] = []
    private var states: [ObjectIdentifier: Document.State] = [:]
    private var failed: [ObjectIdentifier: Failure] = [:]
    private var reported: Set<ObjectIdentifier> = []
    /// The files that references of the set lead to.
    private(set) var touched: [Document] = []

    init(
        _ documents: Documents, _ options: RuntimeOptions,
        read: @escaping (Document, StagedDocuments) throws(Failure) -> Document.State
    ) {
        self.documents = documents
        self.options = options
        self.read = read
    }

    private var files: IncludedFiles { documents.included }

    func set(_ document: Document, _ state: Document.State) {
        if states.updateValue(state, forKey: ObjectIdentifier(document)) == nil { staged.append(document) }
    }

    /// A file that references lead to cannot be read. It matters only if one of them is still there.
    func fail(_ document: Document, _ failure: Failure) { failed[ObjectIdentifier(document)] = failure }

    private func next(_ document: Document) -> Document.State { states[ObjectIdentifier(document)] ?? document.state }

    /// The documents that change.
    var result: [(document: Document, next: Document.State)] { staged.map { ($0, next($0)) } }

    // MARK: references

    /// Returns the content of a file that is the value of a string.
    func content(_ reference: SpecReference, of document: Document) throws(Failure) -> Document.State {
        let file = files.file(try files.path(of: reference, in: document), .value)
        return try content(of: file, reference, in: document)
    }

    /// Returns the next state of a file that a document refers to. A file that is not live is followed, then read.
    private func content(
        of file: Document, _ reference: SpecReference, in document: Document
    ) throws(Failure) -> Document.State {
        touched.append(file)
        let id = ObjectIdentifier(file)
        do throws(Failure) {
            if let failure = failed[id] { throw failure }
            let directories = files.directories(of: document)
            let isNew = !file.permitted.contains(directories)
            if isNew { file.permitted.append(directories) }
            if states[id] != nil || file.state.isOpen {
                if isNew, let path = file.path { try FileReader.check(path, below: directories) }
                return next(file)
            }
            if document.follow != nil && file.follow == nil { try documents.follow(file) }
            let state = try read(file, self)
            set(file, state)
            return state
        } catch {
            try Loading.check()
            failed[id] = error
            let what = file.role == .value ? "the file of this value cannot be read" : "the file cannot be included"
            // Without a line, the error is about the file and not about its content. A path from a variable is not shown.
            // `visit` ends at a limit of all files together, which has no cause.
            let isOfFile =
                error.location.line == 0 && error.others.isEmpty && (error.code != .tooLarge || file.role == .value)
            let shown = isOfFile && !reference.hasVariables ? error.location.file : ""
            let place = shown.isEmpty ? "" : "\(shown): "
            throw Failure(
                error.code, "\(what): \(place)\(error.message)", path: reference.path, at: reference.location,
                cause: isOfFile || reference.hasVariables && error.location.line == 0 ? nil : error)
        }
    }

    func has(_ document: Document) -> Bool { states[ObjectIdentifier(document)] != nil }

    /// Reads the live text of a document again, with an environment and the next content of its values.
    func readAgain(_ document: Document, _ environment: Environment) throws(Failure) {
        var state = Document.State()
        (state.isOpen, state.hash, state.order) = (true, document.state.hash, document.state.order)
        try state.read(document.state.text, of: document, options.specLimits, environment) {
            reference throws(Failure) in
            try content(reference, of: document)
        }
        set(document, state)
    }

    /// Reads the live documents again that have a changed file as a value. Their own files are not read.
    func followValues(_ environment: Environment) -> [Failure] {
        let changed = Set(staged.filter { $0.role == .value }.map(ObjectIdentifier.init)).union(failed.keys)
        guard !changed.isEmpty else { return [] }
        var failures: [Failure] = []
        for document in documents.open where !document.state.values.isEmpty && states[ObjectIdentifier(document)] == nil
        {
            let isConcerned = document.state.values.contains { value in
                guard let path = try? files.path(of: value.reference, in: document) else { return false }
                return changed.contains(ObjectIdentifier(files.file(path, .value)))
            }
            guard isConcerned else { continue }
            do throws(Failure) { try readAgain(document, environment) } catch { failures.append(error) }
        }
        return failures
    }

    // MARK: places

    /// Walks from each source through its includes: reads the new ones, gives all of them their places, and closes those that nothing
    /// leads to any more.
    func place() -> [Failure] {
        let concerned =
            !failed.isEmpty
            || staged.contains { document in
                document.role != .source || document.state.hasReferences || next(document).hasReferences
            }
        for document in staged where document.role == .source {
            states[ObjectIdentifier(document)]?.order = document.order
        }
        guard concerned else { return [] }
        guard !keepPlaces() else { return [] }
        let open = documents.open
        let known = Set(open.map(ObjectIdentifier.init))
        let opened = staged.filter { !known.contains(ObjectIdentifier($0)) }
        let sources = (open + opened).filter { $0.role == .source && next($0).isOpen }.sorted { $0.order < $1.order }
        var failures: [Failure] = []
        var placed: Set<ObjectIdentifier> = []
        for source in sources where next(source).hasReferences {
            var walk = Walk(path: [source], budget: Budget(options))
            do throws(Failure) { try visit(source, &walk, &failures) } catch { failures.append(error) }
            let new = walk.files.filter { placed.insert(ObjectIdentifier($0)).inserted }
            for (number, file) in new.enumerated() {
                let order = source.order - UInt64(new.count - number)
                guard next(file).order != order else { continue }
                var state = next(file)
                state.order = order
                set(file, state)
            }
        }
        guard failures.isEmpty else { return failures }
        for file in open where file.role != .source && !placed.contains(ObjectIdentifier(file)) {
            set(file, Document.State())
        }
        staged.removeAll { document in
            document.role != .source && !placed.contains(ObjectIdentifier(document)) && !document.state.isOpen
        }
        return []
    }

    /// Keeps the places if the documents refer to the same files as before. Returns false if they must be found again.
    private func keepPlaces() -> Bool {
        guard failed.isEmpty, staged.allSatisfy({ next($0).hasSameReferences(as: $0.state) }) else { return false }
        // No source leads to more than all documents together.
        var size = files.size
        for document in staged { size.replace(document.state, by: next(document)) }
        guard size.bytes <= options.maxDocumentBytes, size.nodes <= options.maxDocumentNodes else { return false }
        for document in staged where document.role != .source {
            states[ObjectIdentifier(document)]?.order = document.state.order
        }
        return true
    }

    private struct Walk {
        /// The documents from the source to the current one, and the references between them.
        var path: [Document]
        var references: [SpecReference] = []
        /// The files that the source leads to, the lowest first.
        var files: [Document] = []
        var seen: Set<ObjectIdentifier> = []
        var budget: Budget
    }

    private struct Budget {
        private let options: RuntimeOptions
        private var (bytes, nodes, files) = (0, 0, 0)

        init(_ options: RuntimeOptions) { self.options = options }

        /// Adds a document, which `reference` includes.
        /// `known` are the bytes of its values that were added with other documents.
        mutating func add(
            _ state: Document.State, besides known: Int, _ reference: SpecReference?
        ) throws(Failure) {
            // With its values: see `addValue`.
            (bytes, nodes, files) = (bytes + state.bytes - known, nodes + state.nodes, files + 1)
            guard let reference else { return }
            try checkFiles(reference)
            if bytes > options.maxDocumentBytes { throw reference.tooLarge(bytes, most: options.maxDocumentBytes) }
            guard nodes > options.maxDocumentNodes else { return }
            throw Failure(
                .tooLarge,
                "the document and its files have \(nodes) values up to here, at most \(options.maxDocumentNodes) are "
                    + "allowed; max_document_nodes permits more", path: reference.path, at: reference.location)
        }

        /// Adds a file that is a value. Its bytes count with the first document that refers to it.
        mutating func addValue(_ reference: SpecReference) throws(Failure) {
            files += 1
            try checkFiles(reference)
        }

        private func checkFiles(_ reference: SpecReference) throws(Failure) {
            guard files > IncludedFiles.mostFiles + 1 else { return }
            throw Failure(
                .tooLarge, "the document leads to more than \(IncludedFiles.mostFiles) files", path: reference.path,
                at: reference.location)
        }
    }

    /// Adds the files that a document leads to. Files lie below the documents that include them: they are added first.
    private func visit(_ document: Document, _ walk: inout Walk, _ failures: inout [Failure]) throws(Failure) {
        let state = next(document)
        var values: Set<ObjectIdentifier> = []
        var new: [(file: Document, reference: SpecReference)] = []
        var known = 0
        for value in state.values {
            guard let path = try? files.path(of: value.reference, in: document) else { continue }
            let file = files.file(path, .value)
            guard values.insert(ObjectIdentifier(file)).inserted else { continue }
            if walk.seen.contains(ObjectIdentifier(file)) {
                known += next(file).text.count
            } else {
                new.append((file, value.reference))
            }
        }
        try walk.budget.add(state, besides: known, walk.references.last)
        for (file, reference) in new {
            walk.seen.insert(ObjectIdentifier(file))
            try walk.budget.addValue(reference)
            walk.files.append(file)
        }
        for reference in state.includes {
            do throws(Failure) {
                let file = files.file(try files.path(of: reference, in: document), .include)
                try refuseCycle(file, reference, walk)
                guard !reported.contains(ObjectIdentifier(file)) else { continue }
                guard walk.seen.insert(ObjectIdentifier(file)).inserted else {
                    // Another directory may not permit it.
                    _ = try content(of: file, reference, in: document)
                    continue
                }
                _ = try content(of: file, reference, in: document)
                walk.path.append(file)
                walk.references.append(reference)
                defer {
                    walk.path.removeLast()
                    walk.references.removeLast()
                }
                try visit(file, &walk, &failures)
                walk.files.append(file)
            } catch {
                guard error.code != .tooLarge || !error.cause.isEmpty else { throw error }
                if let path = try? files.path(of: reference, in: document) {
                    let file = files.file(path, .include)
                    if failed[ObjectIdentifier(file)] != nil { reported.insert(ObjectIdentifier(file)) }
                }
                failures.append(error)
            }
        }
    }

    private func refuseCycle(_ file: Document, _ reference: SpecReference, _ walk: Walk) throws(Failure) {
        guard walk.references.count < IncludedFiles.mostNested else {
            throw Failure(
                .tooLarge, "includes lie deeper inside each other than the \(IncludedFiles.mostNested) levels allowed",
                path: reference.path, at: reference.location)
        }
        guard let start = walk.path.firstIndex(where: { $0.path?.normal == file.path?.normal && $0.role != .value })
        else {
            return
        }
        if start == walk.references.count {
            throw Failure(
                .cycle, "the file includes itself; remove this include", path: reference.path, at: reference.location)
        }
        let steps = (walk.references + [reference])[start...].map { step in
            "\(step.shown) in \(step.location.file):\(step.location.line):\(step.location.column)"
        }
        throw Failure(
            .cycle, "the includes form a cycle: \(steps.listed()); remove one of them",
            path: reference.path,
            at: reference.location)
    }
}
