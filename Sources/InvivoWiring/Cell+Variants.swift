extension Cell {
    /// The cells of one definition for its sets of runtime arguments, or for its scope instances. Guarded by the container's monitor.
    final class Variants {
        /// In scopes with several instances, the scope instance comes first in the key.
        var cells: [ArgumentsKey: Cell] = [:]
        /// The number of cells at which ended ones are removed.
        private var most = 16
        /// Whether the cells with only a weak reference are due for a check.
        private var isAskDue = false

        /// A cell whose object only the type's weak reference can find.
        struct Asked {
            let key: ArgumentsKey
            let cell: Cell
        }

        /// Removes cells whose weakly shared objects have ended. Does so each time their number has doubled. `gone` receives them, to be
        /// released without the monitor.
        func forgetGone(_ gone: inout [Cell]) {
            guard cells.count >= most else { return }
            for (key, cell) in cells where cell.weakReference == nil && cell.weakObject != 0 && !cell.isHeld() {
                gone.append(cell)
                cells[key] = nil
            }
            noteCount()
            isAskDue = cells.values.contains { $0.weakReference != nil }
        }

        /// The cells whose objects may have ended, if a check is due.
        func dueToAsk() -> [Asked] {
            guard isAskDue else { return [] }
            isAskDue = false
            return cells.compactMap { key, cell in
                cell.weakReference == nil || cell.isHeld() ? nil : Asked(key: key, cell: cell)
            }
        }

        /// Removes a cell whose object has ended, unless another has taken its place.
        func remove(_ asked: Asked) {
            guard cells[asked.key] === asked.cell else { return }
            cells[asked.key] = nil
            noteCount()
        }

        private func noteCount() { most = max(16, cells.count * 2) }
    }
}
