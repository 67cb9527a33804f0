public import CInvivo
internal import InvivoBase

// value.h: values and callables.

@c @implementation
public func invivo_value_copy(
    _ out: UnsafeMutablePointer<invivo_value>!, _ value: UnsafePointer<invivo_value>!,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answer(value, out, error) { (value) throws(Failure) in value }
}

@c @implementation
public func invivo_value_clear(_ value: UnsafeMutablePointer<invivo_value>!) {
    if let value { Value.free(&value.pointee) }
}

@c @implementation
public func invivo_value_convert(
    _ out: UnsafeMutablePointer<invivo_value>!, _ value: UnsafePointer<invivo_value>!, _ kind: invivo_kind,
    _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    answer(value, out, error) { (value) throws(Failure) in try value.converted(to: kind) }
}

/// Reads a value, converts it, and returns the result, which the caller owns.
private func answer(
    _ value: UnsafePointer<invivo_value>?, _ out: UnsafeMutablePointer<invivo_value>?,
    _ error: UnsafeMutablePointer<OpaquePointer?>?, _ transform: (Value) throws(Failure) -> Value
) -> invivo_status {
    answering(error) { () throws(Failure) in
        // `out` and `value` may be the same address.
        let given = Result { () throws(Failure) in try transform(Value(borrowing: value, "value")) }
        out?.pointee = invivo_null()
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee = try given.get().owned()
    }
}

@c @implementation
public func invivo_kind_name(_ kind: invivo_kind) -> UnsafePointer<CChar>! {
    cString(ValueKind(rawValue: kind)?.cName ?? "unknown")
}

// MARK: - Callables

@c @implementation
public func invivo_callable_make(
    _ runtime: invivo_runtime, _ options: UnsafePointer<invivo_callable_options>!,
    _ out: UnsafeMutablePointer<invivo_callable>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    out?.pointee = invivo_callable()
    return answering(error) { () throws(Failure) in
        _ = try RuntimeLookup.registry(for: runtime)
        guard let out else { throw Failure(.argument, "out is NULL") }
        out.pointee.bits = try Callable(options: options).leasedBits()
    }
}

@c @implementation
public func invivo_callable_call(
    _ callable: invivo_callable, _ arguments: UnsafePointer<invivo_value>!, _ count: Int,
    _ result: UnsafeMutablePointer<invivo_value>!, _ error: UnsafeMutablePointer<OpaquePointer?>!
) -> invivo_status {
    result?.pointee = invivo_null()
    return answering(error) { () throws(Failure) in
        let value = try Callable.find(callable.bits).call(Value.borrowed(arguments, count))
        result?.pointee = value.owned()
    }
}

@c @implementation
public func invivo_callable_retain(_ callable: invivo_callable) -> invivo_status {
    answering(nil) { () throws(Failure) in try Callable.retain(callable.bits) }
}

@c @implementation
public func invivo_callable_release(_ callable: invivo_callable) -> invivo_status {
    answering(nil) { () throws(Failure) in try Callable.release(callable.bits) }
}

@c @implementation
public func invivo_callable_user_data(
    _ callable: invivo_callable,
    _ invoke: (
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<invivo_value>?, Int, UnsafeMutablePointer<invivo_value>?,
            UnsafeMutablePointer<OpaquePointer?>?
        ) -> invivo_status
    )!
) -> UnsafeMutableRawPointer! {
    do throws(Failure) {
        return try Callable.find(callable.bits).userData(ifInvokedBy: invoke)
    } catch {
        return nil
    }
}
