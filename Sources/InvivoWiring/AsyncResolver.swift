public import InvivoBase
internal import InvivoContexts
public import InvivoObjects

/// Resolves keys where their objects belong, without waiting for it. Any thread.
public final class AsyncResolver: Sendable {
    public typealias Resolved = @Sendable (Result<UInt64, Failure>) -> Void

    private let container: Container
    /// The threads that build objects without a domain.
    private let threads: WorkerThreads

    public init(_ container: Container, name: String) {
        self.container = container
        threads = WorkerThreads(name: name)
    }

    /// Resolves a key in the domain of its objects, or on a thread of the runtime's, and hands the object over, once; also when
    /// the runtime closes meanwhile. With `deliver`, in a job of that domain.
    public func resolve(
        _ id: UInt32, _ arguments: [Value], deliver: Domain?, _ resolved: @escaping Resolved
    ) throws(Failure) {
        let graph = container.visibleGraph
        var target = graph.recipe(id)
        // There are no cycles of them.
        while let next = target?.aliased { target = graph.recipe(next) }
        guard let recipe = target else { throw container.registry.unknownKey(id, in: graph) }
        // Objects in the arguments are kept until they are used.
        let kept = try arguments.map { (argument) throws(Failure) in try argument.leasedAnew() }
        let hand: Resolved = { [self] result in deliverResolved(result, to: deliver, resolved) }
        let pin = HeldPin(container.core, tag: container.tag)
        let context = Contexts.current(container.core)
        let work: WorkerThreads.Task = { [self] in
            hand(pin.within { within(context) { resolveNow(id, kept) } })
        }
        let domain = recipe.type?.domain
        let isBuilt =
            arguments.isEmpty
            && graph.cell(recipe.id).map { cell in container.monitor.locked { cell.isBuilt } } ?? false
        if isBuilt && domain?.isCurrent ?? true { return work() }
        let workIn: @Sendable (Domain) -> Void = { [self] domain in
            container.domains.post(
                to: domain, isPatient: true,
                onDrop: {
                    hand(.failure(Failure(.host, "the domain '\(domain.name)' dropped its job", path: recipe.key)))
                },
                work)
        }
        if let domain { return workIn(domain) }
        guard case .choice = recipe.maker else { return try threads.run(work) }
        try threads.run { [self] in
            if let domain = pin.within({ within(context) { domainOfChoice(id, kept) } }) {
                workIn(domain)
            } else {
                work()
            }
        }
    }

    /// Runs `body` with the requester's context as the current one. A context that has ended is none.
    private func within<Result>(_ context: ContextHandle?, _ body: () -> Result) -> Result {
        guard let context else { return body() }
        do throws(Failure) {
            return try Contexts.visiting(context, container.core) { () throws(Failure) in body() }
        } catch { return body() }
    }

    /// The domain of the object that a choice leads to; nil for any thread. Nil also if the choice leads nowhere: the resolve
    /// then reports the error.
    private func domainOfChoice(_ id: UInt32, _ arguments: [Value]) -> Domain? {
        try? container.whole { (build) throws(Failure) in
            var (id, arguments) = (id, arguments)
            // It may lead back to itself with other arguments.
            for _ in 0..<Build.deepest {
                guard let recipe = build.graph.recipe(id) else { return nil }
                switch recipe.maker {
                case .alias(let target):
                    let given = try build.passed(by: recipe, arguments) { (given) throws(Failure) in
                        try build.values(of: recipe.slots.map(\.source), recipe, given)
                    }
                    (id, arguments) = (target, given ?? [])
                case .choice(let chooser, let options):
                    arguments = try recipe.checked(arguments)
                    let value = try build.value(of: chooser, recipe, arguments)
                    guard let chosen = try build.chosen(value, options, recipe) else { return nil }
                    id = chosen.id
                    arguments = try build.values(of: chosen.sources, recipe, arguments)
                default: return recipe.type?.domain
                }
            }
            return nil
        }
    }

    private func resolveNow(_ id: UInt32, _ arguments: [Value]) -> Result<UInt64, Failure> {
        do throws(Failure) {
            let object = try container.resolve(id, arguments: arguments)
            guard object == 0 else { return .success(object) }
            let name = container.keyName(id)
            return .failure(Failure(.null, "the factory of '\(name)' returned null", path: name))
        } catch { return .failure(error) }
    }

    private func deliverResolved(_ result: Result<UInt64, Failure>, to domain: Domain?, _ resolved: @escaping Resolved)
    {
        guard let domain else { return container.callback { resolved(result) } }
        container.domains.post(
            to: domain,
            onDrop: { [container] in
                if case .success(let object) = result { _ = ObjectTable.release(object) }
                container.callback {
                    resolved(.failure(Failure(.host, "the domain '\(domain.name)' dropped the job that hands it over")))
                }
            },
            { resolved(result) })
    }

    /// Answers the requests that still wait. Called at close, when no object is created any more.
    public func stop() { threads.stop() }
}
