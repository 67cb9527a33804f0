public import CInvivo
public import CPlatform
public import InvivoBase

extension Container {
    /// The fast way, inside a view: leases a built shared object. 0 when it must be looked at more closely.
    @inline(__always)
    static func leaseBuilt(_ graph: UnsafePointer<iv_graph>, _ id: UInt32, _ thread: ThreadState) -> (UInt64, UnsafeMutablePointer<iv_type>?) {
        guard id < graph.pointee.count, let chunk = graph.pointee.chunks[Int(id >> UInt32(INVIVO_CHUNK_SHIFT))] else { return (0, nil) }
        let entry = chunk.assumingMemoryBound(to: invivo_entry.self) + Int(id & UInt32(INVIVO_CHUNK_MASK))
        guard let cell = entry.pointee.cell else { return (0, nil) }
        let full = UnsafeMutableRawPointer(cell).assumingMemoryBound(to: iv_cell.self)
        let bits = iv_load_u64(iv_cell_object(full))
        guard bits != 0 else { return (0, entry.pointee.layers == nil ? full.pointee.prototype : nil) }
        let allowed = full.pointee.thread
        guard allowed == 0 || allowed == thread.pointee.id else { return (0, nil) }
        ObjectTable.leaseKnownAlive(bits)
        return (bits, nil)
    }

    /// A built shared object or a plain prototype, without locks. 0 when it must go the general way; `failed` has a status
    /// other than 0 when a plain prototype's init failed.
    public static func fastResolve(
        _ runtime: UInt64, _ key: UInt64, makes: Bool, failed: inout (status: Int32, error: UnsafeMutableRawPointer?)
    ) -> UInt64 {
        let upper = key >> 32
        guard upper >> 28 == 3, runtime == (1 << 28 | upper & 0xfff_ffff) << 32,
            let core = iv_core_at(UInt32(truncatingIfNeeded: upper >> 16) & 0xfff)
        else { return 0 }
        let thread = iv_thread()!
        guard thread.pointee.chain == nil, let reader = Readers.enter(core, tag: upper & 0xfff_ffff) else { return 0 }
        guard let graph = reader.pointee.graph else {
            Readers.leave(reader)
            return 0
        }
        let (bits, type) = leaseBuilt(
            graph.assumingMemoryBound(to: iv_graph.self), UInt32(truncatingIfNeeded: key), thread)
        guard bits == 0, makes, let type, reader.pointee.making < 32 else {
            Readers.leave(reader)
            return bits
        }
        iv_store_u64(iv_reader_making(reader), reader.pointee.making &+ 1)
        Readers.leave(reader)
        return makePlain(type, reader, owner: upper & 0xfff_ffff, runtime: runtime, key: key, failed: &failed)
    }

    /// The object of a key with one lease for the caller, built when it must be.
    public func resolve(_ id: UInt32, arguments: [Value] = []) throws(Failure) -> UInt64 {
        if let chain = currentChain { return try resolve(id, arguments, chain) }
        let chain = BuildChain(graph: currentGraph())
        return try building(chain) { () throws(Failure) -> UInt64 in try resolve(id, arguments, chain) }
    }

    private func resolve(_ id: UInt32, _ arguments: [Value], _ chain: BuildChain) throws(Failure) -> UInt64 {
        if !chain.frames.isEmpty { chain.frames[chain.frames.count - 1].dependencies.append(id) }
        guard let cell = chain.graph.cell(id) else {
            throw monitor.locked { unknownKey(keys.name(id), in: chain.graph) }
        }
        let definition = cell.definition
        switch definition.scope {
        case .prototype:
            guard chain.frames.count < 512 else {
                throw Failure(.cycle, "the wiring does not end: \(chain.path(to: definition.key).suffix(400))", path: definition.key)
            }
            return try make(definition, arguments, chain, configuration: chain.graph.configuration(id), hold: false).object
        case .lazySingleton, .singleton:
            guard arguments.isEmpty else {
                throw Failure(
                    .arity, "a shared object takes no runtime arguments, got \(arguments.count)", path: definition.key,
                    at: definition.place)
            }
            return try shared(cell, chain)
        }
    }

    // MARK: shared instances

    /// A shared instance, built once however many chains ask; a waits-for cycle is answered, not waited for.
    func shared(_ cell: Cell, _ chain: BuildChain) throws(Failure) -> UInt64 {
        let definition = cell.definition
        monitor.lock()
        var awaited = -1
        waiting: while true {
            switch cell.state {
            case .built:
                let bits = cell.object
                defer { monitor.unlock() }
                try checkDomain(definition)
                guard ObjectTable.retain(bits) else { throw Failure(.stale, "the object is gone", path: definition.key) }
                return bits
            case .building(let other):
                if let cycle = waitsForCycle(from: other, to: chain, cell) {
                    monitor.unlock()
                    throw cycle
                }
                awaited = cell.attempt
                chain.waitingOn = cell
                if !serveOwnDomain() { monitor.wait() }
                chain.waitingOn = nil
            case .cold:
                if awaited == cell.attempt, let failure = cell.failure {
                    monitor.unlock()
                    throw failure
                }
                break waiting
            }
        }
        if isClosing && !chain.isReload {
            monitor.unlock()
            throw Failure(.closed, "the runtime is closing")
        }
        do throws(Failure) { try checkDomain(definition) } catch {
            monitor.unlock()
            throw error
        }
        cell.state = .building(chain)
        cell.attempt += 1
        monitor.unlock()

        do throws(Failure) {
            let made = try make(definition, [], chain, configuration: chain.graph.configuration(definition.id), hold: true)
            let overtaken = monitor.locked { () -> Bool in
                publish(cell, made)
                return !chain.isReload && graph.configuration(definition.id) !== chain.graph.configuration(definition.id)
            }
            if overtaken { onLateBuild?(definition.id) }
            return made.object
        } catch {
            monitor.locked {
                cell.state = .cold
                cell.failure = error
                monitor.broadcast()
            }
            throw error
        }
    }

    /// Under the monitor: the instance is there for everybody.
    private func publish(_ cell: Cell, _ made: Made) {
        let definition = cell.definition
        cell.sequence = made.record.pointee.sequence
        cell.failure = nil
        dynamicDependencies[definition.id] = made.dependencies.isEmpty ? nil : made.dependencies
        for dependency in made.dependencies { dynamicDependents[dependency, default: []].insert(definition.id) }
        if let domain = definition.type?.domain {
            cell.raw.pointee.thread = domain.thread
            cell.raw.pointee.confined_instance = made.record.pointee.instance
        } else {
            cell.raw.pointee.thread = 0
            iv_store_pointer(iv_cell_shared(cell.raw), made.record.pointee.instance)
        }
        iv_store_u64(iv_cell_object(cell.raw), made.object)
        cell.state = .built
        monitor.broadcast()
        // A graph that is gone does not hold it: it belongs to whoever asked.
        if cell.retired { retiredWhileBuilding.append(made.object) }
    }

    /// Under the monitor. A failure when waiting for `other` would close a circle back to `chain`.
    private func waitsForCycle(from other: BuildChain, to chain: BuildChain, _ cell: Cell) -> Failure? {
        var next = other
        var path = [cell.definition.key]
        for _ in 0..<10_000 {
            if next === chain {
                let whole = chain.frames.map(\.definition.key) + path
                let start = whole.firstIndex(of: path[path.count - 1]) ?? 0
                return Failure(
                    .cycle, "the wiring goes round in a circle: \(whole[start...].joined(separator: " -> "))",
                    path: cell.definition.key, at: cell.definition.place)
            }
            guard let waited = next.waitingOn, case .building(let builder) = waited.state else { return nil }
            path += next.frames.map(\.definition.key).filter { !path.contains($0) } + [waited.definition.key]
            next = builder
        }
        return nil
    }

    private func checkDomain(_ definition: Definition) throws(Failure) {
        guard let domain = definition.type?.domain, !domain.isCurrent else { return }
        throw Failure(
            .domain,
            "an object of the confined type '\(definition.type?.name ?? "?")' belongs to the domain '\(domain.name)' and "
                + "cannot be resolved on this thread; resolve it there, or register the type as shared",
            path: definition.key, at: definition.place)
    }

    /// Whether the calling code is where the objects of a domain may be touched that is not one thread.
    @usableFromInline
    static func isInDomain(_ cell: UnsafeMutablePointer<iv_cell>, _ allowed: UInt64) -> Bool {
        guard allowed == .max, let record = ObjectTable.record(iv_load_u64(iv_cell_object(cell))) else { return false }
        return type(record).domain?.isCurrent == true
    }

    /// The confined instance of a key for a view on the calling thread, or nil.
    @inlinable
    public static func confinedInstance(_ entry: UnsafePointer<invivo_entry>) -> UnsafeMutableRawPointer? {
        guard let cell = entry.pointee.cell else { return nil }
        let full = UnsafeMutableRawPointer(cell).assumingMemoryBound(to: iv_cell.self)
        guard iv_load_u64(iv_cell_object(full)) != 0 else { return nil }
        let allowed = full.pointee.thread
        guard allowed == 0 || allowed == iv_thread()!.pointee.id || isInDomain(full, allowed) else { return nil }
        return full.pointee.shared_instance ?? full.pointee.confined_instance
    }
}
