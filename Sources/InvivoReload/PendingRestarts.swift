internal import HashTreeCollections
internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

/// The changes that take effect when a shared object is next created: of definitions, and of properties, that are declared
/// `restart`.
struct PendingRestarts: Sendable {
    /// The changes of a plan for the objects of a key.
    struct Change {
        /// Whether the definition differs from that of the object; nil if the plan does not change the definition.
        var definition: Bool?
        /// The values of properties of `object` before and after the plan; nil = the property's own.
        var properties: [Int: (former: Value?, next: Value?)] = [:]
        var object: UInt64 = 0
    }

    typealias Changes = [UInt32: Change]

    private struct Entry {
        /// The generation that added the slot of the object. Another slot has another object.
        let slot: UInt64
        /// The generation that changed the definition.
        var definition: UInt64?
        /// The generation that first changed a property, and the value that `object` has.
        var object: UInt64 = 0
        var properties: [Int: (since: UInt64, value: Value?)] = [:]

        var isEmpty: Bool { definition == nil && properties.isEmpty }
    }

    private var entries: TreeDictionary<UInt32, Entry> = [:]

    /// Returns the pending changes after a plan, which becomes `next`. Those of objects that are replaced go.
    func applying(_ changes: Changes, _ next: Graph) -> PendingRestarts {
        guard !entries.isEmpty || !changes.isEmpty else { return self }
        var result = self
        for (id, entry) in entries where next.cell(id)?.generation != entry.slot { result.entries[id] = nil }
        for (id, change) in changes {
            guard let slot = next.cell(id)?.generation else { continue }
            var entry = result.entries[id] ?? Entry(slot: slot)
            if let differs = change.definition {
                entry.definition = differs ? entry.definition ?? next.generation : nil
            }
            if !change.properties.isEmpty, entry.object != change.object {
                (entry.object, entry.properties) = (change.object, [:])
            }
            for (property, values) in change.properties {
                let known = entry.properties[property] ?? (next.generation, values.former)
                let isBack = Self.areSame(known.value, values.next)
                entry.properties[property] = isBack ? nil : known
            }
            result.entries[id] = entry.isEmpty ? nil : entry
        }
        return result
    }

    private static func areSame(_ a: Value?, _ b: Value?) -> Bool {
        guard let a, let b else { return a == nil && b == nil }
        return a.isSame(as: b)
    }

    /// One pending change; without a property: of the definition.
    typealias Pending = (id: UInt32, property: Int?, since: UInt64)

    /// All pending changes. Called with the monitor held.
    func all(in graph: Graph) -> [Pending] {
        entries.flatMap { id, entry -> [Pending] in
            let definition = entry.definition.map { [Pending(id, nil, $0)] } ?? []
            guard graph.cell(id)?.objects().contains(where: { $0.object == entry.object }) == true else {
                return definition
            }
            return definition + entry.properties.map { Pending(id, $0.key, $0.value.since) }
        }
    }

    /// The keys whose definitions wait for their objects to be created again.
    var waiting: [UInt32] { entries.isEmpty ? [] : entries.filter { $0.value.definition != nil }.map(\.key) }

    /// The generation since which the definition of a key waits for its object to be created again; nil if it does not.
    func since(_ id: UInt32) -> UInt64? { entries.isEmpty ? nil : entries[id]?.definition }
}
