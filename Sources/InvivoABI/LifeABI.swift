public import CInvivo
internal import InvivoBase
internal import InvivoGraph
internal import InvivoReload
internal import InvivoWiring

// wiring.h and runtime.h: resetting, starting and stopping by hand, states.

@c @implementation
public func invivo_changes_reset(
    _ changes: invivo_changes, _ key: UnsafePointer<CChar>!, _ flags: UInt32,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        let name = try text(key, "key")
        guard flags & ~UInt32(INVIVO_RESET_DEPENDENCIES) == 0 else {
            throw Failure(.argument, "flags is \(flags), which contains none of INVIVO_RESET_...")
        }
        let id = try changes.engine.container.intern(name)
        changes.set.reset(id, name, withDependencies: flags & UInt32(INVIVO_RESET_DEPENDENCIES) != 0)
        changes.note(.reset, name)
    }
}

@c @implementation
public func invivo_changes_reset_scope(
    _ changes: invivo_changes, _ scope: UInt32, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let changes = try InvivoABI.changes(changes)
        guard let scope = Scope(rawValue: scope), scope.isShared else {
            throw Failure(.argument, "scope is \(scope), which is none that keeps instances")
        }
        changes.set.reset(scope)
        changes.note(.resetScope, scope.name)
    }
}

@c @implementation
public func invivo_start(
    _ runtime: invivo_runtime, _ key: invivo_key, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let (container, id) = try keyed(runtime, key)
        try container.lifecycle.start(id)
    }
}

@c @implementation
public func invivo_stop(
    _ runtime: invivo_runtime, _ key: invivo_key, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let (container, id) = try keyed(runtime, key)
        try container.lifecycle.stop(id)
    }
}

@c @implementation
public func invivo_runtime_states(
    _ runtime: invivo_runtime, _ out: UnsafeMutablePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee = invivo_value()
        let states = RuntimeFacts(try Container.find(runtime.bits, .runtime)).states()
        out.pointee = Value.list(
            states.map { state in
                .map([
                    (name: "key", value: .string(state.key)), (name: "state", value: .uint32(state.state.rawValue)),
                    (name: "name", value: .string(state.state.name)),
                    (name: "objects", value: .uint64(UInt64(state.objects))),
                    (name: "waits", value: .list(state.waits.map { .string($0) })),
                    (name: "error", value: .string(state.error)),
                ])
            }
        ).owned()
    }
}
