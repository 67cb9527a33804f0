internal import CPlatform
internal import Glibc
public import InvivoBase

/// The content of a file, from one read.
public struct FileContent: Sendable {
    public let bytes: [UInt8]
    public let hash: ContentHash
    /// The file's time of change, nanoseconds since 1970.
    public let modifiedNs: UInt64
    /// Whether the file was open for writing after the read: the content may be incomplete.
    public let isBeingWritten: Bool
}

/// The staging side of files: any thread, no loop, no waiting for a writer.
public enum FileReader {
    /// Reads the whole file through one descriptor. Refuses anything but a readable regular file of at most `limit`
    /// bytes, with the given path in the error.
    ///
    /// A file that is written meanwhile is read again, a few times. Then the content of the last read is used, and the
    /// follower reports later changes.
    ///
    /// - Parameter thread: a thread of this process that stays alive and is not its first one, for
    ///   `iv_is_open_for_writing`; 0 for the calling thread.
    public static func read(_ path: FilePath, limit: Int, thread: Int32 = 0) throws(Failure) -> FileContent {
        // Checked before the file is opened: opening a FIFO resumes its writer, and opening a device may have effects.
        var facts = stat()
        guard stat(path.absolute, &facts) == 0 else { throw refusal(path, errno) }
        try check(facts, path, limit)
        let descriptor = iv_open(path.absolute, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw refusal(path, errno) }
        defer { close(descriptor) }
        return try read(descriptor, path, limit: limit, thread)
    }

    /// Reads a file that must lie below each of some groups of directories: no symbolic link is followed out of a group. The path has no
    /// `.` and `..`.
    public static func read(
        _ path: FilePath, below groups: [[String]], limit: Int, hint: String = moreBytes, thread: Int32 = 0
    ) throws(Failure) -> FileContent {
        var descriptors: [Int32] = []
        defer { for descriptor in descriptors { close(descriptor) } }
        for directories in groups { descriptors.append(try open(path, below: directories)) }
        guard let first = descriptors.first else { throw Failure(.internalFault, "no directory is permitted") }
        return try read(first, path, limit: limit, hint: hint, thread)
    }

    /// Fails unless the file lies below the directories.
    public static func check(_ path: FilePath, below directories: [String]) throws(Failure) {
        close(try open(path, below: directories))
    }

    private static func open(_ path: FilePath, below directories: [String]) throws(Failure) -> Int32 {
        let strings = CStrings()
        let roots = strings.table(directories.map { Optional(strings.string($0)) })
        var (reason, mode) = (Int32(IV_BELOW_FAILS), mode_t())
        let descriptor = iv_open_below(roots, directories.count, path.absolute, &reason, &mode)
        guard descriptor < 0 else { return descriptor }
        let error = errno
        switch Int(reason) {
        case IV_BELOW_OUTSIDE:
            throw Failure(
                .file, "a symbolic link leads out of \(directories.choices())", at: Location(file: path.shown))
        case IV_BELOW_KIND: throw notRegular(path, mode)
        default: throw refusal(path, error)
        }
    }

    /// The end of a message about a document that is too large.
    public static let moreBytes = "max_document_bytes permits more"

    private static func read(
        _ descriptor: Int32, _ path: FilePath, limit: Int, hint: String = moreBytes, _ thread: Int32
    ) throws(Failure) -> FileContent {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw refusal(path, errno) }
        try check(facts, path, limit, hint)
        var bytes: [UInt8] = []
        for _ in 0..<3 {
            bytes = try readAll(descriptor, expected: Int(facts.st_size), limit: limit, hint, path)
            let before = facts
            guard fstat(descriptor, &facts) == 0 else { throw refusal(path, errno) }
            if nanoseconds(facts.st_mtim) == nanoseconds(before.st_mtim) && Int(facts.st_size) == bytes.count { break }
        }
        return FileContent(
            bytes: bytes, hash: .of(bytes), modifiedNs: UInt64(clamping: nanoseconds(facts.st_mtim)),
            isBeingWritten: iv_is_open_for_writing(descriptor, thread) != 0)
    }

    private static func readAll(
        _ descriptor: Int32, expected: Int, limit: Int, _ hint: String, _ path: FilePath
    ) throws(Failure) -> [UInt8] {
        // One byte more than expected, so that a file that has grown shows itself.
        var bytes = [UInt8](repeating: 0, count: expected + 1)
        var count = 0
        while true {
            if count == bytes.count { bytes += [UInt8](repeating: 0, count: max(4096, bytes.count)) }
            let got = bytes.withUnsafeMutableBytes { buffer in
                pread(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count, off_t(count))
            }
            if got == 0 { break }
            if got < 0 {
                if errno == EINTR { continue }
                throw refusal(path, errno)
            }
            count += got
            guard count <= limit else { throw tooLarge(path, count, limit, hint) }
            // The expected number of bytes was read. The caller checks whether the file has grown.
            if count == expected && expected > 0 { break }
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    // MARK: - Refusals

    private static func check(
        _ facts: stat, _ path: FilePath, _ limit: Int, _ hint: String = moreBytes
    ) throws(Failure) {
        guard facts.st_mode & S_IFMT == S_IFREG else { throw notRegular(path, facts.st_mode) }
        guard facts.st_size <= limit else { throw tooLarge(path, Int(facts.st_size), limit, hint) }
    }

    private static func notRegular(_ path: FilePath, _ mode: mode_t) -> Failure {
        Failure(.file, "expected a regular file, this is \(kind(mode))", at: Location(file: path.shown))
    }

    private static func tooLarge(_ path: FilePath, _ size: Int, _ limit: Int, _ hint: String) -> Failure {
        Failure(
            .tooLarge, "the file has \(size) bytes, at most \(limit) are allowed; \(hint)",
            at: Location(file: path.shown))
    }

    private static func refusal(_ path: FilePath, _ error: Int32) -> Failure {
        let location = Location(file: path.shown)
        switch error {
        case ENOENT, ENOTDIR:
            if linkTarget(path.absolute) != nil {
                return Failure(.notFound, "the symbolic link leads nowhere", at: location)
            }
            return Failure(.notFound, "no such file", at: location)
        case EACCES, EPERM: return Failure(.file, "the file cannot be read: permission denied", at: location)
        case ENXIO: return Failure(.file, "expected a regular file, this is a socket", at: location)
        case ELOOP: return Failure(.file, "the symbolic links form a cycle", at: location)
        case EAGAIN: return Failure(.busy, "the file was replaced again and again while it was opened", at: location)
        case EMFILE, ENFILE, ENOMEM:
            return Failure(.system, "the file cannot be opened: \(systemText(error))", at: location)
        default: return Failure(.file, "the file cannot be read: \(systemText(error))", at: location)
        }
    }

    private static func kind(_ mode: mode_t) -> String {
        switch mode & S_IFMT {
        case S_IFDIR: "a directory"
        case S_IFIFO: "a FIFO"
        case S_IFCHR, S_IFBLK: "a device"
        case S_IFSOCK: "a socket"
        default: "something else"
        }
    }
}

/// A time of a file in nanoseconds since 1970.
func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
}

/// The target of a symbolic link; nil when there is none at `path`.
func linkTarget(_ path: String) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX) + 1) { buffer in
        guard let start = buffer.baseAddress else { return nil }
        let count = readlink(path, start, buffer.count - 1)
        guard count > 0 else { return nil }
        return String(decoding: UnsafeRawBufferPointer(buffer)[..<count], as: UTF8.self)
    }
}
