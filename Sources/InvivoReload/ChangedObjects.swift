internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

/// The types and objects that a commit changes, as far as observers of types and objects need them.
struct ChangedObjects {
    /// By key: the names of the types, former ones too, with their supertypes.
    var types: NameTable<[String]> = [:]
    /// The keys under which objects were injected again, tuned or replaced.
    var objects: [UInt64: Set<Name>] = [:]
    /// The objects among them that were attached to a key, or detached.
    var attached: Set<UInt64> = []

    init() {}

    /// Before the next generation is stored.
    init(
        _ plan: Plan, _ former: Graph, _ next: Graph, _ container: Container, types needTypes: Bool,
        objects needObjects: Bool
    ) {
        if needTypes {
            for change in plan.changes where change.isOfKey && types[change.key] == nil {
                guard let id = container.names.id(of: change.key) else { continue }
                for graph in [former, next] { add(Self.names(of: id, in: graph, next), to: change.key) }
            }
            var seen: Set<[UInt64]> = []
            for (id, object, _) in plan.tuned {
                guard ObjectTable.retain(object) else { continue }
                defer { _ = ObjectTable.release(object) }
                guard let record = ObjectTable.record(object) else { continue }
                let type = ObjectType.of(record).description
                guard seen.insert([UInt64(id), type.handleBits]).inserted else { continue }
                add(next.types.names(of: type), to: container.keyName(id))
            }
        }
        guard needObjects else { return }
        let (steps, targets) = (plan.steps, plan.wiring.set.targets)
        attached = Set((targets.attached + targets.detached).map(\.object))
        var found: [(objects: [UInt64], id: UInt32)] = container.monitor.locked {
            plan.store.replaced.map { ($0.objects().map(\.object), $0.id) }
                + steps.reinjected.map { ($0.cell.objects().map(\.object), $0.id) }
        }
        found += steps.followed.map { ($0.objects.map(\.object), $0.id) } + plan.tuned.map { ([$0.object], $0.id) }
        for (objects, id) in found {
            let key = Name(container.keyName(id))
            for object in objects { self.objects[object, default: []].insert(key) }
        }
    }

    /// The names of the type of a key; for a choice whose value is known, those of the definition that it selects.
    private static func names(of id: UInt32, in graph: Graph, _ next: Graph) -> [String] {
        var (id, steps) = (id, 0)
        while let recipe = graph.recipe(id) {
            if recipe.type != nil { return next.types.names(of: recipe.definition) }
            guard case .alias(let target) = recipe.maker, steps < 64 else { break }
            (id, steps) = (target, steps + 1)
        }
        return []
    }

    private mutating func add(_ names: [String], to key: String) {
        types[key, default: []] += names.filter { name in types[key]?.contains(where: name.isSameName(as:)) != true }
    }
}
