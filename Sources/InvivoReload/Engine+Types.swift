internal import InvivoBase
internal import InvivoWiring

/// Definitions that wait for a type they name.
extension Engine {
    /// A type was registered: what waits for it is looked at again, in a reload of its own. Any thread.
    public func typeIsThere(_ name: String) {
        guard container.monitor.locked({ awaitedTypes.contains(name) }) else { return }
        lookForTypes("type \(name)")
    }

    private func lookForTypes(_ cause: String) {
        var set = ChangeSet(cause: cause)
        set.looksForTypes = true
        // A runtime that closes has no need of it.
        submitUnasked(set)
    }

    /// With the store: which types are waited for from now on. One of them may have come while this reload was planned.
    func noteAwaitedTypes() {
        let names = Set(
            snapshot.blocked.keys.compactMap { id in
                snapshot.definitions[id].flatMap { $0.type == nil ? $0.body.typeName : nil }
            })
        let known = container.monitor.locked { () -> Set<String> in
            defer { awaitedTypes = names }
            return awaitedTypes
        }
        guard let come = names.subtracting(known).sorted().first(where: { container.has($0) }) else { return }
        lookForTypes("type \(come)")
    }
}
