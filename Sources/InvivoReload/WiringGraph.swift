public import InvivoBase
internal import InvivoGraph
internal import InvivoWiring

/// The wiring of one generation as facts: what there is, what holds what, what is alive. A copy, of a moment.
public struct WiringGraph: Sendable {
    public struct Need: Sendable {
        public let key: String
        public let how: How
    }

    /// How what is needed comes.
    public enum How: String, Sendable {
        case initializer, injection, late, asked, alias

        init(_ edge: Recipe.Edge) {
            switch edge {
            case .initializer: self = .initializer
            case .injection: self = .injection
            case .late: self = .late
            }
        }
    }

    public struct Node: Sendable {
        public let key: String
        public var type = ""
        public var scope = ""
        public var alias: String?
        public var isAbstract = false
        public var rank: Int32 = 0
        public var generation: UInt64 = 0
        public var live: UInt64 = 0
        public var buildTime: UInt64?
        public var place = Place()
        public var needs: [Need] = []
        /// The runtime arguments it takes; of an alias that declares none how many it binds itself is in `bound`.
        public var parameters: [Parameter] = []
        public var bound = 0
        public var declares = false
        public var isNullable = false
        /// It stands in another definition.
        var isInline = false
        /// What its type says of itself.
        public var members = TypeMembers()

        /// What is before the first dot.
        public var assembly: String { key.split(separator: ".", maxSplits: 1).first.map(String.init) ?? key }
    }

    public let generation: UInt64
    /// By key.
    public let nodes: [Node]

    /// Paths of the configuration that nothing reads; nil where they were not looked for.
    public internal(set) var unread: [UnreadEntry]?

    public init(generation: UInt64, nodes: [Node]) {
        self.generation = generation
        self.nodes = nodes
    }
}

extension Engine {
    /// The newest generation's.
    public func wiringGraph() -> WiringGraph {
        var live: [UInt32: UInt64] = [:]
        for object in ObjectTable.all(of: container.tag) where ObjectTable.retain(object) {
            if let record = ObjectTable.record(object), record.pointee.key > 0 {
                live[record.pointee.key - 1, default: 0] += 1
            }
            _ = ObjectTable.release(object)
        }
        let graph = container.currentGraph()
        var nodes: [WiringGraph.Node] = []
        graph.forEachCell { id, cell in
            guard let recipe = graph.recipe(id) else { return }
            var node = node(id, recipe, container.keyName)
            container.monitor.locked {
                node.generation = cell.generation
                // An alias without arguments shows the cell of what it names.
                if recipe.id == id && cell.object != 0 { node.buildTime = cell.buildTime }
                let asked = recipe.id == id ? container.dynamicDependencies[id] ?? [] : []
                for key in asked.map({ container.keys.name($0) }).sorted() {
                    if !node.needs.contains(where: { $0.key == key }) {
                        node.needs.append(.init(key: key, how: .asked))
                    }
                }
            }
            node.live = recipe.id == id ? live[id] ?? 0 : 0
            nodes.append(node)
        }
        nodes.sort { $0.key < $1.key }
        return WiringGraph(generation: graph.generation, nodes: nodes)
    }

    /// The one that a change set would bring, without making anything, and all that is wrong with it.
    public func examine(_ set: ChangeSet) -> (graph: WiringGraph?, failures: [Failure]) {
        do throws(Failure) { try takeTurn() } catch { return (nil, error.all) }
        defer { endTurn() }
        let prepared = prepare(set)
        guard let plan = prepared.plan else { return (nil, prepared.failure?.all ?? []) }
        var nodes: [WiringGraph.Node] = []
        for (id, definition) in plan.definitions where definition != nil {
            guard let recipe = plan.editor.recipe(id) else { continue }
            var node = node(id, recipe, container.keyName)
            // The recipe of a plain alias is that of what it names.
            if recipe.id != id, let place = definition?.place { node.place = place }
            nodes.append(node)
        }
        nodes.sort { $0.key < $1.key }
        guard plan.misspelled.isEmpty else { return (nil, plan.misspelled.map(\.failure)) }
        var graph = WiringGraph(generation: container.currentGraph().generation, nodes: nodes)
        do throws(Failure) { graph.unread = try planner().unread(plan) } catch { return (nil, error.all) }
        return (graph, [])
    }

    private func node(_ id: UInt32, _ recipe: Recipe, _ name: (UInt32) -> String) -> WiringGraph.Node {
        var node = WiringGraph.Node(key: name(id))
        node.type = recipe.type?.name ?? ""
        node.members = recipe.type.map { TypeMembers($0.description) } ?? TypeMembers()
        node.parameters = recipe.definition.body.parameters?.parameters ?? []
        node.declares = recipe.definition.body.parameters != nil
        node.isNullable = recipe.definition.body.flags.contains(.nullable)
        guard recipe.id == id else {
            node.alias = recipe.key
            node.scope = recipe.scope.name
            node.needs = [.init(key: recipe.key, how: .alias)]
            return node
        }
        let definition = recipe.definition
        node.isInline = definition.body.owner != nil
        node.scope = definition.alias == nil ? recipe.scope.name : ""
        node.alias = definition.alias
        node.bound = definition.alias == nil ? 0 : definition.body.initializer.count
        node.isAbstract = recipe.isAbstract
        node.rank = definition.body.rank
        node.place = definition.place
        node.needs = recipe.edges.map { .init(key: name($0.id), how: .init($0.edge)) }
        if let alias = definition.alias, !node.needs.contains(where: { $0.key == alias }) {
            node.needs.append(.init(key: alias, how: .alias))
        }
        return node
    }
}
