import Glibc

/// A temporary directory in which a test compiles small libraries; removed with this object.
///
/// Without Foundation: its C modules and those that the library imports internally cannot be in one test target.
final class Workshop {
    let directory: String
    static let root = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }
    static var temporary: String { getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp" }

    struct Trouble: Error { let text: String }

    init() throws {
        var name = Array("\(Self.temporary)/invivo-workshop-XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else { throw Trouble(text: String(cString: strerror(errno))) }
        directory = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in Self.list(directory) { unlink("\(directory)/\(name)") }
        rmdir(directory)
    }

    func path(_ name: String) -> String { "\(directory)/\(name)" }

    static func list(_ directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { names.append(String(cString: $0)) }
            }
        }
        return names.filter { $0 != "." && $0 != ".." }
    }

    static func write(_ bytes: some Sequence<UInt8>, to path: String) throws {
        guard let file = fopen(path, "w") else { throw Trouble(text: "\(path): \(String(cString: strerror(errno)))") }
        let content = Array(bytes)
        fwrite(content, 1, content.count, file)
        fclose(file)
    }

    static func bytes(_ path: String) throws -> [UInt8] {
        guard let file = fopen(path, "r") else { throw Trouble(text: "\(path): \(String(cString: strerror(errno)))") }
        defer { fclose(file) }
        var content: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 { content += piece[..<count] }
        return content
    }

    /// Compiles C into a shared library and returns its path.
    func library(_ name: String, _ source: String, stubs: Bool = true, flags: [String] = [], shared: Bool = true) throws
        -> String
    {
        let file = path("\(name).c")
        let output = path("lib\(name).so")
        try Self.write(source.utf8, to: file)
        let words =
            ["cc", "-fPIC", "-I\(Self.root)/include", "-o", output, file]
            + (stubs ? ["\(Self.root)/Sources/InvivoStubs/stubs.c"] : []) + (shared ? ["-shared"] : []) + flags
        let command = words.map { "'\($0)'" }.joined(separator: " ") + " 2>'\(path("errors.txt"))'"
        guard let stream = popen(command, "r"), pclose(stream) == 0 else {
            throw Trouble(text: String(decoding: try Self.bytes(path("errors.txt")), as: UTF8.self))
        }
        return output
    }

    /// A module whose entry returns `status`.
    func module(_ name: String = "small", status: Int = 0, flags: [String] = []) throws -> String {
        try library(
            name,
            """
            #include <invivo/invivo.h>
            INVIVO_MODULE(runtime, error) { (void)runtime, (void)error; return \(status); }
            """, flags: flags)
    }
}
