internal import CInvivo
internal import CPlatform
internal import Glibc
public import InvivoBase

/// What came of making an object.
struct Made {
    let object: UInt64
    let record: Record
    let dependencies: Set<UInt32>
}

private let recordSize = (MemoryLayout<iv_record>.size + 15) & ~15

extension Container {
    /// Makes an object from its definition: arguments, instance, properties, configuration, start. One lease is the
    /// caller's. Whatever fails, what was made until then is disposed.
    func make(
        _ definition: Definition, _ arguments: [Value], _ chain: BuildChain, configuration: (any Configuration)?, hold: Bool
    ) throws(Failure) -> Made {
        guard let type = definition.type else {
            throw Failure(.internalFault, "an alias has nothing to make", path: definition.key)
        }
        chain.frames.append(BuildChain.Frame(definition: definition))
        defer { chain.frames.removeLast() }
        do throws(Failure) {
            var injected: [Value] = []
            let values = try initializerValues(definition, arguments, chain, &injected)
            let record = try makeInstance(type, values, key: definition.id, factory: definition.factory)
            if !injected.isEmpty { extra(record).injected = injected }
            do throws(Failure) {
                try inject(definition, into: record, chain)
                try configuration?.configure(record)
                try start(record)
            } catch {
                Self.destroy(record)
                throw error
            }
            if hold { record.pointee.thread = type.raw.pointee.thread }
            guard let object = open(record, hold: hold) else {
                Self.destroy(record)
                throw Failure(.memory, "no memory for an object", path: definition.key)
            }
            let named = Set(definition.references.compactMap { monitor.locked { [key = $0.key] in keys.id(of: key) } })
            let found = Set(chain.frames[chain.frames.count - 1].dependencies).subtracting(named)
            return Made(object: object, record: record, dependencies: found)
        } catch {
            throw located(error, definition)
        }
    }

    /// An error gets the key that was being made, and where it is declared, when it has none of its own.
    private func located(_ failure: Failure, _ definition: Definition) -> Failure {
        var located = failure
        if located.path.isEmpty { located.path = definition.key }
        if located.place.file.isEmpty { located.place = definition.place }
        return located
    }

    /// An object without a definition.
    public func makeObject(_ type: ObjectType, _ arguments: [Value]) throws(Failure) -> UInt64 {
        let chain = currentChain ?? BuildChain(graph: currentGraph())
        return try building(chain) { () throws(Failure) -> UInt64 in
            let record = try makeInstance(type, arguments, key: nil, factory: nil)
            do throws(Failure) { try start(record) } catch {
                Self.destroy(record)
                throw error
            }
            return try opened(record)
        }
    }

    /// A handle for an instance of the host's.
    public func wrap(_ type: ObjectType, _ instance: UnsafeMutableRawPointer) throws(Failure) -> UInt64 {
        try opened(try newRecord(type, instance: instance, key: nil))
    }

    private func opened(_ record: Record) throws(Failure) -> UInt64 {
        guard let object = open(record, hold: false) else {
            Self.destroy(record)
            throw Failure(.memory, "no memory for an object")
        }
        return object
    }

    private func open(_ record: Record, hold: Bool) -> UInt64? {
        guard let slot = ObjectTable.takeSlot() else { return nil }
        return ObjectTable.open(slot, record, owner: tag, leases: 1, hold: hold)
    }

    // MARK: plain prototypes

    /// Makes a prototype that needs nothing but its type: no chain, no injection. `making` tells close that an object is on
    /// its way. 0 when it must go the general way; a failing init fills `failed` instead.
    @inline(__always)
    static func makePlain(
        _ type: UnsafeMutablePointer<iv_type>, _ reader: Reader, owner: UInt64, runtime: UInt64, key: UInt64,
        failed: inout (status: Int32, error: UnsafeMutableRawPointer?)
    ) -> UInt64 {
        defer { iv_store_u64(iv_reader_making(reader), reader.pointee.making &- 1) }
        let size = Int(type.pointee.size)
        let offset = Int(type.pointee.offset)
        guard let slot = ObjectTable.takeSlot() else { return 0 }
        guard let memory = malloc(offset &+ size) else {
            ObjectTable.close(slot)
            return 0
        }
        let record = memory.assumingMemoryBound(to: iv_record.self)
        let instance = memory + offset
        record.initialize(
            to: iv_record(
                type: type, instance: instance, extra: nil, sequence: 0,
                thread: type.pointee.thread == 0 ? 0 : iv_thread()!.identity, slot: slot, key: UInt32(truncatingIfNeeded: key) &+ 1))
        if let image = type.pointee.image { memcpy(instance, image, size) } else { memset(instance, 0, size) }
        if let initialize = type.pointee.`init` {
            var build = invivo_build(
                struct_size: MemoryLayout<invivo_build>.size, runtime: invivo_runtime(bits: runtime), key: invivo_key(bits: key),
                type: invivo_type(bits: type.pointee.handle))
            failed.status = initialize(instance, &build, nil, 0, type.pointee.user_data, &failed.error)
            if failed.status != 0 {
                Glibc.free(memory)
                ObjectTable.close(slot)
                return 0
            }
        }
        return ObjectTable.open(slot, record, owner: owner, leases: 1, hold: false)
    }

    // MARK: instance

    private func newRecord(_ type: ObjectType, instance: UnsafeMutableRawPointer?, key: UInt32?) throws(Failure) -> Record {
        let description = type.description
        let alignment = max(16, description.alignment)
        let offset = max(recordSize, (recordSize + alignment - 1) & ~(alignment - 1))
        let own = instance == nil && description.size > 0
        let bytes = own ? offset + description.size : recordSize
        var memory: UnsafeMutableRawPointer?
        if alignment > 16 && own {
            guard posix_memalign(&memory, alignment, bytes) == 0 else { throw Failure(.memory, "no memory for \(type.name)") }
        } else {
            memory = malloc(bytes)
        }
        guard let memory else { throw Failure(.memory, "no memory for an object of type '\(type.name)'") }
        memset(memory, 0, bytes)
        let record = memory.assumingMemoryBound(to: iv_record.self)
        record.pointee.type = type.raw
        record.pointee.instance = instance ?? (own ? memory + offset : nil)
                record.pointee.key = key.map { $0 &+ 1 } ?? 0
        // Until it becomes a shared instance or is attached, a confined object belongs to who makes it.
        // A domain that is not one thread has no thread to give it to.
        let isDomains = type.raw.pointee.thread == 0 || (type.domain?.isHere != nil && type.domain?.isCurrent == true)
        record.pointee.thread = isDomains ? type.raw.pointee.thread : currentThread().identity
        record.pointee.sequence = iv_add_u64(iv_live_sequence(), 1)
        return record
    }

    private func makeInstance(_ type: ObjectType, _ values: [Value], key: UInt32?, factory: Factory?) throws(Failure) -> Record {
        let description = type.description
        if type.isBlockOnly { return try newRecord(type, instance: nil, key: key) }
        let checked = factory == nil ? try description.checkArguments(values) : values
        var build = invivo_build(
            struct_size: MemoryLayout<invivo_build>.size, runtime: invivo_runtime(bits: handle),
            key: invivo_key(bits: key.map(keyHandle) ?? 0), type: invivo_type(bits: description.handleBits))
        if description.size > 0 {
            let record = try newRecord(type, instance: nil, key: key)
            guard let instance = record.pointee.instance else { return record }
            description.applyInitialValues(to: instance)
            do throws(Failure) {
                if let factory {
                    _ = try factory.run("the factory of '\(type.name)'", instance, &build, checked)
                } else {
                    try description.initialize(instance, &build, checked)
                }
            } catch {
                Self.free(record)
                throw error
            }
            return record
        }
        let instance: UnsafeMutableRawPointer
        if let factory {
            guard let made = try factory.run("the factory of '\(type.name)'", nil, &build, checked) else {
                throw Failure(.null, "the factory of '\(type.name)' answered success without an instance")
            }
            instance = made
        } else {
            instance = try description.make(&build, checked)
        }
        do throws(Failure) {
            return try newRecord(type, instance: instance, key: key)
        } catch {
            description.dispose(instance)
            throw error
        }
    }

    // MARK: injection

    /// The values for the initializer: what the definition injects, by name or position, then the runtime arguments.
    private func initializerValues(
        _ definition: Definition, _ arguments: [Value], _ chain: BuildChain, _ injected: inout [Value]
    ) throws(Failure) -> [Value] {
        guard !definition.initializer.isEmpty else { return arguments }
        let parameters = definition.type?.description.signature.parameters ?? []
        var byPosition: [Value?] = []
        for injection in definition.initializer {
            let value = try self.value(of: injection.source, chain)
            if !injection.source.references.isEmpty { injected.append(value) }
            if let name = injection.name {
                guard let index = parameters.firstIndex(where: { $0.name == name }) else {
                    throw Failure(
                        .arity,
                        "'\(definition.type?.name ?? "?")' has no initializer parameter '\(name)'"
                            + suggestion(for: name, among: parameters.map(\.name)), path: definition.key,
                        at: definition.place)
                }
                while byPosition.count <= index { byPosition.append(nil) }
                byPosition[index] = value
            } else if let gap = byPosition.firstIndex(where: { $0 == nil }) {
                byPosition[gap] = value
            } else {
                byPosition.append(value)
            }
        }
        var rest = arguments[...]
        for index in byPosition.indices where byPosition[index] == nil {
            if let next = rest.popFirst() { byPosition[index] = next }
        }
        return byPosition.map { $0 ?? .null } + rest
    }

    private func value(of source: Injection.Source, _ chain: BuildChain) throws(Failure) -> Value {
        switch source {
        case .list(let items):
            var values: [Value] = []
            for item in items { values.append(try value(of: item, chain)) }
            return .list(values)
        case .map(let pairs):
            var values: [(name: String, value: Value)] = []
            for pair in pairs { values.append((pair.name, try value(of: pair.source, chain))) }
            return .map(values)
        case .value(let value): return value
        case .reference(let key):
            let id = try monitor.locked { () throws(Failure) -> UInt32 in
                guard let id = keys.id(of: key) else { throw unknownKey(key, in: chain.graph) }
                return id
            }
            return .object(ObjectLease(owning: try resolve(id, arguments: [])))
        }
    }

    /// Sets the definition's properties (other than those of the block) and what takes effect at making.
    func inject(_ definition: Definition, into record: Record, _ chain: BuildChain, onlyReferences: Bool = false) throws(Failure) {
        guard let type = definition.type, let instance = record.pointee.instance else { return }
        for injection in definition.properties {
            if onlyReferences, case .value = injection.source { continue }
            guard let name = injection.name else { continue }
            let property = try type.description.property(named: name).property
            guard !property.isInBlock else { continue }
            let value = try self.value(of: injection.source, chain)
            try property.set(instance, try property.check(value))
            // The former one is let go only now that nothing points to it.
            if !injection.source.references.isEmpty { extra(record).injectedProperties[name] = value }
        }
        guard !onlyReferences else { return }
        for (index, value) in definition.base.sorted(by: { $0.key < $1.key }) {
            let property = type.description.properties[index]
            if !property.isInBlock { try property.set(instance, value) }
        }
        for (index, value) in (chain.graph.configuration(definition.id)?.atMaking ?? [:]).sorted(by: { $0.key < $1.key }) {
            let property = type.description.properties[index]
            if !property.isInBlock { try property.set(instance, value) }
        }
    }

    /// Sets anew the properties that refer to other keys, for a kept instance whose dependencies were remade.
    public func reinject(_ definition: Definition, into record: Record, _ chain: BuildChain) throws(Failure) {
        try building(chain) { () throws(Failure) in try inject(definition, into: record, chain, onlyReferences: true) }
    }

    // MARK: life

    public func extra(_ record: Record) -> ObjectExtra { Self.extra(of: record) }

    static func extra(of record: Record) -> ObjectExtra {
        if let extra = record.pointee.extra { return Unmanaged<ObjectExtra>.fromOpaque(extra).takeUnretainedValue() }
        let extra = ObjectExtra()
        record.pointee.extra = Unmanaged.passRetained(extra).toOpaque()
        return extra
    }

    private func start(_ record: Record) throws(Failure) {
        let description = Self.type(record).description
        let functions = description.functions
        guard functions.start != nil || functions.stop != nil, let instance = record.pointee.instance else { return }
        try description.start(instance)
        extra(record).isStarted = true
    }

    public static func type(_ record: Record) -> ObjectType {
        Unmanaged<ObjectType>.fromOpaque(record.pointee.type.pointee.owner).takeUnretainedValue()
    }

    /// After a deferred close: the object keeps its type alive.
    public static func keepType(of object: UInt64) {
        guard ObjectTable.retain(object), let record = ObjectTable.record(object) else { return }
        extra(of: record).keptType = type(record)
        _ = ObjectTable.release(object)
    }

    /// Called once when the last claim on an object is gone: disposes of it, in its domain.
    static func dispose(_ record: Record) {
        let type = record.pointee.type.unsafelyUnwrapped
        let thread = iv_thread()!
        // Most objects: nothing but memory and one function, and this thread may call it.
        if record.pointee.extra == nil, type.pointee.has_stop == 0,
            record.pointee.thread == 0 || record.pointee.thread == thread.pointee.id
                || record.pointee.thread != type.pointee.thread
        {
            if let end = type.pointee.end, let instance = record.pointee.instance {
                let formerEngine = thread.pointee.engine
                let formerChain = thread.pointee.chain
                thread.pointee.chain = nil
                thread.pointee.engine = type.pointee.container
                end(instance, type.pointee.user_data)
                thread.pointee.engine = formerEngine
                thread.pointee.chain = formerChain
            }
            let slot = record.pointee.slot
            Glibc.free(record)
            ObjectTable.close(slot)
            return
        }
        disposeSlowly(record)
    }

    @inline(never)
    private static func disposeSlowly(_ record: Record) {
        let type = type(record)
        let container = type.container
        // In a forked child its domain has no thread and the monitor may be held for ever: the memory is left alone.
        guard container.home.isHere else { return }
        // A prototype that changed hands is disposed of by whoever gives it back last.
        if let domain = type.domain, record.pointee.thread == type.raw.pointee.thread, !domain.isCurrent, !container.isDetached {
            nonisolated(unsafe) let record = record
            // A job that is given back leaves the object to close.
            let givenBack = { container.monitor.locked { container.undisposed.append(record) } }
            container.post(to: domain, onDrop: givenBack) { finish(record) }
            return
        }
        finish(record)
    }

    static func finish(_ record: Record) {
        let slot = record.pointee.slot
        destroy(record)
        ObjectTable.close(slot)
    }

    /// Stops and frees an instance and its record. Its slot, if it has one, is the caller's.
    static func destroy(_ record: Record) {
        let type = type(record)
        let description = type.description
        var extra: ObjectExtra?
        if let pointer = record.pointee.extra {
            extra = Unmanaged<ObjectExtra>.fromOpaque(pointer).takeRetainedValue()
            record.pointee.extra = nil
        }
        _ = type.container.callback { () -> Bool in
            for action in extra?.beforeDisposal ?? [] { action() }
            guard let instance = record.pointee.instance else { return true }
            if extra?.isStarted == true {
                do throws(Failure) { try description.stop(instance) } catch { type.container.log(.error, error.text) }
            }
            description.dispose(instance)
            return true
        }
        free(record)
        // What was injected goes last: its users are gone.
        withExtendedLifetime(extra) {}
    }

    private static func free(_ record: Record) {
        Glibc.free(record)
    }
}
