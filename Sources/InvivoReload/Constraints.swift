internal import InvivoBase

/// The conditions and bindings of the host over the values of a generation.
struct Constraints: Sendable {
    var rules = RuleTable()
    var bindings = BindingTable()
}
