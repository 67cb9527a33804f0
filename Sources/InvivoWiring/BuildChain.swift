internal import InvivoBase

/// One chain of calls that builds objects: the resolve from outside, and every resolve that its constructors make, on
/// this thread or in jobs that it posts. The nodes of waits-for cycles are chains, not threads.
///
/// Touched by the thread it runs on; `waitingOn` is guarded by the container's monitor.
public final class BuildChain: @unchecked Sendable {
    struct Frame {
        let definition: Definition
        var dependencies: [UInt32] = []
    }

    /// The graph that all its resolves see, held by a count, never by a view.
    public let graph: Graph
    /// Whether the chain belongs to a reload (its builds see the next graph).
    let isReload: Bool
    var frames: [Frame] = []
    var waitingOn: Cell?

    public init(graph: Graph, isReload: Bool = false) {
        self.graph = graph
        self.isReload = isReload
    }

    /// "a -> b -> c", for messages.
    func path(to key: String) -> String {
        (frames.map(\.definition.key) + [key]).joined(separator: " -> ")
    }
}
