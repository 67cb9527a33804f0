internal import InvivoBase

/// Undoes the changes of one commit to one object. The commit holds the object, and with it everything that is not
/// retained here, until the undo is run or dropped.
struct ObjectUndo {
    unowned(unsafe) let tuning: Tuning
    let instance: UnsafeMutableRawPointer
    let key: String
    let changes: PropertyChange
    let former: Former

    /// The former record.
    enum Former {
        case nothing
        /// A single change whose layer was removed. Undo restores `present`, the value of this layer.
        case itself(present: Value)
        /// Several changes whose layers were removed, in their order.
        case themselves(presents: [Value])
        case chain(PropertyChange)
    }

    /// Restores the former values, and sets those again that other setters changed meanwhile. A property that refuses
    /// keeps its base, so that the next change can restore it.
    func run() -> [Failure] {
        guard !tuning.isCovered else {
            // The records have the base values, and the next change applies everything again.
            return [Failure(.host, "a trait above its properties could not be taken off", path: key)]
        }
        var changes = changes
        switch former {
        case .nothing: tuning.first = nil
        case .itself(let present):
            tuning.first = changes
            changes = PropertyChange(off: changes, present: present)
        case .themselves(let presents):
            tuning.first = changes
            var off: [PropertyChange] = []
            changes.forEach { off.append(PropertyChange(off: $0, present: presents[off.count])) }
            for (one, next) in zip(off, off.dropFirst()) { one.next = next }
            changes = off[0]
        case .chain(let first): tuning.first = first
        }
        var failures: [Failure] = []
        var refused: [PropertyChange] = []
        func undo(_ change: PropertyChange) {
            do throws(Failure) { try change.undo(instance, key) } catch {
                failures.append(error)
                refused.append(change)
            }
        }
        var all: [PropertyChange] = []
        changes.forEach { all.append($0) }
        for change in all.reversed() where change.isKept || change.isUndone(instance) != true { undo(change) }
        if all.count > 1 {
            for change in all where change.isUndone(instance) == false && !refused.contains(where: { $0 === change }) {
                undo(change)
            }
        }
        for change in refused { tuning.replace(change.becomeStuck(instance)) }
        return failures
    }
}
