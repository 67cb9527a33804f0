internal import Glibc
internal import CPlatform
import InvivoBase

/// A directory of this process alone, in $TMPDIR, from which modules are loaded.
///
/// `dlopen` loads a file again only under a new name, so modules are copied to new names. A copy also stays unchanged
/// when a build overwrites the original. The directory and its contents are removed with this object; mapped files stay
/// mapped.
///
/// The object holds a lock on the directory, which the kernel releases when the process ends for any reason. The next
/// process of this user that creates a directory removes those without a lock. Process numbers cannot replace the lock,
/// because containers that share a directory have their own.
final class PrivateDirectory: Sendable {
    private static let prefix = "invivo-modules-"
    let path: String
    /// The descriptor of the directory, with the lock.
    private let descriptor: Int32

    convenience init() throws(Failure) {
        let given = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        try self.init(in: given.isEmpty ? "/tmp" : given)
    }

    init(in base: String) throws(Failure) {
        Self.sweep(base)
        // Between its creation and its lock another process may take a directory for an abandoned one.
        for _ in 0..<100 {
            var name = Array("\(base)/\(Self.prefix)\(getpid())-XXXXXX".utf8CString)
            // mkdtemp creates it with mode 0700 and an unpredictable name.
            guard mkdtemp(&name) != nil else {
                throw Failure(
                    .system,
                    "no private directory for modules in \(base): \(String(cString: strerror(errno))); "
                        + "set TMPDIR to a directory that can be written")
            }
            let path = name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } } ?? ""
            let descriptor = Self.open(path)
            if descriptor < 0 && errno == ENOENT { continue }
            var facts = stat()
            // On a file system without locks, directories are not cleaned up.
            if descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK {
                guard descriptor < 0 || (fstat(descriptor, &facts) == 0 && facts.st_nlink > 0) else {
                    close(descriptor)
                    continue
                }
                if descriptor >= 0 { _ = iv_add_u64(iv_live_descriptors(), 1) }
                self.path = path
                self.descriptor = descriptor
                return
            }
            close(descriptor)
        }
        throw Failure(.system, "no private directory for modules in \(base): others remove each of them")
    }

    deinit {
        Self.remove(path)
        guard descriptor >= 0 else { return }
        close(descriptor)
        _ = iv_sub_u64(iv_live_descriptors(), 1)
    }

    private static func open(_ path: String) -> Int32 {
        iv_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    }

    private static func entries(_ path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    private static func remove(_ path: String) {
        for name in entries(path) { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    /// Removes the directories of this user whose processes have ended.
    static func sweep(_ base: String) {
        for name in entries(base) where name.hasPrefix(prefix) {
            let path = "\(base)/\(name)"
            let descriptor = open(path)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            var facts = stat()
            guard fstat(descriptor, &facts) == 0, facts.st_uid == geteuid(), flock(descriptor, LOCK_EX | LOCK_NB) == 0
            else { continue }
            remove(path)
        }
    }

    /// Writes a new file into it and returns its path.
    func write(_ content: [UInt8], as name: String) throws(Failure) -> String {
        let target = "\(path)/\(name)"
        let descriptor = iv_open_create(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o700)
        var trouble = descriptor < 0 ? errno : 0
        if descriptor >= 0 {
            trouble = content.withUnsafeBytes { buffer in
                var written = 0
                while written < buffer.count, let start = buffer.baseAddress {
                    let count = Glibc.write(descriptor, start + written, buffer.count - written)
                    if count >= 0 { written += count } else if errno != EINTR { return errno }
                }
                return 0
            }
            if close(descriptor) != 0, trouble == 0 { trouble = errno }
        }
        guard trouble == 0 else {
            unlink(target)
            throw Failure(.system, "\(target) cannot be written: \(String(cString: strerror(trouble)))")
        }
        return target
    }
}
