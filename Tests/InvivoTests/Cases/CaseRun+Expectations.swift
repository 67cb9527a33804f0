import Glibc
import Invivo

/// Statements of threads, faults and expectations.
extension CaseRun {
    func performOther(_ line: Script.Line, _ words: [Script.Word], _ verb: String) throws -> InvivoValue {
        func name(_ index: Int) throws -> String {
            guard index < words.count else { throw Script.Problem(description: "'\(verb)' has too few words") }
            return words[index].text
        }
        func event() throws -> String {
            _ = try name(1)
            return Self.event(words[1])
        }
        let rest = words.dropFirst(2)

        switch verb {
        // Threads and faults.
        case "spawn":
            let said = words.dropFirst()
            let job = Job { try self.perform(line, said) }
            if let result = line.result { jobs[result] = job }
        case "join":
            guard let job = jobs.removeValue(forKey: try name(1)) else {
                throw Script.Problem(description: "nothing was spawned as '\(try name(1))'")
            }
            return try job.wait(polling: try? runtime()).get()
        case "threads": return try threads(Int(try name(1)) ?? 0, line, rest)
        case "repeat": for _ in 0..<(Int(try name(1)) ?? 0) { _ = try perform(line, rest) }
        case "child": try inChild { _ = try self.perform(line, words.dropFirst()) }
        case "fail": world.fail(try event(), times: words.first { $0.label == "times" }.flatMap { Int($0.text) } ?? -1)
        case "mend": world.fail(try event(), times: 0)
        case "hold": world.hold(try event())
        case "await": world.await(try event())
        case "let": world.letGo(try event())
        case "meet": world.meet(try event(), Int(try name(2)) ?? 0)
        case "slow": world.slow(try event(), UInt32(try name(2)) ?? 0)

        // Expectations.
        case "log": compare(world.takeHeard(), words.dropFirst().map(Self.event))
        case "log_in_any_order": compare(world.takeHeard().sorted(), words.dropFirst().map(Self.event).sorted())
        case "disposed": compare(world.takeGone(), words.dropFirst().map(\.text))
        case "alive":
            let alive = world.count(words.count > 2 ? words[2].text : nil)
            if alive != Int(try name(1)) { wrong("\(alive) are alive") }
        case "same": try compareIdentities(words.dropFirst().map(\.text), areSame: true)
        case "different": try compareIdentities(words.dropFirst().map(\.text), areSame: false)
        case "is":
            let (found, wanted) = (try value(at: try name(1)), try value(words[2]))
            if !Self.isEqual(found, wanted) { wrong("\(words[1].text) is \(found), not \(wanted)") }
        case "types":
            compare(try items(try name(1)).map { try Self.typeName($0) }, rest.map(\.text))
        case "distinct":
            let count = Set(try items(try name(1)).map { try Self.identity($0) }).count
            if count != Int(try name(2)) { wrong("\(count) are distinct") }
        case "size":
            let count =
                switch try value(at: try name(1)) {
                case .list(let items): items.count
                case .map(let items): items.count
                default: 1
                }
            if count != Int(try name(2)) { wrong("\(words[1].text) has \(count) items") }
        case "report":
            var wanted: [String] = []
            for index in stride(from: 1, to: words.count - 1, by: 2) {
                wanted.append("\(words[index].text) \(words[index + 1].text)")
            }
            compare(world.lastReport, wanted.sorted())
        case "warns":
            let found = world.lastWarnings
            let wanted = words.dropFirst()
            if found.count != wanted.count || !zip(found, wanted).allSatisfy({ $0.contains($1.text) }) {
                wrong("the warnings are \(found)")
            }
        case "state":
            let state = try runtime().states.first { $0.key == words[1].text }
            compare(state.map { [$0.state.rawValue] + $0.waits } ?? [], rest.map(\.text))
        case "listed":
            let node = try runtime().wiring.nodes.first { $0.key == words[1].text }
            let found = node.map { node in
                node.alias.map { ["alias", $0] } ?? ([node.type, node.scope] + node.needs.map(\.key).sorted())
            }
            compare(found ?? [], rest.map(\.text))
        default: throw Script.Problem(description: "nothing is said by '\(verb)' with \(words.count) words")
        }
        return .null
    }

    /// "Page.note(after)" in the form of its event.
    static func event(_ word: Script.Word) -> String {
        word.items.map { "\(word.text)(\($0.first?.text ?? ""))" } ?? word.text
    }

    /// Runs in a forked child, whose exit status is the status of the statement.
    private func inChild(_ body: () throws -> Void) throws {
        let child = forkedProcess()
        if child == 0 {
            alarm(60)
            do {
                try body()
                _exit(0)
            } catch let error as InvivoError {
                _exit(-error.code.rawValue)
            } catch { _exit(255) }
        }
        var status: Int32 = -1
        guard waitpid(child, &status, 0) == child, status & 0x7f == 0, status >> 8 != 255 else {
            throw Script.Problem(description: "the child ended with \(status)")
        }
        guard status == 0 else { throw InvivoError(.init(rawValue: -(status >> 8)), "in a forked child") }
    }

    /// Runs on several threads at the same time: a list of their results.
    private func threads(
        _ count: Int, _ line: Script.Line, _ words: ArraySlice<Script.Word>
    ) throws -> InvivoValue {
        let start = Start(count)
        let jobs = (0..<count).map { _ in
            Job {
                start.wait()
                return try self.perform(line, words)
            }
        }
        let answers = jobs.map { $0.wait(polling: try? runtime()) }
        return .list(try answers.map { try $0.get() })
    }

    private func compare(_ found: [String], _ wanted: [String]) {
        guard found != wanted else { return }
        wrong("what is expected\n    \(wanted.joined(separator: " "))\nwhat came\n    \(found.joined(separator: " "))")
    }

    private func compareIdentities(_ paths: [String], areSame: Bool) throws {
        let all = try paths.map { try Self.identity(try value(at: $0)) }
        for (index, one) in all.enumerated() {
            for (other, path) in zip(all, paths).dropFirst(index + 1) where (one == other) != areSame {
                wrong("\(paths[index]) and \(path) are \(areSame ? "different objects" : "the same object")")
            }
        }
    }

    /// In Swift the same object is the identical instance.
    private static func identity(_ value: InvivoValue) throws -> ObjectIdentifier {
        guard case .object(let object) = value else { throw Script.Problem(description: "\(value) is no object") }
        return ObjectIdentifier(try object.instance(as: Thing.self))
    }

    private static func typeName(_ value: InvivoValue) throws -> String {
        if case .object(let object) = value { try object.type.name } else { "\(value.kind)" }
    }

    /// The items of a list, or the value itself.
    private func items(_ path: String) throws -> [InvivoValue] {
        let value = try value(at: path)
        if case .list(let items) = value { return items }
        return [value]
    }

    private static func number(_ value: InvivoValue) -> Double? {
        switch value {
        case .bool, .string, .enumeration: nil
        default: try? value.get(Double.self)
        }
    }

    /// Numbers are equal regardless of their kinds.
    static func isEqual(_ one: InvivoValue, _ other: InvivoValue) -> Bool {
        if let left = number(one) { return left == number(other) }
        switch (one, other) {
        case (.list(let left), .list(let right)):
            return left.count == right.count && zip(left, right).allSatisfy(isEqual)
        case (.map(let left), .map(let right)):
            return left.count == right.count
                && left.allSatisfy { name, value in right[name].map { isEqual(value, $0) } ?? false }
        default: return one == other
        }
    }
}
