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
                        "\(type) has no parameter \(quotedName(parameter.key))"
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

    /// Adds the whole key path and the source location to a failure about a parameter, down to the field of a nested struct.
    func located(_ failure: Failure, _ parameter: SpecEntry, below path: [String] = []) -> Failure {
        // The failure has its location already.
        guard failure.location.line == 0 || !failure.path.hasPrefix(parametersPath) else { return failure }
        var located = failure
        var path = path + [parameter.key]
        var entry = parameter
        for name in failure.path.split(separator: ".").dropFirst().map(String.init) {
            guard let field = entry.value.entries?.first(where: { $0.key == name }) else { break }
            path.append(name)
            entry = field
        }
        located.path = self.path(of: path)
        if located.location.line == 0 {
            located.location =
                failure.code == .property || failure.code == .readOnly ? entry.keyLocation : entry.value.location
        }
        return located
    }
}
