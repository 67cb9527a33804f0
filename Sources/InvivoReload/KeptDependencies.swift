internal import HashTreeCollections
internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

/// The dependencies of which objects keep the former object or value, because their definitions declare it.
struct KeptDependencies: Sendable {
    private struct Mark: Sendable {
        /// The objects that keep something; empty if the holder was being built.
        var objects: [UInt64]
        /// Each dependency, with the generation that first replaced what is kept.
        var since: [UInt32: UInt64]
    }

    /// The changes of a plan.
    struct Changes {
        /// Each holder that keeps something that the plan replaces, with its objects.
        var begun: [UInt32: (ids: Set<UInt32>, objects: [UInt64])] = [:]
        /// The holders that receive the current objects and values of some dependencies.
        var caughtUp: [UInt32: Set<UInt32>] = [:]
        /// The keys that are created anew.
        var rebuilt: IDSet = []
    }

    private var marks: TreeDictionary<UInt32, Mark> = [:]

    /// Returns the kept dependencies after a plan, which `generation` carries out.
    func applying(_ changes: Changes, _ generation: UInt64) -> KeptDependencies {
        guard !marks.isEmpty || !changes.begun.isEmpty else { return self }
        var next = self
        // The former objects may return, when an override ends.
        for (id, mark) in marks where mark.objects.isEmpty && changes.rebuilt.contains(id) { next.marks[id] = nil }
        for (id, caughtUp) in changes.caughtUp {
            guard var mark = next.marks[id] else { continue }
            for dependency in caughtUp { mark.since[dependency] = nil }
            next.marks[id] = mark.since.isEmpty ? nil : mark
        }
        for (id, begun) in changes.begun {
            var mark = next.marks[id] ?? Mark(objects: [], since: [:])
            if !mark.objects.contains(where: begun.objects.contains) { mark.since = [:] }
            mark.objects = begun.objects
            for dependency in begun.ids where mark.since[dependency] == nil { mark.since[dependency] = generation }
            next.marks[id] = mark
        }
        return next
    }

    /// Returns the dependencies of which the objects of a key keep the former one, each with the generation that first
    /// replaced it. `objects` returns the current objects of the key.
    func of(_ id: UInt32, _ objects: () -> [UInt64]) -> [UInt32: UInt64] {
        guard let mark = marks[id] else { return [:] }
        let current = objects()
        let isThere = mark.objects.isEmpty ? !current.isEmpty : mark.objects.contains(where: current.contains)
        return isThere ? mark.since : [:]
    }

    /// The keys whose objects keep something, or kept it until they ended.
    var holders: [UInt32] { marks.keys.sorted() }
}

/// Decides how the dependents of a change follow it, and collects those that keep what they have or refuse the change.
struct Followers {
    private let graph: Graph
    private let observed: any Observed
    private let names: KeyNames
    /// Definitions that change themselves refuse nothing.
    private let changed: IDTable<Definition?>
    private(set) var kept: [UInt32: Set<UInt32>] = [:]
    private var refused: [(holder: UInt32, id: UInt32)] = []

    init(_ planner: Planner, _ changed: IDTable<Definition?>) {
        (graph, observed, names) = (planner.graph, planner.observed, planner.names)
        self.changed = changed
    }

    /// Whether a holder that is in use neither is rebuilt nor injected again when `id` changes.
    mutating func stays(_ holder: UInt32, _ onChange: OnChange, when id: UInt32) -> Bool {
        switch onChange {
        case .follow, .rebuild: return false
        case .keep:
            kept[holder, default: []].insert(id)
            return true
        case .refuse:
            guard changed[holder] == nil, graph.recipe(holder)?.isAbstract == false else { return false }
            refused.append((holder, id))
            return true
        }
    }

    /// The same for a holder that resolved `id` in its own code.
    mutating func stays(recorded holder: UInt32, when id: UInt32) -> Bool {
        guard let onChange = graph.recipe(holder)?.definition.body.onChange else { return false }
        // Of an exclusive object there is never a former one.
        if onChange == .keep, graph.recipe(id)?.isExclusive == true { return false }
        return stays(holder, onChange, when: id)
    }

    var failures: [Failure] {
        refused.compactMap { (holder, id) in
            guard let definition = graph.recipe(holder)?.definition else { return nil }
            let reason = definition.body.onChangeReason.map { ": \($0)" } ?? ""
            return Failure(
                .refused,
                "'\(definition.key)' refuses a change of '\(names.shown(id))'\(reason); define it again in the same change "
                    + "set, or remove the declaration (on_change)",
                path: definition.key, at: definition.location)
        }
    }
}
