public import CInvivo
internal import CPlatform
internal import InvivoBase
internal import InvivoReload
internal import InvivoWiring

// pin.h: kept generations.

@c @implementation
public func invivo_pin_begin(_ runtime: invivo_runtime, _ place: UnsafePointer<invivo_place>!) -> invivo_pin {
    begin(runtime, place, isThreads: true)
}

@c @implementation
public func invivo_pin_hold(_ runtime: invivo_runtime, _ place: UnsafePointer<invivo_place>!) -> invivo_pin {
    begin(runtime, place, isThreads: false)
}

@inline(__always)
private func begin(_ runtime: invivo_runtime, _ place: UnsafePointer<invivo_place>?, isThreads: Bool) -> invivo_pin {
    let handle = HandleBits(runtime.bits)
    guard handle.kind == HandleBits.runtimeKind, handle.index == 0, let core = handle.core, !Readers.isParents(core)
    else {
        return invivo_pin()
    }
    let place = Pins.Place(file: place?.pointee.file, line: place?.pointee.line ?? 0)
    guard case .begun(let bits, let isFirst) = Pins.begin(core, tag: handle.tag, isThreads: isThreads, at: place) else {
        return invivo_pin()
    }
    if isFirst { watch(runtime.bits) }
    return invivo_pin(bits: bits)
}

@inline(never)
private func watch(_ runtime: UInt64) { (try? Engine.find(runtime))?.pinWatch.start() }

@c @implementation
public func invivo_pin_enter(
    _ pin: invivo_pin, _ out: UnsafeMutablePointer<invivo_pin>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_pin()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        switch Pins.enter(pin.bits) {
        case .begun(let bits, _): out.pointee.bits = bits
        case .viewing:
            throw Failure(
                .busy, "the calling thread has an open view of another generation: end the view, and then enter the pin"
            )
        case .forked: throw .forked()
        case .exhausted: throw Failure(.memory, "there is no memory for a further pin, or a million pins are open")
        case .stale, .closed:
            throw Failure(
                .stale,
                "the pin has ended: threads enter a pin while it is open, and the one that began it ends it last")
        }
    }
}

@c @implementation
public func invivo_pin_end(_ pin: invivo_pin) -> invivo_status {
    switch Pins.end(pin.bits) {
    case .ended(let core, let isOld):
        if isOld { endGenerations(core) }
        return 0
    case .before: return 0
    case .unknown: return Status.handle.rawValue
    case .elsewhere: return Status.domain.rawValue
    }
}

/// The generation of an ended pin is not the current one: the loop thread looks whether it ends with the pin.
@inline(never)
private func endGenerations(_ core: Core) {
    let tag = iv_load_u64(iv_core_tag(core))
    let runtime = HandleBits(kind: HandleBits.runtimeKind, tag: tag).bits
    guard tag != 0, !Readers.isParents(core), let engine = try? Engine.find(runtime) else { return }
    engine.reclaimSoon()
}

@c @implementation
public func invivo_pin_current(_ runtime: invivo_runtime) -> invivo_pin {
    let handle = HandleBits(runtime.bits)
    guard handle.kind == HandleBits.runtimeKind, handle.index == 0, let core = handle.core,
        iv_load_u64(iv_core_tag(core)) == handle.tag
    else { return invivo_pin() }
    return invivo_pin(bits: Pins.innermost(core))
}

@c @implementation
public func invivo_pin_generation(_ pin: invivo_pin) -> UInt64 { Pins.generation(pin.bits) ?? 0 }
