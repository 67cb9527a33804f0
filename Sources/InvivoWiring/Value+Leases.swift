internal import InvivoBase

extension Value {
    /// Returns a copy with leases of its own, which are counted for the holder of the copy.
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
