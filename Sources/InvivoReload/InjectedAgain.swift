internal import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

/// The kept objects that a commit injects again: those that its plan concerns, and those whose former injections an earlier
/// commit could not put back.
struct InjectedAgain {
    private(set) var reinjected: [(id: UInt32, cell: Cell, isAffected: Bool)]
    private(set) var followed: [(id: UInt32, objects: [TrackedObject], isWhole: Bool, isAffected: Bool)]
    private let restores: PendingRestores
    private let unrestored: Set<UInt64>
    private var found: Set<UInt64> = []

    init(_ steps: CommitSteps, _ restores: PendingRestores, former: Graph, next: Graph, _ monitor: Monitor) {
        self.restores = restores
        reinjected = steps.reinjected.map { ($0.id, $0.cell, true) }
        followed = steps.followed.map { ($0.id, $0.objects, $0.isWhole, true) }
        let pending = restores.injected
        unrestored = pending.objects
        for id in pending.ids {
            guard let cell = next.cell(id), former.cell(id) === cell, let recipe = next.recipe(id) else { continue }
            if recipe.isTracked {
                guard !followed.contains(where: { $0.id == id }) else { continue }
                followed.append((id, monitor.locked { cell.trackedObjects() }, false, false))
            } else if !reinjected.contains(where: { $0.id == id }) {
                reinjected.append((id, cell, false))
            }
        }
    }

    var isEmpty: Bool { reinjected.isEmpty && followed.isEmpty }

    func isUnrestored(_ object: UInt64) -> Bool { unrestored.contains(object) }

    /// Whether an object of an entry is injected again. A change set that does not need a domain does not wait for it.
    func concerns(_ object: UInt64, isAffected: Bool) -> Bool {
        isAffected || isUnrestored(object) && !restores.needsRestore(object)
    }

    /// The object exists.
    mutating func note(_ object: UInt64) { if isUnrestored(object) { found.insert(object) } }

    /// After the last entry: the other unrestored objects have ended, or end with this commit.
    func forgetOthers() { for object in unrestored.subtracting(found) { restores.noteRestored(object) } }
}
