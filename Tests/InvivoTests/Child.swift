import Glibc
import Testing

/// A program under test: its output, line by line, and its exit.
final class Child {
    private var identity = pid_t()
    private let reading: Int32
    private var rest: [UInt8] = []
    private(set) var lines: [String] = []
    private var hasEnded = false
    /// The first unread line.
    private var next = 0

    /// The command-line tool, beside the test program.
    static var tool: String {
        var path = [CChar](repeating: 0, count: 4096)
        let length = readlink("/proc/self/exe", &path, path.count)
        let text = String(decoding: path.prefix(max(length, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/invivo"
    }

    /// Starts the tool; both outputs are read as one. `variables` are beside PATH in its environment.
    init(_ arguments: [String], path: String? = nil, variables: [String] = []) {
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        reading = ends[0]
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO)
        posix_spawn_file_actions_addclose(&actions, ends[0])
        posix_spawn_file_actions_addclose(&actions, ends[1])
        var words = ([Self.tool] + arguments).map { strdup($0) } + [nil]
        var surroundings = (["PATH=\(path ?? "/usr/bin:/bin")"] + variables).map { strdup($0) } + [nil]
        let status = posix_spawn(&identity, Self.tool, &actions, nil, &words, &surroundings)
        #expect(status == 0, "\(Self.tool) cannot be started; build all products")
        close(ends[1])
        posix_spawn_file_actions_destroy(&actions)
        for word in words + surroundings { free(word) }
    }

    deinit {
        if !hasEnded {
            kill(identity, SIGKILL)
            waitpid(identity, nil, 0)
        }
        close(reading)
    }

    /// Reads until a line contains `text`; returns the line.
    @discardableResult
    func line(with text: String, sourceLocation: SourceLocation = #_sourceLocation) -> String {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(120)
        while clock.now < end {
            while next < lines.count {
                next += 1
                if lines[next - 1].contains(text) { return lines[next - 1] }
            }
            if !read() { break }
        }
        Issue.record("no line with '\(text)' in \(lines)", sourceLocation: sourceLocation)
        return ""
    }

    func send(_ signal: Int32) { kill(identity, signal) }

    /// Reads to the end; returns the exit status.
    func end() -> Int32 {
        while read() {}
        var status: Int32 = 0
        while waitpid(identity, &status, 0) < 0 && errno == EINTR {}
        hasEnded = true
        return status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f)
    }

    /// Sends a signal repeatedly until the program has ended; returns the exit status. The program may treat the first
    /// signals as one request.
    func end(bySending signal: Int32) -> Int32 {
        var wait = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        repeat { send(signal) } while poll(&wait, 1, 50) == 0 || read()
        return end()
    }

    private func read() -> Bool {
        var wait = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        guard poll(&wait, 1, 120_000) > 0 else { return false }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(reading, &bytes, bytes.count)
        guard count > 0 else { return false }
        rest += bytes.prefix(count)
        while let index = rest.firstIndex(of: 10) {
            lines.append(String(decoding: rest[..<index], as: UTF8.self))
            rest = Array(rest[(index + 1)...])
        }
        return true
    }
}
