internal import InvivoBase

/// A call of a pure function of the host, between the staging of a reload and its commit.
protocol PlannedCall: Sendable {
    /// The rule, trait type, property or binding whose function it is.
    var function: any Named & AnyObject { get }
    /// The function, for messages: "the rule 'low < high'".
    var subject: String { get }
    /// Calls it on the calling thread. Returns its refusal.
    func run() -> PlannedRefusal?
    /// Returns the failure of the change set, at the source location of the input with that index. By the thread that has the turn.
    func failure(_ code: Status, _ message: String, at index: Int?, cause: Failure?) -> Failure
    /// Returns the failure of the change set for a refusal.
    func refusal(at index: Int, _ cause: Failure) -> Failure
}

extension PlannedCall {
    /// The failure for a refusal that may be shown.
    func refused(at index: Int, _ cause: Failure) -> Failure {
        // An error of the code has the source location of the code; a refusal has none.
        failure(.host, cause.location.file.isEmpty ? "refuses this value" : "failed", at: index, cause: cause)
    }
}

/// The refusal of a host function, with the index of the input at fault.
struct PlannedRefusal {
    let failure: Failure
    let at: Int
}
