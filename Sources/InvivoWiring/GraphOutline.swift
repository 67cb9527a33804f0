internal import CPlatform
internal import InvivoBase
internal import InvivoGraph
internal import InvivoObjects

/// The steps of building the object of a key, for a host that creates the objects of its own language itself.
///
/// Like a build plan (`ProgramSource`) it is compiled from the definitions of one generation, and covers only simple
/// cases; all others use an ordinary build. It is valid until the version of its key changes. A change of any
/// definition behind the key, or of the layers of one of its keys, increments that version.
struct GraphOutline {
    /// More steps are no longer worth a function of their own.
    static let mostSteps = 512

    private let graph: Graph
    private let names: KeyNames
    private var steps: [Value] = []
    /// The objects that are shared within the graph, by key.
    private var made: [UInt32: Int] = [:]
    /// The number of objects so far.
    private var count = 0
    private var domain: Domain??

    private init(_ graph: Graph, _ names: KeyNames) { (self.graph, self.names) = (graph, names) }

    /// The outline of a key for `invivo_key_outline`; nil when only a resolve can create the object.
    static func of(_ id: UInt32, _ graph: Graph) throws(Failure) -> Value? {
        guard let recipe = graph.recipe(id), !recipe.scope.isShared, let type = recipe.type else { return nil }
        var outline = GraphOutline(graph, type.container.names)
        guard try outline.object(recipe.id, for: nil, depth: 0) != nil else { return nil }
        let parameters = recipe.definition.body.parameters?.parameters ?? []
        return .map([
            ("steps", .list(outline.steps)),
            (
                "parameters",
                .list(
                    parameters.map { parameter in
                        var fields: [(name: String, value: Value)] = [
                            ("kind", .int64(Int64(parameter.kind.rawValue))),
                            ("type", parameter.typeName.map(Value.string) ?? .null),
                        ]
                        if parameter.mayBeLeftOut { fields.append(("default", parameter.defaultValue ?? .null)) }
                        return .map(fields)
                    })
            ),
        ])
    }

    /// Adds the construction steps of an object, in the order of a resolve. Returns its number.
    private mutating func object(_ id: UInt32, for requester: Int?, depth: Int) throws(Failure) -> Int? {
        guard depth < 64, steps.count < Self.mostSteps, let recipe = graph.recipe(id),
            isSimple(recipe, requester: requester),
            let type = recipe.type
        else { return nil }
        if recipe.scope == .graph, let known = made[recipe.id] { return known }
        if let domain, domain !== type.domain { return nil }
        domain = .some(type.domain)
        // Numbers are assigned from the outermost object inwards, so that a step can name the receiver of its object.
        let number = count
        count += 1
        var arguments: [Value?] = []
        for slot in recipe.slots {
            guard let source = try source(slot.source, of: number, depth) else { return nil }
            while arguments.count <= slot.position { arguments.append(nil) }
            arguments[slot.position] = source
        }
        var function: UInt64 = 0
        var data: UInt64 = 0
        if case .factory(let factory) = recipe.maker {
            (function, data) = factory.address
        }
        steps.append(
            .map([
                ("make", .int64(Int64(number))), ("for", .int64(Int64(requester ?? -1))), ("key", .string(recipe.key)),
                ("file", .string(recipe.definition.location.file)),
                ("line", .int64(Int64(recipe.definition.location.line))),
                ("type", .type(type.description)), ("function", .uint64(function)), ("data", .uint64(data)),
                ("arguments", .list(arguments.map { $0 ?? .map([("left_out", .null)]) })),
            ]))
        for step in recipe.steps {
            guard case .property(let index, let origin) = step, let source = try source(origin, of: number, depth)
            else { return nil }
            let property = type.description.properties[index]
            guard !property.isInBlock else { return nil }
            steps.append(
                .map([("set", .int64(Int64(number))), ("property", .string(property.name)), ("to", source)]))
        }
        if recipe.scope == .graph { made[recipe.id] = number }
        return number
    }

    /// Whether a host can create the object in one step.
    private func isSimple(_ recipe: Recipe, requester: Int?) -> Bool {
        switch recipe.maker {
        case .initializer, .factory: break
        default: return false
        }
        guard recipe.scope == .prototype || recipe.scope == .graph, !recipe.isInCycle,
            !recipe.references.includesRequester,
            recipe.decorators.isEmpty,
            recipe.before.isEmpty, recipe.after.isEmpty, recipe.afterAll.isEmpty,
            graph.configuration(recipe.id) == nil, let type = recipe.type, type.description.size == 0, !type.isBlockOnly
        else { return false }
        let body = recipe.definition.body
        // Runtime arguments are those of the outermost object.
        guard body.inject == nil, body.base.isEmpty, body.flags.isSubset(of: [.hiddenClass, .hiddenInterface]),
            requester == nil || body.parameters == nil
        else { return false }
        let functions = type.description.functions
        return !functions.haveLife && functions.willInject == nil && !functions.hasCompletionHook
    }

    private static func constant(_ value: Value) -> Value { .map([("value", value)]) }

    private mutating func source(_ source: Recipe.Source, of number: Int, _ depth: Int) throws(Failure) -> Value? {
        switch source {
        case .value(let value): return Self.constant(value.holdsReference ? try value.leasedAnew() : value)
        case .object(let id, let given, _): return given.isEmpty ? try reference(id, of: number, depth) : nil
        case .all(let ids):
            var items: [Value] = []
            for id in ids {
                guard let item = try reference(id, of: number, depth) else { return nil }
                items.append(item)
            }
            return .map([("list", .list(items))])
        case .argument(let index): return .map([("argument", .int64(Int64(index)))])
        case .list(let sources):
            var items: [Value] = []
            for each in sources {
                guard let item = try self.source(each, of: number, depth) else { return nil }
                items.append(item)
            }
            return .map([("list", .list(items))])
        case .map(let pairs):
            var items: [(name: String, value: Value)] = []
            for pair in pairs {
                guard let item = try self.source(pair.source, of: number, depth) else { return nil }
                items.append((pair.name, item))
            }
            return .map([("map", .map(items))])
        // A change of the value rebuilds its dependents, so their version changes.
        case .config(let ids, let inner):
            // Errors of initializers that receive secrets are masked by a build.
            return graph.hasSecret(ids, names) ? nil : try self.source(inner, of: number, depth)
        // A graph with any other source is created by a build.
        default: return nil
        }
    }

    /// An object of the graph, or a shared one that is there already.
    private mutating func reference(_ id: UInt32, of number: Int, _ depth: Int) throws(Failure) -> Value? {
        guard let recipe = graph.recipe(id) else { return nil }
        if case .alias = recipe.maker { return nil }
        guard recipe.scope.isShared else {
            guard let object = try object(recipe.id, for: number, depth: depth + 1) else { return nil }
            return .map([("object", .int64(Int64(object)))])
        }
        guard recipe.scope == .singleton || recipe.scope == .lazySingleton, recipe.definition.body.parameters == nil,
            let cell = graph.cell(recipe.id), let type = recipe.type,
            let object = type.container.monitor.locked({ cell.sharedObject })
        else { return nil }
        guard ObjectTable.retain(object) else { return nil }
        return Self.constant(.object(ObjectLease(owning: object)))
    }
}
