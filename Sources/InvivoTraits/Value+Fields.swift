internal import InvivoBase

extension Value {
    /// Completes a partial map with the values of `other`; any other value is unchanged.
    func completed(from other: Value) -> Value {
        guard case .map(let own) = self, case .map(let whole) = other else { return self }
        var pairs = whole.map { pair in
            (name: pair.name, value: self[pair.name]?.completed(from: pair.value) ?? pair.value)
        }
        pairs += own.filter { mine in !whole.contains { $0.name.isSameName(as: mine.name) } }
        return .map(pairs)
    }

    /// Restricts a map to the keys of the map `other`; any other value is unchanged.
    func picked(like other: Value) -> Value {
        guard case .map = self, case .map(let some) = other else { return self }
        return .map(some.compactMap { pair in self[pair.name].map { (pair.name, $0.picked(like: pair.value)) } })
    }
}
