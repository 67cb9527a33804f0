internal import CPlatform
internal import InvivoBase
internal import InvivoContexts
internal import InvivoGraph

/// Callables that resolve when they are called.
extension Callable {
    /// A callable that resolves a key when it is called, or looks for an existing object, in the generation of that moment.
    ///
    /// It resolves in the current context of the call; without one, in `home`, that of its holder.
    static func deferred(
        _ kind: Recipe.Deferred, _ id: UInt32, _ bound: [Value], in container: Container, home: ContextHandle?
    ) -> Callable {
        let name = container.keyName(id)
        let holds = kind == .lazy || bound.contains(where: \.holdsReference)
        let claims = holds ? DeferredClaims(id, bound: bound, container.deferred) : nil
        return Callable(description(of: kind, name), claims: claims) {
            [weak container] (arguments) throws(Failure) -> Value in
            guard let container else { throw Failure(.closed, "the runtime is closed", path: name) }
            guard let claims else {
                return try inContext(home, container) { () throws(Failure) in
                    try value(in: container, of: id, bound + arguments, kind)
                }
            }
            let resolve = { () throws(Failure) -> Value in
                var given: [Value] = []
                for value in container.monitor.locked({ claims.bound }) {
                    given.append(value.holdsReference ? try value.leasedAnew() : value)
                }
                return try value(in: container, of: id, given + arguments, kind)
            }
            return try inContext(home, container) { () throws(Failure) in
                kind == .lazy ? try lazily(claims, in: container, resolve) : try resolve()
            }
        }
    }

    private static func inContext(
        _ home: ContextHandle?, _ container: Container, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard let home, home.core == container.core, Contexts.current(container.core) == nil else { return try body() }
        return try Contexts.visiting(home, container.core, body)
    }

    private static func description(of kind: Recipe.Deferred, _ name: String) -> String {
        switch kind {
        case .provider: "provider of '\(name)'"
        case .lazy: "lazy '\(name)'"
        case .weak: "weak reference to '\(name)'"
        }
    }

    /// A callable that resolves the key it is called with.
    static func resolver(in container: Container, home: ContextHandle?) -> Callable {
        Callable("resolver") { [weak container] (arguments) throws(Failure) -> Value in
            guard let container else { throw Failure(.closed, "the runtime is closed") }
            guard case .string(let name)? = arguments.first else {
                throw Failure(
                    .argument, "the resolver is called with a key's name first, and its runtime arguments after it")
            }
            return try inContext(home, container) { () throws(Failure) in
                try value(in: container, of: try container.definedKey(name), Array(arguments.dropFirst()))
            }
        }
    }

    /// A callable that returns the configured value at the moment of the call.
    static func setting(_ setting: ConfigSetting, in container: Container) -> Callable {
        Callable("configuration '\(setting.path)'") { [weak container] (_) throws(Failure) -> Value in
            guard let container else { throw Failure(.closed, "the runtime is closed", path: setting.path) }
            let graph = container.visibleGraph
            for id in setting.ids {
                if let found = graph.setting(id) { return found.node.value }
            }
            if let otherwise = setting.otherwise { return otherwise }
            throw Failure(.notConfigured, "the configuration has no value at '\(setting.path)'", path: setting.path)
        }
    }

    /// The object that a lazy has resolved for the current version of its key; the result of `resolve` if there is none.
    private static func lazily(
        _ claims: DeferredClaims, in container: Container, _ resolve: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        // What a lazy keeps belongs to the current generation.
        if let graph = container.heldGraph, graph.cell(claims.id) !== container.currentGraph().cell(claims.id) {
            return try resolve()
        }
        let (known, version) = try container.deferred.known(to: claims)
        if let known { return known }
        let value = try resolve()
        // An object of a scope instance is resolved again for each call, in the scope instance of the caller.
        if ReachedKeys(from: claims.id, in: container.visibleGraph).isPlaced(value) { return value }
        return try container.deferred.keep(value, in: claims, for: version)
    }

    private static func value(
        in container: Container, of id: UInt32, _ arguments: [Value], _ kind: Recipe.Deferred = .provider
    ) throws(Failure) -> Value {
        let object =
            kind == .weak ? try container.existing(id, arguments) : try container.resolve(id, arguments: arguments)
        return object == 0 ? .null : .object(ObjectLease(owning: object))
    }
}

/// The keys that a key can lead to through aliases and choices.
private struct ReachedKeys {
    private var placed: Set<UInt32> = []
    private var others: Set<UInt32> = []
    /// Whether an object of a scope instance selects the definition.
    private var hasPlacedChooser = false
    /// Whether a choice can select definitions by name.
    private var includesNamed = false
    private let graph: Graph

    init(from id: UInt32, in graph: Graph) {
        self.graph = graph
        var rest = [id]
        var seen: Set<UInt32> = []
        while let id = rest.popLast() {
            guard let recipe = graph.recipe(id), seen.insert(recipe.id).inserted else { continue }
            switch recipe.maker {
            case .alias(let target): rest.append(target)
            case .choice(let chooser, let options):
                for id in chooser.keys.compactMap(\.self) where Self(from: id, in: graph).canBePlaced {
                    hasPlacedChooser = true
                }
                for option in options {
                    if case .object(let id, _, _)? = option.use { rest.append(id) }
                    if option.use == nil { includesNamed = true }
                }
            default:
                if recipe.scope.isPlaced { placed.insert(recipe.id) } else { others.insert(recipe.id) }
            }
        }
    }

    private var canBePlaced: Bool { hasPlacedChooser || !placed.isEmpty }

    /// Whether `value`, which the key led to, is only valid in the scope instance of the caller.
    func isPlaced(_ value: Value) -> Bool {
        if hasPlacedChooser { return true }
        guard includesNamed || !placed.isEmpty && !others.isEmpty else { return !placed.isEmpty }
        guard case .object(let lease) = value, let key = ObjectTable.record(lease.bits)?.pointee.key, key > 0 else {
            return !placed.isEmpty
        }
        if placed.contains(key - 1) { return true }
        if others.contains(key - 1) { return false }
        return graph.recipe(key - 1)?.scope.isPlaced ?? !placed.isEmpty
    }
}
