internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph

/// Decides how the dependents of a change follow it, and collects those that keep what they have or refuse the change.
struct Followers {
    private let graph: Graph
    private let observed: any Observed
    private let names: KeyNames
    /// Definitions that change themselves refuse nothing, except those that are unaffected.
    private let changed: IDTable<Definition?>
    /// Changed definitions whose objects stay as they are.
    private let unaffected: Set<UInt32>
    private(set) var kept: [UInt32: Set<UInt32>] = [:]
    private var refused: [(holder: UInt32, id: UInt32)] = []

    init(_ planner: Planner, _ changed: IDTable<Definition?>, unaffected: Set<UInt32>) {
        (graph, observed, names) = (planner.graph, planner.observed, planner.names)
        (self.changed, self.unaffected) = (changed, unaffected)
    }

    /// Whether a holder that is in use neither is rebuilt nor injected again when `id` changes.
    mutating func stays(_ holder: UInt32, _ onChange: OnChange, when id: UInt32) -> Bool {
        switch onChange {
        case .follow, .rebuild: return false
        case .keep:
            // An object that is being built is not in use yet.
            guard graph.recipe(holder)?.scope.isShared == false || !observed.objects(holder).isEmpty else {
                return false
            }
            kept[holder, default: []].insert(id)
            return true
        case .refuse:
            guard changed[holder] == nil || unaffected.contains(holder), let recipe = graph.recipe(holder),
                !recipe.isAbstract,
                recipe.scope.isShared || recipe.isTracked && !observed.trackedObjects(holder).isEmpty
            else { return false }
            refused.append((holder, id))
            return true
        }
    }

    /// A holder that is in use, and that receives other keys from now on. Returns true if it stays as it is.
    mutating func stays(_ holder: UInt32, bound recipe: Recipe, after former: Recipe) -> Bool {
        guard
            former.references.edges.contains(where: { $0.edge.onChange != .follow })
                || recipe.references.edges.contains(where: { $0.edge.onChange != .follow })
        else { return false }
        let (was, now) = (former.references.onChange, recipe.references.onChange)
        for (before, after) in recipe.differingKeys(from: former) {
            // The former ones, if there are any.
            let gone = before.map { ($0, was[$0]) }.filter { $0.1?.isDeclaredToStay == true }
            let added = after.map { ($0, now[$0]) }.filter { $0.1?.isDeclaredToStay == true }
            for (id, onChange) in gone.isEmpty ? added : gone { _ = stays(holder, onChange ?? .follow, when: id) }
        }
        return former.hasSameFollowedKeys(as: recipe)
    }

    /// `config` is the configuration after the plan.
    func failures(_ config: ConfigTree) -> [Failure] {
        refused.compactMap { (holder, id) in
            guard let definition = graph.recipe(holder)?.definition else { return nil }
            let reason = definition.body.onChangeReason.map { ": \($0)" } ?? ""
            if let path = names.configPath(id), let node = config.find(path), !node.location.file.isEmpty {
                let place = definition.location.text
                return Failure(
                    .refused,
                    "'\(definition.key)'\(place.isEmpty ? "" : " (\(place))") refuses a change of this value\(reason); "
                        + "restore the former value, or remove the declaration (on_change)",
                    path: "config.\(path)", at: node.location)
            }
            return Failure(
                .refused,
                "'\(definition.key)' refuses a change of '\(names.shown(id))'\(reason); define '\(definition.key)' again in the "
                    + "same change set, or remove the declaration (on_change)",
                path: definition.key, at: definition.location)
        }
    }
}
