internal import InvivoBase

/// The documents of a runtime that are open, in the order in which they were opened. Guarded by its holder.
final class OpenDocuments {
    /// Nil where one was removed.
    private var entries: [Document?] = []
    private var positions: [ObjectIdentifier: Int] = [:]
    /// By name. Several may have one name: one in memory, and files.
    private var named: NameTable<[Document]> = [:]

    /// The order of the newest source.
    private var lastOrder: UInt64 = 0

    var all: [Document] { entries.compactMap { $0 } }

    /// Returns the order of a new source, above all others.
    func takeOrder() -> UInt64 {
        lastOrder += IncludedFiles.stride
        return lastOrder
    }

    /// The first in memory that has this name.
    func inMemory(_ name: String) -> Document? { named[name]?.first { $0.path == nil } }

    /// Adds a document. Returns false if it is there.
    func insert(_ document: Document) -> Bool {
        guard positions[ObjectIdentifier(document)] == nil else { return false }
        positions[ObjectIdentifier(document)] = entries.count
        entries.append(document)
        named[document.name, default: []].append(document)
        return true
    }

    /// Removes a document. Returns false if it is not there.
    func remove(_ document: Document) -> Bool {
        guard let position = positions.removeValue(forKey: ObjectIdentifier(document)) else { return false }
        entries[position] = nil
        var same = named[document.name] ?? []
        same.removeAll { $0 === document }
        if same.isEmpty { named.removeValue(forKey: document.name) } else { named[document.name] = same }
        if entries.count > 2 * positions.count + 8 { removeGaps() }
        return true
    }

    private func removeGaps() {
        entries = all
        for (position, document) in all.enumerated() { positions[ObjectIdentifier(document)] = position }
    }
}
