internal import CInvivo
internal import CPlatform
internal import Glibc
public import InvivoBase
public import InvivoGraph

/// What came of making an object.
struct Made {
    let object: UInt64
    let record: Record
    let dependencies: Set<UInt32>
    /// It was there before: somebody else made it, and says when it ends.
    let isForeign: Bool
    /// What was made, when something else takes its place.
    var undecorated: UInt64 = 0
}

private let recordSize = (MemoryLayout<iv_record>.size + 15) & ~15

extension Container {
    /// Makes an object from its recipe: arguments, instance, injection, hooks, configuration, start. One lease is the
    /// caller's. Nil when what makes it answers null. Whatever fails, what was made until then is taken back.
    func make(_ recipe: Recipe, _ arguments: [Value], _ chain: BuildChain, cell: Cell?) throws(Failure) -> Made? {
        // What reloads follow belongs to the domain of its type.
        if recipe.isTracked { try checkDomain(recipe.definition, chain) }
        let index = chain.frames.count
        let mark = chain.mark
        chain.frames.append(
            BuildChain.Frame(recipe: recipe, arguments: arguments, cell: cell, mark: mark.made, low: index))
        do throws(Failure) {
            let made = try makeInFrame(recipe, arguments, chain, index, cell)
            let frame = chain.frames.removeLast()
            finish(frame, at: index, made, chain)
            return made
        } catch {
            let failed = chain.frames.removeLast()
            takeBack(chain, to: mark)
            if failed.object != 0 { _ = ObjectTable.release(failed.object) }
            throw located(error, recipe.definition, chain)
        }
    }

    private func makeInFrame(
        _ recipe: Recipe, _ arguments: [Value], _ chain: BuildChain, _ index: Int, _ cell: Cell?
    ) throws(Failure) -> Made? {
        guard let object = try instance(recipe, arguments, chain, index), let record = ObjectTable.record(object) else {
            // What waited for it gets what everybody gets.
            chain.frames[index].isNull = true
            try runDeferred(chain, index)
            return nil
        }
        chain.frames[index].object = object
        chain.frames[index].record = record
        if case .constant = recipe.maker {
            return Made(object: object, record: record, dependencies: [], isForeign: true)
        }
        if cell != nil { countFirstReferences(record) }
        if recipe.isInCircle || chain.frames[index].low < index || leadsBack(arguments, record) {
            markCircle(object, record)
        }
        // What waited for this instance to exist; or waits until it is decorated.
        chain.frames[index].awaitsDecoration = !recipe.decorators.isEmpty
        if recipe.decorators.isEmpty { try runDeferred(chain, index) }
        try inject(recipe, arguments, into: record, object, chain, index)
        try chain.graph.configuration(recipe.id)?.configure(record)
        expectStart(of: object, record, recipe, chain, index)
        if recipe.isTracked { track(object, record, recipe, arguments, chain) }
        if !recipe.afterAll.isEmpty || recipe.type?.description.functions.hearsOfCompletion == true {
            _ = ObjectTable.leaseKnownAlive(object)
            chain.completed.append(
                (recipe, arguments, ObjectLease(owning: object), asker(of: index, chain)))
            // Not complete, and nobody else's, before its last hooks have run.
            chain.frames[index].low = 0
        }
        // Complete: what it got came before it.
        if !recipe.takesForeignObjects { iv_record_set_order(record, iv_add_u64(iv_live_sequence(), 1)) }
        let final = try decorate(recipe, object, record, chain, index)
        if final.object != object {
            chain.startsOf[final.object] = chain.startsOf[object]
            if cell != nil { countFirstReferences(final.record) }
        }
        // What a step injects too is followed more closely here: the constructor may have used what it resolved.
        let named = Set(recipe.initializing)
        let found = Set(chain.frames[index].dependencies).subtracting(named)
        return Made(
            object: final.object, record: final.record, dependencies: found,
            isForeign: recipe.takesForeignObjects || final.object != object,
            undecorated: final.object == object ? 0 : object)
    }

    /// The steps of others that waited for the object of a frame.
    func runDeferred(_ chain: BuildChain, _ index: Int) throws(Failure) {
        let deferred = chain.frames[index].deferred
        chain.frames[index].deferred = []
        for step in deferred { try run(step, chain) }
    }

    /// An error gets the key that was being made, and where it is declared, when it has none of its own; and once, where
    /// it began, who needed that, up to the outermost resolve.
    func located(_ failure: Failure, _ definition: Definition, _ chain: BuildChain) -> Failure {
        var located = failure
        if located.path.isEmpty { located.path = definition.key }
        if located.place.file.isEmpty { located.place = definition.place }
        if !located.isChained && located.code != .cycle && !chain.frames.isEmpty {
            located.isChained = true
            let needs = chain.frames.suffix(Self.mostNeeds).reversed().map { frame in
                let place = frame.recipe.definition.place
                let line = place.line > 0 ? ":\(place.line)" : ""
                return "'\(frame.recipe.key)'" + (place.file.isEmpty ? "" : " (\(place.file)\(line))")
            }
            located.message +=
                "; needed by " + needs.joined(separator: ", by ")
                + (chain.frames.count > Self.mostNeeds ? ", ..." : "")
        }
        return located
    }

    /// How many links of a chain an error names.
    private static let mostNeeds = 16

    // MARK: instance

    /// The instance with its handle; one lease is the caller's.
    private func instance(_ recipe: Recipe, _ arguments: [Value], _ chain: BuildChain, _ index: Int) throws(Failure)
        -> UInt64?
    {
        let definition = recipe.definition
        if let entries = definition.body.each {
            throw Failure(
                .abstract,
                "there is one of it for each entry of the configuration '\(entries)': ask for '\(recipe.key)[name]'",
                path: recipe.key, at: definition.place)
        }
        if case .abstract = recipe.maker {
            throw Failure(
                .abstract,
                "the definition is abstract: type '\(recipe.type?.name ?? "none")', key '\(recipe.key)', scope \(recipe.scope.name); "
                    + "define a child of it", path: recipe.key, at: definition.place)
        }
        if recipe.isAbstract {
            throw Failure(
                .abstract, "the definition is abstract: key '\(recipe.key)', scope \(recipe.scope.name)",
                path: recipe.key, at: definition.place)
        }
        guard let type = recipe.type else {
            throw Failure(.internalFault, "there is nothing to make", path: recipe.key)
        }
        if case .constant(let lease) = recipe.maker {
            guard ObjectTable.retain(lease.bits) else { throw Failure(.stale, "the object is gone", path: recipe.key) }
            return lease.bits
        }
        if case .method(let source, let name) = recipe.maker {
            return try instance(recipe, arguments, chain, source, name, type)
        }
        var injected: [Value] = []
        var given: UInt64 = 0
        let values = try initializerValues(recipe, arguments, chain, &injected, &given)
        var factory: Factory?
        if case .factory(let given) = recipe.maker { factory = given }
        let asker = asker(of: index, chain)?.id
        let made: Record?
        do throws(Failure) {
            made = try makeInstance(
                type, values, given: given, key: recipe.id, factory: factory, asker: asker,
                isShared: recipe.scope.isShared, isNullable: definition.body.flags.contains(.nullable),
                edges: Self.plainLeases(injected))
        } catch { throw configured(error, recipe.slots.map(\.source), chain) }
        guard let record = made else { return nil }
        if !injected.isEmpty { hold(injected, record) }
        return try opened(record)
    }

    /// An error of host code that got values of the configuration names them, with their places: one may be the cause.
    func configured(_ failure: Failure, _ sources: [Recipe.Source], _ chain: BuildChain) -> Failure {
        guard !failure.isChained else { return failure }
        var found: [String] = []
        func look(_ source: Recipe.Source) {
            switch source {
            case .config(let ids, _):
                guard let id = ids.last, let value = chain.graph.setting(id) else { return }
                let path = monitor.locked { keys.configPath(id).map { String(cString: $0) } } ?? ""
                let place = value.node.place.text
                found.append("config.\(path)" + (place.isEmpty ? "" : " (\(place))"))
            case .list, .set, .map: source.parts.forEach(look)
            default: break
            }
        }
        sources.forEach(look)
        guard !found.isEmpty else { return failure }
        var configured = failure
        configured.message +=
            "; configured by " + found.prefix(Self.mostNeeds).joined(separator: ", ")
            + (found.count > Self.mostNeeds ? ", ..." : "")
        return configured
    }

    /// The instance is what a method of another object answers.
    private func instance(
        _ recipe: Recipe, _ arguments: [Value], _ chain: BuildChain, _ source: Recipe.Source, _ name: String,
        _ type: ObjectType
    ) throws(Failure) -> UInt64? {
        guard case .object(let maker) = try value(of: source, recipe, arguments, chain),
            let record = ObjectTable.record(maker.bits),
            let instance = record.pointee.instance
        else {
            throw Failure(
                .null, "there is no object whose method '\(name)' makes it", path: recipe.key,
                at: recipe.definition.place)
        }
        var values: [Value] = []
        for slot in recipe.slots { values.append(try value(of: slot.source, recipe, arguments, chain)) }
        let method = try Self.type(record).description.method(named: name)
        let begun = iv_load_u64(iv_live_sequence())
        let answer = try method.call(instance, values)
        if answer.isNull && recipe.definition.body.flags.contains(.nullable) { return nil }
        guard case .object(let lease) = answer else {
            throw Failure(
                .type,
                "the method '\(name)' of '\(Self.type(record).name)' answered \(answer.withKind) where a '\(type.name)' is needed"
            )
        }
        if let made = lease.type, !made.isKind(of: type.name) {
            throw Failure(
                .type,
                "the method '\(name)' of '\(Self.type(record).name)' answered a '\(made.name)' where a '\(type.name)' is needed"
            )
        }
        // An object that existed before does not depend on the object that returned it.
        if let made = ObjectTable.record(lease.bits), isFresh(made, since: begun) {
            let extra = extra(made)
            monitor.locked { extra.injected.insert(.object(maker), at: 0) }
        }
        guard ObjectTable.retain(lease.bits) else { throw Failure(.stale, "the object is gone") }
        return lease.bits
    }

    /// An object without a definition.
    public func makeObject(_ type: ObjectType, _ arguments: [Value]) throws(Failure) -> UInt64 {
        let build = try beginBuild()
        defer { Readers.endBuild(build) }
        let chain = chainForWaiting()
        return try building(chain) { () throws(Failure) -> UInt64 in
            guard
                let record = try makeInstance(
                    type, arguments, given: Self.allGiven(arguments.count), key: nil, factory: nil)
            else { return 0 }
            let object = try opened(record)
            do throws(Failure) {
                try fillNeeds(of: type, in: object, record)
                try startNow(record)
            } catch {
                _ = ObjectTable.release(object)
                throw error
            }
            return object
        }
    }

    /// A handle for an instance of the host's.
    public func wrap(_ type: ObjectType, _ instance: UnsafeMutableRawPointer, key: UInt32? = nil) throws(Failure)
        -> UInt64
    {
        let build = try beginBuild()
        defer { Readers.endBuild(build) }
        return try opened(try newRecord(type, instance: instance, key: key))
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
        failed: inout FastFailure
    ) -> UInt64 {
        defer { Readers.endBuild(reader) }
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
                thread: type.pointee.thread == 0 ? 0 : iv_thread()!.identity, slot: slot,
                key: UInt32(truncatingIfNeeded: key) &+ 1))
        if let image = type.pointee.image { memcpy(instance, image, size) } else { memset(instance, 0, size) }
        if let initialize = type.pointee.`init` {
            var build = invivo_build(
                struct_size: MemoryLayout<invivo_build>.size, runtime: invivo_runtime(bits: runtime),
                key: invivo_key(bits: key),
                type: invivo_type(bits: type.pointee.handle), asker: invivo_key(), given: 0, flags: 0, reserved: 0)
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

    /// How many objects these are, when they are nothing else: each is then one word of the record.
    private static func plainLeases(_ values: [Value]) -> Int {
        guard values.count <= Int(UInt16.max) else { return 0 }
        return values.allSatisfy { if case .object = $0 { true } else { false } } ? values.count : 0
    }

    /// What went into the initializer of a record that was made with room for it, or else into its table.
    func hold(_ injected: [Value], _ record: Record) {
        guard Self.plainLeases(injected) > 0, let edges = iv_record_edges(record, record.pointee.type.pointee.size)
        else { return keep(injected, record) }
        for (place, value) in injected.enumerated() {
            guard case .object(let lease) = value, ObjectTable.retain(lease.bits) else {
                for former in 0..<place { _ = ObjectTable.release(edges[former]) }
                return keep(injected, record)
            }
            edges[place] = lease.bits
        }
        iv_record_set_edge_count(record, UInt32(injected.count))
    }

    private func keep(_ injected: [Value], _ record: Record) {
        let extra = extra(record)
        extra.injected = injected
        guard injected.contains(where: \.holdsLate) else { return }
        monitor.locked { for value in injected { exchangeLate(in: nil, value, extra) } }
    }

    /// With room for `edges` leases.
    private func newRecord(
        _ type: ObjectType, instance: UnsafeMutableRawPointer?, key: UInt32?, edges: Int = 0
    ) throws(Failure) -> Record {
        let description = type.description
        let alignment = max(16, description.alignment)
        let offset = max(recordSize, (recordSize + alignment - 1) & ~(alignment - 1))
        let own = instance == nil && description.size > 0
        let room = edges * MemoryLayout<UInt64>.stride
        let bytes =
            own ? offset + (description.size + (room > 0 ? 7 & -description.size : 0)) + room : recordSize + room
        var memory: UnsafeMutableRawPointer?
        if alignment > 16 && own {
            guard posix_memalign(&memory, alignment, bytes) == 0 else {
                throw Failure(.memory, "no memory for \(type.name)")
            }
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

    /// Nil when a factory that may answers none.
    private func makeInstance(
        _ type: ObjectType, _ values: [Value], given: UInt64, key: UInt32?, factory: Factory?, asker: UInt32? = nil,
        isShared: Bool = false, isNullable: Bool = false, edges: Int = 0
    ) throws(Failure) -> Record? {
        let description = type.description
        if type.isBlockOnly { return try newRecord(type, instance: nil, key: key, edges: edges) }
        let checked = factory == nil ? try description.checkArguments(values) : values
        var build = invivo_build(
            struct_size: MemoryLayout<invivo_build>.size, runtime: invivo_runtime(bits: handle),
            key: invivo_key(bits: key.map(keyHandle) ?? 0), type: invivo_type(bits: description.handleBits),
            asker: invivo_key(bits: asker.map(keyHandle) ?? 0), given: given,
            flags: isShared ? UInt32(INVIVO_BUILD_SHARED) : 0, reserved: 0)
        if description.size > 0 {
            let record = try newRecord(type, instance: nil, key: key, edges: edges)
            guard let instance = record.pointee.instance else { return record }
            description.applyInitialValues(to: instance)
            do throws(Failure) {
                if let factory {
                    if try factory.run("the factory of '\(type.name)'", instance, &build, checked) == nil {
                        guard isNullable else { throw noInstance(type) }
                        Self.freeMemory(of: record)
                        return nil
                    }
                } else {
                    try description.initialize(instance, &build, checked)
                }
            } catch {
                Self.freeMemory(of: record)
                throw error
            }
            return record
        }
        let instance: UnsafeMutableRawPointer
        if let factory {
            guard let made = try factory.run("the factory of '\(type.name)'", nil, &build, checked) else {
                if isNullable { return nil }
                throw noInstance(type)
            }
            instance = made
        } else {
            instance = try description.make(&build, checked)
        }
        do throws(Failure) {
            return try newRecord(type, instance: instance, key: key, edges: edges)
        } catch {
            description.dispose(instance)
            throw error
        }
    }

    private func noInstance(_ type: ObjectType) -> Failure {
        Failure(
            .null,
            "the factory of '\(type.name)' answered success without an instance; flag the definition as nullable if it may"
        )
    }
}
