public import CInvivo

/// Calls a C callback that returns a status, a value and an error. Converts the three to a value or a failure.
public enum CallbackResult {
    /// Calls a host function and takes its result. `what` names the function in messages. The `result` and `error` of
    /// the callback are freed here, whether it succeeds or fails.
    public static func run(
        _ what: @autoclosure () -> String,
        _ call: (UnsafeMutablePointer<invivo_value>, UnsafeMutablePointer<OpaquePointer?>) -> invivo_status
    ) throws(Failure) -> Value {
        var result = invivo_null()
        var error: OpaquePointer?
        let status = call(&result, &error)
        defer { Value.free(&result) }
        try check(status, error, what())
        do {
            return try Value(borrowing: result)
        } catch {
            throw Failure(error.code, "the result of \(what()) is not usable", cause: error)
        }
    }

    /// Calls a host function that returns no value.
    public static func run(
        _ what: @autoclosure () -> String, _ call: (UnsafeMutablePointer<OpaquePointer?>) -> invivo_status
    ) throws(Failure) {
        var error: OpaquePointer?
        let status = call(&error)
        try check(status, error, what())
    }

    private static func check(
        _ status: invivo_status, _ error: OpaquePointer?, _ what: @autoclosure () -> String
    ) throws(Failure) {
        guard status == 0, error == nil else {
            // An error beside a good status is taken over too, or it would leak; the status decides.
            let failure = ErrorBox.failure(status: status, error: error, from: what())
            if status != 0 { throw failure }
            return
        }
    }
}
