internal import InvivoBase
internal import InvivoLoop
internal import InvivoSpec
internal import InvivoWiring

/// The files that documents include or refer to, each as a document without a handle. Any thread may call.
///
/// A file is one document however many references lead to it. Its owner is the documents with the references: it is open and followed
/// as long as an open source leads to it, or a refused document waits for it.
final class IncludedFiles: Sendable {
    /// The distance between the orders of two sources. The files that a source includes have the orders below its own.
    static let stride: UInt64 = 1 << 20
    /// Returns the order of the source that a document with this order belongs to: its own, or the next one above it.
    static func order(ofSourceAt order: UInt64) -> UInt64 { (order + stride - 1) / stride * stride }
    /// The most files that one source leads to, and the most includes inside each other.
    static let (mostFiles, mostNested) = (1_000, 64)
    /// The most bytes of a file that is the value of a string.
    static let mostValueBytes = 64 << 10

    /// The files of one role, by their paths.
    private struct Table {
        private final class Entry {
            weak let document: Document?

            init(_ document: Document) { self.document = document }
        }

        private var entries: [Name: Entry] = [:]
        /// The number of entries at which those of ended documents are removed.
        private var limit = 64

        var documents: [Document] { entries.values.compactMap(\.document) }
        /// Ends at the first one that is alive.
        var isEmpty: Bool { !entries.contains { $0.value.document != nil } }

        subscript(path: String) -> Document? {
            get { entries[Name(path)]?.document }
            set {
                if entries.count >= limit {
                    entries = entries.filter { $0.value.document != nil }
                    limit = max(64, 2 * entries.count)
                }
                entries[Name(path)] = newValue.map { Entry($0) }
            }
        }
    }

    /// How large documents are together.
    struct Size {
        private(set) var (bytes, nodes) = (0, 0)

        mutating func replace(_ former: Document.State, by next: Document.State) {
            bytes += next.bytes - former.bytes
            nodes += next.nodes - former.nodes
        }
    }

    private struct Files {
        var (includes, values) = (Table(), Table())
        var size = Size()
    }

    private let container: Container
    private let roots: [String]
    private let files: Guarded<Files>

    init(_ container: Container, roots: [String]) {
        self.container = container
        self.roots = roots
        files = Guarded(Files(), by: container.monitor)
    }

    /// The known files; after a rollback or a failure, they need not be open.
    private var known: [Document] { files.locked { $0.includes.documents + $0.values.documents } }

    var hasFiles: Bool { files.locked { !$0.includes.isEmpty || !$0.values.isEmpty } }

    /// Whether the content of a file may be a value of the configuration or of traits. Such content is never quoted.
    var hasValues: Bool { files.locked { !$0.values.isEmpty } }

    /// The size of all documents, the sources included.
    var size: Size { files.locked { $0.size } }

    /// The documents are about to take their next states.
    func measure(_ committed: [(document: Document, next: Document.State)]) {
        files.locked { files in
            for (document, next) in committed { files.size.replace(document.state, by: next) }
        }
    }

    // MARK: references

    /// The directories that a document may read: its own, and the declared ones.
    func directories(of document: Document) -> [String] {
        let own = document.path?.directory
        return (own.map { [$0] } ?? []) + roots.filter { $0 != own }
    }

    /// Returns the path that a reference leads to, by its text. This is the place that decides which documents may read files.
    func path(of reference: SpecReference, in document: Document) throws(Failure) -> FilePath {
        func refused(_ code: Status, _ message: String) -> Failure {
            Failure(code, message, path: reference.path, at: reference.location)
        }
        guard document.isTrusted else {
            throw refused(
                .unsupported, "a document of a source that is not trusted reads no files: write the value itself")
        }
        let directories = directories(of: document)
        guard let first = directories.first else {
            throw refused(
                .unsupported,
                "a document in memory has no directory to read files of: open a file, or declare directories by the option "
                    + "document_roots")
        }
        guard !reference.text.isEmpty, !reference.text.contains(byte: 0) else {
            throw refused(
                .spec, "expected the path of a file, found \(reference.text.isEmpty ? "nothing" : "a NUL byte")")
        }
        let path = FilePath.reference(reference.text, in: first, shown: document.path?.shown ?? first + "/")
        guard directories.contains(where: path.isBelow) else {
            guard !directories.contains(where: path.isSame) else {
                throw refused(.file, "\(reference.shown) is a directory; expected a file below it")
            }
            throw refused(
                .file,
                "\(reference.shown) lies outside of \(directories.choices()): a document reads files below its "
                    + "own directory; the option document_roots permits other directories")
        }
        return path
    }

    /// Returns the document of a file. A new one is not open.
    func file(_ path: FilePath, _ role: Document.Role) -> Document {
        files.locked { files in
            let table = role == .value ? \Files.values : \Files.includes
            if let known = files[keyPath: table][path.absolute] { return known }
            let new = Document(name: path.shown, path: path, container, role)
            files[keyPath: table][path.absolute] = new
            return new
        }
    }

    /// Returns the files that a live document leads to, by one reference after the other.
    func reachable(from document: Document) -> [Document] {
        var found: [Document] = []
        var seen: Set<ObjectIdentifier> = []
        gather(document, &found, &seen)
        return found
    }

    private func gather(_ document: Document, _ found: inout [Document], _ seen: inout Set<ObjectIdentifier>) {
        func visit(_ references: [SpecReference], _ role: Document.Role) {
            for reference in references {
                guard let path = try? path(of: reference, in: document) else { continue }
                let file = file(path, role)
                guard seen.insert(ObjectIdentifier(file)).inserted else { continue }
                found.append(file)
                gather(file, &found, &seen)
            }
        }
        visit(document.state.includes, .include)
        visit(document.state.values.map(\.reference), .value)
    }

    // MARK: following

    /// Returns the files whose following must begin, and those whose following must end. By the thread that has the turn.
    func following(_ open: [Document], refused: [Document]) -> (begin: [Document], end: [Document]) {
        let known = known
        var needed: [Document] = []
        var seen: Set<ObjectIdentifier> = []
        for source in open where source.role == .source && source.phase == .open && source.follow != nil {
            gather(source, &needed, &seen)
        }
        for document in refused { needed += document.awaited }
        let ids = Set(needed.map(ObjectIdentifier.init))
        return (
            known.filter { ids.contains(ObjectIdentifier($0)) && $0.follow == nil },
            known.filter { !ids.contains(ObjectIdentifier($0)) && $0.follow != nil }
        )
    }
}

extension SpecReference {
    /// The file of the reference exceeds the limit of bytes.
    func tooLarge(_ bytes: Int, most: Int) -> Failure {
        Failure(
            .tooLarge,
            "the document and its files have \(bytes) bytes up to here, at most \(most) are allowed; max_document_bytes permits "
                + "more", path: path, at: location)
    }
}
