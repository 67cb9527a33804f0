internal import Glibc
public import InvivoBase

/// Whether a file that is loaded as code, or as a manifest, which is as good as code, can be changed by other users.
public enum FileTrust {
    /// Returns the reason why other users can change a file, or nil. Checks the file and every directory on its path.
    ///
    /// A file or directory is safe when it belongs to this user or to root and no other user can write it. In a sticky
    /// directory (/tmp) other users cannot replace an entry of this user or of root.
    public static func weakness(of path: FilePath) -> String? { weakness(path.absolute, user: geteuid()) }

    static func weakness(_ path: String, user: uid_t) -> String? {
        var found: String?
        PathTrail.walk(path, in: LiveFileWorld(watching: false)) { step in
            guard found == nil else { return }
            let whole = step.directory == "/" ? "/\(step.name)" : "\(step.directory)/\(step.name)"
            var directory = stat()
            var entry = stat()
            // The reader of the file reports a missing entry.
            guard stat(step.directory, &directory) == 0, lstat(whole, &entry) == 0 else { return }
            let isSafeInSticky = directory.st_mode & S_ISVTX != 0 && isOwn(entry, user)
            if !isOwn(directory, user) || (directory.st_mode & 0o022 != 0 && !isSafeInSticky) {
                found = describe(directory, "the directory \(step.directory)", user)
            } else if entry.st_mode & S_IFMT == S_IFREG && (!isOwn(entry, user) || entry.st_mode & 0o022 != 0) {
                found = describe(entry, whole == path ? "it" : whole, user)
            }
        }
        return found
    }

    private static func isOwn(_ facts: stat, _ user: uid_t) -> Bool { facts.st_uid == user || facts.st_uid == 0 }

    private static func describe(_ facts: stat, _ what: String, _ user: uid_t) -> String {
        let mode = String(facts.st_mode & 0o7777, radix: 8)
        if !isOwn(facts, user) { return "\(what) belongs to the user \(facts.st_uid)" }
        return "\(what) can be written by \(facts.st_mode & 0o002 != 0 ? "everybody" : "its group") (mode \(mode))"
    }

    /// Refuses a file that other users can change, if this process runs as root. Otherwise returns a warning, or nil.
    ///
    /// - Parameter what: "module" or "manifest".
    public static func check(_ path: FilePath, _ what: String) throws(Failure) -> Failure? {
        guard let weakness = weakness(of: path) else { return nil }
        let failure = Failure(
            .file,
            "the \(what) can be changed by other users: \(weakness); a \(what) runs as code of this process. Change owner or mode, "
                + "or permit it by INVIVO_RUNTIME_FOREIGN_FILES (foreign_files, --foreign-files)",
            at: Location(file: path.shown))
        if geteuid() == 0 { throw failure }
        return failure
    }
}
