internal import CPlatform
internal import InvivoBase
public import InvivoGraph
public import InvivoWiring

/// A temporary definition for a key, for a test or a trial. The key keeps its scope, visibility, rank and timeouts, and
/// is exclusive or tracked as before. Of an alias or a choice, it has its own scope, or is a lazy singleton. Overrides of one key stack: the last one is in force. They can end in any order.
public final class Override: Sendable {
    public let definition: Definition
    private let handle = OwnHandle(.override)
    /// Nil after close, which a call on another thread may overtake.
    public weak let runtime: Container?

    init(_ definition: Definition, _ runtime: Container) {
        self.definition = definition
        self.runtime = runtime
    }

    public var handleBits: UInt64 { handle.bits }

    func open() -> UInt64 { handle.open(self) }

    func closeHandle() { handle.close() }
}

/// The beginning or end of an override.
enum OverrideChange: Sendable {
    case begin(Override)
    case end(Override)
}

extension [OverrideChange] {
    var begun: [Override] { compactMap { if case .begin(let override) = $0 { override } else { nil } } }
    var ended: [Override] { compactMap { if case .end(let override) = $0 { override } else { nil } } }
}
