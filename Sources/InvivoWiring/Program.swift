internal import CInvivo
internal import CPlatform
internal import InvivoBase

/// Prototypes and graph-scope objects whose whole graph is known when it is planned: simple types, made by their initializers
/// from constants, from each other and from shared objects. Such a graph is made in one sweep over raw memory: no chain, no
/// lookup, no lock, no reference count of Swift's, and no atomic operation for what is inside. A program belongs to the cell
/// of its last node; whatever it names is named by that cell's recipe too, so that a reload that changes any of it replaces
/// the cell.
final class ProgramSource {
    static let mostNodes = 32
    static let mostArguments = 8
    /// Of all nodes together.
    static let mostInAll = 64

    private let graph: Graph
    private let container: Container
    private var nodes: [iv_node] = []
    private var arguments: [iv_argument] = []
    private var shared: [UInt32: Int] = [:]
    private let constants = ProgramConstants()
    private var size = MemoryLayout<iv_block>.size

    private init(_ graph: Graph, _ container: Container) {
        self.graph = graph
        self.container = container
    }

    /// The program of a key; nil when its graph is of another kind.
    static func compile(_ id: UInt32, _ graph: Graph, _ container: Container) -> UnsafeMutablePointer<iv_program>? {
        let source = ProgramSource(graph, container)
        guard let root = source.node(id, asker: nil, depth: 0) else { return nil }
        guard Set(source.nodes.map { $0.type.pointee.thread }.filter { $0 != 0 }).count <= 1 else { return nil }
        source.nodes[root].leases += 1
        return source.finish()
    }

    /// Adds a node and everything below it, children first, in the order in which the general way makes them.
    private func node(_ id: UInt32, asker: UInt32?, depth: Int) -> Int? {
        guard depth < 32, let recipe = graph.recipe(id), recipe.id == id, !recipe.isAbstract, !recipe.isInCircle,
            !recipe.isTracked
        else {
            return nil
        }
        if recipe.scope == .graph, let known = shared[id] { return known }
        let definition = recipe.definition
        guard case .initializer = recipe.maker, !recipe.scope.isShared, let type = recipe.type,
            type.raw.pointee.is_simple == 1,
            recipe.decorators.isEmpty, recipe.steps.isEmpty, recipe.before.isEmpty, recipe.after.isEmpty,
            recipe.afterAll.isEmpty,
            definition.body.inject == nil, definition.base.isEmpty, definition.body.parameters == nil, !recipe.asks
        else { return nil }
        let parameters = type.description.signature.parameters
        let count = (recipe.slots.map(\.position).max() ?? -1) + 1
        guard count <= Self.mostArguments, count <= parameters.count, parameters[count...].allSatisfy(\.isOptional)
        else { return nil }
        var own: [iv_argument] = []
        for position in 0..<count {
            guard let slot = recipe.slots.first(where: { $0.position == position }) else {
                guard parameters[position].isOptional else { return nil }
                own.append(constants.argument(.null))
                continue
            }
            guard let argument = argument(slot.source, parameters[position], of: id, depth) else { return nil }
            own.append(argument)
        }
        guard nodes.count < Self.mostNodes, arguments.count + own.count <= Self.mostInAll else { return nil }
        let edges = own.filter { $0.what != UInt32(IV_ARGUMENT_CONSTANT) }.count
        let edgeOffset = (Int(type.raw.pointee.size) + 7) & ~7
        let place = size
        size = (place + Int(type.raw.pointee.offset) + edgeOffset + edges * 8 + 15) & ~15
        guard size < 1 << 20 else { return nil }
        nodes.append(
            iv_node(
                type: type.raw, key: container.keyHandle(id), asker: asker.map(container.keyHandle) ?? 0, id: id,
                first: UInt32(arguments.count), count: UInt32(own.count), edges: UInt32(edges), leases: 0,
                record: UInt32(place), edge_offset: UInt32(edgeOffset)))
        arguments += own
        if recipe.scope == .graph { shared[id] = nodes.count - 1 }
        return nodes.count - 1
    }

    private func argument(_ source: Recipe.Source, _ parameter: Parameter, of asker: UInt32, _ depth: Int)
        -> iv_argument?
    {
        switch source {
        case .value(let value):
            if value.isNull && !parameter.isOptional { return nil }
            return constants.argument(value)
        case .object(let id, let given, _):
            guard given.isEmpty, parameter.kind == .object || parameter.kind == .any, let recipe = graph.recipe(id),
                recipe.id == id
            else { return nil }
            if recipe.scope == .singleton || recipe.scope == .lazySingleton {
                guard recipe.definition.body.parameters == nil, let cell = graph.cell(id), let type = recipe.type else {
                    return nil
                }
                constants.cells.append(cell)
                return iv_argument(
                    what: UInt32(IV_ARGUMENT_SHARED), node: 0,
                    thing: UnsafeRawPointer(type.container.monitor.locked { cell.raw }))
            }
            guard let child = node(id, asker: asker, depth: depth + 1) else { return nil }
            nodes[child].leases += 1
            return iv_argument(what: UInt32(IV_ARGUMENT_NODE), node: UInt32(child), thing: nil)
        // What holds the value is made anew when it changes, and its program with it.
        case .config(_, let source): return argument(source, parameter, of: asker, depth)
        default: return nil
        }
    }

    private func finish() -> UnsafeMutablePointer<iv_program> {
        let program = UnsafeMutablePointer<iv_program>.allocate(capacity: 1)
        let allNodes = UnsafeMutablePointer<iv_node>.allocate(capacity: nodes.count)
        allNodes.initialize(from: nodes, count: nodes.count)
        let allArguments = UnsafeMutablePointer<iv_argument>.allocate(capacity: max(arguments.count, 1))
        allArguments.initialize(from: arguments, count: arguments.count)
        program.initialize(
            to: iv_program(
                references: 1, size: UInt64(size), thread: nodes.map { $0.type.pointee.thread }.max() ?? 0, checked: 0,
                node_count: UInt32(nodes.count), argument_count: UInt32(arguments.count),
                has_shared: constants.cells.isEmpty ? 0 : 1, nodes: allNodes,
                arguments: allArguments, owner: Unmanaged.passRetained(constants).toOpaque()))
        return program
    }

    /// One reference less.
    static func release(_ program: UnsafeMutablePointer<iv_program>) {
        guard iv_sub_u64(iv_program_references(program), 1) == 1 else { return }
        program.pointee.nodes.deallocate()
        program.pointee.arguments.deallocate()
        Unmanaged<ProgramConstants>.fromOpaque(program.pointee.owner).release()
        program.deallocate()
    }
}

/// What a program's arguments point to.
private final class ProgramConstants {
    var cells: [Cell] = []
    private var values: [(owned: invivo_value, lent: UnsafeMutablePointer<invivo_value>)] = []

    func argument(_ value: Value) -> iv_argument {
        let owned = value.owned()
        let lent = UnsafeMutablePointer<invivo_value>.allocate(capacity: 1)
        lent.initialize(to: owned)
        // Lent, not given: nobody else frees it.
        lent.pointee.reserved = 0
        values.append((owned, lent))
        return iv_argument(what: UInt32(IV_ARGUMENT_CONSTANT), node: 0, thing: UnsafeRawPointer(lent))
    }

    deinit {
        for (owned, lent) in values {
            var owned = owned
            Value.free(&owned)
            lent.deallocate()
        }
    }
}
