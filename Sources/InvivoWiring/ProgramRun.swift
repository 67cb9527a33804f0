internal import CInvivo
internal import CPlatform
internal import Glibc
internal import InvivoBase

/// Runs the build plan of a graph: one sweep over raw memory.
enum ProgramRun {
    /// Creates the graph of a build plan. Called inside a view and a build, which it ends. The plan then pins its
    /// generation, like any build. Returns 0 if an ordinary build must be used, or sets `failed`.
    @inline(never)
    static func run(
        _ program: UnsafeMutablePointer<iv_program>, _ graph: UnsafePointer<iv_graph>, _ reader: Reader, owner: UInt64,
        failed: inout FastResolve.Failed
    ) -> UInt64 {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: ProgramSource.mostNodes) { objects in
            withUnsafeTemporaryAllocation(of: UInt64.self, capacity: ProgramSource.mostInAll) { shared in
                guard let objects = objects.baseAddress, let shared = shared.baseAddress,
                    claim(program, graph, shared)
                else {
                    Readers.endBuild(reader)
                    Readers.leave(reader)
                    return 0
                }
                let container = program.pointee.nodes[0].type.pointee.container
                // Before the view ends: the reclaimer looks at views first.
                if reader.pointee.builds_from == 0 { iv_store_u64(iv_reader_builds_from(reader), reader.pointee.epoch) }
                Readers.leave(reader)
                let thread = iv_thread()!
                var running = iv_running(
                    program: program, graph: UnsafeRawPointer(graph), objects: objects, made: 0, container: container,
                    build: nil)
                let object = withUnsafeMutablePointer(to: &running) { running in
                    thread.build = ThreadBuild(plan: running)
                    let object = sweep(running, shared, owner: owner, &failed)
                    thread.build = .none
                    return running.pointee.build == nil ? object : endBuild(of: running, object, &failed)
                }
                Readers.endBuild(reader)
                return object
            }
        }
    }

    /// Inside the view: whether the plan can run. If so, takes a lease on every shared object that it uses.
    @inline(__always)
    private static func claim(
        _ program: UnsafeMutablePointer<iv_program>, _ graph: UnsafePointer<iv_graph>,
        _ shared: UnsafeMutablePointer<UInt64>
    ) -> Bool {
        let thread = iv_thread()!.identity
        guard program.pointee.thread == 0 || program.pointee.thread == thread else { return false }
        if iv_load_relaxed_u64(iv_program_checked(program)) != graph.pointee.generation &+ 1 {
            guard isWithoutDocuments(program, graph) else { return false }
        }
        guard program.pointee.has_shared != 0 else { return true }
        let arguments = program.pointee.arguments.unsafelyUnwrapped
        for index in 0..<Int(program.pointee.argument_count) where arguments[index].what == UInt32(IV_ARGUMENT_SHARED) {
            let cell = UnsafeMutableRawPointer(mutating: arguments[index].thing.unsafelyUnwrapped).assumingMemoryBound(
                to: iv_cell.self)
            let bits = FastResolve.object(of: cell, on: thread)
            guard bits != 0, ObjectTable.leaseKnownAlive(bits) else {
                for before in 0..<index where arguments[before].what == UInt32(IV_ARGUMENT_SHARED) {
                    _ = ObjectTable.release(shared[before])
                }
                return false
            }
            shared[index] = bits
        }
        return true
    }

    /// Whether no document has layers for its keys. Otherwise an ordinary build applies them.
    @inline(never)
    private static func isWithoutDocuments(
        _ program: UnsafeMutablePointer<iv_program>, _ graph: UnsafePointer<iv_graph>
    ) -> Bool {
        guard let nodes = program.pointee.nodes else { return false }
        for index in 0..<Int(program.pointee.node_count) {
            let id = nodes[index].id
            guard id < graph.pointee.count, let chunk = graph.pointee.chunks[Int(id >> UInt32(INVIVO_CHUNK_SHIFT))]
            else { return false }
            let entry = chunk.assumingMemoryBound(to: invivo_entry.self) + Int(id & UInt32(INVIVO_CHUNK_MASK))
            guard entry.pointee.layers == nil else { return false }
        }
        iv_store_u64(iv_program_checked(program), graph.pointee.generation &+ 1)
        return true
    }

    /// Creates the nodes in order. Returns the handle of the last one, or 0 after releasing all of them.
    @inline(__always)
    private static func sweep(
        _ running: UnsafeMutablePointer<iv_running>, _ shared: UnsafeMutablePointer<UInt64>, owner: UInt64,
        _ failed: inout FastResolve.Failed
    ) -> UInt64 {
        let program = running.pointee.program.unsafelyUnwrapped
        let nodes = program.pointee.nodes.unsafelyUnwrapped
        let arguments = program.pointee.arguments.unsafelyUnwrapped
        let objects = running.pointee.objects.unsafelyUnwrapped
        return withUnsafeTemporaryAllocation(of: invivo_value.self, capacity: ProgramSource.mostArguments) {
            values -> UInt64 in
            let values = values.baseAddress.unsafelyUnwrapped
            let size = Int(truncatingIfNeeded: program.pointee.size)
            guard let memory = malloc(size) else {
                failed.status = Status.memory.rawValue
                return rollBack(running, shared, from: 0)
            }
            memcpy(memory, program.pointee.image, size)
            let count = Int(program.pointee.node_count)
            var index = 0
            while true {
                let node = nodes + index
                guard let slot = ObjectTable.takeSlot() else {
                    failed.status = Status.memory.rawValue
                    return rollBack(running, shared, memory, from: index)
                }
                let record = (memory + Int(node.pointee.record)).assumingMemoryBound(to: iv_record.self)
                let instance = memory + Int(node.pointee.instance)
                record.pointee.instance = instance
                var edge = (memory + Int(node.pointee.edges)).assumingMemoryBound(to: UInt64.self)
                var value = values
                var argument = arguments + Int(node.pointee.first)
                let end = argument + Int(node.pointee.count)
                while argument < end {
                    if argument.pointee.what == UInt32(IV_ARGUMENT_CONSTANT) {
                        value.pointee =
                            argument.pointee.thing.unsafelyUnwrapped.assumingMemoryBound(to: invivo_value.self).pointee
                    } else {
                        let bits =
                            argument.pointee.what == UInt32(IV_ARGUMENT_NODE)
                            ? objects[Int(argument.pointee.node)] : shared[argument - arguments]
                        value.pointee.kind = UInt32(INVIVO_KIND_OBJECT)
                        value.pointee.reserved = 0
                        value.pointee.as.object.bits = bits
                        edge.pointee = bits
                        edge += 1
                    }
                    argument += 1
                    value += 1
                }
                let type = node.pointee.type.unsafelyUnwrapped
                if let initialize = type.pointee.`init` {
                    running.pointee.made = UInt32(truncatingIfNeeded: index)
                    let status = initialize(
                        instance, node.pointee.build, values, Int(node.pointee.count), type.pointee.user_data,
                        &failed.error)
                    if status != 0 {
                        failed.status = status
                        failed.key = node.pointee.key
                        ObjectTable.close(slot)
                        return rollBack(running, shared, memory, from: index)
                    }
                }
                let object = ObjectTable.open(
                    slot, record, owner: owner, leases: UInt64(node.pointee.leases), hold: false)
                objects[index] = object
                index += 1
                if index == count { return object }
            }
        }
    }

    /// The same, if the nodes from `end` on were not created.
    @inline(never)
    private static func rollBack(
        _ running: UnsafeMutablePointer<iv_running>, _ shared: UnsafeMutablePointer<UInt64>,
        _ memory: UnsafeMutableRawPointer, from end: Int
    ) -> UInt64 {
        let block = memory.assumingMemoryBound(to: iv_block.self)
        Disposal.endOfBlock(block, UInt64(running.pointee.program.pointee.node_count) - UInt64(end))
        return rollBack(running, shared, from: end)
    }

    /// Releases the objects before node `end`, and shared objects that are not held yet.
    @inline(never)
    private static func rollBack(
        _ running: UnsafeMutablePointer<iv_running>, _ shared: UnsafeMutablePointer<UInt64>, from end: Int
    ) -> UInt64 {
        guard let program = running.pointee.program, let nodes = program.pointee.nodes,
            let arguments = program.pointee.arguments,
            let objects = running.pointee.objects
        else { return 0 }
        var claimed = [UInt32](repeating: 0, count: end)
        for index in 0..<Int(program.pointee.node_count) {
            for position in nodes[index].first..<nodes[index].first + nodes[index].count {
                let argument = arguments[Int(position)]
                if argument.what == UInt32(IV_ARGUMENT_SHARED), index >= end {
                    _ = ObjectTable.release(shared[Int(position)])
                }
                if argument.what == UInt32(IV_ARGUMENT_NODE), index < end { claimed[Int(argument.node)] += 1 }
            }
        }
        for index in (0..<end).reversed() {
            for _ in claimed[index]..<nodes[index].leases { _ = ObjectTable.release(objects[index]) }
        }
        return 0
    }

    /// The outermost resolve is over: so is the build that its initializers needed.
    @inline(never)
    private static func endBuild(
        of running: UnsafeMutablePointer<iv_running>, _ object: UInt64, _ failed: inout FastResolve.Failed
    ) -> UInt64 {
        guard let known = running.pointee.build else { return object }
        let build = Unmanaged<Build>.fromOpaque(known).takeRetainedValue()
        build.frames = []
        guard object != 0 else {
            build.abandon()
            // A build waits for the other one and begins again.
            if build.givesWayTo != nil { failed.discard() }
            return 0
        }
        do throws(Failure) { try build.end() } catch {
            _ = ObjectTable.release(object)
            guard build.givesWayTo == nil else { return 0 }
            failed.status = error.code.rawValue
            failed.error = UnsafeMutableRawPointer(ErrorBox.make(error))
            return 0
        }
        return object
    }
}
