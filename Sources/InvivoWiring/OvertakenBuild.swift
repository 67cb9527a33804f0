internal import InvivoGraph

/// The effect of a commit on a shared object that was built for the former graph after the commit was planned.
public enum OvertakenBuild: Sendable {
    /// The layers of its key have changed.
    case tuned
    /// Its definition has changed, or something that it received was replaced. With the slot of its key.
    case outdated(Cell)

    public var outdated: Cell? { if case .outdated(let cell) = self { cell } else { nil } }

    /// Combines this effect with a later one on the same key.
    public func joined(_ later: OvertakenBuild) -> OvertakenBuild { later.outdated == nil ? self : later }
}

extension Graph {
    /// The effect of the change from `former` to this graph on an object that received `dependencies` during its
    /// construction, and for which setups have used the keys and configuration paths of `setups`. Nil without an effect.
    func overtaking(
        of id: UInt32, _ dependencies: Set<UInt32>, setups: Set<UInt32>, since former: Graph
    ) -> OvertakenBuild? {
        guard former !== self, let cell = cell(id) else { return nil }
        func isReplaced(_ id: UInt32) -> Bool { self.cell(id) !== former.cell(id) }
        // A definition that waits for a restart keeps the slot of the object.
        let waits = cell.waitsForRestart && cell === former.cell(id)
        if !waits && ownRecipe(id) !== former.ownRecipe(id) || dependencies.contains(where: isReplaced)
            || (waits ? cell.recipe : former.recipe(id))?.injectedKeys.contains(where: isReplaced) == true
            || setups.contains(where: { isReplaced($0) || setting($0) !== former.setting($0) })
        {
            return .outdated(cell)
        }
        return configuration(id) !== former.configuration(id) ? .tuned : nil
    }
}
