internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoWiring

/// The content of a former generation, as far as a later one differs from it: what a rollback brings back.
///
/// Everything else of a generation stays in a rollback: types, processors, overrides, targets, pools and instances.
struct FormerContent: Sendable {
    /// Nil if it does not differ.
    var config: ConfigLayers?
    /// Nil if they do not differ.
    var assemblies: ActiveAssemblies?
    /// The definitions as they were described, before processors visited them; nil = the key had none. Definitions of entries are not
    /// among them: they follow from their pattern and the configuration. Neither are those of settings, which follow from the bindings.
    var definitions: IDTable<Definition?> = [:]
    var documents: [(document: Document, former: FormerDocument)] = []

    var isEmpty: Bool { config == nil && assemblies == nil && definitions.isEmpty && documents.isEmpty }

    /// Adds what differs between a later generation and the current one.
    mutating func join(_ later: FormerContent) {
        config = config ?? later.config
        assemblies = assemblies ?? later.assemblies
        for (id, definition) in later.definitions where definitions[id] == nil { definitions[id] = definition }
        for (document, former) in later.documents {
            if let index = documents.firstIndex(where: { $0.document === document }) {
                documents[index].former.join(former)
            } else {
                documents.append((document, former))
            }
        }
    }

    /// An estimate of the memory that it keeps, in bytes.
    var bytes: Int {
        let fixed = (config == nil ? 0 : Self.bytesOfTree) + (assemblies == nil ? 0 : Self.bytesOfTree)
        let described = definitions.values.reduce(0) {
            $0 + ($1 == nil ? 0 : Self.bytesOfDefinition) + Self.bytesOfEntry
        }
        return documents.reduce(fixed + described) { $0 + Self.bytesOfEntry + $1.former.bytes }
    }

    // The nodes of a tree that an edit replaces, a definition with some injections, an entry of a table.
    private static let bytesOfTree = 1024
    private static let bytesOfDefinition = 640
    private static let bytesOfEntry = 64
}

extension Snapshot {
    /// Returns the definition of a key as it was described, before processors visited it.
    func described(_ id: UInt32) -> Definition? { originals[id] ?? definitions[id] }

    /// Returns the content of this snapshot that a plan replaces.
    func replacedContent(by wiring: NextWiring) -> FormerContent {
        let plan = wiring.definitions
        var content = FormerContent()
        if wiring.config.layers != nil { content.config = config }
        if plan.assemblies != nil { content.assemblies = assemblies }
        content.documents = wiring.staged.documents.map { document, next in
            (document, FormerDocument(document.state, from: next))
        }
        for (id, changed) in plan.changed where changed?.body.entry == nil {
            let former = described(id)
            guard former?.body.entry == nil, (former ?? changed)?.isOfSettings != true else { continue }
            let next = (plan.originals[id] ?? nil) ?? changed
            if let former, let next, former.isRestored(by: next) { continue }
            content.definitions[id] = .some(former)
        }
        for (id, _) in plan.moved where plan.changed[id] == nil {
            guard let former = described(id), former.body.entry == nil, !former.isOfSettings else { continue }
            content.definitions[id] = .some(former)
        }
        return content
    }
}

extension Definition {
    /// Whether the other one has the same content, base values, position and source location.
    fileprivate func isRestored(by other: Definition) -> Bool {
        self === other
            || isSame(as: other) && hasSameBase(as: other) && body.isPattern == other.body.isPattern
                && body.order == other.body.order && location == other.location
                && body.assembly.isSameName(as: other.body.assembly)
    }
}
