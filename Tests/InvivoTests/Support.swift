import CInvivo
import Glibc
import Invivo
import Synchronization
import Testing

/// All tests of the Swift API run one after the other: each compares the live counts of the process before and after.
@Suite(.serialized, .tags(.concurrent)) struct SwiftAPI {}

extension Tag {
    /// Suites in which several threads meet: the sanitizers run them (scripts/tagged).
    @Tag static var concurrent: Self
    /// Suites that fork the process, which ThreadSanitizer does not survive.
    @Tag static var forks: Self
}

struct Live: Equatable, CustomStringConvertible {
    var counts: [UInt64]

    static var now: Live {
        var raw = invivo_live_counts()
        raw.struct_size = MemoryLayout<invivo_live_counts>.size
        invivo_live(&raw)
        return Live(counts: [
            raw.runtimes, raw.objects, raw.callables, raw.errors, raw.graphs, raw.blocks, raw.threads, raw.descriptors,
        ])
    }

    var description: String {
        let names = ["runtimes", "objects", "callables", "errors", "graphs", "blocks", "threads", "descriptors"]
        return zip(names, counts).map { "\($0) \($1)" }.joined(separator: ", ")
    }
}

/// Runs a test with a new runtime, closes it, and checks that nothing remains.
func withRuntime(
    _ options: Runtime.Options = Runtime.Options(), sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (Runtime) throws -> Void
) throws {
    let before = Live.now
    let runtime = try Runtime(options)
    do { try body(runtime) } catch {
        try? runtime.close()
        throw error
    }
    try runtime.close()
    #expect(Live.now == before, sourceLocation: sourceLocation)
}

/// The error of `body`; a failed expectation if there is none.
func failure(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) -> InvivoError {
    do { try body() } catch { return InvivoError.of(error) }
    Issue.record("expected an error", sourceLocation: sourceLocation)
    return InvivoError(.internal, "")
}

extension InvivoError {
    static func of(_ error: any Error) -> InvivoError {
        error as? InvivoError ?? InvivoError(.internal, "foreign: \(error)")
    }
}

/// A temporary directory, removed at the end.
final class Scratch {
    let path: String

    init() throws {
        var template = Array("/tmp/invivo-swift-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw InvivoError(.system, "mkdtemp") }
        path = String(cString: made)
    }

    deinit { remove(path) }

    private func remove(_ path: String) {
        guard let directory = opendir(path) else {
            unlink(path)
            return
        }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { remove("\(path)/\(name)") }
        }
        closedir(directory)
        rmdir(path)
    }

    /// Writes a file like an editor: a temporary one, renamed.
    @discardableResult
    func write(_ name: String, _ text: String) -> String {
        let file = "\(path)/\(name)"
        let stream = fopen(file + ".new", "w")
        fputs(text, stream)
        fclose(stream)
        rename(file + ".new", file)
        return file
    }
}

/// The allocated memory of the process, by the C library's own count, which other resources do not affect. Sanitizer
/// allocators are not counted; the number does not change there.
func allocatedBytes() -> Int {
    typealias Account = @convention(c) (CInt, OpaquePointer) -> CInt
    var text: UnsafeMutablePointer<CChar>?
    var length = 0
    guard let symbol = dlsym(nil, "malloc_info"), let stream = open_memstream(&text, &length) else { return 0 }
    _ = unsafeBitCast(symbol, to: Account.self)(0, OpaquePointer(stream))
    fclose(stream)
    defer { free(text) }
    guard let text else { return 0 }
    // The totals of the process are those of its heaps.
    let lines = String(cString: text).split(separator: "\n")
    func total(_ beginning: String) -> Int {
        guard let line = lines.last(where: { $0.hasPrefix(beginning) }),
            let size = line.split(separator: "\"").last(where: { $0.allSatisfy(\.isNumber) })
        else { return 0 }
        return Int(size) ?? 0
    }
    let held = total("<system type=\"current\"") + total("<total type=\"mmap\"")
    return held - total("<total type=\"fast\"") - total("<total type=\"rest\"")
}

/// Polls a runtime until a condition holds, or a generous time has passed.
func eventually(
    _ runtime: Runtime, sourceLocation: SourceLocation = #_sourceLocation, _ holds: () throws -> Bool
) throws {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(20)
    while clock.now < end {
        if try holds() { return }
        try runtime.poll(timeout: .milliseconds(20))
    }
    Issue.record("did not happen within 20 s", sourceLocation: sourceLocation)
}

/// Collects events of other threads.
final class Log<Element: Sendable>: Sendable {
    private let elements = Locked<[Element]>([])
    func add(_ element: Element) { elements.withLock { $0.append(element) } }
    var all: [Element] { elements.withLock { $0 } }
}

/// Runs `body` on a new thread, to its end.
func onAnotherThread(_ body: @escaping @Sendable () -> Void) { onThreads(1) { _ in body() } }

/// Runs `body` on several threads at once, to their ends.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
    final class Start: Sendable {
        let index: Int
        let body: @Sendable (Int) -> Void
        init(_ index: Int, _ body: @escaping @Sendable (Int) -> Void) {
            self.index = index
            self.body = body
        }
    }
    var threads: [pthread_t] = []
    for index in 0..<count {
        var thread = pthread_t()
        let start = Unmanaged.passRetained(Start(index, body)).toOpaque()
        let status = pthread_create(
            &thread, nil,
            { data in
                if let data {
                    let start = Unmanaged<Start>.fromOpaque(data).takeRetainedValue()
                    start.body(start.index)
                }
                return nil
            }, start)
        #expect(status == 0)
        threads.append(thread)
    }
    for thread in threads { pthread_join(thread, nil) }
}
