internal import HashTreeCollections
internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

/// The definitions of all keys as they were described. Most have no more content than the packed entry of their slot, and are
/// unpacked from it on each read.
struct DefinitionTable {
    private var described: TreeDictionary<UInt32, Definition> = [:]
    private var graph: Graph?

    subscript(id: UInt32) -> Definition? {
        get {
            if !described.isEmpty, let definition = described[id] { return definition }
            // The slot of an alias is that of another key.
            guard let cell = graph?.cell(id), cell.id == id else { return nil }
            return cell.definition
        }
        set { described[id] = newValue }
    }

    /// Returns the target of an alias without unpacking the definition.
    func alias(_ id: UInt32) -> String? { withReferences(id)?.alias }

    /// Returns the parent of a definition without unpacking it.
    func parent(_ id: UInt32) -> String? { withReferences(id)?.body.parent }

    /// Returns a definition, or nil if it is packed: then it has neither an alias nor a parent.
    private func withReferences(_ id: UInt32) -> Definition? {
        if !described.isEmpty, let definition = described[id] { return definition }
        guard let cell = graph?.cell(id), cell.id == id, !cell.isPacked else { return nil }
        return cell.definition
    }

    /// Takes in the definitions that a reload changed. `covered` returns whether a key is overridden.
    mutating func take(_ changed: IDTable<Definition?>, in next: Graph, covered: (UInt32) -> Bool) {
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
