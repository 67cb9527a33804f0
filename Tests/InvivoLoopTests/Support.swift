import Foundation
import Glibc
import InvivoBase
import Testing

@testable import InvivoLoop

/// These tests run one after the other, because they examine times, threads and descriptors.
@Suite(.serialized, .tags(.concurrent)) struct LoopRoom {}

extension Tag {
    /// Suites in which several threads meet: the sanitizers run them (scripts/tagged).
    @Tag static var concurrent: Self
}

/// A temporary directory, removed with the last reference.
final class Workshop: Sendable {
    let directory: String

    init() {
        var template = Array("/tmp/invivo-loop-XXXXXX".utf8CString)
        directory = template.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress, let made = mkdtemp(start) else { return "" }
            return String(cString: made)
        }
    }
    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func path(_ name: String) -> String { "\(directory)/\(name)" }
}

/// Writes with system calls only: open with `flags`, write, close.
func put(_ text: String, _ path: String, flags: Int32 = O_WRONLY | O_CREAT | O_TRUNC) {
    let descriptor = open(path, flags, 0o644)
    precondition(descriptor >= 0, "\(path): \(String(cString: strerror(errno)))")
    append(text, descriptor)
    close(descriptor)
}

func append(_ text: String, _ descriptor: Int32) {
    let bytes = Array(text.utf8)
    precondition(write(descriptor, bytes, bytes.count) == bytes.count)
}

/// Runs a shell command silently to its end; returns its exit status. (Foundation's Process leaks its weak references.)
@discardableResult
func shell(_ command: String, in directory: String = "/") -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for stream: Int32 in [1, 2] { posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0) }
    let texts: [String] = ["sh", "-c", "cd \(directory) && { \(command)\n}"]
    var words = texts.map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    var child = pid_t()
    guard posix_spawn(&child, "/bin/sh", &actions, nil, words, environ) == 0 else { return -1 }
    var status: Int32 = -1
    while waitpid(child, &status, 0) < 0 { guard errno == EINTR else { return -1 } }
    return status & 0x7f == 0 ? status >> 8 & 0xff : -1
}

func has(_ program: String) -> Bool { shell("command -v \(program)") == 0 }

/// The entries of a directory of /proc/self: threads (task) or descriptors (fd).
private func entries(_ directory: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(directory)")) ?? []
}

/// Descriptors, except timers: the concurrency library creates them at will.
func descriptors() -> Int {
    entries("fd").count { number in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)"))?.contains("timerfd")
            != true
    }
}

/// Whether no loop thread and at most this number of descriptors exist. A joined thread stays in /proc a little longer,
/// without an event; threads of the concurrency library are not counted.
func nothingIsLeft(descriptors before: Int) -> Bool {
    let end = ContinuousClock.now + .seconds(60)
    repeat {
        let loops = entries("task").filter { task in
            (try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8))?.hasSuffix("-loop\n") == true
        }
        if loops.isEmpty && descriptors() <= before { return true }
        sched_yield()
    } while ContinuousClock.now < end
    return false
}

/// A value that threads change and wait for.
final class Awaited<Value: Sendable>: @unchecked Sendable {
    private let monitor = Monitor()
    private var stored: Value
    init(_ value: Value) { stored = value }

    var value: Value { monitor.locked { stored } }
    func change(_ body: (inout Value) -> Void) {
        monitor.locked {
            body(&stored)
            monitor.broadcast()
        }
    }
    /// Waits for a value; false after a generous limit.
    func wait(seconds: UInt64 = 60, until wanted: (Value) -> Bool) -> Bool {
        let deadline = monotonicNow() + seconds * 1_000_000_000
        return monitor.locked {
            while !wanted(stored) { guard monitor.wait(until: deadline) else { return wanted(stored) } }
            return true
        }
    }
}

/// A loop, a follower, and a stage that reads reported files and keeps each content that differs from the last.
final class Following: Sendable {
    struct Heard: Sendable {
        var bursts: [[FileBurst]] = []
        var contents: [FollowID: [String]] = [:]
        var troubles: [Failure] = []
        var lastTold: UInt64 = 0
    }
    let workshop = Workshop()
    let loop: Loop
    let follower: FileFollower
    let heard: Awaited<Heard>
    private let paths: Awaited<[FollowID: String]>

    init(
        quiet: UInt64 = 10, maximum: UInt64 = 250, cap: UInt64 = 2_000, sweep: UInt64 = 60_000,
        world: (any FileWorld)? = nil
    )
        throws
    {
        let heard = Awaited(Heard())
        let paths = Awaited([FollowID: String]())
        var settle = FileFollower.Settle()
        settle.quiet = quiet
        settle.maximum = maximum
        settle.openForWriteCap = cap
        settle.sweep = sweep
        loop = try Loop(name: "test")
        follower = try FileFollower(
            loop: loop, settle: { [settle] in settle }, world: world ?? LiveFileWorld(),
            onBurst: { bursts in
                let now = monotonicNow()
                let known = paths.value
                let read = bursts.map { ($0.id, try? FileReader.read(FilePath(known[$0.id] ?? ""), limit: 1 << 20)) }
                heard.change { heard in
                    heard.bursts.append(bursts)
                    heard.lastTold = now
                    for (id, content) in read {
                        guard let content else { continue }
                        let text = Following.text(content)
                        if heard.contents[id]?.last != text { heard.contents[id, default: []].append(text) }
                    }
                }
            },
            onTrouble: { failure in heard.change { $0.troubles.append(failure) } })
        self.heard = heard
        self.paths = paths
    }
    deinit {
        follower.stop()
        loop.stop()
    }

    func follow(_ name: String) throws -> FollowID {
        let path = name.hasPrefix("/") ? name : workshop.path(name)
        let id = try follower.follow(path)
        paths.change { $0[id] = path }
        // The present content is treated as seen.
        if let content = try? FileReader.read(FilePath(path), limit: 1 << 20) {
            heard.change { $0.contents[id] = [Following.text(content)] }
        }
        return id
    }

    /// The text of a file; some programs end it with a newline.
    private static func text(_ content: FileContent) -> String {
        String(String(decoding: content.bytes, as: UTF8.self).filter { $0 != "\n" })
    }

    func path(_ name: String) -> String { workshop.path(name) }
    func sees(_ text: String, of id: FollowID) -> Bool { heard.wait { $0.contents[id]?.last == text } }
    /// The different contents, in order.
    func contents(_ id: FollowID) -> [String] { heard.value.contents[id] ?? [] }
    /// Returns when the loop has done all its work and a whole quiet time has passed without changes.
    func settleDown() {
        let done = Awaited(false)
        loop.schedule(after: 60) { done.change { $0 = true } }
        _ = done.wait { $0 }
    }
}

/// The machine; while it is closed, listening threads wait.
final class GatedWorld: FileWorld, Sendable {
    private nonisolated(unsafe) let live = LiveFileWorld()
    let isShut = Awaited(false)
    let isInside = Awaited(false)
    var descriptor: Int32 { live.descriptor }
    func now() -> UInt64 { live.now() }
    func watch(_ directory: String, files: Bool) -> WatchAnswer { live.watch(directory, files: files) }
    func unwatch(_ watch: Int32) { live.unwatch(watch) }
    func drain(_ heard: (WatchEvent) -> Void) -> Bool {
        if isShut.value {
            isInside.change { $0 = true }
            _ = isShut.wait { !$0 }
        }
        return live.drain(heard)
    }
    func signature(_ path: String) -> FileSignature { live.signature(path) }
    func entry(_ path: String) -> PathEntry { live.entry(path) }
    func close() { live.close() }
}
