internal import InvivoGraph
internal import InvivoTraits
internal import InvivoWiring

extension Tuning.Outcome {
    /// The kind of the warning about it.
    private var kind: Report.Warning.Kind {
        switch what {
        case .adjusted: .adjusted
        case .left: .foreign
        case .refused: .unrestored
        }
    }

    /// The warning about it. The value may come from the definition of each of the generations.
    func warning(of id: UInt32, _ key: String, in graphs: [Graph], _ names: KeyNames) -> Report.Warning {
        let outcome = graphs.reduce(self) { $1.withoutSecrets($0, id, names) }
        return Report.Warning(kind, "\(key).\(outcome.text)", at: location)
    }
}

extension Graph {
    /// The outcome for a property of a key without the value, if the definition injects a secret into the property.
    func withoutSecrets(_ outcome: Tuning.Outcome, _ id: UInt32, _ names: KeyNames) -> Tuning.Outcome {
        let property = outcome.path.split(separator: ".").first.map(String.init) ?? ""
        return injectsSecret(into: property, of: id, names) ? outcome.ofSecret : outcome
    }
}
