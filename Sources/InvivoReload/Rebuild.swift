internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

/// A request to build something again although the set changes no definition.
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
    /// The value at a path is stored again, because the host reads it as another kind.
    case setting(path: String)
    /// There is a new copy of the environment: documents that name a changed variable are read again.
    case environment(Environment)
    /// The content of a former generation comes back.
    case content(generation: UInt64)

    /// Whether it concerns instances or stored values, and not definitions or the configuration.
    var isOfInstances: Bool {
        switch self {
        case .blockedOnTypes, .environment, .content: false
        case .key, .scope, .pool, .overtaken, .setting: true
        }
    }
}

extension [Rebuild] {
    var keys: [(id: UInt32, key: String, withDependencies: Bool)] {
        compactMap { if case .key(let id, let key, let with) = $0 { (id, key, with) } else { nil } }
    }

    var scopes: Set<Scope> {
        Set(compactMap { if case .scope(let scope) = $0 { scope } else { nil } })
    }

    var settings: [String] { compactMap { if case .setting(let path) = $0 { path } else { nil } } }

    var pools: [PoolClearing] { compactMap { if case .pool(let clearing) = $0 { clearing } else { nil } } }

    var overtaken: [UInt32: OvertakenBuild] {
        reduce(into: [:]) { all, rebuild in
            if case .overtaken(let overtaken) = rebuild { all.merge(overtaken) { $0.joined($1) } }
        }
    }

    /// The new copy of the environment; nil if it stays.
    var environment: Environment? {
        reduce(nil) { former, rebuild in if case .environment(let copy) = rebuild { copy } else { former } }
    }

    /// The generation whose content comes back; nil if none does.
    var restored: UInt64? {
        reduce(nil) { former, rebuild in if case .content(let generation) = rebuild { generation } else { former } }
    }

    /// Whether definitions that are blocked on types are planned again.
    var includeBlockedOnTypes: Bool { contains { if case .blockedOnTypes = $0 { true } else { false } } }
}
