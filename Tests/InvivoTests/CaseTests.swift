import Glibc
import Testing

/// A case of Tests/Cases, which all languages share.
struct TextCase: Sendable, CustomTestStringConvertible {
    let name: String
    let path: String
    let line: Int
    let lines: [Script.Line]
    var problem: String?

    var testDescription: String { name }

    /// Tests/Cases.
    static let folder = "\(#filePath)".split(separator: "/").dropLast(2).reduce("") { "\($0)/\($1)" } + "/Cases"

    /// All cases for Swift, file by file.
    static let all: [TextCase] = {
        let folders = names(in: folder).filter { !$0.contains(".") }.map { "\(folder)/\($0)" }
        let files = folders.flatMap { folder in
            names(in: folder).filter { $0.hasSuffix(".case") }.map { "\(folder)/\($0)" }
        }
        return files.sorted().flatMap(cases)
    }()

    private static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names
    }

    static func cases(of path: String) -> [TextCase] {
        do {
            var found: [TextCase] = []
            var lines: [Script.Line] = []
            for line in try Script(path: path).lines.reversed() {
                if line.verb == "case" {
                    found.append(
                        TextCase(name: line.words[1].text, path: path, line: line.number, lines: lines.reversed()))
                    lines = []
                } else {
                    lines.append(line)
                }
            }
            return found.reversed().filter { !$0.isElsewhere }
        } catch { return [TextCase(name: path, path: path, line: 1, lines: [], problem: "\(error)")] }
    }

    /// Whether the case excludes Swift.
    private var isElsewhere: Bool {
        lines.contains {
            $0.verb == "not" && $0.words.count > 3 && $0.words[1].text == "in" && $0.words[2].text == "swift"
        }
    }
}

/// A case of Tests/Cases/wrong_cases.txt, and its wrong line.
struct WrongCase: Sendable, CustomTestStringConvertible {
    let text: TextCase
    let line: Int

    var testDescription: String { text.name }

    static let all: [WrongCase] = {
        let path = TextCase.folder + "/wrong_cases.txt"
        let texts = (try? Script.texts(of: path)) ?? []
        let lines = texts.enumerated().filter { $1.hasSuffix("#wrong") }.map { $0.offset + 1 }
        let cases = TextCase.cases(of: path)
        return lines.compactMap { line in
            cases.last { $0.line < line }.map { WrongCase(text: $0, line: line) }
        }
    }()
}

extension SwiftAPI {
    @Suite("Text cases") struct Cases {
        @Test("is run", arguments: TextCase.all)
        func run(_ one: TextCase) async {
            let before = Live.now
            for problem in await problems(of: one) {
                Issue.record(
                    "\(problem.text)",
                    sourceLocation: SourceLocation(
                        fileID: "Cases/\(one.name)", filePath: one.path, line: problem.line, column: 1))
            }
            #expect(Live.now == before, "\(one.name)")
        }

        private func problems(of one: TextCase) async -> [(line: Int, text: String)] {
            let known = one.problem.map { [(line: one.line, text: $0)] } ?? []
            // Confined objects live on a separate thread, which may wait.
            return await known
                + withCheckedContinuation { continuation in
                    let box = CaseBox(one.lines) { continuation.resume(returning: $0) }
                    box.start()
                }
        }

        @Test(arguments: [
            ("sing a.x", 2, "nothing is said by 'sing'"),
            ("define a.x Knight\n    sing 5", 2, "a definition has no part 'sing'"),
            ("define a.x Camp\n    setup sing(5)", 2, "a setup has no step 'sing'"),
            ("define a.x Knight loud", 2, "'loud' is no scope"),
            ("resolve a.nothing", 2, "it fails with notFound"),
            ("define a.x Knight\n    fails not_found", 3, "it answers ok"),
            ("resolve a.nothing\n    fails type", 3, "it answers notFound"),
            ("define a.x Knight singleton\nlog", 3, "what came"),
            ("define a.x Knight\nresolve a.x", 0, ""),
        ])
        func aWrongCaseFails(_ text: String, _ line: Int, _ said: String) async throws {
            let path = "/tmp/invivo-wrong-\(getpid()).case"
            let file = try #require(fopen(path, "w"))
            fputs("case wrong\n\(text)\n", file)
            fclose(file)
            defer { unlink(path) }
            let one = try #require(TextCase.cases(of: path).first)
            let found = await problems(of: one)
            #expect(found.isEmpty == (line == 0))
            #expect(line == 0 || found.contains { $0.line == line && $0.text.contains(said) }, "\(found)")
        }

        @Test(arguments: WrongCase.all)
        func aWrongCaseFailsWhereItIsWrong(_ one: WrongCase) async {
            let found = await problems(of: one.text)
            #expect(found.first?.line == one.line, "\(found)")
        }

        @Test func eachWrongCaseIsWrongInOneLine() {
            let cases = TextCase.cases(of: TextCase.folder + "/wrong_cases.txt")
            #expect(WrongCase.all.map(\.text.name) == cases.map(\.name) && cases.count > 100)
        }

        @Test(arguments: ["wiring", "reload", "spec", "traits", "contexts"])
        func thereAreCases(_ folder: String) {
            #expect(TextCase.all.filter { $0.path.contains("/\(folder)/") }.count > 10)
        }
    }
}

/// A case on the way to its thread.
private final class CaseBox: @unchecked Sendable {
    private let lines: [Script.Line]
    private let end: ([(line: Int, text: String)]) -> Void

    init(_ lines: [Script.Line], _ end: @escaping ([(line: Int, text: String)]) -> Void) {
        (self.lines, self.end) = (lines, end)
    }

    func start() {
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { data in
                guard let data else { return nil }
                let box = Unmanaged<CaseBox>.fromOpaque(data).takeRetainedValue()
                box.end(CaseRun.problems(of: box.lines))
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        pthread_detach(thread)
    }
}
