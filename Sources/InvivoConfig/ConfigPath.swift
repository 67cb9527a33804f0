public import InvivoBase

/// Paths of the configuration: names joined by dots.
public enum ConfigPath {
    /// The maximum number of names, which is the maximum depth of nested values.
    public static let deepest = 64

    /// Returns the path without its optional leading slash.
    public static func whole(_ path: String) -> String { path.hasPrefix("/") ? String(path.dropFirst()) : path }

    public static func names(_ path: String) -> [String] {
        path.isEmpty
            ? []
            : path.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { String($0) ?? "" }
    }

    /// Returns the paths around a path, without the root, from the outermost, and the path itself.
    public static func around(_ path: String) -> [String] {
        let names = names(path)
        return names.indices.map { names[...$0].joined(separator: ".") }
    }

    /// Validates an absolute path; "" is the root.
    public static func checked(_ path: String) throws(Failure) -> String {
        let path = whole(path)
        let names = names(path)
        guard !names.contains("") else {
            throw Failure(.argument, "'\(path)' is not a configuration path: names joined by dots")
        }
        guard names.count <= deepest else {
            throw Failure(
                .tooLarge,
                "a path of the configuration leads through at most \(deepest) names, not \(names.count): '\(path.prefix(40))...'"
            )
        }
        return path
    }

    /// Returns whether no path can name an entry with this name. Such an entry is part of the value of its map.
    static func isNameless(_ name: String) -> Bool { name.isEmpty || name.contains(byte: UInt8(ascii: ".")) }
}
