internal import InvivoBase
internal import InvivoTraits

extension Property: Named {}

extension LayerCheck: PlannedCall {
    var function: any Named & AnyObject { property }

    func run() -> PlannedRefusal? {
        do throws(Failure) { try property.verify(value) } catch { return PlannedRefusal(failure: error, at: -1) }
        return nil
    }

    func refusal(at index: Int, _ cause: Failure) -> Failure { refusal(cause) }

    func failure(_ code: Status, _ message: String, at index: Int?, cause: Failure?) -> Failure {
        located(Failure(code, "\(subject) \(message)", cause: origin == nil ? cause : nil))
    }
}
