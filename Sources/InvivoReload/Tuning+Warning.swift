internal import InvivoBase
internal import InvivoGraph
internal import InvivoTraits
internal import InvivoWiring

extension Tuning.Outcome {
    /// The kind of the warning about it.
    private var kind: Report.Warning.Kind {
        switch what {
        case .adjusted: .adjusted
        case .left: .foreign
        case .refused, .notReversed: .unrestored
        }
    }

    var isRefused: Bool { if case .refused = what { true } else { false } }

    /// The warning about it; not under the monitor. The value may come from the definition of each of the generations.
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

extension Failure {
    /// The failure of a commit without messages about properties into which definitions inject secrets: setters could quote them.
    func withoutSecrets(in graphs: [Graph], _ names: KeyNames) -> Failure {
        guard graphs.contains(where: { !$0.secrets.isEmpty }) else { return self }
        let clean = all.map { failure in
            graphs.contains { $0.injectsSecret(at: failure.path, names) }
                ? Failure.ofSecret(failure.code, "the value cannot be set", path: failure.path, at: failure.location)
                : failure
        }
        return Failure.gathered(clean) ?? self
    }

    /// The warning about traits of a key that cannot be put back.
    func unrestored(of key: String, in graphs: [Graph], _ names: KeyNames) -> Report.Warning {
        let shown = withoutSecrets(in: graphs, names).message
        return Report.Warning(.unrestored, "\(key): its traits still cannot be put back: \(shown)", at: location)
    }
}

extension Graph {
    /// Whether a path leads to a property, or to a field of one, into which the definition of its key injects a secret.
    fileprivate func injectsSecret(at path: String, _ names: KeyNames) -> Bool {
        let parts = path.split(separator: ".").map(String.init)
        return parts.indices.dropFirst().contains { index in
            names.id(of: parts[..<index].joined(separator: ".")).map {
                injectsSecret(into: parts[index], of: $0, names)
            }
                ?? false
        }
    }
}
