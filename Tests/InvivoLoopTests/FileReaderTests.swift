import Glibc
import InvivoBase
import Testing

@testable import InvivoLoop

extension LoopRoom {
    @Suite struct FileReaderTests {
        let workshop = Workshop()

        func refusal(_ path: String, limit: Int = 100) -> String? {
            do {
                _ = try FileReader.read(FilePath(path), limit: limit)
                return nil
            } catch { return "\(error.code) \(error.text)" }
        }

        @Test func a_file_is_read_whole() throws {
            let path = workshop.path("a")
            put("text", path)
            let content = try FileReader.read(FilePath(path), limit: 4)
            #expect(content.bytes == Array("text".utf8))
            #expect(content.hash == ContentHash.of(Array("text".utf8)))
            var facts = stat()
            stat(path, &facts)
            #expect(
                Int64(content.modifiedNs) == Int64(facts.st_mtim.tv_sec) * 1_000_000_000 + Int64(facts.st_mtim.tv_nsec))
            put("", path)
            #expect(try FileReader.read(FilePath(path), limit: 4).bytes == [])
        }

        @Test func a_file_of_proc_without_a_size_is_read_whole() throws {
            #expect(try FileReader.read(FilePath("/proc/self/status"), limit: 1 << 20).bytes.count > 100)
            #expect(refusal("/proc/self/status", limit: 10)?.contains("at most 10 are allowed") == true)
        }

        @Test func what_is_no_readable_regular_file_is_refused_at_once() {
            let at = workshop.directory
            mkdir("\(at)/directory", 0o755)
            mkfifo("\(at)/fifo", 0o644)
            symlink("gone", "\(at)/dangling")
            symlink("circle", "\(at)/circle")
            symlink("fifo", "\(at)/link")
            put("x", "\(at)/file")
            put(String(repeating: "x", count: 101), "\(at)/large")
            let notFound = Status.notFound, file = Status.file
            #expect(refusal("\(at)/none") == "\(notFound) \(at)/none: no such file")
            #expect(refusal("\(at)/file/below") == "\(notFound) \(at)/file/below: no such file")
            #expect(
                refusal("\(at)/directory") == "\(file) \(at)/directory: expected a regular file, this is a directory")
            #expect(refusal("\(at)/fifo") == "\(file) \(at)/fifo: expected a regular file, this is a FIFO")
            #expect(refusal("\(at)/link") == "\(file) \(at)/link: expected a regular file, this is a FIFO")
            #expect(refusal("/dev/zero") == "\(file) /dev/zero: expected a regular file, this is a device")
            #expect(refusal("\(at)/dangling") == "\(notFound) \(at)/dangling: the symbolic link leads nowhere")
            #expect(refusal("\(at)/circle") == "\(file) \(at)/circle: the symbolic links form a cycle")
            #expect(
                refusal("\(at)/large")
                    == "\(Status.tooLarge) \(at)/large: the file has 101 bytes, at most 100 are allowed; max_document_bytes permits more"
            )
        }

        @Test func a_socket_is_refused() {
            let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let path = workshop.path("s")
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let bound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            #expect(bound == 0)
            #expect(refusal(path) == "\(Status.file) \(path): expected a regular file, this is a socket")
        }

        @Test(.disabled(if: geteuid() == 0, "root may read everything"))
        func an_unreadable_file_is_refused() {
            let path = workshop.path("secret")
            put("x", path)
            chmod(path, 0)
            #expect(refusal(path) == "\(Status.file) \(path): the file cannot be read: permission denied")
        }

        /// From the vectors of the reference implementation: key 00 01 .. 0f, input 00 01 .. with this number of bytes.
        @Test func the_hash_is_siphash_2_4_128() {
            let key: (UInt64, UInt64) = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908)
            #expect(ContentHash.of([], key: key).description == "a3817f04ba25a8e66df67214c7550293")
            #expect(ContentHash.of([0], key: key).description == "da87c1d86b99af44347659119b22fc45")
        }

        @Test func hashes_differ_for_every_bit_and_length() {
            var seen: Set<ContentHash> = []
            for length in 0...40 { seen.insert(.of([UInt8](repeating: 0, count: length))) }
            for bit in 0..<320 {
                var bytes = [UInt8](repeating: 0, count: 40)
                bytes[bit / 8] = 1 << (bit % 8)
                seen.insert(.of(bytes))
            }
            #expect(seen.count == 41 + 320)
        }
    }
}
