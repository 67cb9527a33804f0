internal import InvivoBase
internal import InvivoWiring

/// The names of the types that blocked definitions wait for. Any thread may call.
final class AwaitedTypes: Sendable {
    private let names: Guarded<Set<String>>

    init(_ container: Container) { names = Guarded([], by: container.monitor) }

    func contains(_ name: String) -> Bool { names.locked { $0.contains(name) } }

    /// Replaces the names by those of a snapshot. Returns the new ones.
    func update(from snapshot: Snapshot) -> Set<String> {
        let awaited = Set(
            snapshot.blocked.keys.compactMap { id in
                snapshot.definitions[id].flatMap { $0.type == nil ? $0.body.typeName : nil }
            })
        return names.locked { names in
            defer { names = awaited }
            return awaited.subtracting(names)
        }
    }
}
