internal import Glibc
public import InvivoBase

/// The path of a file, independent of later changes of the working directory.
public struct FilePath: Sendable {
    /// The absolute path for system calls.
    public let absolute: String
    /// As it was given, for messages.
    public let shown: String

    /// A relative path counts from the working directory of this moment.
    public init(_ path: String) throws(Failure) {
        guard !path.isEmpty, !path.contains(byte: 0) else {
            throw Failure(
                .argument, "expected the path of a file, got \(path.isEmpty ? "an empty one" : "one with a NUL byte")")
        }
        shown = path
        absolute = path.utf8.first == UInt8(ascii: "/") ? path : try Self.workingDirectory(for: path) + "/" + path
    }

    private init(absolute: String, shown: String) {
        self.absolute = absolute
        self.shown = shown
    }

    /// The file that `path` names in a document at this path: a relative one counts from the document's folder.
    public func beside(_ path: String) throws(Failure) -> FilePath {
        guard !path.isEmpty, path.utf8.first != UInt8(ascii: "/") else { return try FilePath(path) }
        return FilePath(absolute: Self.folder(absolute) + path, shown: Self.folder(shown) + path)
    }

    /// The directory that contains the file; "/" for a file of the root.
    public var directory: String {
        String(Self.folder(absolute).dropLast()).isEmpty ? "/" : String(Self.folder(absolute).dropLast())
    }

    /// The absolute path without `.` and repeated slashes.
    public var normal: String {
        let names = absolute.split(separator: "/").filter { $0 != "." }
        return names.isEmpty ? "/" : names.map { "/" + $0 }.joined()
    }

    /// The file that `path` names in a document in `directory`. `.` and `..` of `path` are removed from the text, so `..` leads to the
    /// parent in the text, even behind a symbolic link.
    ///
    /// - Parameter shown: the path of the document, for messages; "" for one without.
    public static func reference(_ path: String, in directory: String, shown: String) -> FilePath {
        let isAbsolute = path.utf8.first == UInt8(ascii: "/")
        var names: [Substring] = []
        var parents = 0
        for name in path.split(separator: "/") where name != "." {
            if name != ".." {
                names.append(name)
            } else if names.popLast() == nil {
                parents += 1
            }
        }
        let rest = names.joined(separator: "/")
        if isAbsolute { return FilePath(absolute: "/" + rest, shown: "/" + rest) }
        let relative = String(repeating: "../", count: parents) + rest
        var parent = directory.split(separator: "/").filter { $0 != "." }
        if parents > 0 { parent = normal(parent).dropLast(parents) }
        let absolute = (parent + names).map { "/" + $0 }.joined()
        return FilePath(absolute: absolute, shown: folder(shown) + relative)
    }

    private static func normal(_ names: [Substring]) -> [Substring] {
        names.reduce(into: []) { kept, name in if name == ".." { _ = kept.popLast() } else { kept.append(name) } }
    }

    /// Whether it lies below a directory, by its text.
    public func isBelow(_ directory: String) -> Bool {
        let names = directory.split(separator: "/").filter { $0 != "." }
        return absolute.hasPrefix(names.map { "/" + $0 }.joined() + "/")
    }

    /// Whether it is the path of a directory, by its text.
    public func isSame(as directory: String) -> Bool {
        absolute.split(separator: "/") == directory.split(separator: "/").filter { $0 != "." }
    }

    private static func folder(_ path: String) -> Substring {
        path.lastIndex(of: "/").map { path[...$0] } ?? ""
    }

    private static func workingDirectory(for path: String) throws(Failure) -> String {
        guard let current = getcwd(nil, 0) else {
            throw Failure(
                .system, "the working directory is unknown: \(systemText(errno)); give an absolute path",
                at: Location(file: path))
        }
        defer { free(current) }
        return String(cString: current)
    }
}
