public import InvivoBase
public import InvivoSpec

extension TraitSpec {
    /// The parameters by name. Throws for unknown ones.
    public func parameters(known: [String]) throws(Failure) -> [String: SpecEntry] {
        var found: [String: SpecEntry] = [:]
        var failures: [Failure] = []
        for parameter in parameters {
            guard known.contains(parameter.key) else {
                let near = suggestion(for: parameter.key, among: known)
                failures.append(
                    failure(
                        "\(type) has no parameter \(quoted(parameter.key))"
                            + (near.isEmpty ? "; expected \(known.listed())" : near), at: nil,
                        parameter.key, parameter.keyLocation))
                continue
            }
            found[parameter.key] = parameter
        }
        if let failure = Failure.gathered(failures) { throw failure }
        return found
    }

    /// A failure of the trait as a whole.
    public func failure(_ message: String) -> Failure {
        Failure(.spec, message, path: parametersPath, at: typeLocation)
    }

    /// A failure of a parameter.
    public func failure(_ message: String, at entry: SpecEntry?, _ name: String, _ location: Location? = nil)
        -> Failure
    {
        Failure(.spec, message, path: path(of: [name]), at: location ?? entry?.value.location ?? typeLocation)
    }
}
