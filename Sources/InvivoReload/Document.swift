internal import InvivoBase
internal import InvivoConfig
public import InvivoLoop
internal import InvivoSpec
public import InvivoWiring
internal import Synchronization

/// One document of a runtime. Everything but the constants belongs to the reload that has the turn.
public final class Document: @unchecked Sendable {
    public let name: String
    private let origin: Origin
    /// Of a source. Sources open one after another; a later one wins.
    public internal(set) var order: UInt64 = 0
    private let handle = OwnHandle(.source)
    /// Nil after close, which a call on another thread may overtake.
    public weak let runtime: Container?
    /// Guarded by the monitor.
    var follow: FollowID?

    enum Phase { case new, open, closed }
    /// Events of a file whose document is not open are dropped. Changed by the reload that has the turn, or by the
    /// owner of the last change set that would open it. Guarded by the monitor.
    var phase = Phase.new

    struct State {
        var hash: ContentHash?
        /// Empty if it tunes nothing.
        var traits = TraitDocument()
        /// Its content under `config:`.
        var config: ConfigNode?
        var isOpen = false
        /// A later one wins. The files that a source includes lie below it.
        var order: UInt64 = 0
        var source = Source(text: [])
    }

    /// The text of a document, its references to files, and its decisions about definitions.
    struct Source {
        /// Empty if it has none. Of a file that is a value, the value.
        let text: [UInt8]
        /// The number of values, lists and maps.
        let nodes: Int
        let includes: [SpecReference]
        /// The files that are values, with the hashes of their content.
        let values: [(reference: SpecReference, hash: ContentHash?)]
        /// The bytes of these files, each as often as a reference leads to it.
        let valueBytes: Int
        let wiring: [WiringDecision]

        init(
            text: [UInt8], nodes: Int = 0, includes: [SpecReference] = [],
            values: [(reference: SpecReference, hash: ContentHash?)] = [], valueBytes: Int = 0,
            wiring: [WiringDecision] = []
        ) {
            (self.text, self.nodes, self.includes, self.values) = (text, nodes, includes, values)
            (self.valueBytes, self.wiring) = (valueBytes, wiring)
        }
    }
    var state = State()
    private let reading = Reading()

    /// The file has other bytes than the content that a rollback has brought back. They are refused until other bytes are read.
    struct Divergence: Sendable {
        /// Nil if the document has no content.
        let live: ContentHash?
        let refused: ContentHash
    }
    /// Guarded by the monitor, and changed by the reload that has the turn.
    var divergence: Divergence?

    init(name: String, path: FilePath?, _ runtime: Container, _ role: Role = .source, isTrusted: Bool = true) {
        self.name = name
        origin = Origin(path: path, role: role, isTrusted: isTrusted)
        self.runtime = runtime
    }

    public var handleBits: UInt64 { handle.bits }

    /// The cause that names it when it is opened, changed or read again.
    public var cause: Cause.Kind { path == nil ? .document : .file }

    /// The treatment of environment variables in its text.
    func expansion(from environment: Environment) -> Expansion { isTrusted ? .from(environment) : .refused }

    func open() -> UInt64 { handle.open(self) }

    func closeHandle() { handle.close() }

    /// Reads the file of the document.
    func readFile(limit: Int, thread: Int32) throws(Failure) -> FileContent {
        guard let path else { throw Failure(.internalFault, "a document in memory has no file") }
        switch role {
        case .source: return try FileReader.read(path, limit: limit, thread: thread)
        case .include: return try FileReader.read(path, below: permitted, limit: limit, thread: thread)
        case .value:
            let most = min(limit, IncludedFiles.mostValueBytes)
            return try FileReader.read(
                path, below: permitted, limit: most,
                hint: "a file that is a value is limited to \(IncludedFiles.mostValueBytes >> 10) KiB", thread: thread)
        }
    }
}

extension Document {
    enum Role { case source, include, value }

    private struct Origin {
        let path: FilePath?
        let role: Role
        let isTrusted: Bool
    }

    /// Nil for a document in memory.
    public var path: FilePath? { origin.path }
    var role: Role { origin.role }
    /// Whether its strings may contain environment variables, and it may read files by `include:` and `file:`.
    var isTrusted: Bool { origin.isTrusted }

    /// Whether its traits with errors are skipped. Set before it is opened.
    var keepsGoing: Bool {
        get { reading.keepsGoing }
        set { reading.keepsGoing = newValue }
    }

    /// The facts of the last reads, and the policy for its errors.
    private final class Reading {
        var keepsGoing = false
        var read: ContentHash?
        var unparsable: (hash: ContentHash, failure: Failure, environment: Environment)?
        var permitted: [[String]] = []
        /// Read by the loop thread, too. Weak: files of a cycle wait for each other. Followed files are alive.
        let awaited = Mutex<[Awaited]>([])
    }

    private struct Awaited: Sendable {
        weak var document: Document?
    }

    /// The hash of the file as it was last read; nil if it was not read.
    var read: ContentHash? {
        get { reading.read }
        set { reading.read = newValue }
    }
    /// The bytes that could not be parsed, with the error. They may be parsed with another environment.
    var unparsable: (hash: ContentHash, failure: Failure, environment: Environment)? {
        get { reading.unparsable }
        set { reading.unparsable = newValue }
    }
    /// Of a file that others refer to: it is read only if it lies below a directory of each group.
    var permitted: [[String]] {
        get { reading.permitted }
        set { reading.permitted = newValue }
    }
    /// The files that the last refused content refers to. The document is tried again when one of them changes.
    var awaited: [Document] {
        get { reading.awaited.withLock { $0.compactMap(\.document) } }
        set { reading.awaited.withLock { $0 = newValue.map { Awaited(document: $0) } } }
    }
}

extension Document.State {
    var text: [UInt8] { source.text }
    var nodes: Int { source.nodes }
    /// The bytes of the text and of its values that are files.
    var bytes: Int { source.text.count + source.valueBytes }
    var includes: [SpecReference] { source.includes }
    var wiring: [WiringDecision] { source.wiring }
    var values: [(reference: SpecReference, hash: ContentHash?)] { source.values }
    var hasReferences: Bool { !includes.isEmpty || !values.isEmpty }

    /// Whether another state of the same document leads to the same files, in the same order.
    func hasSameReferences(as other: Document.State) -> Bool {
        isOpen == other.isOpen && includes.elementsEqual(other.includes) { $0.text == $1.text }
            && values.elementsEqual(other.values) { $0.reference.text == $1.reference.text }
    }

    /// Takes in a text. `document` has the former state. `content` returns the state of a file that is a value.
    mutating func read(
        _ text: [UInt8], of document: Document, _ limits: SpecLimits, _ environment: Environment,
        _ content: (SpecReference) throws(Failure) -> Document.State
    ) throws(Failure) {
        if let failure = try readParts(text, of: document, limits, environment, content) { throw failure }
    }

    /// Takes in the parts of a text that are well-formed. Returns all errors of the others. Throws, and takes in nothing, if the text as a
    /// whole is not well-formed, or if a file that is a value cannot be read.
    mutating func readParts(
        _ text: [UInt8], of document: Document, _ limits: SpecLimits, _ environment: Environment,
        _ content: (SpecReference) throws(Failure) -> Document.State
    ) throws(Failure) -> Failure? {
        source = Document.Source(text: text)
        var parsed = try SpecReader.read(
            text, file: document.name, format: SpecFormat.of(fileName: document.name), limits: limits,
            document.expansion(from: environment))
        let nodes = parsed.valueCount
        let references = parsed.takeFileReferences()
        var values: [(reference: SpecReference, hash: ContentHash?)] = []
        var bytes = text.count
        if !references.isEmpty {
            var contents: [(reference: SpecReference, text: [UInt8])] = []
            var failures: [Failure] = []
            for reference in references {
                do throws(Failure) {
                    let file = try content(reference)
                    bytes += file.text.count
                    guard bytes <= limits.bytes else {
                        // Each further reference could add a copy.
                        failures.append(reference.tooLarge(bytes, most: limits.bytes))
                        break
                    }
                    values.append((reference, file.hash))
                    contents.append((reference, file.text))
                } catch { failures.append(error) }
            }
            if !failures.isEmpty {
                var form: Failure?
                _ = try TraitDocument(parsed, like: nil, &form)
                throw Failure.gathered(failures + (form.map { [$0] } ?? [])) ?? failures[0]
            }
            parsed = parsed.replacing(contents)
        }
        var form: Failure?
        let read = try TraitDocument(parsed, like: document.state.traits, &form)
        var failures = form.map { [$0] } ?? []
        do throws(Failure) {
            config = try read.config.map { config throws(Failure) in
                try ConfigNode(document: config, like: document.state.config)
            }
        } catch {
            try Loading.check()
            failures.append(error)
        }
        var wiring: [WiringDecision] = []
        for entry in read.wiring {
            do throws(Failure) { wiring.append(try WiringDecision(entry)) } catch { failures.append(error) }
        }
        if let first = wiring.first, !document.isTrusted {
            throw first.failure(
                .unsupported, "a document of a source that is not trusted changes no definitions: remove 'wiring'")
        }
        source = Document.Source(
            text: text, nodes: nodes, includes: read.includes, values: values, valueBytes: bytes - text.count,
            wiring: wiring)
        traits = read.isEmpty ? TraitDocument(naming: read.variables) : read
        return Failure.gathered(failures)
    }

    /// Takes in a file that is the value of a string: UTF-8 text, without one line end.
    mutating func read(value bytes: [UInt8], of document: Document) throws(Failure) {
        func refused(_ what: String) -> Failure { Failure(.encoding, what, at: Location(file: document.name)) }
        guard !bytes.contains(0) else { throw refused("the file has a NUL byte: a value is UTF-8 text") }
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw refused("the file is not UTF-8: a value is UTF-8 text")
        }
        var text = bytes
        if text.last == UInt8(ascii: "\n") {
            text.removeLast()
            if text.last == UInt8(ascii: "\r") { text.removeLast() }
        }
        source = Document.Source(text: text)
    }
}

/// The facts about a document in the list of sources.
struct DocumentFacts {
    let document: Document
    let isFollowed: Bool
    var mode: FollowMode?
    /// How the file differs from the live content after a rollback.
    let divergence: Document.Divergence?
    /// Whether the present bytes of the file were refused, and are tried again in each change set.
    let isRefused: Bool
}
