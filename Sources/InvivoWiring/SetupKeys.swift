internal import CPlatform
internal import InvivoBase
internal import InvivoGraph

/// The keys that setups have used: if a commit has replaced one of them meanwhile, the object has to be created again.
///
/// A commit sets the owners of changed children up again, but it knows only the owners that existed when it was planned.
struct SetupKeys {
    private let graph: Graph
    private var seen: Set<UInt64> = []
    private var found: Set<UInt32> = []

    /// Under the monitor: the keys of the children of a new shared object, and of the keys that it owns. Includes those of its
    /// children, and of the unshared objects that were injected into it. `graph` is that of its build.
    static func of(_ record: Record, in graph: Graph) -> Set<UInt32> {
        var keys = SetupKeys(graph: graph)
        keys.visit(record)
        return keys.found
    }

    private init(graph: Graph) { self.graph = graph }

    private mutating func visit(_ first: Record) {
        var queue = [first]
        while let record = queue.popLast() {
            guard seen.insert(ObjectTable.handle(record)).inserted else { continue }
            if let belongings = ObjectExtra.known(of: record)?.belongings {
                found.formUnion(belongings.heldChildren.compactMap(\.key))
                if let recipe = recipe(of: record), recipe.references.owns {
                    found.formUnion(recipe.references.owned)
                }
            }
            // Its children are among them.
            InjectedReferences.forEach(of: record) { object in
                guard let record = ObjectTable.record(object) else { return }
                // A shared object is replaced itself, and then its holders are.
                if recipe(of: record)?.scope.isShared != true { queue.append(record) }
            }
        }
    }

    private func recipe(of record: Record) -> Recipe? {
        record.pointee.key > 0 ? graph.recipe(record.pointee.key - 1) : nil
    }
}
