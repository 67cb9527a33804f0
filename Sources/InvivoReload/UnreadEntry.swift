public import InvivoBase
internal import InvivoConfig
internal import InvivoGraph

/// An entry of the configuration that nothing reads.
public struct UnreadEntry: Sendable {
    public let path: String
    public let location: Location
    /// A similar path that is read; nil if there is none.
    public let near: String?
    /// The definition that reads `near` because its path repeats the name of its assembly; nil for a misspelled entry.
    var reader: String?

    /// Whether it is no entry, but a path that is declared as secret.
    var isSecret = false

    /// The warning about a misspelled one.
    var text: String {
        if isSecret {
            return "nothing configures or reads '\(path)', which is declared as secret\(suggestion(near))"
        }
        guard let near else { return "'\(path)' is not read by anything" }
        guard let reader else { return "'\(path)' is not read by anything\(suggestion(near))" }
        return "'\(reader)' reads '\(near)', which is not configured: a path begins after the assembly's name; "
            + "write '\(path.dropFirst(ConfigPath.names(path)[0].count + 1))' for '\(path)', or '/\(near)'"
    }

    /// The warning as an error of a check.
    var failure: Failure {
        var failure = Failure(.notConfigured, text, path: "config.\(path)", at: location)
        failure.finding = .unread
        return failure
    }
}
