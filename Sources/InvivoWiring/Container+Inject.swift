internal import CInvivo
internal import CPlatform
internal import Glibc
internal import InvivoBase
internal import InvivoGraph

/// What goes into objects: initializers, properties, methods and hooks.
extension Container {
    /// The values for the initializer, each in its place. `given` gets a bit for each that is not left out.
    func initializerValues(
        _ recipe: Recipe, _ arguments: [Value], _ chain: BuildChain, _ injected: inout [Value], _ given: inout UInt64
    ) throws(Failure) -> [Value] {
        var values: [Value] = []
        for slot in recipe.slots {
            let value = try value(of: slot.source, recipe, arguments, chain)
            // An optional runtime argument that nobody gave is left out here too.
            if case .argument(let index) = slot.source, index >= arguments.count {
            } else {
                given |= Self.bit(of: slot.position)
            }
            if value.isNull, let parameter = slot.parameter, !parameter.isOptional,
                case .object(let id, _, let isOptional) = slot.source, !isOptional
            {
                throw nothing(id, "the initializer parameter '\(parameter.name)'", recipe)
            }
            if value.holdsReference { injected.append(value) }
            while values.count < slot.position { values.append(.null) }
            values.append(value)
        }
        return values
    }

    /// The bit of an argument in `invivo_build.given`.
    static func bit(of position: Int) -> UInt64 { 1 << UInt64(min(position, 63)) }

    /// The bits of that many arguments.
    static func allGiven(_ count: Int) -> UInt64 { count >= 64 ? .max : (1 << UInt64(count)) - 1 }

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
        case .set(let items): return .list(distinct(try values(of: items, recipe, arguments, chain)))
        case .map(let pairs):
            var values: [(name: String, value: Value)] = []
            for pair in pairs { values.append((pair.name, try value(of: pair.source, recipe, arguments, chain))) }
            return .map(values)
        case .late(let id, let sources, let kind):
            guard let id else { return .null }
            return .callable(late(kind, id, try values(of: sources, recipe, arguments, chain)))
        case .config(_, let source): return try value(of: source, recipe, arguments, chain)
        case .setting(let setting): return .callable(callable(for: setting))
        case .resolver: return .callable(resolver())
        case .asker:
            return asker(of: chain.frames.count - 1, chain).map { .string($0.key) } ?? .null
        }
    }

    func values(of sources: [Recipe.Source], _ recipe: Recipe, _ arguments: [Value], _ chain: BuildChain)
        throws(Failure) -> [Value]
    {
        var values: [Value] = []
        values.reserveCapacity(sources.count)
        for source in sources { values.append(try value(of: source, recipe, arguments, chain)) }
        return values
    }

    /// What is equal once.
    func distinct(_ values: [Value]) -> [Value] {
        var distinct: [Value] = []
        for value in values where !distinct.contains(where: { $0.isSame(as: value) }) { distinct.append(value) }
        return distinct
    }

    /// The property at a path of an object, as "theme.name" of settings.
    func follow(_ path: [String], from start: Value, _ isOptional: Bool, _ recipe: Recipe) throws(Failure)
        -> Value
    {
        var value = start
        for (index, name) in path.enumerated() {
            if value.isNull && isOptional { return .null }
            if case .map(let pairs) = value, let found = pairs.first(where: { $0.name.isSameName(as: name) })?.value {
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
            do throws(Failure) {
                value = try type.description.property(named: name).property.get(instance)
            } catch {
                let whole = path[...index].joined(separator: ".")
                throw Failure(
                    error.code, "'\(whole)' cannot be read: \(error.message)", path: recipe.key,
                    at: recipe.definition.place, cause: error.cause.first)
            }
        }
        return value
    }

    func checkDomain(_ type: ObjectType, _ recipe: Recipe) throws(Failure) {
        guard let domain = type.domain, !domain.isCurrent else { return }
        throw Failure(
            .domain,
            "an object of the confined type '\(type.name)' belongs to the domain '\(domain.name)' and cannot be read on this thread",
            path: recipe.key, at: recipe.definition.place)
    }

    // MARK: injection

    /// Everything that goes into an instance that exists, in the order that wiring.h states.
    func inject(
        _ recipe: Recipe, _ arguments: [Value], into record: Record, _ object: UInt64, _ chain: BuildChain, _ index: Int
    ) throws(Failure) {
        guard let type = recipe.type, let instance = record.pointee.instance else { return }
        try type.description.willInject(instance)
        for (place, step) in recipe.before.enumerated() {
            try run(
                step, recipe.name(of: place, in: recipe.before, "before "), recipe, arguments, record, object, chain,
                index)
        }
        var methods = false
        for (place, step) in recipe.steps.enumerated().dropFirst(skippedNeeds(recipe, record)) {
            if case .method = step, !methods {
                methods = true
                try setBase(recipe, record, chain)
            }
            try run(step, recipe.name(of: place, in: recipe.steps, ""), recipe, arguments, record, object, chain, index)
        }
        if !methods { try setBase(recipe, record, chain) }
        if let injector = recipe.definition.body.inject {
            var build = invivo_build(
                struct_size: MemoryLayout<invivo_build>.size, runtime: invivo_runtime(bits: handle),
                key: invivo_key(bits: keyHandle(recipe.id)), type: invivo_type(bits: type.description.handleBits),
                asker: invivo_key(bits: asker(of: index, chain).map { keyHandle($0.id) } ?? 0), given: 0,
                flags: recipe.scope.isShared ? UInt32(INVIVO_BUILD_SHARED) : 0, reserved: 0)
            try injector.run(recipe.key, instance, &build, arguments)
        }
        for (place, step) in recipe.after.enumerated() {
            try run(
                step, recipe.name(of: place, in: recipe.after, "after "), recipe, arguments, record, object, chain,
                index)
        }
    }

    /// Runs one step; when it needs an object further up whose initializer has not returned, it waits for that.
    func run(
        _ step: Recipe.Step, _ name: String, _ recipe: Recipe, _ arguments: [Value], _ record: Record, _ object: UInt64,
        _ chain: BuildChain, _ index: Int
    ) throws(Failure) {
        chain.later = nil
        let mark = chain.mark
        do throws(Failure) {
            try apply(step, name, recipe, arguments, record, chain)
        } catch {
            guard error.code == .cycle, let later = chain.later, later < index || chain.isOwnReference(index) else {
                throw configured(error, step.sources, chain)
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
    func run(_ deferred: BuildChain.Deferred, _ chain: BuildChain) throws(Failure) {
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

    func apply(
        _ step: Recipe.Step, _ name: String, _ recipe: Recipe, _ arguments: [Value], _ record: Record,
        _ chain: BuildChain, isCovered: (Int, Value) throws(Failure) -> Bool = { (_, _) in false }
    ) throws(Failure) {
        guard let type = recipe.type, let instance = record.pointee.instance else { return }
        let kept: Value
        switch step {
        case .candidates(let property, let ids, let added, let removed):
            return try follow(
                Candidates(property: property, ids: ids, added: added, removed: removed), name, recipe, record, chain)
        case .property(let index, let source):
            let property = Self.property(index, of: type, for: record)
            if case .value(let value) = source {
                if try !isCovered(index, value) { try property.set(instance, value) }
                return letGo(of: name, record)
            }
            let value = try value(of: source, recipe, arguments, chain)
            if value.isNull, case .object(let id, _, false) = source {
                throw nothing(id, "the property '\(property.name)'", recipe)
            }
            let checked = try property.check(value)
            if try !isCovered(index, checked) { try property.set(instance, checked) }
            kept = value
        case .method(let index, let sources):
            let method = Self.method(index, of: type, for: record)
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

    /// A property of a definition's type, as the object has it: its type may be another one that is of that kind, where a
    /// method of another object or a factory answered it, and has functions of its own.
    static func property(_ index: Int, of type: ObjectType, for record: Record) -> Property {
        let declared = type.description.properties[index]
        guard record.pointee.type != type.raw else { return declared }
        return (try? Self.type(record).description.property(named: declared.name).property) ?? declared
    }

    /// The same for a method.
    static func method(_ index: Int, of type: ObjectType, for record: Record) -> Method {
        let declared = type.description.methods[index]
        guard record.pointee.type != type.raw else { return declared }
        return (try? Self.type(record).description.method(named: declared.name)) ?? declared
    }

    /// What a step injected: held as long as its object, and put back when a reload that injected something else fails.
    func remember(_ value: Value?, _ name: String, _ record: Record) {
        guard value != nil || Self.knownExtra(of: record) != nil else { return }
        let extra = extra(record)
        let former = monitor.locked { () -> Value? in
            defer { extra.injectedProperties[name] = value }
            // It may have been a list whose holder is notified of candidates.
            if extra.candidates[name] != nil { extra.candidates[name] = nil }
            exchangeLate(in: extra.injectedProperties[name], value, extra)
            return extra.injectedProperties[name]
        }
        // The former one is let go only now that nothing points to it.
        withExtendedLifetime(former) {}
    }

    /// What a step injected before, when it injects nothing now.
    private func letGo(of name: String, _ record: Record) {
        guard let pointer = iv_load_pointer(iv_record_extra(record)) else { return }
        let extra = Unmanaged<ObjectExtra>.fromOpaque(pointer).takeUnretainedValue()
        let former = monitor.locked { () -> Value? in
            let former = extra.injectedProperties.removeValue(forKey: name)
            if extra.candidates[name] != nil { extra.candidates[name] = nil }
            exchangeLate(in: former, nil, extra)
            return former
        }
        withExtendedLifetime(former) {}
    }

    /// Base values set by change sets, and what documents say that takes effect at making.
    private func setBase(_ recipe: Recipe, _ record: Record, _ chain: BuildChain) throws(Failure) {
        guard let type = recipe.type, let instance = record.pointee.instance else { return }
        for (index, value) in recipe.definition.base.sorted(by: { $0.key < $1.key }) {
            let property = Self.property(index, of: type, for: record)
            if !property.isInBlock { try property.set(instance, value) }
        }
        for (index, value) in (chain.graph.configuration(recipe.id)?.atMaking ?? [:]).sorted(by: { $0.key < $1.key }) {
            let property = Self.property(index, of: type, for: record)
            if !property.isInBlock { try property.set(instance, value) }
        }
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
        guard !recipe.afterAll.isEmpty || recipe.type?.description.functions.hearsOfCompletion == true else { return }
        chain.completed.append((recipe, arguments, try ObjectLease.retaining(object), nil))
    }

    /// The hooks of one object for the moment when the whole graph is there.
    func afterAll(
        _ recipe: Recipe, _ arguments: [Value], _ lease: ObjectLease, for askedBy: Recipe?, _ chain: BuildChain
    ) throws(Failure) {
        guard let type = recipe.type, let record = ObjectTable.record(lease.bits),
            let instance = record.pointee.instance
        else { return }
        let hooks = BuildChain(graph: chain.graph, isReload: chain.isReload, parent: chain)
        hooks.askedBy = askedBy
        do throws(Failure) {
            try building(hooks) { () throws(Failure) in
                for (place, step) in recipe.afterAll.enumerated() {
                    // What its arguments resolve is one graph of its own.
                    try whole { (chain) throws(Failure) in
                        let name = recipe.name(of: place, in: recipe.afterAll, "afterAll ")
                        try apply(step, name, recipe, arguments, record, chain)
                    }
                }
                try type.description.takeRuntime(instance, handle)
                try type.description.didInject(instance)
            }
        } catch { throw located(error, recipe.definition, chain) }
    }
}
