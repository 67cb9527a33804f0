public import InvivoBase
public import InvivoGraph

/// The scopes of a runtime with several instances, by name, and their instances.
public final class ScopeTable: Sendable {
    private let scopes: Guarded<NameTable<PlacedScope>>
    private let monitor: Monitor
    private let closing: Closing
    /// The process of the runtime.
    private let home: HomeProcess

    /// `monitor` is the runtime's.
    init(_ monitor: Monitor, _ closing: Closing, _ home: HomeProcess) {
        scopes = .init(["thread": PlacedScope("thread", nil, monitor)], by: monitor)
        self.monitor = monitor
        self.closing = closing
        self.home = home
    }

    public func register(_ scope: PlacedScope) throws(Failure) {
        try scopes.locked { (scopes) throws(Failure) in
            try closing.refuse()
            guard scopes[scope.name] == nil else {
                throw Failure(.exists, "a scope '\(scope.name)' is registered already")
            }
            scopes[scope.name] = scope
        }
    }

    /// The scope of a name; an unknown one is an error that names the nearest.
    public func scope(named name: String) throws(Failure) -> PlacedScope {
        try scopes.locked { (scopes) throws(Failure) -> PlacedScope in
            if let scope = scopes[name] { return scope }
            if closing.hasBegun { throw Failure(.closed, "the runtime is closed") }
            throw Failure(
                .notFound, "no scope '\(name)' is registered\(suggestion(for: name, among: scopes.keys.sorted()))")
        }
    }

    /// The names of all scopes.
    public var names: [String] { scopes.locked { Array($0.keys) } }

    /// Returns the error for a name that is not one of the host's scopes.
    public func failure(_ name: String) -> Failure? {
        do throws(Failure) { _ = try scope(named: name) } catch { return error }
        return nil
    }

    /// The cell of a definition where the calling code is. Runs host code.
    func instance(
        _ cell: Cell, _ recipe: Recipe, _ arguments: [Value], _ build: any ScopedBuild
    ) throws(Failure) -> Cell {
        let scope = try scope(of: recipe)
        let instance = try scope.current(for: recipe.key, at: recipe.definition.location, build)
        if recipe.scope == .thread { note(thread: instance) }
        return try monitor.locked { () throws(Failure) -> Cell in
            try closing.refuse()
            let key = ArgumentsKey([.uint64(instance)] + arguments)
            let (placed, isNew) = cell.placed(key)
            if isNew {
                placed.scopeInstance = ScopeInstance(scope: scope, instance: instance)
                // A cell of a retired graph ends with its requester.
                if !cell.isRetired {
                    scope.add(PlacedScope.Placed(owner: cell, key: key, cell: placed), at: instance)
                }
            }
            return placed
        }
    }

    /// The key of the cell for the current scope instance of the calling code; nil if there is none. Runs host code.
    func placeKey(_ recipe: Recipe, _ arguments: [Value], _ build: any ScopedBuild) throws(Failure) -> ArgumentsKey? {
        guard recipe.scope != .context else { return nil }
        let instance = try scope(of: recipe).find(for: recipe.key, at: recipe.definition.location, build)
        return instance == 0 ? nil : ArgumentsKey([.uint64(instance)] + arguments)
    }

    /// The scope of a definition; contexts are not supported.
    func scope(of recipe: Recipe) throws(Failure) -> PlacedScope {
        switch recipe.scope {
        case .context:
            throw Failure(
                .notReady, "'\(recipe.key)' has one instance for each context, and is resolved outside of one",
                path: recipe.key, at: recipe.definition.location)
        case .host: return try scope(named: recipe.definition.body.scopeName ?? "")
        default: return try scope(named: "thread")
        }
    }

    /// The scopes, the host's and the threads', in which `recipe` resolves keys when those of `changed` (nil: all) are injected.
    public func scopes(of recipe: Recipe, changed: IDSet?, in graph: Graph) -> [PlacedScope] {
        var found: [PlacedScope] = []
        var seen: Set<UInt32> = []
        var rest = recipe.references.edges.filter { !$0.edge.isDeferred && changed?.contains($0.id) != false }.map(
            \.id)
        while let id = rest.popLast() {
            guard seen.insert(id).inserted, let needed = graph.recipe(id) else { continue }
            if needed.scope == .host || needed.scope == .thread {
                if let scope = try? scope(of: needed), !found.contains(where: { $0 === scope }) {
                    found.append(scope)
                }
            } else if !needed.scope.isShared {
                rest += needed.references.dependencies
            }
        }
        return found
    }

    /// Ends a scope instance, and releases its objects, the newest first.
    public func end(_ scope: PlacedScope, at instance: UInt64) {
        let ended = monitor.locked {
            () -> (cells: [PlacedScope.Placed], objects: [(sequence: UInt64, object: UInt64)]) in
            let cells = scope.removeCells(at: instance)
            var objects: [(sequence: UInt64, object: UInt64)] = []
            for placed in cells {
                objects += placed.cell.heldObjects()
                placed.cell.markRetired()
                placed.cell.isOver = true
                placed.owner?.forget(placed.key)
            }
            return (cells, objects)
        }
        for (_, object) in ended.objects.sorted(by: { $0.sequence > $1.sequence }) { ObjectTable.dropHold(object) }
        // Objects that other code created are released with their cell, without the monitor.
        withExtendedLifetime(ended.cells) {}
    }

    /// Removes all scopes and instances. With the monitor held, when the last graph has ended; the caller drops the
    /// result without it.
    func removeAll() -> [(PlacedScope, PlacedScope.Cells)] {
        let all = scopes.held { scopes in
            defer { scopes = [:] }
            return scopes
        }
        return all.values.map { ($0, $0.removeAll()) }
    }

    // MARK: threads

    private struct Weak: Sendable { weak var table: ScopeTable? }

    /// The tables with instances of a thread, for its end.
    private static let ofThreads = Guarded<[UInt64: [Weak]]>([:], by: Monitor(isProcessWide: true))

    /// Notes that the calling thread has instances here.
    private func note(thread: UInt64) {
        currentThread().prepareForExit()
        Self.ofThreads.locked { tables in
            guard tables[thread]?.contains(where: { $0.table === self }) != true else { return }
            tables[thread, default: []].append(Weak(table: self))
        }
    }

    /// Ends the instances of a thread, on that thread.
    static func end(thread: UInt64) {
        for weak in ofThreads.locked({ $0.removeValue(forKey: thread) }) ?? [] {
            guard let table = weak.table, table.home.isHere, let scope = try? table.scope(named: "thread") else {
                continue
            }
            table.end(scope, at: thread)
        }
    }
}
