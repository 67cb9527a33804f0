public import InvivoBase

/// Resolving where an object belongs, without waiting for it.
extension Container {
    public typealias Resolved = (Result<UInt64, Failure>) -> Void

    /// Resolves a key in the domain of its objects, or on a thread of the runtime's, and hands the object over, once; also when
    /// the runtime closes meanwhile. With `deliver`, in a job of that domain.
    public func resolveLater(
        _ id: UInt32, _ arguments: [Value], deliver: Domain?, _ resolved: @escaping Resolved
    ) throws(Failure) {
        let graph = currentGraph()
        var target = graph.recipe(id)
        // There are no circles of them.
        while let next = target?.aliased { target = graph.recipe(next) }
        guard let recipe = target else { throw monitor.locked { unknownKey(keys.name(id), in: graph) } }
        // Objects in the arguments are kept until they are used.
        var kept: [Value] = []
        for argument in arguments { kept.append(try argument.leasedAnew()) }
        let hand: Resolved = { [self] result in deliverResolved(result, to: deliver, resolved) }
        let work = { [self] in hand(resolveNow(id, kept)) }
        let domain = recipe.type?.domain
        let isBuilt =
            arguments.isEmpty && graph.cell(recipe.id).map { cell in monitor.locked { cell.isBuilt } } ?? false
        if isBuilt && domain?.isCurrent ?? true { return work() }
        guard let domain else { return try resolvers.run(work) }
        post(
            to: domain, isPatient: true,
            onDrop: { hand(.failure(Failure(.host, "the domain '\(domain.name)' dropped its job", path: recipe.key))) },
            work)
    }

    private func resolveNow(_ id: UInt32, _ arguments: [Value]) -> Result<UInt64, Failure> {
        do throws(Failure) {
            let object = try resolve(id, arguments: arguments)
            guard object == 0 else { return .success(object) }
            let name = keyName(id)
            return .failure(Failure(.null, "what makes '\(name)' answered null", path: name))
        } catch { return .failure(error) }
    }

    private func deliverResolved(_ result: Result<UInt64, Failure>, to domain: Domain?, _ resolved: @escaping Resolved)
    {
        guard let domain else { return callback { resolved(result) } }
        post(
            to: domain,
            onDrop: { [self] in
                if case .success(let object) = result { _ = ObjectTable.release(object) }
                callback {
                    resolved(.failure(Failure(.host, "the domain '\(domain.name)' dropped the job that hands it over")))
                }
            },
            { resolved(result) })
    }

    /// At close, when nothing is made any more: what still waits is answered.
    public func stopResolving() { resolvers.stop() }
}
