public import InvivoBase
internal import InvivoConfig
internal import InvivoGraph

/// An entry of the configuration that nothing reads, or a path that is declared as secret and that nothing configures or reads.
public struct UnreadEntry: Sendable {
    public let path: String
    public let location: Location
    /// A similar path that is read; nil if there is none.
    public let near: String?
    var kind = Kind.entry

    enum Kind: Sendable {
        case entry
        /// The definition with this key reads `near`, because its path repeats the name of its assembly.
        case repeated(by: String)
        case secret
    }

    /// The warning.
    var text: String {
        switch (kind, near) {
        case (.repeated(let reader), let near?):
            "'\(reader)' reads '\(near)', which is not configured: a path begins after the assembly's name; "
                + "write '\(path.dropFirst(ConfigPath.names(path)[0].count + 1))' for '\(path)', or '/\(near)'"
        case (.secret, _): "nothing configures or reads '\(path)', which is declared as secret\(suggestion(near))"
        case (.entry, _), (.repeated, nil): "'\(path)' is not read by anything\(suggestion(near))"
        }
    }

    /// The warning as an error of a check.
    var failure: Failure {
        var failure = Failure(.notConfigured, text, path: "config.\(path)", at: location)
        failure.finding = .unread
        return failure
    }
}
