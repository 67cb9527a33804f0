internal import InvivoBase
internal import InvivoSpec
internal import InvivoTraits
internal import InvivoWiring

extension TraitType: Named {}

/// Runs functions of the host for one plan, on a thread for rules: the checks and layer declarations of trait types, the checks of
/// properties, and the functions of settings. All of them together have the time limit of rules. By the thread that has the turn.
final class PlanCalls {
    private let threads: RuleThreads
    private let call: CurrentReloadCall
    private var deadline: UInt64?
    /// The function that has used up the time. Nothing else is called then, or blamed.
    private var late: RuleFault?
    private var last: (any PlannedCall)?

    init(_ threads: RuleThreads, _ call: CurrentReloadCall) {
        self.threads = threads
        self.call = call
    }

    func declare(_ type: TraitType, _ values: [Value], _ spec: TraitSpec) throws(Failure) -> [LayerDeclaration] {
        guard type.isPlannedByHost else { return [] }
        let check = TraitCheck(type: type, values: values, spec: spec)
        if let fault = try run([check]).first { throw fault.failure }
        return check.declared
    }

    /// Runs the calls, one after the other, and waits for them. Returns their faults.
    func run(_ calls: [any PlannedCall]) throws(Failure) -> [RuleFault] {
        let deadline = deadline ?? threads.deadline
        self.deadline = deadline
        if late == nil, let last, monotonicNow() >= deadline { late = .late(last, limit: threads.limit) }
        if let late { return [late] }
        let former = call.note(.planned(calls.map(\.subject)))
        defer { call.note(former) }
        let faults = threads.wait(for: try threads.start(calls, until: deadline))
        last = calls.last
        late = faults.first { if case .late = $0 { true } else { false } }
        return faults
    }
}
