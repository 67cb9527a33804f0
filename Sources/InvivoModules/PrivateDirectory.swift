internal import Glibc
internal import CPlatform
import InvivoBase

/// A directory of this process alone, in $TMPDIR, from which modules are loaded.
///
/// A copy under a name that was never used before is what makes `dlopen` load a file anew, and it stays as it is when a
/// build overwrites the original. The directory and what is in it go with this object; what is mapped stays mapped.
final class PrivateDirectory: Sendable {
    let path: String

    init() throws(Failure) {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        var name = Array("\(base.isEmpty ? "/tmp" : base)/invivo-\(getpid())-XXXXXX".utf8CString)
        // mkdtemp makes it 0700 and with a name that nobody could foresee.
        guard mkdtemp(&name) != nil else {
            throw Failure(
                .system,
                "no private directory for modules in \(base.isEmpty ? "/tmp" : base): \(String(cString: strerror(errno))); "
                    + "set TMPDIR to a directory that can be written")
        }
        path = name.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } } ?? ""
    }

    deinit {
        if let directory = opendir(path) {
            while let entry = readdir(directory) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                if name != "." && name != ".." { unlink("\(path)/\(name)") }
            }
            closedir(directory)
        }
        rmdir(path)
    }

    /// Writes a new file into it and answers its path.
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
