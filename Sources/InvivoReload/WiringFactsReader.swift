internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoWiring

/// Gathers the facts of a generation for drawings and checks.
struct WiringFactsReader {
    let container: Container
    /// The secret paths of the configuration.
    let secrets: SecretPaths

    /// Returns the facts of the newest generation, which `snapshot` describes.
    func all(_ snapshot: Snapshot) -> WiringFacts {
        var live: [UInt32: UInt64] = [:]
        for object in ObjectTable.all(of: container.tag) where ObjectTable.retain(object) {
            if let record = ObjectTable.record(object), record.pointee.key > 0 {
                live[record.pointee.key - 1, default: 0] += 1
            }
            _ = ObjectTable.release(object)
        }
        let graph = container.currentGraph()
        var nodes: [WiringFacts.Node] = []
        graph.forEachCell { id, cell in
            guard let recipe = graph.recipe(id) else { return }
            var node = facts(of: id, recipe)
            // An alias without arguments shows the slot of its target.
            let isOwn = recipe.id == id
            // An equal definition that was declared elsewhere since is not compiled again.
            let covers = snapshot.covers[id]
            if isOwn, covers == nil, let declared = snapshot.definitions[id] { node.location = declared.location }
            node.show(covers)
            container.monitor.locked {
                node.instances = WiringFacts.Instances(
                    generation: cell.generation, live: isOwn ? live[id] ?? 0 : 0,
                    buildTime: isOwn && cell.object != 0 ? cell.buildTime : nil)
                let asked = isOwn ? container.builds.dependencies(of: id) : []
                for key in asked.map({ container.keys.name($0) }).sorted() {
                    if !node.dependencies.contains(where: { $0.key == key }) {
                        node.dependencies.append(
                            .init(key: key, how: .asked))
                    }
                }
                guard isOwn else { return }
                for (dependency, generation) in snapshot.kept.of(id, in: graph) {
                    let path = container.keys.configPath(dependency).map { String(cString: $0) }
                    let key = path ?? container.keys.name(dependency)
                    let found = node.dependencies.firstIndex { dependency in
                        dependency.key == key && (path != nil) == (dependency.how == .configuration)
                    }
                    if let index = found {
                        node.dependencies[index].keptSince = generation
                    } else {
                        // A lookup finds another one meanwhile.
                        node.dependencies.append(
                            .init(
                                key: key, how: path == nil ? .injection : .configuration, onChange: .keep,
                                keptSince: generation, isSecret: path.map(secrets.touches) ?? false))
                    }
                }
            }
            nodes.append(node)
        }
        return WiringFacts(generation: graph.generation, nodes: nodes, secrets: secrets)
    }

    func facts(of id: UInt32, _ recipe: Recipe) -> WiringFacts.Node {
        let definition = recipe.definition
        var node = WiringFacts.Node(key: container.keyName(id))
        node.type = recipe.type?.name ?? ""
        node.members = recipe.type.map { TypeMembers($0.description) } ?? TypeMembers()
        // An alias without arguments has the compiled definition of its target.
        let bindsArguments = recipe.id == id && definition.alias != nil
        node.call = WiringFacts.Call(
            parameters: definition.body.parameters?.parameters,
            boundArguments: bindsArguments ? definition.body.initializer.count : 0,
            isNullable: definition.body.flags.contains(.nullable))
        guard recipe.id == id else {
            node.alias = recipe.key
            node.scope = recipe.scope.name
            node.dependencies = [.init(key: recipe.key, how: .alias)]
            return node
        }
        node.isInline = definition.body.owner != nil
        node.scope = definition.alias == nil ? recipe.scope.name : ""
        node.alias = definition.alias
        node.isAbstract = recipe.isAbstract
        node.rank = definition.body.rank
        node.location = definition.location
        node.dependencies = recipe.references.edges.map { (id, edge) in
            if let path = container.names.configPath(id) {
                return .init(
                    key: path, how: .configuration, onChange: edge.onChange, isSecret: secrets.touches(path))
            }
            return .init(key: container.keyName(id), how: .init(edge), onChange: edge.onChange)
        }
        if let alias = definition.alias, !node.dependencies.contains(where: { $0.key == alias }) {
            node.dependencies.append(.init(key: alias, how: .alias))
        }
        return node
    }
}

extension WiringFacts.Node {
    /// Shows the decision of a document that is in force.
    mutating func show(_ covers: Covers?) {
        guard let decision = covers?.wiring, covers?.overrides.isEmpty == true else { return }
        location = decision.location
        isWired = true
    }
}

extension WiringFacts.How {
    fileprivate init(_ edge: Edge) {
        switch edge.way {
        case .initializer: self = .initializer
        case .injection: self = .injection
        case .deferred: self = .deferred
        }
    }
}
