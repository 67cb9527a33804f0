internal import InvivoBase
internal import InvivoSpec
internal import InvivoTraits

/// A condition that does not hold because nothing configures its path, or because its profile is not active.
struct UnmetCondition {
    enum Subject {
        case path(String)
        case profile(String)
    }

    let subject: Subject
    /// The key whose traits have the condition, or inherit it.
    let key: String
    /// The path of the parameter in its document.
    let path: String
    let location: Location
    /// Whether an environment variable, or a file, is a part of the name.
    let isInserted: Bool

    init(_ subject: Subject, of key: String, _ spec: TraitSpec, _ parameter: SpecEntry) {
        (self.subject, self.key) = (subject, key)
        path = spec.path(of: [parameter.key])
        location = parameter.value.location
        isInserted = parameter.value.hasVariables
    }
}
