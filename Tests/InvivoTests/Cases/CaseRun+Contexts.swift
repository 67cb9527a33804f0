import Invivo

/// The contexts of a case by name. A name stays when its context has ended.
struct CaseContexts {
    fileprivate var named: [(name: String, context: Context)] = []
    /// Children that hold a context in addition to its name.
    fileprivate var holders: [String: [Context]] = [:]
}

extension ContextKey<InvivoValue> {
    fileprivate init(of word: Script.Word) { self.init(word.text) }
}

/// Statements of contexts: `context VERB ...`.
extension CaseRun {
    func performContext(_ line: Script.Line, _ words: [Script.Word]) throws -> InvivoValue {
        func word(_ index: Int) throws -> Script.Word {
            guard index < words.count else { throw Script.Problem(description: "'context' has too few words") }
            return words[index]
        }
        let (verb, name) = (try word(1).text, try word(2).text)
        switch verb {
        case "kind": try declareKind(words)
        case "key": try declareKey(line, name)
        case "open": try openContext(line, name)
        case "current": expect(try runtime().currentContext, name)
        case "of": expect(try runtime().context(of: try object(name)), try word(3).text)
        case "detach": try runtime().detachContext(of: try object(name))
        case "inside":
            let context = try context(name)
            try context.entered { run(line.below) }
        case "hold":
            let held = try runtime().context(parent: .context(try context(name)), holdsParent: true)
            contexts.holders[name, default: []].append(held)
        case "release":
            let context = try context(name)
            if let holder = contexts.holders[name]?.popLast() { try holder.end() } else { try context.release() }
        default:
            return try perform(verb, line, words, on: try context(name), more: words.count > 3 ? words[3] : nil)
        }
        return .null
    }

    private func perform(
        _ verb: String, _ line: Script.Line, _ words: [Script.Word], on context: Context, more: Script.Word?
    ) throws -> InvivoValue {
        func said() throws -> Script.Word {
            guard let more else { throw Script.Problem(description: "'context \(verb)' has too few words") }
            return more
        }
        func key() throws -> ContextKey<InvivoValue> { ContextKey(of: try said()) }
        switch verb {
        case "end": try context.end()
        case "get": return try context[try key()]
        case "local":
            let key = try key()
            guard let value = try context.local(key) else {
                throw InvivoError(.notFound, "the context has no value of its own", path: key.name)
            }
            return value
        case "set":
            guard words.count > 4 else { throw Script.Problem(description: "'context set' has too few words") }
            try context.set(try key(), to: try value(words[4]))
        case "remove": try context.remove(try key())
        case "hide": try context.hide(try key())
        case "change":
            try context.change { change in
                for line in line.below where line.words.count > 1 {
                    let key = ContextKey(of: line.words[1])
                    switch line.verb {
                    case "set": change.set(key, to: try value(line.words[2]))
                    case "remove": change.remove(key)
                    case "hide": change.hide(key)
                    default: break
                    }
                }
            }
        case "entries":
            let entries = more?.text == "local" ? try context.localEntries : try context.entries
            return .list(entries.map { .list([.string($0.name), $0.value, .int64(Int64($0.distance))]) })
        case "parent": expect(try context.parent, try said().text)
        case "kind_of":
            let kind = try context.kind ?? "none"
            if kind != (try said().text) { wrong("the kind is \(kind)") }
        case "object": return try context.object.map { .object($0) } ?? .null
        case "find":
            let (exact, above) = (line.says("exact", from: 4), line.says("above", from: 4))
            if let kind = line.labelled("kind") {
                expect(try context.find(kind: kind, above: above), try said().text)
            } else {
                let type = line.labelled("type") ?? ""
                expect(try context.find(type: type, exact: exact, above: above), try said().text)
            }
        case "attach": try context.attach(to: try object(try said().text))
        case "observe":
            let (world, name, key) = (world, words[2].text, try key())
            try context.observe(key) { _ in try? world.event("changed(\(name)/\(key.name))") }
        default: throw Script.Problem(description: "a context does not '\(verb)'")
        }
        return .null
    }

    private func context(_ name: String) throws -> Context {
        guard let found = contexts.named.first(where: { $0.name == name }) else {
            throw Script.Problem(description: "'\(name)' is no context of this case")
        }
        return found.context
    }

    private func expect(_ found: Context?, _ wanted: String) {
        let name = contexts.named.last { $0.context == found }?.name ?? "none"
        if name != wanted { wrong("the context is \(name)") }
    }

    private func openContext(_ line: Script.Line, _ name: String) throws {
        let values: [ContextValue] = try line.below.filter { $0.verb == "set" }.map {
            .set(ContextKey(of: $0.words[1]), to: try value($0.words[2]))
        }
        var parent = Context.Parent.current
        if let below = line.labelled("below") { parent = .context(try context(below)) }
        if line.says("detached", from: 3) { parent = .none }
        let holds = line.says("strong", from: 3) ? true : line.says("weak", from: 3) ? false : nil
        let opened = try runtime().context(
            line.labelled("kind"), values, parent: parent, holdsParent: holds,
            object: try line.labelled("object").map { try object($0) })
        contexts.named.removeAll { $0.name == name }
        contexts.named.append((name, opened))
    }

    private func declareKind(_ words: [Script.Word]) throws {
        func keys(_ what: String) -> [String] { words.first { $0.text == what }?.items?.map(\.text) ?? [] }
        try runtime().declareContexts([
            ContextKind(words[2].text, policy: .follows, provides: keys("provides"), live: keys("live"))
        ])
    }

    private func declareKey(_ line: Script.Line, _ name: String) throws {
        let type = line.labelled("type")
        let named = line.labelled("kind")
        guard let kind = InvivoKind.allCases.first(where: { "\($0)" == named ?? (type == nil ? "any" : "object") })
        else {
            throw Script.Problem(description: "'\(named ?? "")' is no kind")
        }
        let initial = try line.words.first { $0.label == "default" }.map(value)
        try runtime().declareContextKey(name, kind: kind, type: type, default: initial)
    }
}
