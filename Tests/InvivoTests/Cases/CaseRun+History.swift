import Glibc
import Invivo

/// Statements of files, rollbacks, marks and observers.
extension CaseRun {
    /// Returns whether the statement is one of these.
    func performHistory(_ line: Script.Line, _ words: [Script.Word], _ verb: String) throws -> Bool {
        func name(_ index: Int) throws -> String {
            guard index < words.count else { throw Script.Problem(description: "'\(verb)' has too few words") }
            return words[index].text
        }
        func source() throws -> Source {
            guard let source = sources[try name(1)] else {
                throw Script.Problem(description: "no source is '\(try name(1))'")
            }
            return source
        }
        switch verb {
        case "write":
            let folder = try scratch ?? Scratch()
            scratch = folder
            folder.write(try name(1), line.text)
        case "follow":
            let folder = try scratch ?? Scratch()
            let keepsGoing = words.contains { $0.text == "keep_going" }
            sources[try name(1)] = try runtime().watch("\(folder.path)/\(try name(1))", keepingGoing: keepsGoing)
        case "refresh":
            if words.contains(where: { $0.text == "retry" }) { try source().retry() } else { try source().refresh() }
        case "unfollow": try source().close()
        case "diverged":
            let diverged = try runtime().sources.filter { $0.divergence != nil }.compactMap {
                $0.name.split(separator: "/").last.map(String.init)
            }
            let expected = words.dropFirst().map(\.text)
            if diverged.sorted() != expected.sorted() { wrong(line, "these have diverged: \(diverged)") }
        case "setenv":
            variables.append(try name(1))
            if setenv(try name(1), try name(2), 1) != 0 { throw Script.Problem(description: "setenv fails") }
        case "unsetenv": unsetenv(try name(1))
        case "advance":
            guard let time = Int64(try name(1)) else { throw Script.Problem(description: "expected milliseconds") }
            try runtime().advance(by: .milliseconds(time))
        case "refresh_environment": try runtime().refreshEnvironment()
        case "mark": try runtime().mark(try name(1))
        case "unmark": try runtime().unmark(try name(1))
        case "rollback":
            let isFormer = try name(1) == "former"
            let generation = isFormer ? try runtime().generation - 1 : try runtime().marked(try name(1))
            if let changes { try changes.rollBack(to: generation) } else { try runtime().rollBack(to: generation) }
        case "kept":
            let kept = try runtime().history.count
            if kept != Int(try name(1)) { wrong(line, "\(kept) are kept") }
        case "subscribe": try subscribe(try name(1), words)
        case "unsubscribe":
            let observer = observers.removeValue(forKey: try name(1))
            if observer == nil { wrong(line, "nothing is subscribed as '\(try name(1))'") }
            try observer?.close()
        default: return false
        }
        return true
    }

    /// The event has the keys of the changes, if a subject is given.
    private func subscribe(_ name: String, _ words: [Script.Word]) throws {
        let (world, runtime) = (world, try runtime())
        func given(_ label: String) -> String? { words.first { $0.label == label }?.text }
        func hear(_ showsKeys: Bool) -> @Sendable (Reload) throws -> Void {
            { report in
                try world.event(
                    "heard(\(([name] + (showsKeys ? report.changes.map(\.key) : [])).joined(separator: "/")))")
            }
        }
        if let key = given("key") {
            observers[name] = try runtime.observe(key: key, hear(true))
        } else if let type = given("type") {
            observers[name] = try runtime.observe(type: type, hear(true))
        } else if let path = given("object") {
            observers[name] = try runtime.observe(object: try object(path), hear(true))
        } else {
            observers[name] = try runtime.observe(hear(false))
        }
    }
}

extension CaseRun {
    /// The format of a document as text.
    func textFormat(_ word: Script.Word) throws -> Runtime.DocumentFormat {
        switch word.text {
        case "yaml": .yaml
        case "json": .json
        default: throw Script.Problem(description: "the format '\(word.text)' is neither yaml nor json")
        }
    }
}
