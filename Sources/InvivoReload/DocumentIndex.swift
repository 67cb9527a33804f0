internal import HashTreeCollections
internal import InvivoBase
internal import InvivoSpec

/// The documents with content of one generation, by the names in them. A value: a copy shares what does not change.
struct DocumentIndex: Sendable {
    /// Documents by a name. Most names lead to one.
    private struct ByName: Sendable {
        private enum Holders: Sendable {
            case one(Document)
            case many(TreeDictionary<ObjectIdentifier, Document>)
        }

        private var table: TreeDictionary<Name, Holders> = [:]

        var isEmpty: Bool { table.isEmpty }
        var all: [Document] { table.flatMap { Self.documents($0.value) } }
        var names: [String] { table.keys.map(\.text) }

        /// In no order.
        subscript(name: String) -> [Document] { table[Name(name)].map(Self.documents) ?? [] }

        private static func documents(_ holders: Holders) -> [Document] {
            switch holders {
            case .one(let document): [document]
            case .many(let documents): documents.map(\.value)
            }
        }

        mutating func insert(_ document: Document, _ name: String) {
            let name = Name(name)
            switch table.removeValue(forKey: name) {
            case nil: table[name] = .one(document)
            case .one(let known) where known === document: table[name] = .one(document)
            case .one(let known):
                table[name] = .many([ObjectIdentifier(known): known, ObjectIdentifier(document): document])
            case .many(var known):
                known[ObjectIdentifier(document)] = document
                table[name] = .many(known)
            }
        }

        mutating func remove(_ document: Document, _ name: String) {
            let name = Name(name)
            switch table.removeValue(forKey: name) {
            case .one(let known) where known !== document: table[name] = .one(known)
            case .many(var known):
                known[ObjectIdentifier(document)] = nil
                table[name] = known.count > 1 ? .many(known) : known.first.map { .one($0.value) }
            case nil, .one: break
            }
        }
    }

    /// All of them.
    private var named = ByName()
    /// By the keys that they have traits for.
    private var tuning = ByName()
    /// By the keys whose definitions they decide about.
    private var deciding = ByName()
    /// By the targets of the aliases that they decide.
    private var leading = ByName()
    /// By the environment variables in them.
    private var expanding = ByName()
    /// The sources, by their order.
    private var sources: TreeDictionary<UInt64, Document> = [:]

    /// In no order.
    var all: [Document] { named.all }

    /// Returns the documents with this name. Several may have it: one in memory, and files.
    func documents(named name: String) -> [Document] { named[name] }

    /// Returns the documents with traits for a key, in no order.
    func documents(tuning key: String) -> [Document] { tuning[key] }

    /// Returns the documents with a decision about a key, in no order.
    func documents(decidingAbout key: String) -> [Document] { deciding[key] }

    /// Returns the keys that a document decides to be aliases of `target`. A higher document may decide otherwise.
    func keys(leadingTo target: String) -> [String] {
        leading[target].flatMap { document in
            document.state.wiring.filter { $0.target?.isSameName(as: target) == true }.map(\.key)
        }
    }

    /// Returns the documents with one of these environment variables, in the order in which later ones win.
    func documents(expanding variables: [String]) -> [Document] {
        guard !expanding.isEmpty else { return [] }
        var seen: Set<ObjectIdentifier> = []
        return variables.flatMap { expanding[$0] }.filter { seen.insert(ObjectIdentifier($0)).inserted }
            .sorted { $0.state.order < $1.state.order }
    }

    /// All keys that documents have traits for.
    var tunedKeys: [String] { tuning.names }

    /// Whether a document decides about a definition.
    var hasDecisions: Bool { !deciding.isEmpty }

    /// Whether a document decides that a key is an alias.
    var hasAliases: Bool { !leading.isEmpty }

    /// Returns the source with this order.
    func source(at order: UInt64) -> Document? { sources[order] }

    /// Returns the index after a commit. The documents still have their former states.
    func applying(_ staged: [(document: Document, next: Document.State)]) -> DocumentIndex {
        var index = self
        for (document, next) in staged { index.take(document, next) }
        return index
    }

    private mutating func take(_ document: Document, _ next: Document.State) {
        let former = document.state
        if former.isOpen != next.isOpen {
            if next.isOpen { named.insert(document, document.name) } else { named.remove(document, document.name) }
            if document.role == .source { sources[document.order] = next.isOpen ? document : nil }
        }
        for key in next.traits.changedTargets(since: former.traits) {
            if next.traits.contains(key) {
                if !former.traits.contains(key) { tuning.insert(document, key) }
            } else {
                tuning.remove(document, key)
            }
        }
        if former.traits.variables != next.traits.variables {
            for name in former.traits.variables { expanding.remove(document, name) }
            for name in next.traits.variables { expanding.insert(document, name) }
        }
        guard
            !former.wiring.elementsEqual(next.wiring, by: { $0.key.isSameName(as: $1.key) && $0.isSame(as: $1) })
        else { return }
        for decision in former.wiring {
            deciding.remove(document, decision.key)
            if let target = decision.target { leading.remove(document, target) }
        }
        for decision in next.wiring {
            deciding.insert(document, decision.key)
            if let target = decision.target { leading.insert(document, target) }
        }
    }
}
