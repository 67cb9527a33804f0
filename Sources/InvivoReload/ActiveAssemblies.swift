internal import HashTreeCollections
internal import InvivoBase

/// The active assemblies of a generation, by the names under which they are active. A copy shares what does not change.
struct ActiveAssemblies: Sendable {
    private var table: TreeDictionary<Name, ActiveAssembly> = [:]
    /// The assemblies with collaborators. Their references may lead elsewhere when another assembly is added or removed.
    private(set) var collaborating: TreeSet<Name> = []
    /// The assemblies that declare secrets.
    private var secretive: TreeSet<Name> = []

    subscript(name: String) -> ActiveAssembly? {
        get { table[Name(name)] }
        set {
            let name = Name(name)
            table[name] = newValue
            if newValue?.description.secrets.isEmpty == false { secretive.insert(name) } else { secretive.remove(name) }
            if newValue?.description.collaborators.isEmpty == false {
                collaborating.insert(name)
            } else {
                collaborating.remove(name)
            }
        }
    }

    /// The names, in no order.
    var names: [String] { table.keys.map(\.text) }
    /// The configuration paths that they declare as secret, and that the former ones have declared, if these are other assemblies.
    func secrets(since former: ActiveAssemblies) -> SecretChanges {
        var changes = SecretChanges()
        for name in secretive.union(former.secretive) {
            let (old, new) = (former.table[name]?.description.secrets, table[name]?.description.secrets)
            guard old != new else { continue }
            changes.ended += old ?? []
            changes.begun += new ?? []
        }
        return changes
    }
    struct SecretChanges {
        var ended: [String] = []
        var begun: [String] = []
    }
    var values: some Sequence<ActiveAssembly> { table.values }
}
