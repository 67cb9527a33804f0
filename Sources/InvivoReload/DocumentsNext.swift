internal import InvivoBase
internal import InvivoSpec

/// The documents after a plan: those of the change set above the live ones. By the thread that plans.
///
/// The cost of each answer depends on the documents that name the key, and not on the number of all documents.
final class DocumentsNext {
    typealias Change = (document: Document, next: Document.State)

    let staged: [Change]
    private let live: DocumentIndex
    private lazy var positions = [ObjectIdentifier: Int](
        staged.enumerated().map { (ObjectIdentifier($1.document), $0) }, uniquingKeysWith: { _, last in last })
    private lazy var stagedNames = NameTable<[Int]>(grouping: staged.enumerated().map { ($1.document.name, $0) })
    /// The positions of the changed documents with traits for a key.
    private lazy var tuning = NameTable<[Int]>(
        grouping: staged.enumerated().flatMap { position, change in change.next.traits.keys.map { ($0, position) } })
    /// The decisions of the changed documents about a key.
    private lazy var deciding = NameTable<[Decision]>(
        grouping: staged.flatMap { _, next in next.wiring.map { ($0.key, Decision(order: next.order, $0)) } })

    private struct Decision {
        let order: UInt64
        let decision: WiringDecision

        init(order: UInt64, _ decision: WiringDecision) { (self.order, self.decision) = (order, decision) }
    }

    init(_ staged: Staged, _ live: DocumentIndex) {
        self.staged = staged.documents
        self.live = live
    }

    private func isStaged(_ document: Document) -> Bool { positions[ObjectIdentifier(document)] != nil }

    /// Returns the open documents with this name.
    func documents(named name: String) -> [Change] {
        live.documents(named: name).filter { !isStaged($0) }.map { ($0, $0.state) }
            + (stagedNames[name] ?? []).map { staged[$0] }.filter(\.next.isOpen)
    }

    /// Returns the document that a value with this name as its file comes from. A changed one is preferred.
    func document(named name: String) -> Document? {
        stagedNames[name].map { staged[$0[0]].document } ?? live.documents(named: name).first
    }

    // MARK: traits

    /// Returns the keys with other traits than before. `warned`: the keys whose former plan had warnings, which the report repeats
    /// if a changed document names them. Without it, all keys in the changed documents.
    func changedKeys(warned: NameSet?) -> NameSet {
        var changed: NameSet = []
        for (document, state) in staged {
            let former = document.state
            guard let warned else {
                changed.formUnion(former.traits.keys + state.traits.keys)
                continue
            }
            changed.formUnion(state.traits.changedTargets(since: former.traits))
            if state.order != former.order { changed.formUnion(state.traits.keys) }
            guard !warned.isEmpty else { continue }
            for key in former.traits.keys + state.traits.keys where warned.contains(key) { changed.insert(key) }
        }
        return changed
    }

    /// Returns the traits of a key from all documents. Nil when no document names it.
    func traits(_ key: String) throws(Failure) -> KeyTraits? {
        var states = live.documents(tuning: key).filter { !isStaged($0) }.map(\.state)
        // Without a table of all keys of the documents for a few questions.
        let changed = staged.count <= 4 ? Array(staged.indices) : tuning[key] ?? []
        states += changed.map { staged[$0].next }
        if states.count > 1 { states.sort { $0.order < $1.order } }
        var traits: KeyTraits?
        for state in states {
            guard let entry = try state.traits[key] else { continue }
            if traits == nil { traits = KeyTraits(specs: [], location: entry.targetLocation) }
            traits?.specs += entry.traits
        }
        return traits
    }

    /// All keys that documents have traits for.
    var keys: [String] { Array(NameSet(live.tunedKeys + tuning.keys)).filter(hasTraits) }

    private func hasTraits(_ key: String) -> Bool {
        tuning[key] != nil || live.documents(tuning: key).contains { !isStaged($0) }
    }

    /// Whether traits with errors are skipped in the document of a trait. An included file belongs to the next source above it.
    func skips(_ spec: TraitSpec) -> Bool {
        documents(named: spec.typeLocation.file).contains { document, next in
            guard document.role != .source else { return document.keepsGoing }
            let order = IncludedFiles.order(ofSourceAt: next.order)
            let source = staged.first { $0.document.role == .source && $0.next.order == order }?.document
            return (source ?? live.source(at: order))?.keepsGoing == true
        }
    }

    /// Whether the plan has read the document of a trait.
    func isStaged(_ spec: TraitSpec) -> Bool { stagedNames[spec.typeLocation.file] != nil }

    // MARK: decisions about definitions

    /// Whether a document decides about a definition after the plan, or before it.
    var haveDecisions: Bool { live.hasDecisions || changeDecisions }

    /// Whether a document of the plan has decisions, or had some.
    var changeDecisions: Bool {
        staged.contains { !$0.document.state.wiring.isEmpty || !$0.next.wiring.isEmpty }
    }

    /// The keys that the changed documents decide about, or decided about before.
    var decidedKeys: NameSet {
        NameSet(staged.flatMap { document, next in (document.state.wiring + next.wiring).map(\.key) })
    }

    /// Returns the entry about the definition of a key that is in force: a decision, or none.
    func entry(about key: String) -> WiringDecision? {
        var found: Decision?
        for next in deciding[key] ?? [] where found.map({ $0.order <= next.order }) ?? true { found = next }
        for document in live.documents(decidingAbout: key) where !isStaged(document) {
            let state = document.state
            guard found.map({ $0.order < state.order }) ?? true,
                let decision = state.wiring.last(where: { $0.key.isSameName(as: key) })
            else { continue }
            found = Decision(order: state.order, decision)
        }
        return found?.decision
    }

    /// Returns the decision about the definition of a key; nil if it is as described.
    func decision(about key: String) -> WiringDecision? {
        entry(about: key).flatMap { $0.isDescribed ? nil : $0 }
    }

    /// Whether live documents decide that keys are aliases.
    var haveAliases: Bool { live.hasAliases }

    /// Returns the keys that live documents decide to be aliases of `target`.
    func keys(leadingTo target: String) -> [String] { live.keys(leadingTo: target) }
}

extension NameTable {
    /// Creates a table of all contents with the same name, in their order.
    fileprivate init<Element>(grouping pairs: some Sequence<(String, Element)>) where Content == [Element] {
        self.init()
        for (name, element) in pairs { self[name, default: []].append(element) }
    }
}
