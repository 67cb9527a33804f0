public import InvivoBase
public import InvivoGraph
public import InvivoObjects

/// Every slot of a container's graphs is a cell, and every type belongs to a container.
extension Graph {
    public func cell(_ id: UInt32) -> Cell? { slot(id).map { unsafeDowncast($0, to: Cell.self) } }

    /// Calls `body` with every cell once, and with its first key.
    public func forEachCell(_ body: (UInt32, Cell) -> Void) {
        forEachSlot { body($0, unsafeDowncast($1, to: Cell.self)) }
    }

    /// Calls `body` with the leases of the graph on objects that it did not create, some more than once. Called with the monitor held.
    public func forEachLease(_ body: (ObjectLease) -> Void) {
        forEachCell { id, cell in
            cell.claims().forEach(body)
            cell.forEachArgument(body)
            ownRecipe(id)?.forEachLease(body)
        }
    }
}

extension GraphEditor {
    public func cell(_ id: UInt32) -> Cell? { slot(id).map { unsafeDowncast($0, to: Cell.self) } }
}

extension ObjectType {
    public var container: Container { unsafeDowncast(owner, to: Container.self) }
    public var domain: Domain? { access.map { unsafeDowncast($0.domain, to: Domain.self) } }
}
