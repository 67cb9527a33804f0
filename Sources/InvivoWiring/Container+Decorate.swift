internal import CInvivo
internal import CPlatform
internal import InvivoBase
internal import InvivoGraph

/// Putting other objects in the place of what was made.
extension Container {
    /// What takes the place of a complete object, or the object itself; its frame has the lease. What waited for it is done
    /// then.
    func decorate(_ recipe: Recipe, _ object: UInt64, _ record: Record, _ chain: BuildChain, _ index: Int)
        throws(Failure) -> (object: UInt64, record: Record)
    {
        guard !recipe.decorators.isEmpty else { return (object, record) }
        let before = record
        for decorator in recipe.decorators {
            // What its component needs is not processed by it.
            if let id = decorator.componentID, chain.frames[..<index].contains(where: { $0.recipe.id == id }) {
                continue
            }
            try replace(recipe, decorator, chain, index)
        }
        chain.frames[index].awaitsDecoration = false
        guard let final = chain.frames[index].record else { return (object, record) }
        let isReferred = !chain.frames[index].deferred.isEmpty
        if final != before && (recipe.isInCircle || isReferred) {
            markCircle(object, before)
            markCircle(chain.frames[index].object, final)
        }
        try runDeferred(chain, index)
        return (chain.frames[index].object, final)
    }

    private func replace(_ recipe: Recipe, _ decorator: Processor, _ chain: BuildChain, _ index: Int) throws(Failure) {
        let former = chain.frames[index].object
        let begun = iv_load_u64(iv_live_sequence())
        // Nobody else has it yet: what is counted afterwards the decorator took.
        let leases = ObjectTable.leases(former)
        let answer: UInt64
        switch decorator.decorator {
        case .function(let function)?:
            var build = invivo_build(
                struct_size: MemoryLayout<invivo_build>.size, runtime: invivo_runtime(bits: handle),
                key: invivo_key(bits: keyHandle(recipe.id)),
                type: invivo_type(bits: recipe.type?.description.handleBits ?? 0),
                asker: invivo_key(bits: asker(of: index, chain).map { keyHandle($0.id) } ?? 0), given: 0,
                flags: recipe.scope.isShared ? UInt32(INVIVO_BUILD_SHARED) : 0, reserved: 0)
            answer = try decorator.run(function, former, &build)
        case .component(let id, _, let method)?: answer = try ask(id, method, decorator, former, chain)
        case nil: return
        }
        guard answer != 0 else { return }
        // The object itself, as it came, without a lease of its own: that leaves it.
        if answer == former && ObjectTable.leases(former) <= leases { return }
        let lease = ObjectLease(owning: answer)
        guard answer != former else { return }
        guard let record = ObjectTable.record(answer), let type = recipe.type else {
            throw Failure(.handle, "the decorator '\(decorator.name)' answered a handle of no object")
        }
        let given = Self.type(record)
        guard given.container === self else {
            throw Failure(.handle, "the decorator '\(decorator.name)' answered an object of another runtime")
        }
        let kinds = [type.name] + type.description.supertypes
        guard kinds.contains(where: { given.description.isKind(of: $0) }) else {
            throw Failure(
                .type,
                "the decorator '\(decorator.name)' answered a '\(given.name)' in the place of a '\(type.name)', which is none of: "
                    + kinds.joined(separator: ", "))
        }
        // A lease of the frame's own, and the former one's goes to who replaces it, where that was made for it.
        guard ObjectTable.retain(answer) else { throw Failure.exhausted() }
        chain.frames[index].object = answer
        chain.frames[index].record = record
        let kept = ObjectLease(owning: former)
        if isFresh(record, since: begun) {
            // It was there before what the decorator got.
            let extra = extra(record)
            monitor.locked { extra.injected.insert(.object(kept), at: 0) }
        }
        withExtendedLifetime((kept, lease)) {}
    }

    /// Whether an object was created after the sequence number was `begun`.
    func isFresh(_ record: Record, since begun: UInt64) -> Bool {
        iv_record_in_block(record) != 0 || iv_record_order(record) == 0 || iv_record_order(record) >= begun
    }

    /// The component of a decorator does it.
    private func ask(_ id: UInt32, _ method: String?, _ decorator: Processor, _ object: UInt64, _ chain: BuildChain)
        throws(Failure) -> UInt64
    {
        let argument = Value.object(try ObjectLease.retaining(object))
        guard let method else { return try resolve(id, [argument], chain) }
        let component = try resolve(id, [], chain)
        guard component != 0 else { return 0 }
        let lease = ObjectLease(owning: component)
        defer { withExtendedLifetime(lease) {} }
        guard let record = ObjectTable.record(component), let instance = record.pointee.instance else { return 0 }
        let answer = try Self.type(record).description.method(named: method).call(instance, [argument])
        guard case .object(let given) = answer else {
            guard !answer.isNull else { return 0 }
            throw Failure(
                .type,
                "the decorator '\(decorator.name)': the method '\(method)' of '\(keyName(id))' answered \(answer.withKind)"
            )
        }
        guard ObjectTable.retain(given.bits) else { throw Failure(.stale, "the object is gone") }
        return given.bits
    }

    /// The error for a reference to an object that exists and is not decorated yet: a step waits for it, an initializer cannot.
    func undecorated(_ index: Int, _ recipe: Recipe, _ chain: BuildChain) -> Failure {
        chain.later = index
        chain.laterAsker = chain.frames.count - 1
        let asker = chain.frames[chain.frames.count - 1].recipe
        let names = recipe.decorators.map { "'\($0.name)'" }.joined(separator: ", ")
        return Failure(
            .cycle,
            "'\(asker.key)' takes '\(recipe.key)' while that is being made and not yet decorated by \(names): "
                + chain.frames[index...].map(\.recipe.key).joined(separator: " -> ") + " -> \(recipe.key)"
                + "; let '\(asker.key)' take it as a property, or by a provider", path: asker.key,
            at: asker.definition.place)
    }
}
