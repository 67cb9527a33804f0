internal import InvivoBase
internal import InvivoSpec

/// A rule and the candidate values of its inputs: all that a thread needs to run it.
struct RuleCheck: PlannedCall {
    /// The value of an input in one generation.
    struct Input: Sendable {
        /// Null if there is none.
        var value = Value.null
        var origin = Origin.none
        var obstacle: Obstacle?
        /// Whether the value, or a part of it, is secret.
        var isSecret = false
    }

    /// Why rules cannot check the values of a property.
    enum Obstacle: String, Sendable {
        case moves = "moves by Ramp, in steps that no rule checks: use Set"
        case isRelative =
            "a layer changes relative to the value of the object itself, which no rule knows before the commit: set it by Set below"
    }

    /// Where a value was given.
    enum Origin: Sendable {
        case none
        case at(Location)
        /// A value of a trait: its document may be read again, with other lines, until the commit.
        case trait(TraitLocation)

        var location: Location {
            switch self {
            case .none: Location()
            case .at(let location): location
            case .trait(let trait): trait.location
            }
        }
    }

    let rule: Rule
    let inputs: [Input]
    /// The index of the first input that changes.
    let changed: Int

    var function: any Named & AnyObject { rule }
    var subject: String { "the rule '\(rule.name)'" }

    func run() -> PlannedRefusal? {
        rule.run(inputs.map(\.value), changed: changed).map { PlannedRefusal(failure: $0.failure, at: $0.at) }
    }

    func refusal(at index: Int, _ cause: Failure) -> Failure {
        guard inputs.contains(where: \.isSecret) else { return refused(at: index, cause) }
        return failure(.host, "refuses the values \(Failure.hiddenMessage)", at: index, cause: nil)
    }

    func failure(_ code: Status, _ message: String, at index: Int?, cause: Failure?) -> Failure {
        let index = index ?? changed
        return Failure(
            code, "\(subject) \(message)", path: RuleTable.path(rule.inputs[index]),
            at: inputs[index].origin.location,
            cause: cause)
    }
}
