public import CInvivo
internal import CPlatform
internal import InvivoBase
internal import InvivoContexts
internal import InvivoReload
internal import InvivoWiring

// context.h: values of contexts.

@c @implementation
public func invivo_context_get(
    _ context: invivo_context, _ key: invivo_key, _ out: UnsafeMutablePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    guard let out else { return report(Failure(.argument, "out is NULL"), error) }
    let outcome = ContextReads.get(context.bits, key.bits, isLocal: false, out)
    return outcome == 0 ? 0 : missing(context, key, outcome, isLocal: false, out, error)
}

@c @implementation
public func invivo_context_get_local(
    _ context: invivo_context, _ key: invivo_key, _ out: UnsafeMutablePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    guard let out else { return report(Failure(.argument, "out is NULL"), error) }
    let outcome = ContextReads.get(context.bits, key.bits, isLocal: true, out)
    return outcome == 0 ? 0 : missing(context, key, outcome, isLocal: true, out, error)
}

/// The error of a get. Without `error`, nothing is allocated for a missing value.
@inline(never)
private func missing(
    _ context: invivo_context, _ key: invivo_key, _ outcome: Int32, isLocal: Bool,
    _ out: UnsafeMutablePointer<invivo_value>, _ error: UnsafeMutablePointer<OpaquePointer?>?
) -> invivo_status {
    out.pointee = invivo_null()
    if error == nil {
        switch outcome {
        case Int32(IV_CONTEXT_NOTHING), Int32(IV_CONTEXT_IS_HIDDEN): return Status.notFound.rawValue
        case Int32(IV_CONTEXT_ORPHANED): return Status.orphaned.rawValue
        case Int32(IV_CONTEXT_OVER): return Status.stale.rawValue
        default: break
        }
    }
    return answering(error) { () throws(Failure) in
        let handle = ContextHandle(bits: context.bits)
        if outcome == Int32(IV_CONTEXT_OVER) { throw Contexts.ended(handle) }
        if outcome == -2 { throw .exhausted() }
        throw Contexts.readFailure(handle, key.bits, outcome: outcome, isLocal: isLocal)
    }
}

@c @implementation
public func invivo_view_context_value(
    _ view: invivo_view, _ context: invivo_context, _ key: invivo_key
) -> UnsafePointer<invivo_value>! {
    guard let reader = view.reader, let graph = view.graph else { return nil }
    return ContextReads.borrow(
        UnsafeMutablePointer<iv_reader>(reader), graph.pointee.owner, context.bits, key.bits)
}

@c @implementation
public func invivo_context_set(
    _ context: invivo_context, _ key: invivo_key, _ value: UnsafePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let value = try Value(borrowing: value, "value")
        try Contexts.change(ContextHandle(bits: context.bits), [(key.bits, .set(value))])
    }
}

@c @implementation
public func invivo_context_remove(
    _ context: invivo_context, _ key: invivo_key, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        try Contexts.change(ContextHandle(bits: context.bits), [(key.bits, .remove)])
    }
}

@c @implementation
public func invivo_context_hide(
    _ context: invivo_context, _ key: invivo_key, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        try Contexts.change(ContextHandle(bits: context.bits), [(key.bits, .hide)])
    }
}

@c @implementation
public func invivo_context_change_values(
    _ context: invivo_context, _ changes: UnsafePointer<invivo_context_change>!, _ count: Int,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        guard count == 0 || changes != nil else { throw Failure(.argument, "changes is NULL") }
        guard count >= 0, count <= 1 << 24 else {
            throw Failure(.tooLarge, "\(count) changes are too many for one call")
        }
        var given: [(key: UInt64, change: Contexts.Change)] = []
        for index in 0..<count {
            let part = changes[index]
            let key = part.key.bits
            switch part.what {
            case UInt32(INVIVO_VALUE_SET): given.append((key, .set(try Value(borrowing: part.value))))
            case UInt32(INVIVO_VALUE_REMOVE): given.append((key, .remove))
            case UInt32(INVIVO_VALUE_HIDE): given.append((key, .hide))
            default:
                throw Failure(
                    .argument, "changes[\(index)].what is \(part.what): it is INVIVO_VALUE_SET, _REMOVE or _HIDE")
            }
        }
        try Contexts.change(ContextHandle(bits: context.bits), given)
    }
}

@c @implementation
public func invivo_context_entries(
    _ context: invivo_context, _ local: Bool, _ out: UnsafeMutablePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_null()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let entries = try Contexts.entries(ContextHandle(bits: context.bits), isLocal: local)
        out.pointee =
            Value.list(
                entries.map { .list([.string($0.key), $0.value, .uint64(UInt64($0.distance))]) }
            ).owned()
    }
}

@c @implementation
public func invivo_context_observe(
    _ context: invivo_context, _ key: invivo_key, _ options: UnsafePointer<invivo_context_observer>!,
    _ out: UnsafeMutablePointer<invivo_observer>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_observer()
    return answering(error) { () throws(Failure) in
        let container = try container(of: context)
        let id = try contextKey(key, container)
        guard let options else { throw Failure(.argument, "options is NULL") }
        let least = MemoryLayout<invivo_context_observer>.offset(of: \.destroy) ?? 8
        let given = try versioned(options, "options", least: least, as: invivo_context_observer.self)
        guard let changed = given.changed else { throw Failure(.argument, "options.changed is NULL") }
        let userData = HostPointer(given.user_data)
        let ended = given.destroy.map { destroy in { @Sendable in destroy(userData.raw) } }
        let handle = try Engine.of(container).contextObservers.add(
            ContextHandle(bits: context.bits), id, domain: given.domain.bits, destroy: ended
        ) { handle, _ in
            var value = invivo_null()
            let isThere = ContextReads.get(handle.bits, key.bits, isLocal: false, &value) == 0
            withUnsafePointer(to: &value) {
                changed(userData.raw, invivo_context(bits: handle.bits), key, isThere ? $0 : nil)
            }
            Value.free(&value)
        }
        out?.pointee.bits = handle
    }
}
