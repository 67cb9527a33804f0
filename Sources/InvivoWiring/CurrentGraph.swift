public import InvivoBase
public import InvivoGraph

/// The graph of the current generation.
public final class CurrentGraph: Sendable {
    private let graph: Guarded<Graph>

    /// `monitor` is the runtime's.
    init(_ graph: Graph, _ monitor: Monitor) { self.graph = .init(graph, by: monitor) }

    public var value: Graph { graph.locked { $0 } }

    /// For callers that hold the monitor.
    public var held: Graph { graph.held { $0 } }

    /// Publishes the next graph. Called with the monitor held, by the reload that has the turn. Returns the former graph, which must
    /// be kept until no reader is left in it.
    public func publish(_ next: Graph, to core: Core) -> Graph {
        let former = replace(by: next)
        next.showAll()
        Readers.publish(core, graph: UnsafeRawPointer(next.raw), epoch: next.order + 1)
        return former
    }

    /// Shows a cell to the readers of its graph and of the current one. Called with the monitor held.
    func show(_ cell: Cell, _ graph: Graph) {
        graph.show(cell)
        let current = held
        if graph !== current { current.show(cell) }
    }

    /// Calls `body` with the leases of the graph on objects that it did not create, some more than once. Called with the monitor held.
    public func forEachLease(_ body: (ObjectLease) -> Void) {
        held.forEachLease(body)
    }

    /// For close, with no reader left. Called with the monitor held; the caller drops the result without it.
    func removeAll(_ keys: KeyTable) -> Graph { replace(by: Graph(generation: held.generation, keys: keys)) }

    private func replace(by next: Graph) -> Graph {
        graph.held { graph in
            defer { graph = next }
            return graph
        }
    }
}
