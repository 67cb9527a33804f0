import Glibc
import Invivo

/// A running case: its runtimes, names and failures.
final class CaseRun: Values, @unchecked Sendable {
    let world = World()
    /// Statements in other files need these.
    var runtimes: [(name: String, runtime: Runtime?)] = []
    var current = 0
    /// The change set that is open.
    var changes: ChangeSet?
    var assemblies: [String: TextAssembly] = [:]
    var overrides: [String: Override] = [:]
    var pools: [String: (pool: Pool<Object>, type: String?)] = [:]
    var jobs: [String: Job] = [:]
    var sources: [String: Source] = [:]
    var observers: [String: Observer] = [:]
    var targets: [String: Target] = [:]
    var contexts = CaseContexts()
    /// The folder of its files.
    var scratch: Scratch?
    /// The variables of the environment that the case has set, which are removed at its end.
    var variables: [String] = []
    let places = Locked<[String: UInt64]>([:])
    private let names = Locked<[String: InvivoValue]>([:])
    private let problems = Locked<[(line: Int, text: String)]>([])
    private let number = Locked(0)

    struct Discarded: Error {}

    // MARK: - Running

    /// Runs the case on the thread of its runtimes; returns its failures.
    static func problems(of lines: [Script.Line]) -> [(line: Int, text: String)] {
        let run = CaseRun()
        if let first = lines.first(where: { $0.verb != "rule" && $0.verb != "not" }), first.verb != "runtime" {
            run.attempt(first) { try run.open("main", without: false) }
        }
        run.run(lines.filter { $0.verb != "rule" && $0.verb != "not" })
        run.finish(lines.first?.number ?? 0)
        return run.problems.withLock { $0 }
    }

    func run(_ lines: [Script.Line]) {
        var at = 0
        while at < lines.count {
            let line = lines[at]
            at += 1
            guard line.verb == "begin" else {
                run(line)
                continue
            }
            // The lines up to its end are one change set.
            let end = lines[at...].firstIndex { $0.verb == "commit" || $0.verb == "discard" } ?? lines.count
            let body = lines[at..<min(end, lines.count)]
            guard end < lines.count else {
                wrong(line, "a change set is committed or discarded")
                return
            }
            at = end + 1
            check(lines[end]) {
                do {
                    try self.runtime().changes { changes in
                        self.changes = changes
                        defer { self.changes = nil }
                        for line in body { self.run(line) }
                        if lines[end].verb == "discard" { throw Discarded() }
                    }
                } catch is Discarded {}
                return .null
            }
        }
    }

    func run(_ line: Script.Line) {
        number.withLock { $0 = line.number }
        let value = check(line) { try self.perform(line, line.words[...]) }
        if let name = line.result, line.verb != "spawn" { self[name] = value }
    }

    private func attempt(_ line: Script.Line, _ body: () throws -> Void) {
        do { try body() } catch { wrong(line, "\(error)") }
    }

    func wrong(_ line: Script.Line, _ text: String) { problems.withLock { $0.append((line.number, text)) } }
    func wrong(_ text: String) {
        let line = number.withLock { $0 }
        problems.withLock { $0.append((line, text)) }
    }

    /// Runs a statement and checks the expected failure below it.
    @discardableResult
    func check(_ line: Script.Line, _ body: () throws -> InvivoValue) -> InvivoValue {
        var (value, error) = (InvivoValue.null, InvivoError?.none)
        do { value = try body() } catch let thrown as InvivoError { error = thrown } catch { wrong(line, "\(error)") }
        for waited in world.takeWrong() { wrong(line, waited) }
        let finds = line.below.filter { $0.verb == "finds" }
        let fails = line.below.filter { $0.verb == "fails" }
        for expected in fails { check(expected, error) }
        let errors = error?.errors ?? []
        for expected in finds {
            let texts = expected.words.dropFirst(2).map(\.text)
            let isFound = errors.contains { one in
                one.rule == expected.words[1].text
                    && texts.allSatisfy { one.description.contains($0) || one.neededBy.contains($0) }
            }
            if !isFound { wrong(expected, "it says: \(error.map { "\($0)" } ?? "nothing")") }
        }
        if !finds.isEmpty, finds.count != errors.count {
            wrong(line, "\(errors.count) errors are found: \(error.map { "\($0)" } ?? "")")
        }
        if fails.isEmpty, finds.isEmpty, let error { wrong(line, "it fails with \(error.code): \(error)") }
        return value
    }

    private func check(_ expected: Script.Line, _ error: InvivoError?) {
        let code = error.map { "\($0.code)" } ?? "ok"
        let words = expected.words[1].text.split(separator: "_")
        let name = words[0] + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        if code != name {
            wrong(expected, "it answers \(code): \(error.map { "\($0)" } ?? "")")
        }
        for text in expected.words.dropFirst(2).map(\.text) {
            if let error, !error.description.contains(text), !error.neededBy.contains(text) {
                wrong(expected, "it says: \(error)")
            }
        }
    }

    /// Removes everything that the case leaves; then nothing may remain.
    private func finish(_ line: Int) {
        for name in names.withLock({ Array($0.keys) }) { self[name] = nil }
        (assemblies, overrides, pools, jobs, sources, observers) = ([:], [:], [:], [:], [:], [:])
        targets = [:]
        contexts = CaseContexts()
        world.keep(nil)
        runtimes = []
        for name in variables { unsetenv(name) }
        variables = []
        // A task of an asynchronous resolve that has returned its value releases it on its own thread.
        let end = ContinuousClock.now + .seconds(10)
        while world.count(nil) != 0, ContinuousClock.now < end { sched_yield() }
        let alive = world.count(nil)
        if alive != 0 { problems.withLock { $0.append((line, "\(alive) things are left")) } }
    }

    // MARK: - Runtimes

    func runtime() throws -> Runtime {
        guard current < runtimes.count, let runtime = runtimes[current].runtime else {
            throw InvivoError(.notReady, "no runtime is open")
        }
        return runtime
    }

    func open(_ name: String, without needs: Bool, history: Int? = nil, prefix: String? = nil) throws {
        if let index = runtimes.firstIndex(where: { $0.name == name }) {
            current = index
        } else {
            var options = Runtime.Options()
            options.home = .openingThread
            options.fillsInjected = !needs
            options.history = history
            options.environmentPrefix = prefix
            options.rampTick = .manual
            // Files are read by statements alone.
            (options.quiet, options.settleMaximum) = (.seconds(3600), .seconds(3600))
            let runtime = try Runtime(options)
            for kind in ThingKind.all { try kind.register(runtime, world) }
            let world = world
            try runtime.observe { reload in
                world.report(
                    reload.changes.map { "\($0.key)\($0.property.isEmpty ? "" : ":")\($0.property) \($0.kind)" },
                    warnings: reload.warnings)
            }
            current = runtimes.count
            runtimes.append((name, runtime))
        }
        world.work(on: runtimes[current].runtime)
    }

    func close() throws {
        let runtime = try runtime()
        do throws(InvivoError) { try runtime.close() } catch {
            if error.code == .stop { forget() }
            throw error
        }
        forget()
    }

    private func forget() {
        runtimes[current].runtime = nil
        world.work(on: nil)
    }

    // MARK: - Values

    subscript(name: String) -> InvivoValue? {
        get { names.withLock { $0[name] } }
        set {
            let former = names.withLock { names in
                defer { names[name] = newValue }
                return names[name]
            }
            withExtendedLifetime(former) {}
        }
    }

    func value(_ word: Script.Word) throws -> InvivoValue {
        if word.isQuoted { return .string(word.text) }
        if let items = word.items {
            guard word.text == "map" else { return .list(try items.map(value)) }
            var values: [String: InvivoValue] = [:]
            for item in items { values[item.label ?? ""] = try value(item) }
            return .map(values)
        }
        if let number = Int64(word.text) { return .int64(number) }
        if let first = word.text.first, first.isNumber || first == "-", let number = Double(word.text) {
            return .double(number)
        }
        switch word.text {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        default: return try value(at: word.text)
        }
    }

    /// The value of "one.left.number": a name, then properties, list indices, map keys.
    func value(at path: String) throws -> InvivoValue {
        let steps = path.split(separator: ".").map(String.init)
        guard let first = steps.first, var value = self[first] else {
            throw Script.Problem(description: "'\(path)' is neither a value nor a name of this case")
        }
        for step in steps.dropFirst() {
            switch value {
            case .object(let object): value = try object.get(step)
            case .list(let items):
                guard let index = Int(step), items.indices.contains(index) else {
                    throw Script.Problem(description: "there is no '\(step)' in \(path)")
                }
                value = items[index]
            case .map(let items): value = items[step] ?? .null
            default: throw Script.Problem(description: "there is no '\(step)' in \(path)")
            }
        }
        return value
    }

    func object(_ path: String) throws -> Object {
        guard case .object(let object) = try value(at: path) else {
            throw Script.Problem(description: "\(path) is no object")
        }
        return object
    }
}
