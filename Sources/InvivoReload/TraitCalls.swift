internal import InvivoBase
internal import InvivoSpec
internal import InvivoTraits
internal import InvivoWiring
internal import Synchronization

extension TraitType: Named {}

/// Runs the checks and layer declarations of trait types for one plan, on a thread for rules. All of them together have the time
/// limit of rules. By the thread that has the turn.
final class TraitCalls {
    private let threads: RuleThreads
    private let call: CurrentReloadCall
    private var deadline: UInt64?

    init(_ threads: RuleThreads, _ call: CurrentReloadCall) {
        self.threads = threads
        self.call = call
    }

    func declare(_ type: TraitType, _ values: [Value], _ spec: TraitSpec) throws(Failure) -> [LayerDeclaration] {
        let check = TraitCheck(type: type, values: values, spec: spec)
        let deadline = deadline ?? threads.deadline
        self.deadline = deadline
        let former = call.note(.rules([type.name]))
        defer { call.note(former) }
        let faults = threads.wait(for: try threads.start([check], until: deadline))
        if let fault = faults.first { throw fault.failure }
        return check.declared
    }
}

/// The call of one trait type for one trait.
final class TraitCheck: PlannedCall {
    let type: TraitType
    private let values: [Value]
    private let spec: TraitSpec
    private let result = Mutex<[LayerDeclaration]>([])

    init(type: TraitType, values: [Value], spec: TraitSpec) {
        self.type = type
        self.values = values
        self.spec = spec
    }

    var function: any Named & AnyObject { type }

    var declared: [LayerDeclaration] { result.withLock { $0 } }

    func run() -> PlannedRefusal? {
        do throws(TraitType.Refusal) {
            let declared = try type.declare(values)
            result.withLock { $0 = declared }
            return nil
        } catch { return PlannedRefusal(failure: error.failure, at: error.at ?? -1) }
    }

    func failure(_ code: Status, _ message: String, at index: Int?, cause: Failure?) -> Failure {
        let field = index.flatMap { type.fields.properties.indices.contains($0) ? type.fields.properties[$0] : nil }
        let given = field.flatMap { field in spec.parameters.first { $0.key.isSameName(as: field.name) } }
        return Failure(
            code, "the trait '\(type.name)' \(message)", path: field.map { spec.path(of: [$0.name]) } ?? spec.path,
            at: given?.value.location ?? spec.typeLocation, cause: cause)
    }
}
