internal import InvivoBase

/// Why rules, or other functions that a plan calls, refuse a change set.
enum RuleFault: Sendable {
    /// A function refused the values, with the index of the input at fault.
    case refused(any PlannedCall, at: Int, Failure)
    /// The function did not answer within the limit, in nanoseconds.
    case late(any PlannedCall, limit: UInt64)
    /// The function was given up in an earlier change set and has not returned.
    case stillRunning(any PlannedCall)
    case closing

    /// The failure of the change set. By the thread that has the turn.
    var failure: Failure {
        switch self {
        case .refused(let check, let index, let cause):
            check.refusal(at: index, cause)
        case .late(let check, let limit):
            check.failure(
                .timeout,
                "has not answered after \(milliseconds(limit)), the rule timeout of the runtime: it must return at once, "
                    + "without waiting", at: nil, cause: nil)
        case .stillRunning(let check):
            check.failure(
                .timeout,
                "is still running for an earlier change set: changes of its inputs are refused until it returns, is replaced or "
                    + "is removed", at: nil, cause: nil)
        case .closing: Loading.abandoned
        }
    }
}
