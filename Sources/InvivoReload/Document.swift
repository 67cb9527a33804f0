internal import InvivoBase
public import InvivoLoop
internal import InvivoSpec
internal import InvivoWiring

/// One document of a runtime. Everything but the constants belongs to the reload that has the turn.
public final class Document: @unchecked Sendable {
    public let name: String
    /// Nil for a document in memory.
    public let path: FilePath?
    /// Documents open one after another; a later one wins.
    public internal(set) var order: UInt64 = 0
    public private(set) var handleBits: UInt64 = 0
    /// Nil after close, which a call on another thread may overtake.
    private weak let runtime: Engine?
    var follow: FollowID?

    struct State {
        var hash: ContentHash?
        var traits: NameTable<[TraitSpec]> = [:]
        /// Where each target key stands first.
        var places: NameTable<Place> = [:]
        /// What it says under `config:`.
        var config: ConfigNode?
        var isOpen = false
    }
    var state = State()

    init(name: String, path: FilePath?, engine: Engine) {
        self.name = name
        self.path = path
        runtime = engine
    }

    /// What it belongs to, kept alive for the length of a call.
    public var engine: Engine {
        get throws(Failure) { try Engine.ofCall(runtime) }
    }

    func open() -> UInt64 {
        if handleBits == 0 { handleBits = HandleTable.insert(self, kind: .source) }
        return handleBits
    }

    func closeHandle() {
        if handleBits != 0 { _ = HandleTable.remove(handleBits, .source) }
    }
}
