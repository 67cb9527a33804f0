internal import InvivoGraph
internal import InvivoWiring

/// A request to build something again although no definition changes.
enum Rebuild: Sendable {
    /// The shared instances of a key are dropped, alone or with those of all its dependencies.
    case key(id: UInt32, key: String, withDependencies: Bool)
    /// The shared instances of all keys with this scope are dropped.
    case scope(Scope)
    /// The entries of a pool are removed.
    case pool(PoolClearing)
    /// Shared objects that a commit overtook while they were built, by key.
    case overtaken([UInt32: OvertakenBuild])
    /// Definitions that are blocked on types are planned again, because a type was registered.
    case blockedOnTypes

    /// Whether it is about instances, not about definitions.
    var isOfInstances: Bool { if case .blockedOnTypes = self { false } else { true } }
}

extension [Rebuild] {
    var keys: [(id: UInt32, key: String, withDependencies: Bool)] {
        compactMap { if case .key(let id, let key, let with) = $0 { (id, key, with) } else { nil } }
    }

    var scopes: Set<Scope> {
        Set(compactMap { if case .scope(let scope) = $0 { scope } else { nil } })
    }

    var pools: [PoolClearing] { compactMap { if case .pool(let clearing) = $0 { clearing } else { nil } } }

    var overtaken: [UInt32: OvertakenBuild] {
        reduce(into: [:]) { all, rebuild in
            if case .overtaken(let overtaken) = rebuild { all.merge(overtaken) { $0.joined($1) } }
        }
    }

    /// Whether definitions that are blocked on types are planned again.
    var includeBlockedOnTypes: Bool { contains { if case .blockedOnTypes = $0 { true } else { false } } }
}
