internal import CInvivo
internal import CPlatform
internal import InvivoBase
internal import InvivoContexts
internal import InvivoGraph

/// The result of creating an object.
struct Made {
    let object: UInt64
    let record: Record
    let dependencies: Set<UInt32>
    /// The object existed before, and its creator decides when it ends.
    let isForeign: Bool
    /// The decorated object, if another one replaces it; otherwise 0.
    var undecorated: UInt64 = 0
}

/// Creating objects from their compiled definitions.
extension Build {
    /// Creates an object: arguments, instance, injection, hooks, configuration. The caller gets one lease. Nil if its
    /// factory returned null. After a failure everything that was created meanwhile is rolled back.
    func make(_ recipe: Recipe, _ arguments: [Value], cell: Cell?) throws(Failure) -> Made? {
        // Objects that reloads follow belong to the domain of their type.
        if recipe.isTracked { try checkDomain(recipe.definition) }
        guard recipe.scope.isShared else {
            guard let context = startingContext, !hasStay(in: context) else {
                return try makeHere(recipe, arguments, cell: cell)
            }
            // Code of a build in another context has requested it.
            return try staying(in: context, for: recipe) { (_) throws(Failure) in
                try makeHere(recipe, arguments, cell: cell)
            }
        }
        // A shared object lives in its own context, or in none, whoever requests it.
        let home = cell?.scopeInstance.flatMap { $0.context }
        return try Contexts.working(in: home, container.core) { () throws(Failure) in
            try makeHere(recipe, arguments, cell: cell)
        }
    }

    private func makeHere(_ recipe: Recipe, _ arguments: [Value], cell: Cell?) throws(Failure) -> Made? {
        let index = frames.count
        let mark = mark
        frames.append(
            Frame(
                recipe, arguments, cell: cell, mark: mark.made, low: index, begun: cell == nil ? 0 : monotonicNow()))
        if cell == nil { frames[index].home = startingContext?.bits ?? 0 }
        do throws(Failure) {
            if let cell {
                frames[index].former = try FormerObjects(of: self).former(of: recipe, arguments, in: cell)
            } else if index == 0, let former = caller.setup?.takeFormer(hasKey: true) {
                frames[index].former = FormerObjects(of: self).former(child: former, of: recipe)
            }
            let made = try makeInFrame(recipe, arguments, index)
            let frame = frames.removeLast()
            finish(frame, at: index, made)
            return made
        } catch {
            let failed = frames.removeLast()
            rollBack(to: mark)
            if failed.object != 0 { _ = ObjectTable.release(failed.object) }
            throw located(error, recipe.definition)
        }
    }

    private func makeInFrame(_ recipe: Recipe, _ arguments: [Value], _ index: Int) throws(Failure) -> Made? {
        let cell = frames[index].cell
        guard let object = try instance(recipe, arguments, index), let record = ObjectTable.record(object) else {
            // Deferred steps get null, too.
            frames[index].condition = .null
            try runDeferred(index)
            return nil
        }
        frames[index].object = object
        frames[index].record = record
        if !recipe.takesForeignObjects { noteHome(of: record) }
        if index == 0, !recipe.decorators.isEmpty { caller.setup?.own = try ObjectLease.retaining(object) }
        if case .constant = recipe.maker {
            return Made(object: object, record: record, dependencies: [], isForeign: true)
        }
        let recipient = Recipient(recipe: recipe, arguments: arguments, object: object, record: record)
        if cell != nil { container.retiredObjects.countFirstReferences(record) }
        if recipe.isInCycle || frames[index].low < index || ObjectCycles.leadsBack(arguments, record) {
            ObjectCycles.mark(object, record)
        }
        // Deferred steps run now that the instance exists, or when it is decorated.
        if !recipe.decorators.isEmpty { frames[index].condition = .undecorated }
        if recipe.decorators.isEmpty { try runDeferred(index) }
        try inject(recipient, index)
        try graph.configuration(recipe.id)?.configure(record)
        expectStart(of: recipient, index)
        if recipe.isTracked { track(recipient) }
        if try awaitCompletion(recipient, for: requester(of: index)) {
            // It is not complete, and other builds do not see it, before its last hooks have run.
            frames[index].low = 0
        }
        // Its dependencies come before it in the order of creation.
        if !recipe.takesForeignObjects { iv_record_set_order(record, iv_add_u64(iv_live_sequence(), 1)) }
        let final = try decorate(recipient, index)
        if final.object != object {
            startPhase?.replace(object, by: final.object)
            if cell != nil { container.retiredObjects.countFirstReferences(final.record) }
        }
        // Keys that steps inject are recorded, too: the constructor may have resolved and used them.
        let found = Set(frames[index].dependencies).subtracting(recipe.references.rebuilding)
        return Made(
            object: final.object, record: final.record, dependencies: found,
            isForeign: recipe.takesForeignObjects || final.object != object,
            undecorated: final.object == object ? 0 : object)
    }

    /// Adds the key that was being created and its source location to an error without them, and once, where it arose, the
    /// dependents up to the outermost resolve.
    func located(_ failure: Failure, _ definition: Definition) -> Failure {
        var located = failure
        if located.path.isEmpty { located.path = definition.key }
        if located.location.file.isEmpty { located.location = definition.location }
        if !located.isChained && located.code != .cycle && !frames.isEmpty {
            located.isChained = true
            let needs = frames.reversed().prefix(Self.mostNeeds).map { frame in
                let location = frame.recipe.definition.location
                let line = location.line > 0 ? ":\(location.line)" : ""
                return "'\(frame.recipe.key)'" + (location.file.isEmpty ? "" : " (\(location.file)\(line))")
            }
            located.message +=
                "; needed by " + needs.joined(separator: ", by ")
                + (frames.count > Self.mostNeeds ? ", ..." : "")
        }
        return located
    }

    /// How many links of a chain an error names.
    private static let mostNeeds = 16

    // MARK: instance

    /// The handle of a new instance; the caller gets one lease.
    private func instance(_ recipe: Recipe, _ arguments: [Value], _ index: Int) throws(Failure)
        -> UInt64?
    {
        let definition = recipe.definition
        if let entries = definition.body.each {
            throw Failure(
                .abstract,
                "it has one instance for each entry of the configuration '\(entries)': resolve '\(recipe.key)[name]'",
                path: recipe.key, at: definition.location)
        }
        if case .abstract = recipe.maker {
            throw Failure(
                .abstract,
                "the definition is abstract: type '\(recipe.type?.name ?? "none")', key '\(recipe.key)', scope \(recipe.scope.name); "
                    + "define a child of it", path: recipe.key, at: definition.location)
        }
        if recipe.isAbstract {
            throw Failure(
                .abstract, "the definition is abstract: key '\(recipe.key)', scope \(recipe.scope.name)",
                path: recipe.key, at: definition.location)
        }
        guard let type = recipe.type else {
            throw Failure(.internalFault, "the definition has no type and no factory", path: recipe.key)
        }
        if case .constant(let lease) = recipe.maker {
            guard ObjectTable.retain(lease.bits) else {
                throw Failure(.stale, "the object has ended", path: recipe.key)
            }
            return lease.bits
        }
        if case .method(let source, let name) = recipe.maker {
            return try object(from: source, method: name, recipe, arguments)
        }
        let values = try initializerValues(recipe, arguments)
        var initializer = ObjectType.Initializer(values: values.all, given: values.given)
        if case .factory(let factory) = recipe.maker { initializer.factory = factory }
        initializer.key = recipe.id
        initializer.requester = requester(of: index)?.id
        initializer.isShared = recipe.scope.isShared
        initializer.former = frames[index].former
        initializer.isNullable = definition.body.flags.contains(.nullable)
        initializer.edges = ObjectType.plainLeases(values.injected)
        let made: Record?
        do throws(Failure) { made = try type.create(initializer) } catch {
            throw configured(error, recipe.slots.map(\.source))
        }
        guard let record = made else { return nil }
        if !values.injected.isEmpty { InjectedReferences.hold(values.injected, record) }
        return try ObjectType.open(record, owner: container.tag)
    }

    /// Adds to an error of host code the configuration values that it received, with their source locations: one may be the
    /// cause.
    func configured(_ failure: Failure, _ sources: [Recipe.Source]) -> Failure {
        let failure = withoutSecrets(failure, sources)
        guard !failure.isChained else { return failure }
        var found: [String] = []
        func look(_ source: Recipe.Source) {
            switch source {
            case .config(let ids, _):
                guard let id = ids.last, let value = graph.setting(id) else { return }
                let path = container.monitor.locked { container.keys.configPath(id).map { String(cString: $0) } } ?? ""
                let location = value.node.location.text
                found.append("config.\(path)" + (location.isEmpty ? "" : " (\(location))"))
            case .list, .set, .map: source.parts.forEach(look)
            case .value, .object, .all, .argument, .arguments, .path, .deferred, .resolver, .asker, .setting, .context:
                break
            }
        }
        sources.forEach(look)
        guard !found.isEmpty else { return failure }
        var configured = failure
        configured.message +=
            "; configured by " + found.listed(most: Self.mostNeeds)
        return configured
    }

    /// An error of host code without the secrets of the configuration that it received.
    func withoutSecrets(_ failure: Failure, _ sources: [Recipe.Source]) -> Failure {
        failure.without(secrets: graph.secretTexts(in: sources, container.names))
    }

    /// An object that a method of another object returns.
    private func object(
        from source: Recipe.Source, method name: String, _ recipe: Recipe, _ arguments: [Value]
    ) throws(Failure) -> UInt64? {
        guard let type = recipe.type else { return nil }
        guard case .object(let maker) = try value(of: source, recipe, arguments),
            let record = ObjectTable.record(maker.bits),
            let instance = record.pointee.instance
        else {
            throw Failure(
                .null, "the object of the factory method '\(name)' is null", path: recipe.key,
                at: recipe.definition.location)
        }
        var values: [Value] = []
        for slot in recipe.slots { values.append(try value(of: slot.source, recipe, arguments)) }
        let method = try ObjectType.of(record).description.method(named: name)
        let begun = iv_load_u64(iv_live_sequence())
        let answer: Value
        do throws(Failure) { answer = try method.call(instance, values) } catch {
            throw withoutSecrets(error, recipe.slots.map(\.source))
        }
        if answer.isNull && recipe.definition.body.flags.contains(.nullable) { return nil }
        guard case .object(let lease) = answer else {
            throw Failure(
                .type,
                "the method '\(name)' of '\(ObjectType.of(record).name)' returned \(answer.withKind) where a '\(type.name)' is needed"
            )
        }
        if let made = lease.type, !made.isKind(of: type.name) {
            throw Failure(
                .type,
                "the method '\(name)' of '\(ObjectType.of(record).name)' returned a '\(made.name)' where a '\(type.name)' is needed"
            )
        }
        // An object that existed before does not depend on the object that returned it.
        if let made = ObjectTable.record(lease.bits), Self.isFresh(made, since: begun) {
            let extra = ObjectExtra.of(made)
            container.monitor.locked { extra.injected.insert(.object(maker), at: 0) }
            adopt(lease.bits, made)
        }
        guard ObjectTable.retain(lease.bits) else { throw Failure(.stale, "the object has ended") }
        return lease.bits
    }

    // MARK: decorators

    /// Runs the decorators of a complete object. Returns its replacement, or the object itself; the frame has the
    /// lease. The steps of others that were deferred until then run afterwards.
    private func decorate(_ recipient: Recipient, _ index: Int) throws(Failure) -> (object: UInt64, record: Record) {
        let (recipe, object, before) = (recipient.recipe, recipient.object, recipient.record)
        guard !recipe.decorators.isEmpty else { return (object, before) }
        for decorator in recipe.decorators {
            // The dependencies of its component are not decorated by it.
            if let id = decorator.componentID, frames[..<index].contains(where: { $0.recipe.id == id }) {
                continue
            }
            try replace(recipe, decorator, index)
        }
        frames[index].condition = .usual
        guard let final = frames[index].record else { return (object, before) }
        let isReferred = !frames[index].deferred.isEmpty
        if final != before && (recipe.isInCycle || isReferred) {
            ObjectCycles.mark(object, before)
            ObjectCycles.mark(frames[index].object, final)
        }
        try runDeferred(index)
        return (frames[index].object, final)
    }

    private func replace(_ recipe: Recipe, _ decorator: Processor, _ index: Int) throws(Failure) {
        let former = frames[index].object
        let begun = iv_load_u64(iv_live_sequence())
        // Only the decorator can add leases: nothing else has the object yet.
        let leases = ObjectTable.leases(former)
        let answer: UInt64
        switch decorator.decorator {
        case .function(let function)?:
            var description = description(of: recipe, recipe.type, at: index)
            // The former object is the one that the definition created, not the result of a decorator.
            (description.former, description.former_instance) = (invivo_object(), nil)
            answer = try decorator.run(function, former, &description)
        case .component(let id, _, let method)?: answer = try ask(id, method, decorator, former)
        case nil: return
        }
        guard answer != 0 else { return }
        // The object itself without a lease of its own: nothing changes.
        if answer == former && ObjectTable.leases(former) <= leases { return }
        let lease = ObjectLease(owning: answer)
        guard answer != former else { return }
        guard let record = ObjectTable.record(answer), let type = recipe.type else {
            throw Failure(.handle, "the decorator '\(decorator.name)' returned an invalid object handle")
        }
        let given = ObjectType.of(record)
        guard given.container === container else {
            throw Failure(.handle, "the decorator '\(decorator.name)' returned an object of another runtime")
        }
        let kinds = [type.name] + type.description.supertypes
        guard kinds.contains(where: { given.description.isKind(of: $0) }) else {
            throw Failure(
                .type,
                "the decorator '\(decorator.name)' returned a '\(given.name)' instead of a '\(type.name)', expected one of: "
                    + kinds.listed())
        }
        // The frame has a lease of its own. The former object's lease passes to its replacement, if that was created for it.
        guard ObjectTable.retain(answer) else { throw Failure.exhausted() }
        frames[index].object = answer
        frames[index].record = record
        let kept = ObjectLease(owning: former)
        if Self.isFresh(record, since: begun) {
            // It is older than the objects that the decorator received.
            let extra = ObjectExtra.of(record)
            container.monitor.locked { extra.injected.insert(.object(kept), at: 0) }
            adopt(answer, record)
        }
        withExtendedLifetime((kept, lease)) {}
    }

    /// Calls the component of a decorator.
    private func ask(_ id: UInt32, _ method: String?, _ decorator: Processor, _ object: UInt64)
        throws(Failure) -> UInt64
    {
        let argument = Value.object(try ObjectLease.retaining(object))
        guard let method else { return try resolve(id, [argument]) }
        let component = try resolve(id, [])
        guard component != 0 else { return 0 }
        let lease = ObjectLease(owning: component)
        defer { withExtendedLifetime(lease) {} }
        guard let record = ObjectTable.record(component), let instance = record.pointee.instance else { return 0 }
        let answer = try ObjectType.of(record).description.method(named: method).call(instance, [argument])
        guard case .object(let given) = answer else {
            guard !answer.isNull else { return 0 }
            throw Failure(
                .type,
                "the decorator '\(decorator.name)': the method '\(method)' of '\(container.keyName(id))' returned \(answer.withKind)"
            )
        }
        guard ObjectTable.retain(given.bits) else { throw Failure(.stale, "the object has ended") }
        return given.bits
    }

    /// The error for a reference to an existing object that is not decorated yet. A step is deferred; an initializer fails.
    func undecorated(_ index: Int, _ recipe: Recipe) -> Failure {
        missing = Missing(frame: index, requester: frames.count - 1)
        let requester = frames[frames.count - 1].recipe
        let names = recipe.decorators.map { "'\($0.name)'" }.listed()
        return Failure(
            .cycle,
            "'\(requester.key)' takes '\(recipe.key)', which is under construction and not yet decorated by \(names): "
                + (frames[index...].map(\.recipe.key) + [recipe.key]).path()
                + "; let '\(requester.key)' take it as a property, or by a provider", path: requester.key,
            at: requester.definition.location)
    }

    /// Whether an object was created after the sequence number was `begun`.
    private static func isFresh(_ record: Record, since begun: UInt64) -> Bool {
        iv_record_in_block(record) != 0 || iv_record_order(record) == 0 || iv_record_order(record) >= begun
    }

    /// The requester of a frame's object; nil if that has no key.
    func requester(of index: Int) -> Recipe? {
        guard index >= 0 else { return caller.requester }
        if let known = frames[index].requester { return known }
        guard index > 0, frames[index - 1].recipe.id != KeyTable.noKey else { return nil }
        return frames[index - 1].recipe
    }

    // MARK: tracked objects

    /// Tracks a new object: it belongs to its type's domain, and its cell knows it as long as anything holds it.
    func track(_ recipient: Recipient) {
        let record = recipient.record
        record.pointee.thread = ObjectType.of(record).raw.pointee.thread
        // No lock is held while host code runs.
        let tracked = TrackedObject(
            own: WeakObject(recipient.object, record),
            arguments: recipient.arguments.map { TrackedObject.Argument($0) }, scopeInstances: allScopeInstances)
        let (cell, all) = container.monitor.locked { () -> (Cell?, [TrackedObject]) in
            let cell = (isReload ? graph : container.current.held).cell(recipient.recipe.id)
            return (cell, cell?.tracking.add(tracked) ?? [])
        }
        guard !all.isEmpty else { return }
        let there = all.filter(\.isThere)
        container.monitor.locked { cell?.tracking.putBack(there) }
    }

    // MARK: starting

    /// Notes an object that is to be started, now that it is injected and configured. Other builds see neither it nor its users
    /// before.
    private func expectStart(of recipient: Recipient, _ index: Int) {
        var needs = frames[index].needs
        let (object, record) = (recipient.object, recipient.record)
        if ObjectType.of(record).hasLife, record.pointee.instance != nil,
            container.lifecycle.state(of: record) == .made,
            ObjectTable.leaseKnownAlive(object)
        {
            let body = recipient.recipe.definition.body
            if body.startTimeout > 0 || body.stopTimeout > 0 {
                container.monitor.locked {
                    let extra = ObjectExtra.of(record)
                    extra.timeouts = (body.startTimeout, body.stopTimeout)
                }
            }
            stopWithContext(object, record)
            let entry = StartPhase.Entry(
                lease: ObjectLease(owning: object), record: record, key: recipient.recipe.key,
                location: recipient.recipe.definition.location,
                needs: needs)
            needs = [ensuredStartPhase.add(entry)]
        }
        guard !needs.isEmpty else { return }
        ensuredStartPhase.require(needs, for: object)
        frames[index].low = 0
    }

    /// The object under construction uses one that may not be started yet.
    func noteUse(of object: UInt64) {
        guard !frames.isEmpty, let needs = startPhase?.needs(of: object) else { return }
        frames[frames.count - 1].needs.formUnion(needs)
    }
}
