public import InvivoBase

/// Paths of the configuration: names joined by dots.
public enum ConfigPath {
    /// As deep as values lie in each other.
    public static let deepest = 64

    /// Whole, without the slash that it may begin with.
    public static func whole(_ path: String) -> String { path.hasPrefix("/") ? String(path.dropFirst()) : path }

    public static func names(_ path: String) -> [String] {
        path.isEmpty
            ? []
            : path.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { String($0) ?? "" }
    }

    /// Checks a whole path of the host's; "" is everything.
    public static func checked(_ path: String) throws(Failure) -> String {
        let path = whole(path)
        let names = names(path)
        guard !names.contains("") else {
            throw Failure(.argument, "'\(path)' is no path of the configuration: names joined by dots")
        }
        guard names.count <= deepest else {
            throw Failure(
                .tooLarge,
                "a path of the configuration leads through at most \(deepest) names, not \(names.count): '\(path.prefix(40))...'"
            )
        }
        return path
    }

    /// Whether no path leads to an entry of this name: it is part of the map around it.
    static func isNameless(_ name: String) -> Bool { name.isEmpty || name.utf8.contains(UInt8(ascii: ".")) }
}
