internal import InvivoBase
internal import InvivoGraph

/// Dependencies between keys that builds recorded: an object resolved another key during its construction, beyond those that its
/// definition names. Both directions are kept.
struct RecordedDependencies {
    private var dependencies: [UInt32: Set<UInt32>] = [:]
    private var dependents: [UInt32: Set<UInt32>] = [:]

    /// The keys that the instances of `id` resolved.
    func dependencies(of id: UInt32) -> Set<UInt32> { dependencies[id] ?? [] }

    /// The keys whose instances resolved `id`.
    func dependents(on id: UInt32) -> Set<UInt32> { dependents[id] ?? [] }

    mutating func add(_ keys: Set<UInt32>, to id: UInt32) {
        guard !keys.isEmpty else { return }
        dependencies[id, default: []].formUnion(keys)
        for key in keys { dependents[key, default: []].insert(id) }
    }

    mutating func replace(of id: UInt32, by keys: Set<UInt32>) {
        remove(id)
        add(keys, to: id)
    }

    /// Removes the dependencies of `id`, which has no instance any more.
    mutating func remove(_ id: UInt32) {
        for key in dependencies.removeValue(forKey: id) ?? [] {
            dependents[key]?.remove(id)
            if dependents[key]?.isEmpty == true { dependents[key] = nil }
        }
    }
}

/// The keys whose shared instances were built, by scope; some may have ended.
struct BuiltKeys {
    private var keys: [Scope: Set<UInt32>] = [:]

    func of(_ scope: Scope) -> Set<UInt32> { keys[scope] ?? [] }
    mutating func insert(_ id: UInt32, _ scope: Scope) { keys[scope, default: []].insert(id) }
    mutating func remove(_ id: UInt32, _ scope: Scope) { keys[scope]?.remove(id) }
}
