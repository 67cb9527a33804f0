internal import CInvivo
internal import CPlatform
internal import Glibc
public import InvivoBase

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
        let index = chain.frames.count
        let mark = chain.mark
        chain.frames.append(
            BuildChain.Frame(recipe: recipe, arguments: arguments, cell: cell, mark: mark.made, low: index))
        do throws(Failure) {
            let made = try makeInFrame(recipe, arguments, chain, index)
            let frame = chain.frames.removeLast()
            if let made { finish(frame, at: index, made, chain) }
            return made
        } catch {
            let failed = chain.frames.removeLast()
            takeBack(chain, to: mark)
            if failed.object != 0 { _ = ObjectTable.release(failed.object) }
            throw located(error, recipe.definition, chain)
        }
    }

    private func makeInFrame(_ recipe: Recipe, _ arguments: [Value], _ chain: BuildChain, _ index: Int) throws(Failure)
        -> Made?
    {
        guard let object = try instance(recipe, arguments, chain, index), let record = ObjectTable.record(object) else {
            return nil
        }
        chain.frames[index].object = object
        chain.frames[index].record = record
        if case .constant = recipe.maker {
            return Made(object: object, record: record, dependencies: [], isForeign: true)
        }
        if recipe.isInCircle || chain.frames[index].low < index { markCircle(object, record) }
        // What waited for this instance to exist; or waits until it is decorated.
        chain.frames[index].awaitsDecoration = !recipe.decorators.isEmpty
        if recipe.decorators.isEmpty { try runDeferred(chain, index) }
        try inject(recipe, arguments, into: record, object, chain, index)
        try chain.graph.configuration(recipe.id)?.configure(record)
        expectStart(of: object, record, recipe, chain, index)
        if recipe.isTracked { track(object, record, recipe, chain) }
        if !recipe.afterAll.isEmpty || recipe.type?.description.functions.didInject != nil {
            _ = ObjectTable.leaseKnownAlive(object)
            chain.completed.append((recipe, arguments, ObjectLease(owning: object)))
            // Not complete, and nobody else's, before its last hooks have run.
            chain.frames[index].low = 0
        }
        // Complete: what it got came before it.
        if !recipe.takesForeignObjects { record.pointee.sequence = iv_add_u64(iv_live_sequence(), 1) }
        let final = try decorate(recipe, object, record, chain, index)
        if final.object != object { chain.startsOf[final.object] = chain.startsOf[object] }
        let named = Set(recipe.edges.map(\.id))
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
    private func located(_ failure: Failure, _ definition: Definition, _ chain: BuildChain) -> Failure {
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
        let values = try initializerValues(recipe, arguments, chain, &injected)
        var factory: Factory?
        if case .factory(let given) = recipe.maker { factory = given }
        let asker = asker(of: index, chain)?.id
        guard
            let record = try makeInstance(
                type, values, key: recipe.id, factory: factory, asker: asker,
                isNullable: definition.body.flags.contains(.nullable))
        else { return nil }
        if !injected.isEmpty { extra(record).injected = injected }
        return try opened(record)
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
        if recipe.definition.body.parameters == nil { values += arguments }
        let method = try Self.type(record).description.method(named: name)
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
        if let made = ObjectTable.record(lease.bits) {
            let extra = extra(made)
            monitor.locked { extra.injected.append(.object(maker)) }
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
            guard let record = try makeInstance(type, arguments, key: nil, factory: nil) else { return 0 }
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
                type: invivo_type(bits: type.pointee.handle), asker: invivo_key())
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

    private func newRecord(_ type: ObjectType, instance: UnsafeMutableRawPointer?, key: UInt32?) throws(Failure)
        -> Record
    {
        let description = type.description
        let alignment = max(16, description.alignment)
        let offset = max(recordSize, (recordSize + alignment - 1) & ~(alignment - 1))
        let own = instance == nil && description.size > 0
        let bytes = own ? offset + description.size : recordSize
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
        _ type: ObjectType, _ values: [Value], key: UInt32?, factory: Factory?, asker: UInt32? = nil,
        isNullable: Bool = false
    ) throws(Failure) -> Record? {
        let description = type.description
        if type.isBlockOnly { return try newRecord(type, instance: nil, key: key) }
        let checked = factory == nil ? try description.checkArguments(values) : values
        var build = invivo_build(
            struct_size: MemoryLayout<invivo_build>.size, runtime: invivo_runtime(bits: handle),
            key: invivo_key(bits: key.map(keyHandle) ?? 0), type: invivo_type(bits: description.handleBits),
            asker: invivo_key(bits: asker.map(keyHandle) ?? 0))
        if description.size > 0 {
            let record = try newRecord(type, instance: nil, key: key)
            guard let instance = record.pointee.instance else { return record }
            description.applyInitialValues(to: instance)
            do throws(Failure) {
                if let factory {
                    if try factory.run("the factory of '\(type.name)'", instance, &build, checked) == nil {
                        guard isNullable else { throw noInstance(type) }
                        Self.free(record)
                        return nil
                    }
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
                if isNullable { return nil }
                throw noInstance(type)
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

    private func noInstance(_ type: ObjectType) -> Failure {
        Failure(
            .null,
            "the factory of '\(type.name)' answered success without an instance; flag the definition as nullable if it may"
        )
    }

    // MARK: injection

    /// The values for the initializer: what the recipe injects, each in its place, then the runtime arguments in the gaps
    /// and at the end (unless the definition declares them: then it says itself where they go).
    private func initializerValues(
        _ recipe: Recipe, _ arguments: [Value], _ chain: BuildChain, _ injected: inout [Value]
    ) throws(Failure) -> [Value] {
        guard !recipe.slots.isEmpty else { return recipe.definition.body.parameters == nil ? arguments : [] }
        var values: [Value?] = []
        for slot in recipe.slots {
            let value = try value(of: slot.source, recipe, arguments, chain)
            if value.isNull, let parameter = slot.parameter, !parameter.isOptional,
                case .object(let id, _, let isOptional) = slot.source, !isOptional
            {
                throw nothing(id, "the initializer parameter '\(parameter.name)'", recipe)
            }
            if value.holdsReference { injected.append(value) }
            while values.count <= slot.position { values.append(nil) }
            values[slot.position] = value
        }
        guard recipe.definition.body.parameters == nil else { return values.map { $0 ?? .null } }
        var rest = arguments[...]
        for index in values.indices where values[index] == nil {
            if let next = rest.popFirst() { values[index] = next }
        }
        return values.map { $0 ?? .null } + rest
    }

    /// The error for a place that must have something and got null.
    private func nothing(_ id: UInt32, _ place: String, _ recipe: Recipe) -> Failure {
        Failure(
            .null,
            "\(place) of '\(recipe.key)' needs '\(keyName(id))', and what makes that answered null; make the place optional",
            path: recipe.key, at: recipe.definition.place)
    }

    func value(of source: Recipe.Source, _ recipe: Recipe, _ arguments: [Value], _ chain: BuildChain) throws(Failure)
        -> Value
    {
        switch source {
        case .value(let value): return value.holdsReference ? try value.leasedAnew() : value
        case .object(let id, let sources, _):
            let given = try values(of: sources, recipe, arguments, chain)
            let object = try resolve(id, given, chain)
            return object == 0 ? .null : .object(ObjectLease(owning: object))
        case .all(let ids):
            var found: [Value] = []
            for id in ids {
                let object = try resolve(id, [], chain)
                if object != 0 { found.append(.object(ObjectLease(owning: object))) }
            }
            return .list(found)
        case .argument(let index):
            guard index < arguments.count else { return .null }
            return arguments[index].holdsReference ? try arguments[index].leasedAnew() : arguments[index]
        case .arguments:
            let all = Value.list(arguments)
            return all.holdsReference ? try all.leasedAnew() : all
        case .path(let object, let path, let isOptional):
            return try follow(path, from: try value(of: object, recipe, arguments, chain), isOptional, recipe)
        case .list(let items): return .list(try values(of: items, recipe, arguments, chain))
        case .set(let items):
            var distinct: [Value] = []
            for value in try values(of: items, recipe, arguments, chain)
            where !distinct.contains(where: { $0.isSame(as: value) }) {
                distinct.append(value)
            }
            return .list(distinct)
        case .map(let pairs):
            var values: [(name: String, value: Value)] = []
            for pair in pairs { values.append((pair.name, try value(of: pair.source, recipe, arguments, chain))) }
            return .map(values)
        case .provider(let id, let sources, let isLazy):
            guard let id else { return .null }
            return .callable(provider(id, try values(of: sources, recipe, arguments, chain), isLazy: isLazy))
        case .config(_, let source): return try value(of: source, recipe, arguments, chain)
        case .setting(let setting): return .callable(callable(for: setting))
        case .resolver: return .callable(resolver())
        case .asker:
            return asker(of: chain.frames.count - 1, chain).map { .string($0.key) } ?? .null
        }
    }

    private func values(of sources: [Recipe.Source], _ recipe: Recipe, _ arguments: [Value], _ chain: BuildChain)
        throws(Failure) -> [Value]
    {
        var values: [Value] = []
        values.reserveCapacity(sources.count)
        for source in sources { values.append(try value(of: source, recipe, arguments, chain)) }
        return values
    }

    /// The property at a path of an object, as "theme.name" of settings.
    private func follow(_ path: [String], from start: Value, _ isOptional: Bool, _ recipe: Recipe) throws(Failure)
        -> Value
    {
        var value = start
        for (index, name) in path.enumerated() {
            if value.isNull && isOptional { return .null }
            if case .map(let pairs) = value, let found = pairs.first(where: { $0.name == name })?.value {
                value = found
                continue
            }
            guard case .object(let lease) = value, let record = ObjectTable.record(lease.bits),
                let instance = record.pointee.instance
            else {
                let whole = path[...index].joined(separator: ".")
                throw Failure(
                    .null, "'\(whole)' cannot be read: \(value.withKind) has no properties", path: recipe.key,
                    at: recipe.definition.place)
            }
            let type = Self.type(record)
            try checkDomain(type, recipe)
            value = try type.description.property(named: name).property.get(instance)
        }
        return value
    }

    private func checkDomain(_ type: ObjectType, _ recipe: Recipe) throws(Failure) {
        guard let domain = type.domain, !domain.isCurrent else { return }
        throw Failure(
            .domain,
            "an object of the confined type '\(type.name)' belongs to the domain '\(domain.name)' and cannot be read on this thread",
            path: recipe.key, at: recipe.definition.place)
    }

    // MARK: injection

    /// Everything that goes into an instance that exists, in the order that wiring.h states.
    private func inject(
        _ recipe: Recipe, _ arguments: [Value], into record: Record, _ object: UInt64, _ chain: BuildChain, _ index: Int
    ) throws(Failure) {
        guard let type = recipe.type, let instance = record.pointee.instance else { return }
        try type.description.willInject(instance)
        for (place, step) in recipe.before.enumerated() {
            try run(step, "before\(place)", recipe, arguments, record, object, chain, index)
        }
        var methods = false
        for (place, step) in recipe.steps.enumerated().dropFirst(skippedNeeds(recipe, record)) {
            if case .method = step, !methods {
                methods = true
                try setBase(recipe, record, chain)
            }
            try run(step, "step\(place)", recipe, arguments, record, object, chain, index)
        }
        if !methods { try setBase(recipe, record, chain) }
        if let injector = recipe.definition.body.inject {
            var build = invivo_build(
                struct_size: MemoryLayout<invivo_build>.size, runtime: invivo_runtime(bits: handle),
                key: invivo_key(bits: keyHandle(recipe.id)), type: invivo_type(bits: type.description.handleBits),
                asker: invivo_key(bits: asker(of: index, chain).map { keyHandle($0.id) } ?? 0))
            try injector.run(recipe.key, instance, &build, arguments)
        }
        for (place, step) in recipe.after.enumerated() {
            try run(step, "after\(place)", recipe, arguments, record, object, chain, index)
        }
    }

    /// Runs one step; when it needs an object further up whose initializer has not returned, it waits for that.
    private func run(
        _ step: Recipe.Step, _ name: String, _ recipe: Recipe, _ arguments: [Value], _ record: Record, _ object: UInt64,
        _ chain: BuildChain, _ index: Int
    ) throws(Failure) {
        chain.later = nil
        let mark = chain.mark
        do throws(Failure) {
            try apply(step, name, recipe, arguments, record, chain)
        } catch {
            guard error.code == .cycle, let later = chain.later, later < index || chain.isOwnReference(index) else {
                throw error
            }
            chain.later = nil
            // It will be taken from its beginning.
            takeBack(chain, to: mark)
            chain.deferrals += 1
            chain.frames[later].deferred.append(
                BuildChain.Deferred(
                    recipe: recipe, arguments: arguments, lease: try ObjectLease.retaining(object), step: step,
                    name: name, askedBy: asker(of: index, chain), number: chain.deferrals))
            chain.hold(to: later)
        }
    }

    /// The instance that it waited for is there: the step is taken as if its object were made just now.
    private func run(_ deferred: BuildChain.Deferred, _ chain: BuildChain) throws(Failure) {
        guard let record = ObjectTable.record(deferred.lease.bits) else { return }
        let index = chain.frames.count
        var frame = BuildChain.Frame(
            recipe: deferred.recipe, arguments: deferred.arguments, cell: nil, mark: chain.made.count, low: index)
        frame.object = deferred.lease.bits
        frame.askedBy = deferred.askedBy
        frame.record = record
        chain.frames.append(frame)
        defer {
            let ended = chain.frames.removeLast()
            chain.frames[index - 1].low = min(chain.frames[index - 1].low, ended.low)
        }
        try apply(deferred.step, deferred.name, deferred.recipe, deferred.arguments, record, chain)
    }

    private func apply(
        _ step: Recipe.Step, _ name: String, _ recipe: Recipe, _ arguments: [Value], _ record: Record,
        _ chain: BuildChain
    ) throws(Failure) {
        guard let type = recipe.type, let instance = record.pointee.instance else { return }
        let kept: Value
        switch step {
        case .candidates(let property, let ids, let added, let removed):
            return try follow(
                Candidates(property: property, ids: ids, added: added, removed: removed), name, recipe, record, chain)
        case .property(let index, let source):
            let property = type.description.properties[index]
            if case .value(let value) = source {
                try property.set(instance, value)
                return letGo(of: name, record)
            }
            let value = try value(of: source, recipe, arguments, chain)
            if value.isNull, case .object(let id, _, false) = source {
                throw nothing(id, "the property '\(property.name)'", recipe)
            }
            try property.set(instance, try property.check(value))
            kept = value
        case .method(let index, let sources):
            let method = type.description.methods[index]
            let values = try values(of: sources, recipe, arguments, chain)
            for (place, value) in values.enumerated() where value.isNull {
                if case .object(let id, _, false) = sources[place], !method.signature.parameters[place].isOptional {
                    throw nothing(
                        id, "the argument '\(method.signature.parameters[place].name)' of '\(method.name)'", recipe)
                }
            }
            _ = try method.call(instance, values)
            kept = .list(values)
        }
        let remembered = kept.holdsReference || step.sources.contains { $0.names(nil) } ? kept : nil
        remember(remembered, name, record)
    }

    /// What a step injected: held as long as its object, and put back when a reload that injected something else fails.
    private func remember(_ value: Value?, _ name: String, _ record: Record) {
        guard value != nil || record.pointee.extra != nil else { return }
        let extra = extra(record)
        let former = monitor.locked { () -> Value? in
            defer { extra.injectedProperties[name] = value }
            return extra.injectedProperties[name]
        }
        // The former one is let go only now that nothing points to it.
        withExtendedLifetime(former) {}
    }

    /// What a step injected before, when it injects nothing now.
    private func letGo(of name: String, _ record: Record) {
        guard let pointer = iv_load_pointer(iv_record_extra(record)) else { return }
        let extra = Unmanaged<ObjectExtra>.fromOpaque(pointer).takeUnretainedValue()
        let former = monitor.locked { extra.injectedProperties.removeValue(forKey: name) }
        withExtendedLifetime(former) {}
    }

    /// Base values set by change sets, and what documents say that takes effect at making.
    private func setBase(_ recipe: Recipe, _ record: Record, _ chain: BuildChain) throws(Failure) {
        guard let type = recipe.type, let instance = record.pointee.instance else { return }
        for (index, value) in recipe.definition.base.sorted(by: { $0.key < $1.key }) {
            let property = type.description.properties[index]
            if !property.isInBlock { try property.set(instance, value) }
        }
        for (index, value) in (chain.graph.configuration(recipe.id)?.atMaking ?? [:]).sorted(by: { $0.key < $1.key }) {
            let property = type.description.properties[index]
            if !property.isInBlock { try property.set(instance, value) }
        }
    }

    /// Takes the steps anew that refer to one of `changed` (nil: to anything), for a kept instance whose dependencies were
    /// remade or bound anew. Before each, `noting` gets what puts the former value back, without making anything.
    public func reinject(
        _ recipe: Recipe, after former: Recipe, into object: UInt64, _ arguments: [Value], _ chain: BuildChain,
        changed: Set<UInt32>?, noting: (@escaping () throws(Failure) -> Void) -> Void
    ) throws(Failure) {
        guard let record = ObjectTable.record(object) else { return }
        if recipe.isInCircle { markCircle(object, record) }
        try building(chain) { () throws(Failure) in
            try whole { (chain) throws(Failure) in
                var frame = BuildChain.Frame(
                    recipe: recipe, arguments: arguments, cell: nil, mark: chain.made.count, low: chain.frames.count)
                frame.object = object
                frame.record = record
                chain.frames.append(frame)
                defer { chain.frames.removeLast() }
                let own = recipe.steps.enumerated().dropFirst(skippedNeeds(recipe, record, again: true))
                for (place, step) in own
                where step.sources.contains(where: { $0.names(changed) })
                    || changed == nil && place < former.steps.count
                        && former.steps[place].sources.contains(where: { $0.names(nil) })
                {
                    // An object of a shared type is told of candidates, and nothing else is done to it.
                    if recipe.type?.domain == nil {
                        guard case .candidates = step else { continue }
                    }
                    let name = "step\(place)"
                    let kept = monitor.locked { extra(record).injectedProperties[name] }
                    let before = place < former.steps.count ? former.steps[place] : step
                    noting { () throws(Failure) in try self.restore(kept, before, name, recipe, record) }
                    try apply(step, name, recipe, arguments, record, chain)
                }
            }
        }
    }

    /// Puts back what a step had injected; nil where that were constants, which it says itself.
    private func restore(_ kept: Value?, _ step: Recipe.Step, _ name: String, _ recipe: Recipe, _ record: Record)
        throws(Failure)
    {
        guard let type = recipe.type, let instance = record.pointee.instance else { return }
        let value = kept ?? step.constant
        switch step {
        case .property(let index, _): try type.description.properties[index].set(instance, value)
        case .candidates:
            // Its holder hears of what goes again; the current graph is still the one that stays.
            let chain = BuildChain(graph: currentGraph(), isReload: true)
            return try building(chain) { () throws(Failure) in
                try whole { (chain) throws(Failure) in try apply(step, name, recipe, [], record, chain) }
            }
        case .method(let index, _):
            guard case .list(let arguments) = value else { return }
            _ = try type.description.methods[index].call(instance, arguments)
        }
        remember(kept, name, record)
    }

    /// Injection and hooks for an object that the host made; with a cell, whose shared instance it becomes, what documents say
    /// too. Who walks a tree says itself when the object `completes`.
    func injectHostObject(
        _ recipe: Recipe, _ object: UInt64, _ record: Record, _ chain: BuildChain, cell: Cell? = nil,
        completes: Bool = true
    ) throws(Failure) {
        let index = chain.frames.count
        let mark = chain.mark
        var frame = BuildChain.Frame(recipe: recipe, arguments: [], cell: cell, mark: mark.made, low: index)
        frame.object = object
        frame.record = record
        chain.frames.append(frame)
        do throws(Failure) {
            if recipe.isInCircle { markCircle(object, record) }
            try inject(recipe, [], into: record, object, chain, index)
            if cell != nil { try chain.graph.configuration(recipe.id)?.configure(record) }
            if completes { try awaitCompletion(recipe, [], object, chain) }
        } catch {
            chain.frames.removeLast()
            takeBack(chain, to: mark)
            throw located(error, recipe.definition, chain)
        }
        let ended = chain.frames.removeLast()
        guard cell != nil else { return }
        finish(
            ended, at: index,
            Made(object: object, record: record, dependencies: Set(ended.dependencies), isForeign: true), chain)
    }

    /// The object's last hooks run when everything is complete.
    func awaitCompletion(_ recipe: Recipe, _ arguments: [Value], _ object: UInt64, _ chain: BuildChain) throws(Failure)
    {
        guard !recipe.afterAll.isEmpty || recipe.type?.description.functions.didInject != nil else { return }
        chain.completed.append((recipe, arguments, try ObjectLease.retaining(object)))
    }

    /// The hooks of one object for the moment when the whole graph is there.
    func afterAll(_ recipe: Recipe, _ arguments: [Value], _ lease: ObjectLease, _ chain: BuildChain) throws(Failure) {
        guard let type = recipe.type, let record = ObjectTable.record(lease.bits),
            let instance = record.pointee.instance
        else { return }
        let hooks = BuildChain(graph: chain.graph, isReload: chain.isReload, parent: chain)
        do throws(Failure) {
            try building(hooks) { () throws(Failure) in
                for (place, step) in recipe.afterAll.enumerated() {
                    // What its arguments resolve is one graph of its own.
                    try whole { (chain) throws(Failure) in
                        try apply(step, "afterAll\(place)", recipe, arguments, record, chain)
                    }
                }
                try type.description.didInject(instance)
            }
        } catch { throw located(error, recipe.definition, chain) }
    }

    // MARK: callables

    /// A callable that resolves a key when it is called, in the generation of that moment.
    private func provider(_ id: UInt32, _ bound: [Value], isLazy: Bool) -> Callable {
        let name = keyName(id)
        let memory = isLazy ? LazyMemory() : nil
        return Callable(isLazy ? "lazy '\(name)'" : "provider of '\(name)'") {
            [weak self] (arguments) throws(Failure) -> Value in
            guard let self else { throw Failure(.closed, "the runtime is closed", path: name) }
            let version = self.version(id)
            if let known = memory?.value(version) { return known }
            let object = try self.resolve(id, arguments: bound + arguments)
            let value = object == 0 ? Value.null : .object(ObjectLease(owning: object))
            memory?.keep(value, version)
            return value
        }
    }

    private func version(_ id: UInt32) -> UInt64 {
        monitor.locked { iv_load_u64(UnsafeMutablePointer(mutating: keys.version(id))) }
    }

    /// A callable that resolves the key it is called with.
    private func resolver() -> Callable {
        Callable("resolver") { [weak self] (arguments) throws(Failure) -> Value in
            guard let self else { throw Failure(.closed, "the runtime is closed") }
            guard case .string(let name)? = arguments.first else {
                throw Failure(
                    .argument, "the resolver is called with a key's name first, and its runtime arguments after it")
            }
            let object = try self.resolve(try self.definedKey(name), arguments: Array(arguments.dropFirst()))
            return object == 0 ? .null : .object(ObjectLease(owning: object))
        }
    }

    // MARK: life

    public func extra(_ record: Record) -> ObjectExtra { Self.extra(of: record) }

    /// Made when first asked for; several threads may ask at once.
    static func extra(of record: Record) -> ObjectExtra {
        if let extra = iv_load_pointer(iv_record_extra(record)) {
            return Unmanaged<ObjectExtra>.fromOpaque(extra).takeUnretainedValue()
        }
        let fresh = Unmanaged.passRetained(ObjectExtra())
        guard let first = iv_store_first(iv_record_extra(record), fresh.toOpaque()) else {
            return fresh.takeUnretainedValue()
        }
        fresh.release()
        return Unmanaged<ObjectExtra>.fromOpaque(first).takeUnretainedValue()
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
            if iv_record_in_block(record) != 0 { freeInBlock(record, thread) } else { Glibc.free(record) }
            ObjectTable.close(slot)
            return
        }
        disposeSlowly(record)
    }

    /// What a program injected goes after its user.
    private static func releaseEdges(_ record: Record) {
        guard let edges = iv_record_edges(record, record.pointee.type.pointee.size) else { return }
        for index in 0..<Int(iv_record_edge_count(record)) {
            if let last = ObjectTable.giveBack(edges[index]) { dispose(last) }
        }
    }

    /// What was injected goes, then the memory with its block. Where a whole graph goes, its outermost object counts for all:
    /// one atomic operation instead of one for each.
    private static func freeInBlock(_ record: Record, _ thread: ThreadState) {
        let block = iv_record_block(record).unsafelyUnwrapped
        if thread.pointee.block == block {
            releaseEdges(record)
            thread.pointee.block_gone &+= 1
            return
        }
        let former = (thread.pointee.block, thread.pointee.block_gone)
        thread.pointee.block = block
        thread.pointee.block_gone = 1
        releaseEdges(record)
        let gone = thread.pointee.block_gone
        thread.pointee.block = former.0
        thread.pointee.block_gone = former.1
        if iv_sub_u64(iv_block_live(block), gone) == gone { Glibc.free(block) }
    }

    @inline(never)
    private static func disposeSlowly(_ record: Record) {
        let type = type(record)
        let container = type.container
        // In a forked child its domain has no thread and the monitor may be held for ever: the memory is left alone.
        guard container.home.isHere else { return }
        // A prototype that changed hands is disposed of by whoever gives it back last.
        if let domain = type.domain, record.pointee.thread == type.raw.pointee.thread, !domain.isCurrent,
            !container.isDetached
        {
            nonisolated(unsafe) let record = record
            // A job that is given back leaves the object to close.
            let givenBack = { container.monitor.locked { container.undisposed.append(record) } }
            container.post(to: domain, onDrop: givenBack) { finish(record) }
            return
        }
        let thread = currentThread()
        guard thread.pointee.ending.is_open == 0 else {
            record.pointee.thread = 0
            if let last = thread.pointee.ending.last {
                last.pointee.thread = UInt64(UInt(bitPattern: record))
            } else {
                thread.pointee.ending.first = record
            }
            thread.pointee.ending.last = record
            return
        }
        finish(record)
    }

    /// Lets go of what an object held. What has no other claim is disposed of here, one after the other.
    private static func letGo(of extra: Unmanaged<ObjectExtra>) {
        let thread = currentThread()
        guard thread.pointee.ending.is_open == 0 else { return extra.release() }
        thread.pointee.ending.is_open = 1
        extra.release()
        while let record = thread.pointee.ending.first {
            thread.pointee.ending.first = Record(bitPattern: UInt(record.pointee.thread))
            if thread.pointee.ending.first == nil { thread.pointee.ending.last = nil }
            finish(record)
        }
        thread.pointee.ending.is_open = 0
    }

    static func finish(_ record: Record) {
        let slot = record.pointee.slot
        destroy(record)
        ObjectTable.close(slot)
    }

    /// Stops and frees an instance and its record. Its slot, if it has one, is the caller's.
    static func destroy(_ record: Record) {
        let type = type(record)
        let extra = record.pointee.extra.map { Unmanaged<ObjectExtra>.fromOpaque($0) }
        record.pointee.extra = nil
        let thread = currentThread()
        // What host code lets go of ends before its call returns.
        let outer = thread.pointee.ending
        thread.pointee.ending = iv_ending()
        type.container.callback { end(record, extra, type) }
        thread.pointee.ending = outer
        if iv_record_edge_count(record) != 0 { releaseEdges(record) }
        free(record)
        // What was injected goes last: its users are gone.
        if let extra { letGo(of: extra) }
    }

    private static func end(_ record: Record, _ extra: Unmanaged<ObjectExtra>?, _ type: ObjectType) {
        if let extra = extra?.takeUnretainedValue() {
            for action in extra.beforeDisposal { action() }
            type.container.stopBeforeDisposal(record, extra)
        }
        guard let instance = record.pointee.instance else { return }
        type.description.dispose(instance)
    }

    private static func free(_ record: Record) {
        if iv_record_in_block(record) != 0 { return freeBlock(iv_record_block(record)) }
        Glibc.free(record)
    }
}
