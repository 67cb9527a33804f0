public import CInvivo
internal import InvivoBase
internal import InvivoGraph
internal import InvivoReload
internal import InvivoWiring

// setup.h: effects and children of objects.

@c @implementation
public func invivo_effect(
    _ runtime: invivo_runtime,
    _ undo: (
        @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<OpaquePointer?>?) -> invivo_status
    )!,
    _ userData: UnsafeMutableRawPointer!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        guard let undo else { throw Failure(.argument, "undo is NULL") }
        let data = HostPointer(userData)
        let run: @Sendable () throws(Failure) -> Void = { () throws(Failure) in
            try CallbackResult.run("the undo function of an effect") { undo(data.raw, $0) }
        }
        do throws(Failure) {
            try RunningSetup(of: Container.find(runtime.bits, .runtime), for: "invivo_effect").add(run)
        } catch {
            var failure = error
            do throws(Failure) { try run() } catch { failure.others.append(error) }
            throw failure
        }
    }
}

@c @implementation
public func invivo_child(
    _ runtime: invivo_runtime, _ key: invivo_key, _ arguments: UnsafePointer<invivo_value>!, _ count: Int,
    _ out: UnsafeMutablePointer<invivo_object>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_object()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let (container, id) = try keyed(runtime, key)
        out.pointee.bits = try RunningSetup(of: container, for: "invivo_child").child(
            id, try Value.borrowed(arguments, count))
    }
}

@c @implementation
public func invivo_child_make(
    _ runtime: invivo_runtime, _ type: invivo_type, _ arguments: UnsafePointer<invivo_value>!, _ count: Int,
    _ out: UnsafeMutablePointer<invivo_object>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_object()
    return answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        let container = try Container.find(runtime.bits, .runtime)
        out.pointee.bits = try RunningSetup(of: container, for: "invivo_child_make").child(
            try container.registry.type(of: type), try Value.borrowed(arguments, count))
    }
}
