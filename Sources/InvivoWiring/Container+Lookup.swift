public import InvivoBase
internal import InvivoContexts
internal import InvivoGraph

/// Lookups by type, and injection into objects that the program created.
extension Container {
    /// Whether a supertype was added to a registered type.
    public func isLaterKind(_ type: String, of supertype: String) -> Bool {
        current.value.types.later.types(that: supertype).contains { $0.isSameName(as: type) }
    }

    public struct Lookup: Sendable {
        public let type: String
        /// Only the key of this name, or one that ends with "." and it.
        public let name: String?
        public let isExact: Bool

        public init(type: String, name: String?, isExact: Bool) {
            self.type = type
            self.name = name
            self.isExact = isExact
        }
    }

    /// The object of the one definition that fits; nil when there is none.
    public func resolve(_ lookup: Lookup) throws(Failure) -> UInt64? {
        try whole(
            { (build) throws(Failure) -> UInt64? in
                guard let id = try find(lookup, in: build.graph, for: build) else { return nil }
                build.noteDependency(id)
                return try build.resolve(id, [])
            }, giveBack: { object in if let object { _ = ObjectTable.release(object) } })
    }

    /// The id of the one definition that fits; nil when there is none.
    public func find(_ lookup: Lookup) throws(Failure) -> UInt32? {
        try find(lookup, in: visibleGraph, for: innermostBuild)
    }

    /// A lookup by the code that creates an object follows the rules of an injection into that object: among equal candidates, it
    /// finds the one of the object's assembly.
    private func find(_ lookup: Lookup, in graph: Graph, for build: Build?) throws(Failure) -> UInt32? {
        let fitting = graph.types.all(lookup.type, isExact: lookup.isExact).filter { isNamed($0.id, lookup.name) }
        let own = build?.frames.last?.recipe.definition.body.assembly
        let choice = graph.types.best(of: fitting, for: lookup.type) { id in
            own != nil && graph.recipe(id)?.definition.body.assembly == own
        }
        switch choice {
        case .one(let id): return id
        case .none: return nil
        case .several(let ids):
            throw Failure(
                .ambiguous,
                "several definitions create a '\(lookup.type)': \(names(ids)); name one, or give one a higher rank",
                path: lookup.type)
        }
    }

    /// One object of each definition of a type, by rank, then as declared. What has graph scope is shared among them.
    public func resolveAll(_ type: String, isExact: Bool) throws(Failure) -> [UInt64] {
        try whole(
            { (build) throws(Failure) -> [UInt64] in
                var found: [UInt64] = []
                do throws(Failure) {
                    for entry in build.graph.types.all(type, isExact: isExact) {
                        build.noteDependency(entry.id)
                        let object = try build.resolve(entry.id, [])
                        if object != 0 { found.append(object) }
                    }
                } catch {
                    for object in found { _ = ObjectTable.release(object) }
                    throw error
                }
                return found
            }, giveBack: { for object in $0 { _ = ObjectTable.release(object) } })
    }

    /// Why a lookup found nothing.
    public func nothing(_ lookup: Lookup) -> Failure {
        do throws(Failure) { try Failure.refuseInRule(of: tag) } catch { return error }
        if monitor.locked({ isClosing }) { return Failure(.closed, "the runtime is closed") }
        let types = visibleGraph.types
        let fitting = types.all(lookup.type, isExact: lookup.isExact).map(\.id)
        if let name = lookup.name, !fitting.isEmpty {
            let known = fitting.map(keyName)
            return Failure(
                .notFound,
                "no definition of a '\(lookup.type)' has the name '\(name)'\(suggestion(for: name, among: known))",
                path: lookup.type)
        }
        if let inactive = registry.failure(ofInactiveType: lookup.type) { return inactive }
        return Failure(
            .notFound, "no definition creates a '\(lookup.type)'\(suggestion(for: lookup.type, among: types.names))",
            path: lookup.type)
    }

    private func isNamed(_ id: UInt32, _ name: String?) -> Bool {
        guard let name else { return true }
        let key = keyName(id)
        return key.isSameName(as: name) || key.endsWithName("." + name)
    }

    private func names(_ ids: [UInt32]) -> String {
        ids.map(keyName).listed(most: 8)
    }

    /// Injects into an object of the host, by a definition or (nil) by the definition of exactly its type. No
    /// initializer runs, but all hooks do. It does not become a shared instance.
    public func inject(_ object: UInt64, as id: UInt32?) throws(Failure) {
        guard let record = ObjectTable.record(object) else { throw Failure(.handle, "the object handle is stale") }
        let type = ObjectType.of(record)
        if let domain = type.domain, !domain.isCurrent, record.pointee.thread == type.raw.pointee.thread {
            throw Failure(
                .domain, "an object of the confined type '\(type.name)' is injected in its domain '\(domain.name)'")
        }
        try whole { (build) throws(Failure) in
            let recipe = try self.recipe(for: type, as: id, build)
            try recipe.checkKind(of: type)
            try build.injectHostObject(recipe, object, record)
        }
    }

    /// The compiled definition that injects into an object of a type: that of the key, else that of exactly this type
    /// unless it is abstract, else that of the type's needs.
    func recipe(for type: ObjectType, as id: UInt32?, _ build: Build) throws(Failure) -> Recipe {
        let named = if let id { id } else { try definition(of: type, in: build.graph) as UInt32? }
        guard let id = named else {
            if let own = try ownRecipes.recipe(of: type, in: build.graph, isReload: build.isReload) { return own }
            throw Failure(
                .notFound, "no definition creates a '\(type.name)', so nothing can be injected", path: type.name)
        }
        guard let recipe = build.graph.recipe(id) else {
            throw registry.unknownKey(id, in: build.graph)
        }
        return recipe
    }

    private func definition(of type: ObjectType, in graph: Graph) throws(Failure) -> UInt32? {
        // A type that replaces this one is found under its name, but is injected as itself.
        let name = type.description.lookupName
        let fitting = graph.types.all(name, isExact: true).filter { entry in
            graph.recipe(entry.id)?.type.map { type.description.isKind(of: $0.name) } ?? true
        }
        switch graph.types.best(of: fitting, for: name) {
        case .one(let id): return id
        case .none: return nil
        case .several(let ids):
            throw Failure(
                .ambiguous, "several definitions create a '\(type.name)': \(names(ids)); say which key", path: type.name
            )
        }
    }

    /// Ends work in a context; the end of the context may wait for it.
    func end(_ stay: ContextStay) {
        if stay.end() { monitor.locked { monitor.broadcast() } }
        endReleasedContexts()
    }

    /// Ends the contexts whose last holder left in code of objects in them, if that code has returned.
    func endReleasedContexts() {
        for context in registry.contextObjects.takeReleased() { registry.contexts.endReleased(context) }
    }

    /// The object of a definition in a context, with one lease, if it is built and not stopped. Nil if it is to be built.
    func built(_ cell: Cell, _ arguments: [Value], in context: ContextHandle) throws(Failure) -> UInt64? {
        let key = ScopeTable.placeKey(context, arguments)
        let object = monitor.locked { () -> UInt64 in
            guard let placed = cell.known(key), case .built = placed.state, placed.object != 0,
                ObjectTable.retain(placed.object)
            else { return 0 }
            return placed.object
        }
        guard object != 0, let record = ObjectTable.record(object) else { return nil }
        if Contexts.isEnding(context), [.stopping, .stopped].contains(lifecycle.state(of: record)) {
            _ = ObjectTable.release(object)
            throw Failure(
                .stale, "\(Contexts.name(of: context)) is ending, and '\(name(of: record))' is stopped",
                path: name(of: record))
        }
        if let domain = ObjectType.of(record).domain, !domain.isCurrent {
            _ = ObjectTable.release(object)
            return nil
        }
        return object
    }
}
