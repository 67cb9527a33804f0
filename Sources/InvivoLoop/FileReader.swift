internal import CPlatform
internal import Glibc
public import InvivoBase

/// What a file says, as one read found it.
public struct FileContent: Sendable {
    public let bytes: [UInt8]
    public let hash: ContentHash
    /// The file's time of change, nanoseconds since 1970.
    public let modifiedNs: UInt64
}

/// 128 bits that stand for a content within one process: two independent multiply-and-fold chains (after wyhash, public
/// domain). Not meant to withstand forgery; whoever can write the file needs none.
public struct ContentHash: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    public static func of(_ bytes: [UInt8]) -> ContentHash {
        bytes.withUnsafeBytes { buffer in
            var a = 0x9e37_79b9_7f4a_7c15 ^ UInt64(buffer.count)
            var b = 0xc2b2_ae3d_27d4_eb4f ^ UInt64(buffer.count)
            var offset = 0
            while offset + 8 <= buffer.count {
                let word = buffer.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                a = fold(a ^ word, 0xa076_1d64_78bd_642f)
                b = fold(b &+ word, 0xe703_7ed1_a0b4_28db)
                offset += 8
            }
            var rest: UInt64 = 1
            while offset < buffer.count {
                rest = rest << 8 | UInt64(buffer[offset])
                offset += 1
            }
            return ContentHash(high: fold(a ^ rest, 0x8ebc_6af0_9c88_c6e3), low: fold(b &+ rest, 0x5899_65cc_7537_4cc3))
        }
    }

    private static func fold(_ value: UInt64, _ factor: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: factor)
        return product.high ^ product.low ^ value
    }
}

/// The staging side of files: any thread, no loop, no waiting for a writer.
public enum FileReader {
    /// Reads the whole file through one descriptor. Anything but a readable regular file within `limit` is refused at once.
    public static func read(_ path: String, limit: Int) throws(Failure) -> FileContent {
        let descriptor = iv_open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw refusal(path, errno) }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { throw refusal(path, errno) }
        guard facts.st_mode & S_IFMT == S_IFREG else { throw Failure(.file, "expected a regular file, this is \(kind(facts.st_mode))", at: Place(file: path)) }
        guard facts.st_size <= limit else { throw tooLarge(path, Int(facts.st_size), limit) }
        var bytes = [UInt8](repeating: 0, count: Int(facts.st_size) + 1)
        var count = 0
        while true {
            if count == bytes.count { bytes += [UInt8](repeating: 0, count: max(4096, bytes.count)) }
            let got = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress.map { $0 + count }, $0.count - count) }
            if got == 0 { break }
            if got < 0 {
                if errno == EINTR { continue }
                throw refusal(path, errno)
            }
            count += got
            guard count <= limit else { throw tooLarge(path, count, limit) }
        }
        bytes.removeLast(bytes.count - count)
        let modified = UInt64(bitPattern: Int64(facts.st_mtim.tv_sec)) &* 1_000_000_000 &+ UInt64(facts.st_mtim.tv_nsec)
        return FileContent(bytes: bytes, hash: .of(bytes), modifiedNs: modified)
    }

    private static func tooLarge(_ path: String, _ size: Int, _ limit: Int) -> Failure {
        Failure(.tooLarge, "the file has \(size) bytes, at most \(limit) are allowed", at: Place(file: path))
    }

    private static func refusal(_ path: String, _ error: Int32) -> Failure {
        let place = Place(file: path)
        switch error {
        case ENOENT, ENOTDIR:
            var link = stat()
            if lstat(path, &link) == 0, link.st_mode & S_IFMT == S_IFLNK {
                return Failure(.notFound, "the symbolic link leads nowhere", at: place)
            }
            return Failure(.notFound, "no such file", at: place)
        case EACCES, EPERM: return Failure(.file, "the file cannot be read: permission denied", at: place)
        case ENXIO: return Failure(.file, "expected a regular file, this is a socket", at: place)
        case ELOOP: return Failure(.file, "the symbolic links go round in a circle", at: place)
        default: return Failure(.file, "the file cannot be read: \(String(cString: strerror(error)))", at: place)
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
