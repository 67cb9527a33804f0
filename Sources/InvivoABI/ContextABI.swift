public import CInvivo
internal import CPlatform
internal import InvivoBase
internal import InvivoContexts
internal import InvivoGraph
internal import InvivoReload
internal import InvivoWiring

// context.h: contexts.

// MARK: - kinds and keys

@c @implementation
public func invivo_context_declare_kinds(
    _ runtime: invivo_runtime, _ kinds: UnsafePointer<invivo_context_kind>!, _ count: Int,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let container = try Container.find(runtime.bits, .runtime)
        guard count == 0 || kinds != nil else { throw Failure(.argument, "kinds is NULL") }
        guard count >= 0, count <= 1 << 16 else { throw Failure(.tooLarge, "\(count) kinds are too many") }
        var declared: [ContextKind] = []
        var next = UnsafeRawPointer(kinds)
        for index in 0..<count {
            guard let given = next else { break }
            let what = "kinds[\(index)]"
            let least = MemoryLayout<invivo_context_kind>.offset(of: \.provides) ?? 8
            declared.append(
                try contextKind(
                    try versioned(given, what, least: least, as: invivo_context_kind.self), container, what))
            next = given + (try structSize(given, what, least: least, as: invivo_context_kind.self))
        }
        try container.registry.contexts.kinds.declare(declared)
    }
}

private func contextKind(
    _ given: invivo_context_kind, _ container: Container, _ what: String
) throws(Failure) -> ContextKind {
    let name = try text(given.name, "\(what).name")
    guard !name.isEmpty else { throw Failure(.argument, "\(what).name is empty: a kind needs a name") }
    guard given.policy == UInt32(INVIVO_CONTEXT_FOLLOWS) else {
        throw Failure(
            .argument, "the kind of contexts '\(name)' has no known policy: choose INVIVO_CONTEXT_FOLLOWS", path: name)
    }
    var provides: [ContextKind.Provided] = []
    guard given.provided_count == 0 || given.provides != nil else {
        throw Failure(.argument, "\(what).provides is NULL, and its count is \(given.provided_count)")
    }
    for index in 0..<Int(clamping: given.provided_count) {
        let key = try text(given.provides[index].key, "\(what).provides[\(index)].key")
        provides.append(
            ContextKind.Provided(
                key: try container.intern(key),
                isLive: given.provides[index].flags & UInt32(INVIVO_PROVIDED_LIVE) != 0))
    }
    return ContextKind(name: name, policy: given.policy, provides: provides)
}

@c @implementation
public func invivo_context_declare_key(
    _ runtime: invivo_runtime, _ key: UnsafePointer<invivo_context_key>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let container = try Container.find(runtime.bits, .runtime)
        guard let key else { throw Failure(.argument, "key is NULL") }
        let least = MemoryLayout<invivo_context_key>.offset(of: \.type_name) ?? 8
        let given = try versioned(key, "key", least: least, as: invivo_context_key.self)
        let id = try container.intern(try text(given.name, "key.name"))
        var initial: Value?
        if let value = given.initial { initial = try Value(borrowing: value.pointee) }
        if case .null? = initial { initial = nil }
        guard given.kind == UInt32(INVIVO_KIND_ANY) || ValueKind(rawValue: given.kind) != nil,
            given.kind != UInt32(INVIVO_KIND_NULL)
        else { throw Failure(.argument, "key.kind is \(given.kind), which is not the kind of a value") }
        try container.registry.contexts.keys.declare(
            id,
            ContextKeys.Declaration(
                kind: given.kind, typeName: try optionalText(given.type_name, "key.type_name"), initial: initial))
    }
}

// MARK: - life

@c @implementation
public func invivo_context_open(
    _ runtime: invivo_runtime, _ options: UnsafePointer<invivo_context_options>!,
    _ out: UnsafeMutablePointer<invivo_context>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_context()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let container = try Container.find(runtime.bits, .runtime)
        out.pointee.bits = try container.registry.contexts.open(try opening(options, container)).bits
    }
}

private func opening(
    _ options: UnsafePointer<invivo_context_options>?, _ container: Container
) throws(Failure) -> Contexts.Opening {
    var opening = Contexts.Opening()
    guard let options else { return opening }
    let least = MemoryLayout<invivo_context_options>.offset(of: \.parent) ?? 8
    let given = try versioned(options, "options", least: least, as: invivo_context_options.self)
    opening.kind = try optionalText(given.kind, "options.kind")
    let isDetached = given.flags & UInt32(INVIVO_CONTEXT_DETACHED) != 0
    guard given.parent.bits == 0 || !isDetached else {
        throw Failure(
            .argument, "options.parent is given, and INVIVO_CONTEXT_DETACHED: a detached context has no parent")
    }
    if isDetached { opening.parent = .none }
    if given.parent.bits != 0 { opening.parent = .given(ContextHandle(bits: given.parent.bits)) }
    switch given.flags & UInt32(INVIVO_CONTEXT_STRONG_PARENT | INVIVO_CONTEXT_WEAK_PARENT) {
    case 0: break
    case UInt32(INVIVO_CONTEXT_STRONG_PARENT): opening.holdsParent = true
    case UInt32(INVIVO_CONTEXT_WEAK_PARENT): opening.holdsParent = false
    default:
        throw Failure(.argument, "options.flags has INVIVO_CONTEXT_STRONG_PARENT and _WEAK_PARENT: choose one of them")
    }
    guard given.value_count == 0 || given.values != nil else {
        throw Failure(.argument, "options.values is NULL, and its count is \(given.value_count)")
    }
    if given.value_count > 0 {
        let count = Int(clamping: given.value_count)
        opening.values.reserveCapacity(min(count, 64))
        for index in 0..<count {
            let value = given.values[index]
            opening.values.append(
                (try contextKey(value.key, container), try Value(borrowing: value.value)))
        }
    }
    opening.object = given.object.bits
    if opening.object != 0 {
        guard let record = ObjectTable.record(opening.object), ObjectType.of(record).container === container else {
            throw Failure(.handle, "options.object is stale, or an object of another runtime")
        }
    }
    (opening.file, opening.line) = (given.place.file.map { UnsafePointer($0) }, given.place.line)
    return opening
}

/// The id of a key of a runtime.
func contextKey(_ key: invivo_key, _ container: Container) throws(Failure) -> UInt32 {
    guard UInt32(truncatingIfNeeded: key.bits >> 32) == container.keys.owner else {
        throw key.bits == 0 ? .badHandle(0, .key) : Failure(.handle, "the key belongs to another runtime, or is no key")
    }
    let id = UInt32(truncatingIfNeeded: key.bits)
    guard container.names.isKnown(id) else { throw Failure(.handle, "the key is no key of this runtime") }
    return id
}

/// The container of an open context.
func container(of context: invivo_context) throws(Failure) -> Container {
    try Container.find(try Contexts.runtime(of: ContextHandle(bits: context.bits)), .runtime)
}

@c @implementation
public func invivo_context_end(
    _ context: invivo_context, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in _ = try ContextEnd.run(ContextHandle(bits: context.bits)) }
}

@c @implementation
public func invivo_context_end_with(
    _ context: invivo_context, _ options: UnsafePointer<invivo_context_ending>!,
    _ leased: UnsafeMutablePointer<invivo_value>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    leased?.pointee = invivo_null()
    return answering(error) { () throws(Failure) in
        var end = ContextEnd.Options()
        if let options {
            let least = MemoryLayout<invivo_context_ending>.offset(of: \.failure) ?? 8
            let given = try versioned(options, "options", least: least, as: invivo_context_ending.self)
            if given.timeout_ms > 0 { end.timeout = UInt64(given.timeout_ms) * 1_000_000 }
            end.refusesChildren = given.flags & UInt32(INVIVO_END_REFUSES_CHILDREN) != 0
            if given.failure != 0 {
                end.reason = EndReason(
                    status: given.failure, message: try optionalText(given.failure_message, "options.failure_message"))
            }
        }
        let names = try ContextEnd.run(ContextHandle(bits: context.bits), end)
        leased?.pointee = Value.list(names.map(Value.string)).owned()
    }
}

@c @implementation
public func invivo_context_failure(
    _ context: invivo_context, _ message: UnsafeMutablePointer<UnsafePointer<CChar>?>!
) -> invivo_status {
    message?.pointee = nil
    let handle = ContextHandle(bits: context.bits)
    guard handle.core != nil || handle.hasBeenOpen else { return Status.handle.rawValue }
    if let core = handle.core, Readers.isParents(core) { return Status.forked.rawValue }
    guard let reason = ContextEnd.reason(of: handle) else { return 0 }
    message?.pointee = reason.text?.pointer
    return reason.status
}

// MARK: - objects that live in contexts

@c @implementation
public func invivo_context_resolve(
    _ context: invivo_context, _ key: invivo_key, _ out: UnsafeMutablePointer<invivo_object>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_object()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let container = try container(of: context)
        let id = try contextKey(key, container)
        let object = try container.resolve(id, in: ContextHandle(bits: context.bits))
        guard object != 0 else { throw nullObject(container.keyName(id)) }
        out.pointee.bits = object
    }
}

@c @implementation
public func invivo_context_retain(
    _ context: invivo_context, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in try Contexts.retain(ContextHandle(bits: context.bits)) }
}

@c @implementation
public func invivo_context_release(
    _ context: invivo_context, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in try Contexts.release(ContextHandle(bits: context.bits)) }
}

// MARK: - the chain

@c @implementation
public func invivo_context_parent(
    _ context: invivo_context, _ out: UnsafeMutablePointer<invivo_context>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_context()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee.bits = try Contexts.parent(of: ContextHandle(bits: context.bits))?.bits ?? 0
    }
}

@c @implementation
public func invivo_context_kind_name(
    _ context: invivo_context, _ out: UnsafeMutablePointer<UnsafePointer<CChar>?>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = nil
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        guard let kind = try Contexts.kind(of: ContextHandle(bits: context.bits)) else { return }
        out.pointee = kind.contexts.kinds.cName(at: kind.index)
    }
}

@c @implementation
public func invivo_context_object(
    _ context: invivo_context, _ out: UnsafeMutablePointer<invivo_object>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_object()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee.bits = try Contexts.object(of: ContextHandle(bits: context.bits))
    }
}

@c @implementation
public func invivo_context_runtime(
    _ context: invivo_context, _ out: UnsafeMutablePointer<invivo_runtime>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_runtime()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee.bits = try Contexts.runtime(of: ContextHandle(bits: context.bits))
    }
}

@c @implementation
public func invivo_context_find(
    _ context: invivo_context, _ query: UnsafePointer<invivo_context_query>!,
    _ out: UnsafeMutablePointer<invivo_context>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_context()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        guard let query else { throw Failure(.argument, "query is NULL") }
        let least = MemoryLayout<invivo_context_query>.offset(of: \.flags) ?? 8
        let given = try versioned(query, "query", least: least, as: invivo_context_query.self)
        let wanted: Contexts.Wanted
        switch (try optionalText(given.kind, "query.kind"), try optionalText(given.type, "query.type")) {
        case (let kind?, nil): wanted = .kind(kind)
        case (nil, let type?): wanted = .type(type, isExact: given.flags & UInt32(INVIVO_FIND_EXACT_TYPE) != 0)
        case (nil, nil): throw Failure(.argument, "query.kind and query.type are NULL: one of them is needed")
        case (_?, _?): throw Failure(.argument, "query.kind and query.type are given: only one of them can be")
        }
        out.pointee.bits = try Contexts.find(
            ContextHandle(bits: context.bits), wanted, isAbove: given.flags & UInt32(INVIVO_FIND_ABOVE) != 0
        ).bits
    }
}

// MARK: - the current context

@c @implementation
public func invivo_context_enter(
    _ context: invivo_context, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in try Contexts.enter(ContextHandle(bits: context.bits)) }
}

@c @implementation
public func invivo_context_leave(
    _ context: invivo_context, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in try Contexts.leave(ContextHandle(bits: context.bits)) }
}

@c @implementation
public func invivo_context_current(_ runtime: invivo_runtime) -> invivo_context {
    let handle = HandleBits(runtime.bits)
    guard handle.kind == HandleBits.runtimeKind, handle.index == 0, let core = handle.core,
        iv_load_u64(iv_core_tag(core)) == handle.tag
    else { return invivo_context() }
    return invivo_context(bits: Contexts.current(core)?.bits ?? 0)
}

// MARK: - objects

@c @implementation
public func invivo_context_attach(
    _ context: invivo_context, _ object: invivo_object, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        try AttachedContext.attach(
            ContextHandle(bits: context.bits), to: object.bits, in: try container(of: context))
    }
}

@c @implementation
public func invivo_context_detach(
    _ object: invivo_object, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in try AttachedContext.detach(from: object.bits) }
}

@c @implementation
public func invivo_context_of(
    _ object: invivo_object, _ out: UnsafeMutablePointer<invivo_context>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_context()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee.bits = try AttachedContext.nearest(to: object.bits)?.bits ?? 0
    }
}
