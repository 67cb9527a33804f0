internal import InvivoBase
public import InvivoGraph

/// Which leases are the runtime's own: those of constants and of objects that hosts put in a key's place.
extension Container {
    /// Under the monitor: how many leases the current graph has on each object that it did not make, and what is described
    /// besides: the tables that are known, and `others`.
    public func leasesOfGraph(and others: [Definition]) -> [UInt64: UInt64] {
        var seen: Set<ObjectIdentifier> = []
        var counts: [UInt64: UInt64] = [:]
        // One lease may stand in several places.
        func count(_ lease: ObjectLease) {
            if seen.insert(ObjectIdentifier(lease)).inserted { counts[lease.bits, default: 0] += 1 }
        }
        graph.forEachCell { id, cell in
            for lease in cell.claims() { count(lease) }
            cell.forEachArgument(count)
            graph.ownRecipe(id)?.forEachLease(count)
        }
        assemblies.forEachDescribedDefinition { $0.forEachLease(count) }
        for definition in others { definition.forEachLease(count) }
        types.forEachNeed { $0.forEachLease(count) }
        return counts
    }
}

extension Value {
    /// The same with leases of its own, for who keeps it: each is then counted where it is.
    func leasedAnew() throws(Failure) -> Value {
        switch self {
        case .object(let lease): return .object(try ObjectLease.retaining(lease.bits))
        case .list(let items):
            var fresh: [Value] = []
            for item in items { fresh.append(try item.leasedAnew()) }
            return .list(fresh)
        case .map(let pairs):
            var fresh = pairs
            for index in fresh.indices { fresh[index].value = try fresh[index].value.leasedAnew() }
            return .map(fresh)
        default: return self
        }
    }
}
