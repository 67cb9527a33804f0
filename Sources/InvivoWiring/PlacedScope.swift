public import CInvivo
internal import CPlatform
public import InvivoBase
internal import InvivoGraph

/// A scope whose instances belong to places: to threads, or to what the host says. Each place of a definition has a cell of its
/// own, under the same rules as a lazy singleton's.
public final class PlacedScope: @unchecked Sendable {
    public typealias Find =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt64>?, UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status
    public typealias Tell = @convention(c) (UnsafeMutableRawPointer?, UInt64, invivo_key, invivo_object) -> Void

    /// What the host says; nil for threads.
    public struct Host: @unchecked Sendable {
        let find: Find
        let keep: Tell?
        let drop: Tell?
        let userData: UnsafeMutableRawPointer?

        public init(find: @escaping Find, keep: Tell?, drop: Tell?, userData: UnsafeMutableRawPointer?) {
            self.find = find
            self.keep = keep
            self.drop = drop
            self.userData = userData
        }
    }

    public let name: String
    private let host: Host?
    /// Set once, when it is registered.
    public var destroy: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?
    /// Guarded by the container's monitor: what was made at a place, or is being made.
    var places: [UInt64: [ObjectIdentifier: Placed]] = [:]

    /// Whether its instances belong to threads.
    var isOfThreads: Bool { host == nil }

    /// The cell of one definition at one place.
    struct Placed {
        weak var owner: Cell?
        let key: ArgumentsKey
        let cell: Cell
    }

    public init(_ name: String, _ host: Host?) {
        self.name = name
        self.host = host
    }

    deinit { if let host, let destroy { ending { destroy(host.userData) } } }

    /// Under the monitor: a reload has replaced the cell of a place. What was made there ends with the generation, not with
    /// the place.
    func forget(_ cell: Cell, at place: UInt64) {
        places[place]?[ObjectIdentifier(cell)] = nil
        if places[place]?.isEmpty == true { places[place] = nil }
    }

    /// Where the calling code is; nowhere in it is an error. Runs host code.
    func current(for key: String, at place: Place, _ chain: Build) throws(Failure) -> UInt64 {
        let found = try find(for: key, at: place, chain)
        guard found != 0 else {
            throw Failure(
                .notReady, "'\(key)' has the scope '\(name)', and the calling code is nowhere in it", path: key,
                at: place)
        }
        return found
    }

    /// Where the calling code is; 0: nowhere in it. What a reload injects belongs to the scope instance of its holder. Runs host
    /// code.
    func find(for key: String, at place: Place, _ chain: Build) throws(Failure) -> UInt64 {
        if let known = chain.scopeInstance(of: self) { return known.place }
        guard let host else {
            let thread = currentThread().identity
            chain.note(ScopeInstance(scope: self, place: thread))
            return thread
        }
        var found: UInt64 = 0
        do throws(Failure) {
            try CallbackResult.run("the scope '\(name)'") { host.find(host.userData, &found, $0) }
        } catch {
            var failure = error
            if failure.path.isEmpty { failure.path = key }
            if failure.place.file.isEmpty { failure.place = place }
            throw failure
        }
        if found != 0 { chain.note(ScopeInstance(scope: self, place: found)) }
        return found
    }

    /// Tells the host of an object that is kept, now and when it goes. Before anybody else finds it.
    func kept(_ object: UInt64, _ key: UInt64, at place: UInt64, _ extra: (() -> ObjectExtra)) {
        guard let host else { return }
        if let drop = host.drop {
            // It keeps the scope until it was told.
            extra().beforeDisposal.append { [self] in
                withExtendedLifetime(self) {
                    drop(host.userData, place, invivo_key(bits: key), invivo_object(bits: object))
                }
            }
        }
        host.keep?(host.userData, place, invivo_key(bits: key), invivo_object(bits: object))
    }
}

/// One place of a scope.
public struct ScopeInstance: Sendable {
    let scope: PlacedScope
    let place: UInt64
}

extension Container {
    public func register(_ scope: PlacedScope) throws(Failure) {
        try monitor.locked { () throws(Failure) in
            guard !isClosing else { throw Failure(.closed, "the runtime is closing") }
            guard scopes[scope.name] == nil else {
                throw Failure(.exists, "a scope '\(scope.name)' is registered already")
            }
            scopes[scope.name] = scope
        }
    }

    /// The scope of a name; an unknown one is an error that names the nearest.
    public func scope(named name: String) throws(Failure) -> PlacedScope {
        try monitor.locked { () throws(Failure) -> PlacedScope in
            if let scope = scopes[name] { return scope }
            if isClosing { throw Failure(.closed, "the runtime is closed") }
            throw Failure(
                .notFound, "no scope '\(name)' is registered\(suggestion(for: name, among: scopes.keys.sorted()))")
        }
    }

    /// Returns the error for a name that is not one of the host's scopes.
    public func scopeFailure(_ name: String) -> Failure? {
        do throws(Failure) { _ = try scope(named: name) } catch { return error }
        return nil
    }

    /// The cell of a definition where the calling code is. Runs host code.
    func placedCell(
        _ cell: Cell, _ recipe: Recipe, _ arguments: [Value], _ chain: Build
    ) throws(Failure) -> Cell {
        let scope = try scope(of: recipe)
        let place = try scope.current(for: recipe.key, at: recipe.definition.place, chain)
        if recipe.scope == .thread { ThreadPlaces.note(self, place) }
        return try monitor.locked { () throws(Failure) -> Cell in
            guard !isClosing else { throw Failure(.closed, "the runtime is closing") }
            let key = ArgumentsKey([.uint64(place)] + arguments)
            let (placed, isNew) = cell.placed(key)
            if isNew {
                placed.place = ScopeInstance(scope: scope, place: place)
                // That of a graph that is gone meanwhile ends with what asked.
                if !cell.isRetired {
                    scope.places[place, default: [:]][ObjectIdentifier(placed)] =
                        PlacedScope.Placed(owner: cell, key: key, cell: placed)
                }
            }
            return placed
        }
    }

    /// What the cell of a place is known by, where the calling code is; nil when that is nowhere. Runs host code.
    func placeKey(_ recipe: Recipe, _ arguments: [Value], _ chain: Build) throws(Failure) -> ArgumentsKey? {
        guard recipe.scope != .context else { return nil }
        let place = try scope(of: recipe).find(for: recipe.key, at: recipe.definition.place, chain)
        return place == 0 ? nil : ArgumentsKey([.uint64(place)] + arguments)
    }

    /// Where a context's table of instances will be asked for; there are none yet.
    func scope(of recipe: Recipe) throws(Failure) -> PlacedScope {
        switch recipe.scope {
        case .context:
            throw Failure(
                .notReady, "'\(recipe.key)' has one instance for each context, and is resolved outside of one",
                path: recipe.key, at: recipe.definition.place)
        case .host: return try scope(named: recipe.definition.body.scopeName ?? "")
        default: return try scope(named: "thread")
        }
    }

    /// Ends a place: what was made there is let go, last made first.
    public func end(_ scope: PlacedScope, at place: UInt64) {
        let ended = monitor.locked {
            () -> (cells: [PlacedScope.Placed], objects: [(sequence: UInt64, object: UInt64)]) in
            let cells = scope.places.removeValue(forKey: place).map { Array($0.values) } ?? []
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
        // What was not made here is let go with its cell, without the monitor.
        withExtendedLifetime(ended.cells) {}
    }

    /// Under the monitor, when the last graph is gone. What it answers is to be let go without the monitor.
    func forgetScopes() -> [(PlacedScope, [UInt64: [ObjectIdentifier: PlacedScope.Placed]])] {
        defer { scopes = [:] }
        return scopes.values.map { scope in
            defer { scope.places = [:] }
            return (scope, scope.places)
        }
    }
}

/// Which runtimes have something of a thread, for its end.
enum ThreadPlaces {
    private static let monitor = Monitor(isProcessWide: true)
    nonisolated(unsafe) private static var containers: [UInt64: [Weak]] = [:]

    private struct Weak { weak var container: Container? }

    /// `thread` is the calling one.
    static func note(_ container: Container, _ thread: UInt64) {
        currentThread().prepareForExit()
        monitor.locked {
            guard containers[thread]?.contains(where: { $0.container === container }) != true else { return }
            containers[thread, default: []].append(Weak(container: container))
        }
    }

    /// By the thread that ends.
    static func end(_ thread: UInt64) {
        for weak in monitor.locked({ containers.removeValue(forKey: thread) }) ?? [] {
            guard let container = weak.container, container.home.isHere,
                let scope = try? container.scope(named: "thread")
            else { continue }
            container.end(scope, at: thread)
        }
    }
}
