internal import CInvivo
internal import InvivoBase
internal import InvivoWiring

/// The rules of a reload: between its plan and its commit. By the thread that has the turn.
extension Reloader {
    /// Begins to run the rules of a plan.
    func beginRules(_ prepared: PreparedReload) {
        guard case .planned(let plan) = prepared.outcome, !plan.checks.isEmpty else { return }
        do throws(Failure) { prepared.rules = try rules.start(plan.checks) } catch { prepared.outcome = .failed(error) }
    }

    /// Waits for the rules of a plan. If one refuses its values, or does not answer in time, the reload fails.
    func finishRules(_ prepared: PreparedReload) {
        guard let run = prepared.rules.take(), case .planned(let plan) = prepared.outcome else { return }
        let former = container.registry.reloadCall.note(.planned(plan.checks.map(\.subject)))
        let faults = rules.wait(for: run)
        container.registry.reloadCall.note(former)
        prepared.clock.end(INVIVO_PHASE_PLAN)
        guard !faults.isEmpty else { return }
        // The errors name the lines of the new documents.
        let documents = plan.wiring.staged.documents
        for (_, state) in documents { state.traits.adoptLocations() }
        if let failure = Failure.gathered(faults.map(\.failure)) { prepared.outcome = .failed(failure) }
        for (document, _) in documents { document.state.traits.adoptLocations() }
    }
}
