internal import HashTreeCollections
internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

/// The changes that take effect when a shared object is next created: of definitions, and of properties, that are declared
/// `restart`.
struct PendingRestarts: Sendable {
    /// What a plan changes for the objects of a key.
    struct Change {
        /// Whether the definition differs from that of the object; nil if the plan does not change the definition.
        var definition: Bool?
        /// The values of properties before and after the plan; nil = the property's own.
        var properties: [Int: (former: Value?, next: Value?)] = [:]
    }

    typealias Changes = [UInt32: Change]

    private struct Entry {
        /// The generation that added the slot of the object. Another slot has another object.
        let slot: UInt64
        /// The generation that changed the definition.
        var definition: UInt64?
        /// The generation that first changed a property, and the value that the object has.
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

    /// All pending changes: key, name of the property or "", and the generation that first changed it.
    func all(in graph: Graph, _ names: KeyNames) -> [(key: String, property: String, since: UInt64)] {
        entries.flatMap { id, entry in
            let key = names.name(id)
            let definition = entry.definition.map { [(key: key, property: "", since: $0)] } ?? []
            let properties = graph.recipe(id)?.type?.description.properties ?? []
            return definition
                + entry.properties.sorted { $0.key < $1.key }.filter { $0.key < properties.count }.map {
                    (key: key, property: properties[$0.key].name, since: $0.value.since)
                }
        }
        .sorted { ($0.key, $0.property) < ($1.key, $1.property) }
    }

    /// The generation since which the definition of a key waits for its object to be created again; nil if it does not.
    func since(_ id: UInt32) -> UInt64? { entries[id]?.definition }
}
