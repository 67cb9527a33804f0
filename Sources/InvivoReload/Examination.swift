public import InvivoBase

/// What planning a change set has found, when nothing is built.
public struct Examination: Sendable {
    /// The wiring that the change set would lead to. Nil with errors, and if nothing would change.
    public var facts: WiringFacts?
    public var failures: [Failure] = []
    /// The warnings that are not among the errors.
    public private(set) var warnings: [Report.Warning] = []

    init(failures: [Failure], warnings: [Report.Warning] = []) {
        self.failures = failures
        self.warnings = warnings.filter { warning in
            !failures.contains { $0.location == warning.location && warning.message.hasSuffix($0.message) }
        }
    }
}
