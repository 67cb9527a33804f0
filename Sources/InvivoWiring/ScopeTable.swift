public import InvivoBase
internal import InvivoContexts
public import InvivoGraph

/// The scopes of a runtime with several instances, by name, and their instances.
public final class ScopeTable: Sendable {
    private let scopes: Guarded<NameTable<PlacedScope>>
    private let monitor: Monitor
    private let closing: Closing
    /// The process of the runtime.
    private let home: HomeProcess
    /// The scope whose instances are contexts, by their handles.
    let contexts: PlacedScope
    private let allContexts: Contexts

    /// `monitor` is the runtime's.
    init(_ monitor: Monitor, _ closing: Closing, _ home: HomeProcess, _ allContexts: Contexts) {
        contexts = PlacedScope(ofContexts: monitor)
        self.allContexts = allContexts
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

    /// Returns the error for a name that is not one of the host's scopes or, for contexts, of their kinds.
    public func failure(_ scope: Scope, _ name: String?) -> Failure? {
        do throws(Failure) {
            switch scope {
            case .host: _ = try self.scope(named: name ?? "")
            case .context: if let name { _ = try allContexts.kinds.index(named: name) }
            default: break
            }
        } catch { return error }
        return nil
    }

    /// The cell of a definition where the calling code is. Runs host code.
    func instance(
        _ cell: Cell, _ recipe: Recipe, _ arguments: [Value], _ build: any ScopedBuild
    ) throws(Failure) -> Cell {
        let scope = try scope(of: recipe)
        let instance = try scope.current(for: recipe.key, at: recipe.definition.location, build)
        if recipe.scope == .thread { note(thread: instance) }
        return try self.instance(cell, arguments, scope, instance)
    }

    /// The cell of a definition in a context.
    func instance(_ cell: Cell, _ arguments: [Value], in context: ContextHandle) throws(Failure) -> Cell {
        try instance(cell, arguments, contexts, context.bits)
    }

    private func instance(
        _ cell: Cell, _ arguments: [Value], _ scope: PlacedScope, _ instance: UInt64
    ) throws(Failure) -> Cell {
        try monitor.locked { () throws(Failure) -> Cell in
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
        if recipe.scope == .context {
            return try context(of: recipe, build).map { Self.placeKey($0, arguments) }
        }
        let instance = try scope(of: recipe).find(for: recipe.key, at: recipe.definition.location, build)
        return instance == 0 ? nil : ArgumentsKey([.uint64(instance)] + arguments)
    }

    static func placeKey(_ context: ContextHandle, _ arguments: [Value]) -> ArgumentsKey {
        ArgumentsKey([.uint64(context.bits)] + arguments)
    }

    /// The context in which the object of a definition lives: the nearest one of its kind. Nil without a current context.
    func context(of recipe: Recipe, _ build: any ScopedBuild) throws(Failure) -> ContextHandle? {
        guard let start = build.startingContext else { return nil }
        build.note(ScopeInstance(scope: contexts, instance: start.bits))
        let kind = try recipe.definition.body.scopeName.map { (name) throws(Failure) in
            try allContexts.kinds.index(named: name)
        }
        do throws(Failure) { return try Contexts.home(from: start, kind: kind) } catch {
            var failure = error
            if failure.path.isEmpty {
                failure.message = "'\(recipe.key)' cannot be resolved here: \(failure.message)"
                failure.path = recipe.key
            }
            if failure.location.file.isEmpty { failure.location = recipe.definition.location }
            throw failure
        }
    }

    /// Whether the contexts of `inner` are declared as inner ones of `outer`.
    public func isKind(_ inner: String, inside outer: String) -> Bool {
        guard let inner = try? allContexts.kinds.index(named: inner),
            let outer = try? allContexts.kinds.index(named: outer)
        else { return false }
        return inner > outer
    }

    /// Whether contexts of a kind have a value for a key: the kind or an outer one provides it, or the key has a default.
    public func provides(_ key: String, in kind: String) -> Bool {
        guard let id = allContexts.names.id(of: key), let index = try? allContexts.kinds.index(named: kind) else {
            return false
        }
        return allContexts.keys.hasDefault(id)
            || allContexts.kinds.all.prefix(through: index).contains { $0.provides.contains { $0.key == id } }
    }

    /// The scope of a definition.
    func scope(of recipe: Recipe) throws(Failure) -> PlacedScope {
        switch recipe.scope {
        case .context: return contexts
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
            if needed.scope.isPlaced {
                if let scope = try? scope(of: needed), !found.contains(where: { $0 === scope }) {
                    found.append(scope)
                }
            } else if !needed.scope.isShared {
                rest += needed.references.dependencies
            }
        }
        return found
    }

    /// Ends a scope instance, and releases its objects, the newest first. Returns these.
    @discardableResult
    public func end(_ scope: PlacedScope, at instance: UInt64) -> [UInt64] {
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
        let objects = ended.objects.sorted { $0.sequence > $1.sequence }.map(\.object)
        for object in objects { ObjectTable.dropHold(object) }
        // Objects that other code created are released with their cell, without the monitor.
        withExtendedLifetime(ended.cells) {}
        return objects
    }

    /// Removes all scopes and instances. With the monitor held, when the last graph has ended; the caller drops the
    /// result without it.
    func removeAll() -> [(PlacedScope, PlacedScope.Cells)] {
        let all = scopes.held { scopes in
            defer { scopes = [:] }
            return scopes
        }
        return (all.values + [contexts]).map { ($0, $0.removeAll()) }
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
