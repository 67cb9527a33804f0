public import InvivoBase

extension Recipe {
    /// The keys, types and configuration paths that a compiled definition refers to.
    public struct References: Sendable {
        /// The keys and paths that it names or was bound to, each with its strongest edge.
        public private(set) var edges: [(id: UInt32, edge: Edge)] = []
        /// The definitions that each lookup by type was bound to, by the index of the lookup in the definition.
        public internal(set) var bindings: NameTable<[UInt32]> = [:]
        /// The names of the types that it looks up.
        public internal(set) var typeQueries: Set<String> = []
        /// The undefined keys of optional references.
        public internal(set) var undefinedKeys: Set<String> = []
        /// The things that the object receives from the place where it is created.
        private var surroundings: Surroundings = []
        /// Whether the object depends on its requester, and so is never shared.
        public internal(set) var includesRequester: Bool {
            get { surroundings.contains(.requester) }
            set { surroundings = newValue ? surroundings.union(.requester) : surroundings.subtracting(.requester) }
        }
        /// Whether the object receives values of contexts.
        public internal(set) var readsContexts: Bool {
            get { surroundings.contains(.contexts) }
            set { surroundings = newValue ? surroundings.union(.contexts) : surroundings.subtracting(.contexts) }
        }

        private struct Surroundings: OptionSet {
            let rawValue: UInt8
            static let requester = Surroundings(rawValue: 1)
            static let contexts = Surroundings(rawValue: 2)
        }

        /// Undefined keys on which the definition is blocked.
        public internal(set) var awaitedKeys: Set<String> = []
        /// The keys that its lazy references resolve and then hold. They are no dependencies, but can be part of a cycle.
        var lazyKeys: Set<UInt32> = []
        /// The lists whose holder is notified when a candidate is added or removed.
        var notifiedLists: NameSet = []

        /// Adds an edge. Several edges to the same key become one in `merged`.
        mutating func add(_ id: UInt32, _ edge: Edge) { edges.append((id, edge)) }

        /// Returns the references with one edge for each key: the strongest, in the order of the first ones.
        func merged() -> References {
            guard edges.count > 1 else { return self }
            var merged = self
            merged.edges = []
            var indices: [UInt32: Int] = [:]
            for (id, edge) in edges {
                if let index = indices[id] {
                    merged.edges[index].edge = merged.edges[index].edge.joined(edge)
                } else {
                    indices[id] = merged.edges.count
                    merged.edges.append((id, edge))
                }
            }
            return merged
        }

        /// Returns the references of a blocked definition: nothing is resolved, bound or notified.
        func deferred() -> References {
            var deferred = self
            deferred.edges = edges.map { ($0.id, .deferred) }
            deferred.bindings = [:]
            deferred.includesRequester = false
            deferred.readsContexts = false
            deferred.lazyKeys = []
            deferred.notifiedLists = []
            return deferred
        }

        /// Returns the references with dependencies that are needed like initializer arguments.
        func taking(_ ids: [UInt32]) -> References {
            var taking = self
            for id in ids {
                let owns = taking.edges.contains { $0.id == id && $0.edge.owns }
                taking.edges.removeAll { $0.id == id }
                taking.edges.append((id, Edge(.initializer, owns: owns)))
            }
            return taking
        }

        /// The keys whose objects its own may hold, by injection or by lazies.
        public var held: [UInt32] { edges.filter { !$0.edge.isDeferred || lazyKeys.contains($0.id) }.map(\.id) }

        /// The keys that its initializer takes.
        public var initializing: [UInt32] { edges.filter { $0.edge.way == .initializer }.map(\.id) }

        /// The keys whose change rebuilds its objects.
        public var rebuilding: [UInt32] { edges.filter { $0.edge.rebuilds }.map(\.id) }

        /// The keys of which its objects keep the former object.
        public var kept: Set<UInt32> { Set(edges.filter { $0.edge.isKept }.map(\.id)) }

        /// How its objects follow changes of each key.
        public var onChange: [UInt32: OnChange] {
            Dictionary(edges.filter { !$0.edge.isDeferred }.map { ($0.id, $0.edge.onChange) }, uniquingKeysWith: max)
        }

        /// Whether there are keys whose change sets its objects up again.
        public var owns: Bool { edges.contains { $0.edge.owns } }

        /// The keys whose change sets its objects up again.
        public var owned: [UInt32] { edges.filter { $0.edge.owns }.map(\.id) }

        /// Whether there are keys of which its objects keep the former object.
        public var keep: Bool { edges.contains { $0.edge.isKept } }

        /// The keys that are resolved when the object is created.
        public var dependencies: [UInt32] { edges.filter { !$0.edge.isDeferred }.map(\.id) }

        /// The lookups by type whose holder is not notified of changes.
        public var unnotifiedBindings: NameTable<[UInt32]> { bindings.filter { !notifiedLists.contains($0.key) } }

        /// Whether both have the same edges.
        public func hasSameEdges(as other: References) -> Bool {
            edges.elementsEqual(other.edges) { $0.id == $1.id && $0.edge == $1.edge }
        }

        /// Whether nothing but edges is there.
        var haveOnlyEdges: Bool {
            bindings.isEmpty && typeQueries.isEmpty && undefinedKeys.isEmpty && !includesRequester
                && awaitedKeys.isEmpty && lazyKeys.isEmpty && notifiedLists.isEmpty && !readsContexts
        }
    }
}
