public import CInvivo
internal import InvivoBase
internal import InvivoReload

// history.h: rollbacks and marks.

@c @implementation
public func invivo_rollback(
    _ runtime: invivo_runtime, _ generation: UInt64, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in try Engine.find(runtime.bits).rollBack(to: generation) }
}

@c @implementation
public func invivo_changes_rollback(
    _ changes: invivo_changes, _ generation: UInt64, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in try InvivoABI.changes(changes).set.restore(generation) }
}

@c @implementation
public func invivo_runtime_history(
    _ runtime: invivo_runtime, _ out: UnsafeMutablePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee = invivo_value()
        let generations = try Engine.find(runtime.bits).history
        out.pointee = Value.list(
            generations.map { kept in
                .map([
                    (name: "generation", value: .uint64(kept.numbers.upperBound)),
                    (name: "first", value: .uint64(kept.numbers.lowerBound)),
                    (name: "cause", value: .string(kept.cause)), (name: "time_ns", value: .uint64(kept.time)),
                    (name: "marks", value: .list(kept.marks.map { .string($0) })),
                ])
            }
        ).owned()
    }
}

@c @implementation
public func invivo_mark(
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<UInt64>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        let engine = try Engine.find(runtime.bits)
        let generation = try engine.mark(try text(name, "name"))
        out?.pointee = generation
    }
}

@c @implementation
public func invivo_unmark(
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in try Engine.find(runtime.bits).unmark(try text(name, "name")) }
}

@c @implementation
public func invivo_marked(
    _ runtime: invivo_runtime, _ name: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<UInt64>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answering(error) { () throws(Failure) in
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee = try Engine.find(runtime.bits).marked(try text(name, "name"))
    }
}
