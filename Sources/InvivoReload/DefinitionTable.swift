internal import HashTreeCollections
internal import InvivoGraph
internal import InvivoWiring

/// The definitions of all keys as they were described. Most say no more than what the cell of their key keeps packed: those
/// are worked out from it.
struct DefinitionTable {
    private var described: TreeDictionary<UInt32, Definition> = [:]
    private var graph: Graph?

    subscript(id: UInt32) -> Definition? {
        get {
            if let definition = described[id] { return definition }
            // An alias shows the cell of another key.
            guard let cell = graph?.cell(id), cell.id == id else { return nil }
            return cell.definition
        }
        set { described[id] = newValue }
    }

    /// The key that an alias names; without working the definition out.
    func alias(_ id: UInt32) -> String? { described[id].map(\.alias) ?? (isPacked(id) ? nil : self[id]?.alias) }

    func parent(_ id: UInt32) -> String? {
        described[id].map(\.body.parent) ?? (isPacked(id) ? nil : self[id]?.body.parent)
    }

    private func isPacked(_ id: UInt32) -> Bool { graph?.cell(id)?.isPacked ?? false }

    /// What a reload leaves of what it changed; `covered` are under overrides.
    mutating func take(_ changed: [UInt32: Definition?], in next: Graph, covered: (UInt32) -> Bool) {
        for (id, definition) in changed {
            let isKept = next.isPacked(id)
            described[id] = isKept && !covered(id) ? nil : definition
        }
        graph = next
    }

    var values: [Definition] {
        var found = Array(described.values)
        graph?.forEachCell { id, cell in if described[id] == nil && cell.id == id { found.append(cell.definition) } }
        return found
    }

    var keys: [UInt32] {
        var found = Array(described.keys)
        graph?.forEachCell { id, cell in if described[id] == nil && cell.id == id { found.append(id) } }
        return found
    }
}
