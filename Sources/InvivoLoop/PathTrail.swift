internal import Glibc

/// Everything that decides what a path means: each directory on the way and the name looked up in it, through every
/// symbolic link. A change of any of these may make the path lead to another file.
struct PathTrail {
    struct Step: Hashable {
        let directory: String
        let name: String
        /// What is looked up is the file itself, not something on the way to it.
        let isFile: Bool
    }
    private(set) var steps: [Step] = []

    init(_ path: String) {
        var hops = 0
        var pending = path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        var directory = "/"
        while !pending.isEmpty {
            let name = pending.removeFirst()
            if name == "." { continue }
            if name == ".." {
                directory = Self.parent(directory)
                continue
            }
            let whole = directory == "/" ? "/\(name)" : "\(directory)/\(name)"
            steps.append(Step(directory: directory, name: name, isFile: pending.isEmpty))
            var facts = stat()
            guard lstat(whole, &facts) == 0 else { return }
            guard facts.st_mode & S_IFMT == S_IFLNK else {
                directory = whole
                continue
            }
            hops += 1
            guard hops <= 40, let target = Self.link(whole) else { return }
            pending = target.split(separator: "/", omittingEmptySubsequences: true).map(String.init) + pending
            if target.hasPrefix("/") { directory = "/" }
        }
    }

    private static func parent(_ directory: String) -> String {
        guard let slash = directory.lastIndex(of: "/"), slash != directory.startIndex else { return "/" }
        return String(directory[..<slash])
    }

    private static func link(_ path: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = readlink(path, start, buffer.count - 1)
            guard count > 0 else { return nil }
            return String(decoding: UnsafeRawBufferPointer(buffer)[..<count], as: UTF8.self)
        }
    }
}
