internal import InvivoBase

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
