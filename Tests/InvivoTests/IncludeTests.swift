import Glibc
import Invivo
import Testing

/// Writes a file below the scratch folder that is no spec file.
private func put(_ scratch: Scratch, _ name: String, _ bytes: [UInt8]) {
    let stream = fopen("\(scratch.path)/\(name)", "w")
    fwrite(bytes, 1, bytes.count, stream)
    fclose(stream)
}

extension SwiftAPI {
    /// Spec files that include others, and values that are files, while they are followed.
    @Suite struct IncludeTests {
        func value(_ runtime: Runtime, _ path: String) -> InvivoValue? { try? runtime.configuration(path) }

        @Test func anIncludedFileIsFollowed() throws {
            let before = Live.now
            do {
                let scratch = try Scratch()
                mkdir("\(scratch.path)/sub", 0o755)
                scratch.write("sub/b.yaml", "config: {n: 1}")
                let file = scratch.write("a.yaml", "include: [sub/b.yaml]\nconfig: {m: 1}")
                let runtime = try Runtime(watching: file)
                #expect(value(runtime, "n") == .int64(1))
                scratch.write("sub/b.yaml", "config: {n: 2}")
                try eventually(runtime) { value(runtime, "n") == .int64(2) }
                #expect(try runtime.sources.map(\.role) == [.include, .source])
                #expect(try runtime.sources[0].path == "\(scratch.path)/sub/b.yaml")
                #expect(try runtime.sources[0].following == .watching)
                #expect(try runtime.info.sources == 1)
                // Only the file that has changed was read.
                let generation = try runtime.generation
                scratch.write("a.yaml", "include: []\nconfig: {m: 2}")
                try eventually(runtime) { value(runtime, "m") == .int64(2) }
                #expect(value(runtime, "n") == nil)
                #expect(try runtime.generation == generation + 1)
                #expect(try runtime.sources.map(\.role) == [.source])
                try runtime.close()
            }
            #expect(Live.now == before)
        }

        @Test func aMissingIncludeIsTriedAgainWhenItAppears() throws {
            let scratch = try Scratch()
            let file = scratch.write("a.yaml", "config: {m: 1}")
            let runtime = try Runtime(watching: file)
            scratch.write("a.yaml", "include: b.yaml\nconfig: {m: 2}")
            try eventually(runtime) { runtime.lastError != nil }
            let error = try #require(runtime.lastError)
            #expect(error.code == .notFound && error.description.contains("a.yaml:1:10"), "\(error)")
            #expect(value(runtime, "m") == .int64(1))
            scratch.write("b.yaml", "config: [")
            try eventually(runtime) { runtime.lastError?.code == .syntax }
            #expect(value(runtime, "m") == .int64(1))
            scratch.write("b.yaml", "config: {n: 2}")
            try eventually(runtime) { value(runtime, "m") == .int64(2) }
            #expect(value(runtime, "n") == .int64(2))
            #expect(runtime.lastError == nil)
            try runtime.close()
        }

        @Test func aFileThatIsAwaitedNoMoreIsFollowedNoMore() throws {
            let before = Live.now
            do {
                let scratch = try Scratch()
                let file = scratch.write("a.yaml", "config: {m: 1}")
                let runtime = try Runtime(watching: file)
                scratch.write("a.yaml", "include: b.yaml\nconfig: {m: 2}")
                try eventually(runtime) { runtime.lastError != nil }
                scratch.write("a.yaml", "config: {m: 3}")
                try eventually(runtime) { value(runtime, "m") == .int64(3) }
                let generation = try runtime.generation
                scratch.write("b.yaml", "config: {n: 2}")
                scratch.write("a.yaml", "config: {m: 4}")
                try eventually(runtime) { value(runtime, "m") == .int64(4) }
                #expect(value(runtime, "n") == nil)
                #expect(try runtime.generation == generation + 1)
                try runtime.close()
            }
            #expect(Live.now == before)
        }

        @Test func editsOfThreeIncludedFilesAreOneReload() throws {
            let scratch = try Scratch()
            for name in ["b", "c", "d"] { scratch.write("\(name).yaml", "config: {\(name): 1}") }
            let file = scratch.write("a.yaml", "include: [b.yaml, c.yaml, d.yaml]")
            var options = Runtime.Options()
            options.quiet = .milliseconds(200)
            options.settleMaximum = .seconds(10)
            let runtime = try Runtime(options, watching: file)
            let generation = try runtime.generation
            for name in ["b", "c", "d"] { scratch.write("\(name).yaml", "config: {\(name): 2}") }
            try eventually(runtime) { value(runtime, "d") == .int64(2) }
            #expect(value(runtime, "b") == .int64(2) && value(runtime, "c") == .int64(2))
            #expect(try runtime.generation == generation + 1)
            try runtime.close()
        }

        @Test func aFileOfTwoSourcesIsFollowedOnce() throws {
            let scratch = try Scratch()
            scratch.write("base.yaml", "config: {n: 1}")
            let one = scratch.write("one.yaml", "include: base.yaml")
            let two = scratch.write("two.yaml", "include: ./base.yaml")
            let runtime = try Runtime()
            let first = try runtime.watch(one)
            let second = try runtime.watch(two)
            #expect(try runtime.sources.map(\.role) == [.include, .source, .source])
            let generation = try runtime.generation
            scratch.write("base.yaml", "config: {n: 2}")
            try eventually(runtime) { value(runtime, "n") == .int64(2) }
            #expect(try runtime.generation == generation + 1)
            try first.close()
            #expect(value(runtime, "n") == .int64(2))
            scratch.write("base.yaml", "config: {n: 3}")
            try eventually(runtime) { value(runtime, "n") == .int64(3) }
            try second.close()
            #expect(value(runtime, "n") == nil)
            #expect(try runtime.sources.isEmpty)
            try runtime.close()
        }

        @Test func anEditReadsOnlyTheFileThatChanged() throws {
            let scratch = try Scratch()
            scratch.write("b.yaml", "config: {b: 1}")
            scratch.write("c.yaml", "config: {c: 1}")
            put(scratch, "value", Array("one".utf8))
            let file = scratch.write("a.yaml", "include: [b.yaml, c.yaml]\nconfig: {a: 1, v: \"file:value\"}")
            let log = Log<String>()
            var options = Runtime.Options()
            options.logLevel = .debug
            options.log = { log.add($0.message) }
            let runtime = try Runtime(options, watching: file)
            func reads(_ body: () throws -> Void) rethrows -> [String] {
                let count = log.all.count
                try body()
                return log.all[count...].filter { $0.contains(" bytes") || $0.contains(": read") }.map {
                    String($0.split(separator: ":")[0].split(separator: "/").last ?? "")
                }
            }
            #expect(
                try reads {
                    scratch.write("b.yaml", "config: {b: 2}")
                    try eventually(runtime) { value(runtime, "b") == .int64(2) }
                } == ["b.yaml"])
            #expect(
                try reads {
                    scratch.write("a.yaml", "include: [b.yaml, c.yaml]\nconfig: {a: 2, v: \"file:value\"}")
                    try eventually(runtime) { value(runtime, "a") == .int64(2) }
                } == ["a.yaml"])
            #expect(
                try reads {
                    put(scratch, "value", Array("two".utf8))
                    try eventually(runtime) { value(runtime, "v") == .string("two") }
                } == ["value"])
            try runtime.close()
        }

        @Test func aValueIsTextWithoutOneLineEnd() throws {
            let scratch = try Scratch()
            let file = scratch.write("a.yaml", "config: {v: \"file:value\"}")
            func opened() throws -> InvivoValue? {
                let runtime = try Runtime(watching: file)
                defer { try? runtime.close() }
                return value(runtime, "v")
            }
            for (bytes, text) in [
                ("text\n", "text"), ("text\r\n", "text"), ("text\n\n", "text\n"), ("", ""), ("\n", ""), ("1.5", "1.5"),
            ] {
                put(scratch, "value", Array(bytes.utf8))
                #expect(try opened() == .string(text))
            }
            put(scratch, "value", [0x73, 0xFF, 0x74])
            let invalid = failure { _ = try opened() }
            #expect(invalid.code == .encoding && invalid.description.contains("a.yaml:1:13"), "\(invalid)")
            #expect(!"\(invalid)".contains("0xFF"))
            put(scratch, "value", [0x73, 0, 0x74])
            #expect(failure { _ = try opened() }.code == .encoding)
            put(scratch, "value", Array(repeating: 0x78, count: 64 << 10))
            #expect(try opened() == .string(String(repeating: "x", count: 64 << 10)))
            put(scratch, "value", Array(repeating: 0x78, count: (64 << 10) + 1))
            let large = failure { _ = try opened() }
            #expect(large.code == .tooLarge && large.description.contains("at most 65536"), "\(large)")
        }

        @Test func documentsInMemoryAndOthersReadBelowDeclaredRoots() throws {
            let scratch = try Scratch()
            mkdir("\(scratch.path)/shared", 0o755)
            mkdir("\(scratch.path)/own", 0o755)
            scratch.write("shared/b.yaml", "config: {n: 1}")
            let file = scratch.write("own/a.yaml", "include: [../shared/b.yaml]\nconfig: {m: 1}")
            let refused = failure { _ = try Runtime(watching: file) }
            #expect(refused.code == .file && refused.description.contains("\(scratch.path)/own"), "\(refused)")
            var options = Runtime.Options()
            options.documentRoots = ["\(scratch.path)/shared/"]
            let runtime = try Runtime(options, watching: file)
            #expect(value(runtime, "n") == .int64(1))
            try runtime.changes { try $0.document("memory", "include: b.yaml\nconfig: {k: \"file:b.yaml\"}") }
            #expect(value(runtime, "k") == .string("config: {n: 1}"))
            try runtime.close()
        }

        @Test func theBudgetsCountAllFiles() throws {
            let scratch = try Scratch()
            scratch.write("b.yaml", "config: {n: \"\(String(repeating: "x", count: 600))\"}")
            scratch.write("c.yaml", "config: {m: \"\(String(repeating: "x", count: 600))\"}")
            let file = scratch.write("a.yaml", "include: [b.yaml, c.yaml]")
            var options = Runtime.Options()
            options.maximumDocumentSize = 1_000
            let large = failure { _ = try Runtime(options, watching: file) }
            #expect(large.code == .tooLarge && large.description.contains("a.yaml:1:19"), "\(large)")
            options = Runtime.Options()
            options.maximumDocumentNodes = 9
            let many = failure { _ = try Runtime(options, watching: file) }
            #expect(many.code == .tooLarge && many.description.contains("max_document_nodes"), "\(many)")
            options.maximumDocumentNodes = 10
            try Runtime(options, watching: file).close()
        }

        @Test func includesHaveADepthLimit() throws {
            let scratch = try Scratch()
            for number in 0..<66 { scratch.write("\(number).yaml", "include: \(number + 1).yaml") }
            scratch.write("66.yaml", "{}")
            let deep = failure { _ = try Runtime(watching: "\(scratch.path)/0.yaml") }
            #expect(deep.code == .tooLarge && "\(deep)".contains("64 levels"), "\(deep)")
            try Runtime(watching: "\(scratch.path)/3.yaml").close()
        }

        @Test func aTreeOfFilesIsTheSameAsAFreshRuntime() throws {
            var random = Generator(seed: 7)
            for _ in 0..<6 {
                let scratch = try Scratch()
                func write(_ number: Int) {
                    // Mostly files with higher numbers, so that cycles are rare.
                    let others = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                        Int.random(in: 0..<12, using: &random) == 0
                            ? Int.random(in: 0..<6, using: &random)
                            : min(5, number + Int.random(in: 1...3, using: &random))
                    }
                    let names = others.filter { $0 != number }.map { "\($0).yaml" }.joined(separator: ", ")
                    let keys = (0..<4).filter { _ in Bool.random(using: &random) }.map { key in
                        "k\(key): \(number * 100 + Int.random(in: 0..<90, using: &random))"
                    }
                    scratch.write("\(number).yaml", "include: [\(names)]\nconfig: {\(keys.joined(separator: ", "))}")
                }
                for number in 0..<6 { scratch.write("\(number).yaml", "config: {k\(number % 4): \(number)}") }
                var options = Runtime.Options()
                options.logLevel = .silent
                let runtime = try Runtime(options)
                let source = try runtime.watch("\(scratch.path)/0.yaml")
                for _ in 0..<25 {
                    for _ in 0...Int.random(in: 0..<3, using: &random) { write(Int.random(in: 0..<6, using: &random)) }
                    do {
                        try source.refresh()
                    } catch {
                        #expect(error.code == .cycle, "\(error)")
                        #expect(failure { _ = try Runtime(watching: "\(scratch.path)/0.yaml") }.code == .cycle)
                        continue
                    }
                    let fresh = try Runtime(watching: "\(scratch.path)/0.yaml")
                    let (one, other): (InvivoValue, InvivoValue) = (
                        try runtime.configuration("") as InvivoValue, try fresh.configuration("") as InvivoValue
                    )
                    #expect(one == other)
                    let shown = try (runtime.sources.map(\.name), fresh.sources.map(\.name))
                    #expect(shown.0 == shown.1)
                    try fresh.close()
                    if one != other || shown.0 != shown.1 { return }
                }
                try source.close()
                #expect(try runtime.sources.isEmpty)
                try runtime.close()
            }
        }
    }
}

/// A generator with a seed (SplitMix64).
private struct Generator: RandomNumberGenerator {
    var seed: UInt64
    init(seed: UInt64) { self.seed = seed }

    mutating func next() -> UInt64 {
        seed &+= 0x9E37_79B9_7F4A_7C15
        var z = seed
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
