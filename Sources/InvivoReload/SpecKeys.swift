internal import InvivoBase
internal import InvivoGraph

/// The definitions that name the key whose traits apply to their objects, after a plan.
final class SpecKeys {
    private let former: KeySets<String>
    private let wiring: NextWiring
    /// Of the compiled definitions.
    private lazy var declared: NameTable<[UInt32]> = {
        var declared: NameTable<[UInt32]> = [:]
        for (id, recipe) in wiring.compiled.recipes {
            if let key = recipe.definition.body.specKey { declared[key, default: []].append(id) }
        }
        return declared
    }()

    init(_ former: KeySets<String>, _ wiring: NextWiring) { (self.former, self.wiring) = (former, wiring) }

    /// Returns the definitions that declare a key.
    func users(of key: String) -> [UInt32] {
        let kept =
            former.isEmpty
            ? []
            : former[key].filter { id in
                wiring.compiled.recipes[id] == nil && !wiring.definitions.isRemoved(id)
            }
        return (kept + (declared[key] ?? [])).sorted()
    }

    /// The keys that changed definitions have named until now. They may have no target any more.
    func abandoned(_ graph: Graph) -> NameSet {
        guard !former.isEmpty else { return [] }
        var found: NameSet = []
        for id in wiring.definitions.changed.keys {
            guard let recipe = graph.recipe(id), recipe.id == id, let key = recipe.definition.body.specKey else {
                continue
            }
            found.insert(key)
        }
        return found
    }
}
