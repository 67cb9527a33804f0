internal import CPlatform
public import InvivoBase
public import InvivoGraph

/// The state of a key's shared instances.
public struct KeyState: Sendable {
    public let key: String
    public let state: LifeState
    public let objects: Int
    /// The dependencies that a dormant definition waits for.
    public let waits: [String]
    /// The error of the last creation that failed.
    public let error: String
}

/// The reports of a runtime about its keys and objects. Reads only.
public struct RuntimeFacts {
    private let container: Container

    public init(_ container: Container) { self.container = container }

    /// Returns the definition in force for a key, in the generation that the calling thread sees.
    public func key(_ id: UInt32) throws(Failure) -> KeyFacts {
        let graph = container.visibleGraph
        guard let recipe = graph.recipe(id) else {
            try container.registry.requireActive(id)
            throw Failure(
                .notFound, "no definition has the key '\(container.keyName(id))'", path: container.keyName(id))
        }
        return KeyFacts(recipe, graph)
    }

    /// Returns how a host can create the object of a key by itself; null if it must resolve it.
    public func outline(_ id: UInt32) throws(Failure) -> Value {
        // Inside a build, new objects belong to that build.
        guard container.innermostBuild == nil else { return .null }
        return try GraphOutline.of(id, container.visibleGraph) ?? .null
    }

    /// Returns the states of all keys that have shared instances or are dormant, sorted by key.
    public func states() -> [KeyState] {
        let graph = container.currentGraph()
        var found: [KeyState] = []
        container.monitor.locked {
            graph.forEachCell { id, cell in
                // An alias shows the cell of the key it names.
                guard cell.id == id, cell.scope.isShared || !cell.waits.isEmpty, cell.type?.isBlockOnly != true
                else { return }
                let objects = cell.objects()
                found.append(
                    KeyState(
                        key: container.keys.name(id), state: Self.state(of: cell, objects.map(\.object)),
                        objects: objects.count, waits: cell.waits, error: cell.failure?.text ?? ""))
            }
        }
        return found.sorted { $0.key < $1.key }
    }

    /// Of several objects, the state that is least advanced. With the monitor held.
    private static func state(of cell: Cell, _ objects: [UInt64]) -> LifeState {
        if !cell.waits.isEmpty { return .dormant }
        let states = objects.compactMap { object -> LifeState? in
            guard let record = ObjectTable.record(object) else { return nil }
            return ObjectExtra.known(of: record)?.life ?? .made
        }
        if states.contains(.failed) { return .failed }
        if let least = states.min(by: { $0.rawValue < $1.rawValue }) { return least }
        if cell.isBuilding { return .building }
        return cell.failure == nil ? .cold : .failed
    }

    /// Returns the number of live objects of each key that were created until `sequence`. Plain prototypes and objects
    /// of build plans do not record when they were created: all of them count.
    public func living(of keys: Set<UInt32>, until sequence: UInt64) -> [String: UInt64] {
        var counts: [UInt32: UInt64] = [:]
        for object in ObjectTable.all(of: container.tag) where ObjectTable.retain(object) {
            if let record = ObjectTable.record(object), record.pointee.key > 0, keys.contains(record.pointee.key - 1),
                iv_record_in_block(record) != 0 || iv_record_order(record) <= sequence
            {
                counts[record.pointee.key - 1, default: 0] += 1
            }
            _ = ObjectTable.release(object)
        }
        return container.monitor.locked {
            Dictionary(counts.map { (container.keys.name($0.key), $0.value) }, uniquingKeysWith: +)
        }
    }
}
