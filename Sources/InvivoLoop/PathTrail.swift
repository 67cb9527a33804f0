/// The directory entries that decide the meaning of a path: each directory on the way and the name looked up in it,
/// through every symbolic link. A change of one of them may make the path lead to another file.
enum PathTrail {
    struct Step: Hashable {
        let directory: String
        let name: String
        /// Whether the entry may be the file itself, not only a step on the way to it.
        let isLast: Bool
    }

    /// Walks `path`, which is absolute. Each step is passed to `step` before its entry is read, so that a watch on the
    /// directory sees every later change.
    static func walk(_ path: String, in world: any FileWorld, _ step: (Step) -> Void) {
        var links = 0
        // The components still to go, the next one last.
        var pending = components(path)
        var directory = "/"
        while let name = pending.popLast() {
            if name == ".." {
                directory = parent(directory)
                continue
            }
            step(Step(directory: directory, name: name, isLast: pending.isEmpty))
            let whole = directory == "/" ? "/\(name)" : "\(directory)/\(name)"
            switch world.entry(whole) {
            case .missing: return
            case .other: directory = whole
            case .link(let target):
                links += 1
                guard links <= 40 else { return }
                pending += components(target)
                if target.hasPrefix("/") { directory = "/" }
            }
        }
    }

    private static func components(_ path: String) -> [String] {
        path.split(separator: "/", omittingEmptySubsequences: true).filter { $0 != "." }.reversed().map(String.init)
    }

    private static func parent(_ directory: String) -> String {
        guard let slash = directory.lastIndex(of: "/"), slash != directory.startIndex else { return "/" }
        return String(directory[..<slash])
    }
}
