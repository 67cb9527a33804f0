internal import InvivoGraph
internal import InvivoTraits
internal import InvivoWiring

extension Tuning.Outcome {
    /// The kind of the warning about it.
    var warning: Report.Warning.Kind {
        switch what {
        case .adjusted: .adjusted
        case .left: .foreign
        case .refused, .notReversed: .unrestored
        }
    }
}

extension Graph {
    /// The outcome for a property of a key without the value, if the definition injects a secret into the property.
    func withoutSecrets(_ outcome: Tuning.Outcome, _ id: UInt32, _ names: KeyNames) -> Tuning.Outcome {
        let property = outcome.path.split(separator: ".").first.map(String.init) ?? ""
        return injectsSecret(into: property, of: id, names) ? outcome.ofSecret : outcome
    }
}
