internal import InvivoBase
internal import InvivoTraits

extension Property: Named {}

/// The check of the value of one layer by the host, for a plan.
struct PropertyCheck: PlannedCall {
    let check: LayerCheck

    var function: any Named & AnyObject { check.property }
    var subject: String { "the verify function of '\(check.property.name)'" }

    func run() -> PlannedRefusal? {
        do throws(Failure) { try check.run() } catch { return PlannedRefusal(failure: error, at: -1) }
        return nil
    }

    func refusal(at index: Int, _ cause: Failure) -> Failure { check.located(cause) }

    func failure(_ code: Status, _ message: String, at index: Int?, cause: Failure?) -> Failure {
        check.located(Failure(code, "\(subject) \(message)", cause: cause))
    }
}
