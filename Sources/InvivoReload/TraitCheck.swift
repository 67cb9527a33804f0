internal import InvivoBase
internal import InvivoSpec
internal import InvivoTraits
internal import Synchronization

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
    var subject: String { "the trait '\(type.name)'" }

    var declared: [LayerDeclaration] { result.withLock { $0 } }

    func run() -> PlannedRefusal? {
        do throws(TraitType.Refusal) {
            let declared = try type.declare(values)
            result.withLock { $0 = declared }
            return nil
        } catch { return PlannedRefusal(failure: error.failure, at: error.at ?? -1) }
    }

    func refusal(at index: Int, _ cause: Failure) -> Failure {
        guard type.hasSecret(spec) else { return refused(at: index, cause) }
        return failure(.host, "refuses the values \(Failure.hiddenMessage)", at: index, cause: nil)
    }

    func failure(_ code: Status, _ message: String, at index: Int?, cause: Failure?) -> Failure {
        let field = index.flatMap { type.fields.properties.indices.contains($0) ? type.fields.properties[$0] : nil }
        let given = field.flatMap { field in spec.parameters.first { $0.key.isSameName(as: field.name) } }
        return Failure(
            code, "\(subject) \(message)", path: field.map { spec.path(of: [$0.name]) } ?? spec.path,
            at: given?.value.location ?? spec.typeLocation, cause: cause)
    }
}
