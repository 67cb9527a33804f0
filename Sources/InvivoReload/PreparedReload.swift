internal import InvivoBase
internal import InvivoLoop

/// A change set that was staged and planned. Nothing of it is visible yet. Used once, by the thread that has the turn.
final class PreparedReload {
    enum Outcome {
        /// The documents have their former content, and the set changes nothing else.
        case nothing
        case planned(Plan)
        case failed(Failure)
    }

    let set: ChangeSet
    /// The set as it was given, if files whose bytes were refused before take part in `set`.
    let given: ChangeSet?
    /// Why these files were refused again, although the rest was not.
    var refused: Failure?
    var clock: PhaseClock
    var outcome = Outcome.nothing
    var warnings: [Report.Warning] = []
    var files = FilesRead()
    /// The rules of the plan, if they were begun.
    var rules: RuleRun?
    /// Whether all events concerned documents that are not open.
    let concernsNoOpenDocument: Bool
    /// Whether a call waits for it and returns its failure, which is then not logged as an error.
    var isAnswered = false

    init(_ set: ChangeSet, given: ChangeSet, concernsNoOpenDocument: Bool) {
        self.set = set
        self.given = set.documents.refused.isEmpty ? nil : given
        self.concernsNoOpenDocument = concernsNoOpenDocument
        clock = PhaseClock(set.events)
    }

    var failure: Failure? { if case .failed(let failure) = outcome { failure } else { nil } }

    /// Whether host code runs before it is live, which may take long.
    var runsHostCode: Bool { if case .planned(let plan) = outcome { plan.runsHostCode } else { false } }

    /// Removes and returns the outcome. A plan in it then has one reference, so that changing it copies nothing.
    func takeOutcome() -> Outcome {
        defer { outcome = .nothing }
        return outcome
    }
}
