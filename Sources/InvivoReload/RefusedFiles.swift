internal import InvivoBase

/// Files whose bytes were refused. They take part in later change sets, until they are accepted or replaced. A value; the cost of a
/// change does not depend on the others.
struct RefusedFiles {
    private struct Entry {
        let document: Document
        let number: UInt64
    }

    private var others: [ObjectIdentifier: Entry] = [:]
    /// Those whose only errors are unknown trait types. They take part in change sets that add trait types.
    private var blocked: [ObjectIdentifier: Entry] = [:]
    private var last: UInt64 = 0

    var isEmpty: Bool { others.isEmpty && blocked.isEmpty }

    func contains(_ document: Document) -> Bool {
        let id = ObjectIdentifier(document)
        return others[id] != nil || blocked[id] != nil
    }

    /// In no order.
    var documents: [Document] { others.values.map(\.document) + blocked.values.map(\.document) }

    /// The files that take part in a change set, in the order in which they were refused.
    func tried(addsTypes: Bool) -> [Document] {
        let entries = addsTypes ? Array(others.values) + blocked.values : Array(others.values)
        return entries.sorted { $0.number < $1.number }.map(\.document)
    }

    /// Adds a file, or notes why it is refused now.
    mutating func insert(_ document: Document, isBlocked: Bool) {
        let id = ObjectIdentifier(document)
        let entry = others.removeValue(forKey: id) ?? blocked.removeValue(forKey: id)
        if entry == nil { last += 1 }
        let inserted = entry ?? Entry(document: document, number: last)
        if isBlocked { blocked[id] = inserted } else { others[id] = inserted }
    }

    /// Returns false if the file is not among them.
    mutating func remove(_ document: Document) -> Bool {
        let id = ObjectIdentifier(document)
        return others.removeValue(forKey: id) != nil || blocked.removeValue(forKey: id) != nil
    }
}

/// The files whose bytes were refused that take part in a change set.
enum Retried {
    case all, none
    case only([Document])

    func documents(of refused: RefusedFiles, addsTypes: Bool) -> [Document] {
        switch self {
        case .all: refused.tried(addsTypes: addsTypes)
        case .none: []
        case .only(let files): files.filter(refused.contains)
        }
    }
}

extension Failure {
    /// The files at fault, each with whether its only errors are unknown trait types.
    var filesAtFault: NameTable<Bool> {
        var files: NameTable<Bool> = [:]
        for failure in all {
            files[failure.location.file] = files[failure.location.file] != false && failure.finding == .unknownTrait
        }
        return files
    }
}
