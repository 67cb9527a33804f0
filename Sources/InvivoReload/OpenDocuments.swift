internal import InvivoBase

/// The documents of a runtime that are open, in the order in which they were opened.
struct OpenDocuments {
    private(set) var all: [Document] = []
    /// By name. Several may have one name: one in memory, and files.
    private var named: NameTable<[Document]> = [:]

    /// The order of the newest source.
    private var lastOrder: UInt64 = 0

    var count: Int { all.count }

    /// Returns the order of a new source, above all others.
    mutating func takeOrder() -> UInt64 {
        lastOrder += IncludedFiles.stride
        return lastOrder
    }

    /// The first in memory that has this name.
    func inMemory(_ name: String) -> Document? { named[name]?.first { $0.path == nil } }

    /// Adds it, if it is not there.
    mutating func insert(_ document: Document) {
        guard named[document.name]?.contains(where: { $0 === document }) != true else { return }
        named[document.name, default: []].append(document)
        all.append(document)
    }

    mutating func remove(_ document: Document) {
        guard var same = named[document.name], same.contains(where: { $0 === document }) else { return }
        same.removeAll { $0 === document }
        if same.isEmpty { named.removeValue(forKey: document.name) } else { named[document.name] = same }
        all.removeAll { $0 === document }
    }
}
