internal import InvivoBase
internal import InvivoConfig
internal import InvivoSpec

/// A rule and the candidate values of its inputs: all that a thread needs to run it.
struct RuleCheck: Sendable {
    /// The value of an input in one generation.
    struct Input: Sendable {
        /// Null if there is none.
        var value = Value.null
        var origin = Origin.none
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

    /// Runs the rule on the calling thread.
    func run() -> (failure: Failure, at: Int)? { rule.run(inputs.map(\.value), changed: changed) }

    /// Returns the failure of the change set, at the source location of an input. By the thread that has the turn.
    func failure(_ code: Status, _ message: String, at index: Int? = nil, cause: Failure? = nil) -> Failure {
        let index = index ?? changed
        return Failure(
            code, "the rule '\(rule.name)' \(message)", path: RuleTable.path(rule.inputs[index]),
            at: inputs[index].origin.location,
            cause: cause)
    }
}
