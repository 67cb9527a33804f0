internal import CInvivo
internal import CPlatform
internal import InvivoBase
internal import InvivoGraph

/// The build plan of prototypes and graph-scope objects whose whole graph is known at planning time: simple types,
/// created by their initializers from constants, from each other and from shared objects.
///
/// Such a graph is created in one pass over raw memory: without a build, lookup, lock or Swift reference count, and
/// without an atomic operation for its inner objects. A plan belongs to the cell of its last node. All keys in it are
/// dependencies of that cell's definition, so a reload that changes one of them replaces the cell.
final class ProgramSource {
    static let mostNodes = 32
    static let mostArguments = 8
    /// The limit for all nodes together.
    static let mostInAll = 64
    /// The limit for all objects together: each build plan keeps that much memory to copy.
    static let mostBytes = 1 << 17

    private let graph: Graph
    private let runtime: RuntimeHandle
    private var nodes: [iv_node] = []
    private var edgeCounts: [Int] = []
    private var arguments: [iv_argument] = []
    private var shared: [UInt32: Int] = [:]
    private let constants = ProgramConstants()
    private var size = MemoryLayout<iv_block>.size

    private init(_ graph: Graph, _ runtime: RuntimeHandle) {
        self.graph = graph
        self.runtime = runtime
    }

    /// The build plan of a key; nil when its graph is not supported.
    static func compile(_ id: UInt32, _ graph: Graph, _ runtime: RuntimeHandle) -> UnsafeMutablePointer<iv_program>? {
        let source = ProgramSource(graph, runtime)
        guard let root = source.node(id, requester: nil, depth: 0) else { return nil }
        guard Set(source.nodes.map { $0.type.pointee.thread }.filter { $0 != 0 }).count <= 1 else { return nil }
        source.nodes[root].leases += 1
        return source.finish()
    }

    /// Adds a node and everything below it, children first, in the order of an ordinary build.
    private func node(_ id: UInt32, requester: UInt32?, depth: Int) -> Int? {
        guard depth < 32, let recipe = graph.recipe(id), recipe.id == id, !recipe.isAbstract, !recipe.isInCycle,
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
            definition.body.inject == nil, definition.base.isEmpty, definition.body.parameters == nil,
            !recipe.references.includesRequester
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
        let start = size
        let instance = start + Int(type.raw.pointee.offset)
        let edges = instance + (Int(type.raw.pointee.size) + 7) & ~7
        edgeCounts.append(own.filter { $0.what != UInt32(IV_ARGUMENT_CONSTANT) }.count)
        size = (edges + edgeCounts[nodes.count] * 8 + 15) & ~15
        guard size < Self.mostBytes else { return nil }
        nodes.append(
            iv_node(
                type: type.raw,
                build: constants.build(
                    runtime, id, type.raw.pointee.handle, requester: requester,
                    given: recipe.slots.reduce(0) { $0 | GivenArguments.bit(of: $1.position) }),
                key: runtime.key(id), id: id, first: UInt32(arguments.count), count: UInt32(own.count),
                leases: 0,
                record: UInt32(start), instance: UInt32(instance), edges: UInt32(edges)))
        arguments += own
        if recipe.scope == .graph { shared[id] = nodes.count - 1 }
        return nodes.count - 1
    }

    private func argument(_ source: Recipe.Source, _ parameter: Signature.Parameter, of requester: UInt32, _ depth: Int)
        -> iv_argument?
    {
        // Errors of initializers that receive secrets are masked by a build.
        guard !parameter.isSecret else { return nil }
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
            guard let child = node(id, requester: requester, depth: depth + 1) else { return nil }
            nodes[child].leases += 1
            return iv_argument(what: UInt32(IV_ARGUMENT_NODE), node: UInt32(child), thing: nil)
        // A change of the value rebuilds its dependents, and their build plans.
        case .config(let ids, let source):
            guard let type = graph.recipe(requester)?.type, !graph.hasSecret(ids, type.container.names) else {
                return nil
            }
            return argument(source, parameter, of: requester, depth)
        // A graph with any other source is created by a build.
        default: return nil
        }
    }

    private func finish() -> UnsafeMutablePointer<iv_program> {
        let program = UnsafeMutablePointer<iv_program>.allocate(capacity: 1)
        let thread = nodes.map { $0.type.pointee.thread }.max() ?? 0
        let allNodes = UnsafeMutablePointer<iv_node>.allocate(capacity: nodes.count)
        allNodes.initialize(from: nodes, count: nodes.count)
        let allArguments = UnsafeMutablePointer<iv_argument>.allocate(capacity: max(arguments.count, 1))
        allArguments.initialize(from: arguments, count: arguments.count)
        program.initialize(
            to: iv_program(
                size: UInt64(size), thread: thread, checked: 0,
                node_count: UInt32(nodes.count), argument_count: UInt32(arguments.count),
                has_shared: constants.cells.isEmpty ? 0 : 1, nodes: allNodes,
                arguments: allArguments, image: UnsafeRawPointer(image(thread: thread)),
                owner: Unmanaged.passRetained(constants).toOpaque()))
        return program
    }

    /// The image of a block that each run copies. A plan runs only on the thread that owns its confined objects.
    private func image(thread: UInt64) -> UnsafeMutableRawPointer {
        let image = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        image.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        image.assumingMemoryBound(to: iv_block.self).pointee.live = UInt64(nodes.count)
        for (node, edges) in zip(nodes, edgeCounts) {
            (image + Int(node.record)).assumingMemoryBound(to: iv_record.self).initialize(
                to: iv_record(
                    type: node.type, instance: nil, extra: nil,
                    sequence: UInt64(edges) << UInt64(IV_EDGES_SHIFT) | 1 << UInt64(IV_IN_BLOCK_SHIFT)
                        | UInt64(node.record),
                    thread: node.type.pointee.thread == 0 ? 0 : thread, slot: 0, key: node.id &+ 1))
            if let start = node.type.pointee.image {
                (image + Int(node.instance)).copyMemory(from: start, byteCount: Int(node.type.pointee.size))
            }
        }
        return image
    }

    /// Called by its cell, or by its creator if no cell owns it.
    static func free(_ program: UnsafeMutablePointer<iv_program>) {
        program.pointee.nodes.deallocate()
        program.pointee.arguments.deallocate()
        program.pointee.image.deallocate()
        Unmanaged<ProgramConstants>.fromOpaque(program.pointee.owner).release()
        program.deallocate()
    }
}

/// The memory that a build plan's arguments point to.
private final class ProgramConstants {
    var cells: [Cell] = []
    private var values: [(owned: invivo_value, borrowed: UnsafeMutablePointer<invivo_value>)] = []
    private var builds: [UnsafeMutablePointer<invivo_build>] = []

    func build(_ runtime: RuntimeHandle, _ id: UInt32, _ type: UInt64, requester: UInt32?, given: UInt64)
        -> UnsafeRawPointer
    {
        let build = UnsafeMutablePointer<invivo_build>.allocate(capacity: 1)
        build.initialize(
            to: invivo_build(
                struct_size: MemoryLayout<invivo_build>.size, runtime: invivo_runtime(bits: runtime.bits),
                key: invivo_key(bits: runtime.key(id)), type: invivo_type(bits: type),
                asker: invivo_key(bits: requester.map(runtime.key) ?? 0), given: given, flags: 0, reserved: 0,
                former: invivo_object(), former_instance: nil))
        builds.append(build)
        return UnsafeRawPointer(build)
    }

    func argument(_ value: Value) -> iv_argument {
        let owned = value.owned()
        let borrowed = UnsafeMutablePointer<invivo_value>.allocate(capacity: 1)
        borrowed.initialize(to: owned)
        // Borrowed, so no one else frees it.
        borrowed.pointee.reserved = 0
        values.append((owned, borrowed))
        return iv_argument(what: UInt32(IV_ARGUMENT_CONSTANT), node: 0, thing: UnsafeRawPointer(borrowed))
    }

    deinit {
        for build in builds { build.deallocate() }
        for (owned, borrowed) in values {
            var owned = owned
            Value.free(&owned)
            borrowed.deallocate()
        }
    }
}
