internal import InvivoBase
internal import InvivoConfig
public import InvivoLoop
internal import InvivoSpec
public import InvivoWiring

/// One document of a runtime. Everything but the constants belongs to the reload that has the turn.
public final class Document: @unchecked Sendable {
    public let name: String
    /// Nil for a document in memory.
    public let path: FilePath?
    /// Documents open one after another; a later one wins.
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
        /// Empty if it has none.
        var text: [UInt8] = []
    }
    var state = State()
    /// The hash of the file as it was last read; nil if it was not read.
    var read: ContentHash?
    /// The bytes that could not be parsed, with the error.
    /// They may be parsed with another environment.
    var unparsable: (hash: ContentHash, failure: Failure, environment: Environment)?

    /// The file has other bytes than the content that a rollback has brought back. They are refused until other bytes are read.
    struct Divergence: Sendable {
        /// Nil if the document has no content.
        let live: ContentHash?
        let refused: ContentHash
    }
    /// Guarded by the monitor, and changed by the reload that has the turn.
    var divergence: Divergence?

    init(name: String, path: FilePath?, _ runtime: Container) {
        self.name = name
        self.path = path
        self.runtime = runtime
    }

    public var handleBits: UInt64 { handle.bits }

    /// The cause that names it when it is opened, changed or read again.
    public var cause: Cause.Kind { path == nil ? .document : .file }

    /// Whether its strings may contain environment variables. The host has opened every source that there is, and trusts it.
    var isTrusted: Bool { true }

    /// The treatment of environment variables in its text.
    func expansion(from environment: Environment) -> Expansion { isTrusted ? .from(environment) : .refused }

    func open() -> UInt64 { handle.open(self) }

    func closeHandle() { handle.close() }
}

/// A document that a change set opens when it is committed. Its handle is valid before that, and becomes stale when no
/// set is left that could open it.
public final class NewDocument: Sendable {
    public let document: Document
    let content: ChangeSet.Content
    /// Whether the set is committed without it while the file is missing or invalid.
    let waits: Bool

    init(_ document: Document, _ content: ChangeSet.Content, waits: Bool) {
        self.document = document
        self.content = content
        self.waits = waits
        _ = document.open()
    }

    /// No other set can open it any more.
    deinit { if document.phase != .open { document.closeHandle() } }
}

extension Document.State {
    /// Takes in a text. `document` has the former state.
    mutating func read(
        _ text: [UInt8], of document: Document, _ limits: SpecLimits, _ environment: Environment
    ) throws(Failure) {
        self.text = text
        let parsed = try SpecReader.read(
            text, file: document.name, format: SpecFormat.of(fileName: document.name), limits: limits,
            document.expansion(from: environment))
        let said = try TraitDocument(parsed, like: document.state.traits)
        config = try said.config.map { config throws(Failure) in
            try ConfigNode(document: config, like: document.state.config)
        }
        traits = said.isEmpty ? TraitDocument(naming: said.variables) : said
    }
}
