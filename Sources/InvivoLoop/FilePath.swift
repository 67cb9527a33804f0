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
