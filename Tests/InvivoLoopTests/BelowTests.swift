import Glibc
import InvivoBase
import Testing

@testable import InvivoLoop

extension LoopRoom {
    /// Files that are read only below some directories.
    @Suite struct BelowTests {
        let workshop = Workshop()
        var root: String { workshop.path("root") }

        init() {
            mkdir(workshop.path("root"), 0o755)
            mkdir(workshop.path("root/sub"), 0o755)
            mkdir(workshop.path("shared"), 0o755)
            put("inside", workshop.path("root/sub/file"))
            put("outside", workshop.path("secret"))
            put("shared", workshop.path("shared/file"))
        }

        /// The text of a file, or the error.
        func read(_ name: String, roots: [String]? = nil, limit: Int = 100) -> String {
            do {
                let roots = roots ?? [root]
                let path = FilePath.reference(name, in: roots[0], shown: "")
                return String(decoding: try FileReader.read(path, below: [roots], limit: limit).bytes, as: UTF8.self)
            } catch { return "\(error.code) \(error.message)" }
        }

        var outside: String { "\(Status.file) a symbolic link leads out of \(root)" }

        @Test func files_below_are_read() {
            #expect(read("sub/file") == "inside")
            #expect(read("sub/../sub/./file") == "inside")
            #expect(read("none") == "\(Status.notFound) no such file")
            #expect(read("sub/file/below") == "\(Status.notFound) no such file")
        }

        @Test func a_path_by_its_text() {
            func path(_ text: String) -> FilePath { .reference(text, in: "/a/b", shown: "x/main.yaml") }
            #expect(path("c/../d").absolute == "/a/b/d" && path("c/../d").shown == "x/d")
            #expect(path("../d").absolute == "/a/d" && path("../d").shown == "x/../d")
            #expect(path("/c//./d").absolute == "/c/d")
            #expect(path("d").isBelow("/a/b") && path("d").isBelow("/a/b/") && path("d").isBelow("/"))
            #expect(!path("../bb/d").isBelow("/a/b") && !path("../d").isBelow("/a/b") && !path(".").isBelow("/a/b"))
            #expect(path("../../../../d").absolute == "/d")
        }

        @Test func links_inside_are_followed() {
            symlink("sub/file", "\(root)/link")
            symlink("sub", "\(root)/directory")
            symlink("../sub/../sub/file", "\(root)/sub/up")
            symlink("\(root)/sub/file", "\(root)/absolute")
            symlink("../root/sub/file", "\(root)/around")
            for name in ["link", "directory/file", "sub/up", "absolute", "around"] {
                #expect(read(name) == "inside", "\(name)")
            }
        }

        @Test func links_out_are_refused() {
            symlink("../secret", "\(root)/out")
            symlink("\(workshop.path("secret"))", "\(root)/absolute")
            symlink("..", "\(root)/parent")
            symlink("out", "\(root)/twice")
            symlink("/", "\(root)/top")
            for name in ["out", "absolute", "parent/secret", "twice", "top/etc/passwd"] {
                #expect(read(name) == outside, "\(name)")
            }
            symlink("self", "\(root)/self")
            #expect(read("self") == "\(Status.file) the symbolic links form a cycle")
        }

        @Test func a_link_leads_into_another_root() {
            symlink("../shared/file", "\(root)/link")
            symlink(workshop.path("shared"), "\(root)/directory")
            let roots = [root, workshop.path("shared")]
            #expect(read("link", roots: roots) == "shared")
            #expect(read("directory/file", roots: roots) == "shared")
            #expect(read("../shared/file", roots: roots) == "shared")
            #expect(read("../secret", roots: roots).contains("leads out of"))
            #expect(read("link", roots: [root, workshop.path("gone")]).contains("leads out of"))
        }

        @Test func a_root_that_is_a_link_is_followed() {
            symlink("root", workshop.path("current"))
            #expect(read("sub/file", roots: [workshop.path("current")]) == "inside")
        }

        @Test func only_regular_files_are_opened() {
            mkfifo("\(root)/fifo", 0o644)
            symlink("/dev/zero", "\(root)/device")
            symlink("fifo", "\(root)/link")
            func regular(_ what: String) -> String { "\(Status.file) expected a regular file, this is \(what)" }
            #expect(read("fifo") == regular("a FIFO"))
            #expect(read("link") == regular("a FIFO"))
            #expect(read("sub") == regular("a directory"))
            #expect(read("device") == outside)
            #expect(read("zero", roots: ["/dev"]) == regular("a device"))
        }

        @Test func the_limit_is_exact() {
            put(String(repeating: "x", count: 100), "\(root)/full")
            put(String(repeating: "x", count: 101), "\(root)/large")
            #expect(read("full").count == 100)
            #expect(read("large").contains("101 bytes, at most 100"))
        }

        /// A link that changes all the time between a file inside and one outside leads to the former alone.
        @Test func a_link_that_is_swapped_never_leads_out() {
            symlink("sub/file", "\(root)/inside")
            symlink("../secret", "\(root)/outside")
            symlink("sub/file", "\(root)/link")
            let swapper = Swapper(root)
            var seen: Set<String> = []
            for _ in 0..<2_000 { seen.insert(read("link")) }
            // Until both were seen, however busy the machine is.
            for _ in 0..<100_000 where !(seen.contains("inside") && seen.contains(outside)) {
                seen.insert(read("link"))
            }
            swapper.stop()
            #expect(!seen.contains("outside"))
            #expect(seen.contains("inside") && seen.contains(outside))
        }
    }
}

/// Renames links over each other on a thread.
private final class Swapper: Sendable {
    private let isOver = Guarded(false, by: Monitor())
    private let thread: pthread_t

    init(_ root: String) {
        thread = startThread { [isOver] in
            var turn = 0
            while !isOver.locked({ $0 }) {
                turn += 1
                symlink(turn % 2 == 0 ? "sub/file" : "../secret", "\(root)/next")
                rename("\(root)/next", "\(root)/link")
            }
        }
    }

    func stop() {
        isOver.locked { $0 = true }
        pthread_join(thread, nil)
    }
}

private func startThread(_ body: @escaping @Sendable () -> Void) -> pthread_t {
    final class Box {
        let body: @Sendable () -> Void; init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    pthread_create(
        &thread, nil,
        { data in
            if let data { Unmanaged<Box>.fromOpaque(data).takeRetainedValue().body() }
            return nil
        }, Unmanaged.passRetained(Box(body)).toOpaque())
    return thread
}
