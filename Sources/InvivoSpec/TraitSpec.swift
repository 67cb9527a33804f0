public import InvivoBase

/// Traits whose parameters are lists of traits.
extension TraitSpec {
    /// The traits that stand for lists of traits. They are expanded before a plan translates traits.
    public static let inherit = "Inherit"
    public static let when = "When"

    /// The configuration path of the list of active profiles.
    public static let profiles = "profiles"

    /// The parameters of a trait that are lists of traits, by its name.
    private static let lists = [when: ["traits", "otherwise"]]

    /// Checks the form of the lists of traits in the parameters.
    func checkNested(_ checker: inout DocumentChecker) throws(Failure) {
        guard let lists = Self.lists[type] else { return }
        for parameter in parameters {
            if parameter.key == "config", let path = parameter.value.text { checker.conditions.append(path) }
            if parameter.key == "profile" { checker.conditions.append(Self.profiles) }
        }
        for parameter in parameters where lists.contains(parameter.key) {
            let path = SpecPath(text: parametersPath).key(parameter.key)
            guard let items = checker.list(parameter.value, "of traits", path: path) else { continue }
            _ = try TraitDocument.traits(items, path: path, (origin, key), &checker)
        }
    }

    /// The traits in a parameter that is a list of traits. Their form was checked when the document was read.
    public func nested(in parameter: SpecEntry) throws(Failure) -> [TraitSpec] {
        var checker = DocumentChecker()
        let path = SpecPath(text: parametersPath).key(parameter.key)
        let traits = try TraitDocument.traits(parameter.value.items ?? [], path: path, (origin, key), &checker)
        try checker.failures.throwIfAny()
        return traits
    }
}
