internal import Glibc
internal import CPlatform
import InvivoBase

/// Reads the file of a module whole, through one descriptor, without ever waiting for it.
enum ModuleFile {
    /// More than the size of any module. Keeps a wrong path (such as a disk image) from exhausting the memory.
    static let limit = 1 << 30

    static func read(_ path: String) throws(Failure) -> [UInt8] {
        var before = stat()
        guard stat(path, &before) == 0 else {
            throw Failure(
                .file, "module \(path) cannot be read: \(String(cString: strerror(errno)))", at: Location(file: path))
        }
        try checkKind(before, path)
        // O_NONBLOCK: should it have become a FIFO meanwhile, opening it must not wait for a writer.
        let descriptor = iv_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            throw Failure(
                .file, "module \(path) cannot be read: \(String(cString: strerror(errno)))", at: Location(file: path))
        }
        defer { close(descriptor) }
        var opened = stat()
        guard fstat(descriptor, &opened) == 0 else {
            throw Failure(
                .file, "module \(path) cannot be read: \(String(cString: strerror(errno)))", at: Location(file: path))
        }
        try checkKind(opened, path)
        guard opened.st_size <= limit else {
            throw Failure(.tooLarge, "module \(path) is larger than \(limit) bytes", at: Location(file: path))
        }
        let content = try readAll(descriptor, expecting: Int(opened.st_size), path)
        var after = stat()
        guard fstat(descriptor, &after) == 0, Int(after.st_size) == content.count,
            after.st_mtim.tv_sec == opened.st_mtim.tv_sec, after.st_mtim.tv_nsec == opened.st_mtim.tv_nsec
        else {
            throw Failure(
                .module, "module \(path) changed while it was read; load it when it is written",
                at: Location(file: path))
        }
        return content
    }

    private static func readAll(_ descriptor: Int32, expecting size: Int, _ path: String) throws(Failure) -> [UInt8] {
        var content = [UInt8](repeating: 0, count: size)
        var filled = 0
        var trouble: Int32 = 0
        content.withUnsafeMutableBytes { buffer in
            while filled < size, trouble == 0 {
                guard let start = buffer.baseAddress else { return }
                let count = Glibc.read(descriptor, start + filled, size - filled)
                if count == 0 { return }
                if count > 0 { filled += count } else if errno != EINTR { trouble = errno }
            }
        }
        guard trouble == 0 else {
            throw Failure(
                .file, "module \(path) cannot be read: \(String(cString: strerror(trouble)))", at: Location(file: path))
        }
        content.removeLast(size - filled)
        return content
    }

    private static func checkKind(_ status: stat, _ path: String) throws(Failure) {
        let kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: ""
            case S_IFDIR: "a directory"
            case S_IFIFO: "a FIFO"
            case S_IFSOCK: "a socket"
            case S_IFCHR, S_IFBLK: "a device"
            default: "no regular file"
            }
        guard kind.isEmpty else {
            throw Failure(.file, "module \(path) is \(kind); a shared library is expected", at: Location(file: path))
        }
    }
}
