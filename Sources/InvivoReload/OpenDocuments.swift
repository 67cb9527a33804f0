internal import InvivoBase

/// The documents of a runtime that are open, in the order in which they were opened.
struct OpenDocuments {
    private(set) var all: [Document] = []
    /// Those in memory, by name.
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
    func inMemory(_ name: String) -> Document? { named[name]?.first }

    /// Adds it, if it is not there.
    mutating func insert(_ document: Document) {
        if document.path == nil {
            guard named[document.name]?.contains(where: { $0 === document }) != true else { return }
            named[document.name, default: []].append(document)
        }
        all.append(document)
    }

    mutating func remove(_ document: Document) {
        all.removeAll { $0 === document }
        guard document.path == nil, var same = named[document.name] else { return }
        same.removeAll { $0 === document }
        if same.isEmpty { named.removeValue(forKey: document.name) } else { named[document.name] = same }
    }
}
