import Invivo

/// The meaning of statements: each is one call of the public API, or a few.
extension CaseRun {
    /// The meaning of a word in a definition.
    func recipe(_ line: Script.Line) throws -> Recipe {
        try Parts(self, line.words.dropFirst(2), line.below).recipe()
    }

    func perform(_ line: Script.Line, _ words: ArraySlice<Script.Word>) throws -> InvivoValue {
        let words = Array(words)
        guard let verb = words.first?.text, words[0].items == nil else {
            throw Script.Problem(description: "a statement is wanted")
        }
        func name(_ index: Int) throws -> String {
            guard index < words.count else { throw Script.Problem(description: "'\(verb)' has too few words") }
            return words[index].text
        }
        func labelled(_ label: String) -> String? { words.first { $0.label == label }?.text }
        func says(_ word: String) -> Bool { words.dropFirst().contains { $0.label == nil && $0.text == word } }
        func arguments(_ first: Int) throws -> [InvivoValue] {
            try words.dropFirst(first).filter { $0.label == nil }.map(value)
        }
        func answer(_ object: Object?) -> InvivoValue { object.map { .object($0) } ?? .null }
        func count(_ index: Int) throws -> Int {
            guard let count = Int(try name(index)) else { throw Script.Problem(description: "a number is wanted") }
            return count
        }

        switch verb {
        // Definitions and changes.
        case "define":
            let recipe = try recipe(line)
            try change { try recipe.define($0, try name(1)) }
        case "remove": try change { try $0.remove(try name(1)) }
        case "document": try change { try $0.document(try name(1), says("none") ? nil : line.text) }
        case "configure": try change { try $0.configure(try name(1), try self.value(words[2])) }
        case "unconfigure": try change { try $0.unconfigure(try name(1)) }
        case "secret":
            try change { says("none") ? try $0.removeSecret(try name(1)) : try $0.addSecret(try name(1)) }
        case "secrecy":
            let found = try runtime().isSecret(try name(1))
            if found != (try name(2) == "true") { wrong(line, "'\(try name(1))' is \(found ? "a" : "no") secret") }
        case "reset": try change { try $0.reset(try name(1), dependencies: says("dependencies")) }
        case "reset_scope":
            guard let scope = try Parts.scope(try name(1)) else { break }
            try change { try $0.reset(scope) }
        case "expect_generation":
            let generation = try runtime().generation
            try change { try $0.expect(generation: try name(1) == "former" ? generation - 1 : generation) }
        case "check":
            guard let changes else { throw Script.Problem(description: "'check' stands in a change set") }
            try changes.check()

        // Overrides, processors, converters.
        case "override":
            let override = try recipe(line).override(try runtime(), try name(1))
            if let result = line.result { overrides[result] = override }
        case "restore":
            guard let override = overrides[try name(1)] else {
                throw Script.Problem(description: "'\(try name(1))' is no override")
            }
            try override.end()
        case "decorate": try decorate(words)
        case "process":
            let said = line.below.filter { $0.verb == "set" }.map(\.words)
            let parts = Parts(self, [], [])
            try change {
                try $0.process(
                    try name(1), ofType: labelled("type"), key: labelled("key"),
                    priority: Int32(labelled("priority") ?? "") ?? 0
                ) { definition in
                    for words in said { try definition.inject(words[1].text, try parts.injection(words[2])) }
                }
            }
        case "unprocess": try change { try $0.unprocess(try name(1)) }
        case "require":
            let (world, rule, input) = (world, try name(1), labelled("at").flatMap { Int($0) })
            try change {
                try $0.addRule(rule, over: [try name(2), try name(3)]) { values in
                    do {
                        try world.event("check(\(rule))")
                        guard let one = try values.value(0, as: Double.self), let other: Double = try values.value(1)
                        else { return }
                        if one >= other { throw InvivoError(.host, "the first is not below the second") }
                    } catch let error as InvivoError { throw RuleRefusal(error.message, input: input) }
                }
            }
        case "unrequire": try change { try $0.removeRule(try name(1)) }
        case "trait": try change { try addTrait($0, line, words) }
        case "untrait": try change { try $0.removeTrait(try name(1)) }
        case "bind": try change { try $0.bindSettings(VoiceSettings.self, to: try name(2), named: try name(1)) }
        case "unbind": try change { try $0.unbindSettings(VoiceSettings.self, named: try name(1)) }
        case "settings": return try runtime().settings(VoiceSettings.self, named: try name(1)).asMap
        case "converter":
            try runtime().addConverter(try name(1)) { text -> Int64 in
                guard !text.isEmpty else {
                    throw InvivoError(.conversion, "an empty text has no length here", line: 1, column: 1)
                }
                return Int64(text.utf8.count)
            }
        case "unconverter": try runtime().removeConverter(try name(1))
        case "convert": return try runtime().convert(try name(2), by: try name(1))
        case "property_text":
            return .string(
                try runtime().type(try name(1)).text(of: try self.value(words[3]), as: try name(2)))
        case "property_read": return try runtime().type(try name(1)).value(try name(3), of: try name(2))
        case "document_text": return .string(try runtime().documentText(try name(1), as: try textFormat(words[2])))
        case "traits_text": return .string(try runtime().traitsText(of: try name(1), as: try textFormat(words[2])))

        // Assemblies.
        case "assembly":
            let base = line.below.first { $0.verb == "base" }.flatMap { assemblies[$0.words[1].text] }
            assemblies[try name(1)] = try TextAssembly(line, base: base, recipe: recipe)
        case "describe": for word in words.dropFirst() { try runtime().describe(try assembly(word)) }
        case "activate":
            let several = try words.dropFirst().map(assembly)
            if let changes { try changes.activate(several) } else { try runtime().activate(several) }
        case "deactivate": try change { for word in words.dropFirst() { try $0.remove(assembly: word.text) } }
        case "mount":
            var remaps: [String: any RemapTarget] = [:]
            for line in line.below where line.verb == "remap" { remaps[line.words[1].text] = line.words[2].text }
            // In Swift each mount is a separate assembly.
            let mounted = try TextAssembly(try assembly(words[1]), recipe: recipe)
            try runtime().mount(mounted, as: try name(2), remap: remaps)
        case "activity":
            let state = try runtime().state(ofAssembly: try name(1))
            if "\(state)" != (try name(2)) { wrong("'\(try name(1))' is \(state)") }

        // Resolving.
        case "resolve":
            let values = try arguments(2)
            return .object(
                values.isEmpty ? try runtime().object(try name(1)) : try runtime().object(try name(1), with: values))
        case "optional": return answer(try runtime().objectIfAny(try name(1), with: try arguments(2)))
        case "find":
            let (type, key, exact) = (try name(1), labelled("named"), says("exact"))
            return says("optional")
                ? answer(try runtime().objectIfAny(ofType: type, named: key, exact: exact))
                : .object(try runtime().object(ofType: type, named: key, exact: exact))
        case "all":
            return .list(try runtime().objects(ofType: try name(1), exact: says("exact")).map { .object($0) })
        case "make":
            return .object(try runtime().make(try runtime().type(try name(1)), with: try arguments(2)))
        case "own":
            guard let kind = ThingKind.named(try name(1)) else { throw InvivoError(.type, try name(1)) }
            let thing = try kind.own(world, given: labelled("given").map { .string($0) } ?? .null)
            return .object(try runtime().object(for: thing))
        case "call": return try object(try name(1)).call(try name(2), with: try arguments(3))
        case "invoke":
            return try value(at: try name(1)).get(Callable.self).call(with: try arguments(2))
        case "release":
            for word in words.dropFirst() {
                if self[word.text] == nil { wrong("'\(word.text)' is no name of this case") }
                (targets[word.text], self[word.text]) = (nil, nil)
            }
        case "async": return try awaited(try name(1))
        case "configured": return try runtime().configuration(try name(1))

        // Objects of the host.
        case "inject":
            try runtime().inject(try object(try name(1)), as: labelled("key"), shared: says("shared"))
        case "inject_tree":
            let foreign = try labelled("foreign").map { try self.object($0) }
            try injectTree(try object(try name(1)), labelled("key"), onlyKnown: says("known"), foreign: foreign)

        case "attach": targets[try name(1)] = try runtime().attachTarget(try object(try name(1)), try name(2))
        case "detach":
            guard let target = targets.removeValue(forKey: try name(1)) else {
                throw Script.Problem(description: "'\(try name(1))' is not attached")
            }
            try target.detach()
        case "declare": try runtime().declareTarget(try name(1), try runtime().type(try name(2)))

        // Life cycle, scopes, pools, configuration.
        case "start": try runtime().start(try runtime().key(try name(1), as: Object.self))
        case "stop": try runtime().stop(try runtime().key(try name(1), as: Object.self))
        case "effect": try world.effect(try name(1), try world.setup())
        case "close": try close()
        case "runtime":
            let history = labelled("history").flatMap { Int($0) }
            try open(
                try name(1), without: says("without_needs"), history: history, prefix: labelled("prefix"))
        case "scope": try scope(try name(1))
        case "place": places.withLock { [place = UInt64(try count(2))] in $0[words[1].text] = place }
        case "end_place": try runtime().endScope(try name(1), at: UInt64(try count(2)))
        case "pool": return try pool(words, try name(1), try name(2))
        case "observe":
            let (world, path) = (world, try name(1))
            try runtime().observe(configuration: path) { _, _ in try? world.event("changed(\(path))") }
        case "view": try view(line.below)
        case "context": return try performContext(line, words)
        case "pinned": try runtime().pinned { for line in line.below { run(line) } }

        default:
            guard try !performHistory(line, words, verb) else { break }
            return try performOther(line, words, verb)
        }
        return .null
    }

    private func change(_ body: (ChangeSet) throws -> Void) throws {
        if let changes { try body(changes) } else { try runtime().changes(body) }
    }

    private func assembly(_ word: Script.Word) throws -> TextAssembly {
        guard let assembly = assemblies[word.text] else {
            throw Script.Problem(description: "no assembly is '\(word.text)'")
        }
        return assembly
    }

    private func decorate(_ words: [Script.Word]) throws {
        func labelled(_ label: String) -> String? { words.first { $0.label == label }?.text }
        let (name, type, key) = (words[1].text, labelled("type"), labelled("key"))
        let priority = Int32(labelled("priority") ?? "") ?? 0
        if let by = labelled("by") {
            try change {
                try $0.decorate(name, by: by, method: labelled("method"), type: type, key: key, priority: priority)
            }
            return
        }
        let (number, world) = (Int64(labelled("number") ?? "") ?? 0, world)
        try change {
            try $0.decorate(name, ofType: type, key: key, priority: priority) { former in
                try world.runtime().make(try former.type, former, number)
            }
        }
    }

    private func injectTree(_ root: Object, _ key: String?, onlyKnown: Bool, foreign: Object?) throws {
        let runtime = try runtime()
        try runtime.injectTree(root, as: key, onlyKnown: onlyKnown) { object in
            try object.instance(as: Thing.self).below.map { try runtime.object(for: $0) }
        } keyOf: { object in
            if case .string(let key) = try object.instance(as: Thing.self).given { key } else { nil }
        } isForeign: {
            $0 == foreign
        }
    }

    private func scope(_ name: String) throws {
        let (world, places) = (world, places)
        try runtime().scope(
            name, keep: { _, key, _ in try? world.event("\(name).keep(\(key))") },
            drop: { _, key in try? world.event("\(name).drop(\(key))") }
        ) { places.withLock { $0[name] } }
    }

    private func pool(_ words: [Script.Word], _ verb: String, _ name: String) throws -> InvivoValue {
        if verb == "open" {
            pools[name] = (try runtime().pool(name, of: Object.self), words.count > 3 ? words[3].text : nil)
            return .null
        }
        guard let (pool, type) = pools[name] else { throw InvivoError(.notFound, "no pool is '\(name)'") }
        let runtime = try runtime()
        switch verb {
        case "clear": try pool.clear()
        case "count":
            let count = try pool.count
            if count != Int(words[3].text) { wrong("\(count) are in the pool") }
        case "get":
            return .object(
                try pool.get(try value(words[3])) {
                    guard let type else { throw InvivoError(.notFound, "the pool makes nothing") }
                    return try runtime.make(try runtime.type(type))
                })
        case "peek":
            guard let object = try pool.peek(try value(words[3])) else {
                throw InvivoError(.notFound, "nothing of the key is alive")
            }
            return .object(object)
        case "put": try pool.put(try object(words[4].text), at: try value(words[3]))
        case "remove": try pool.remove(try value(words[3]))
        default: throw Script.Problem(description: "a pool does not '\(verb)'")
        }
        return .null
    }

    private func view(_ lines: [Script.Line]) throws {
        let runtime = try runtime()
        // A path is known before the view that reads it.
        var keys: [String: ConfigKey<InvivoValue>] = [:]
        for line in lines where line.verb == "read" {
            keys[line.words[1].text] = try runtime.configKey(line.words[1].text)
        }
        runtime.view { view in
            for line in lines {
                if line.verb == "read", let key = keys[line.words[1].text] {
                    let value = check(line) { view[key] ?? .null }
                    if let name = line.result { self[name] = value }
                } else {
                    run(line)
                }
            }
        }
    }

    private func awaited(_ key: String) throws -> InvivoValue {
        let runtime = try runtime()
        let answer = Locked<Result<Object, InvivoError>?>(nil)
        let end = Happening()
        Task {
            do throws(InvivoError) {
                let object = try await runtime.resolvedObject(key)
                answer.withLock { $0 = .success(object) }
            } catch { answer.withLock { $0 = .failure(error) } }
            end.happens()
        }
        end.wait(polling: runtime)
        guard let found = answer.withLock({ $0 }) else { throw Script.Problem(description: "nothing was answered") }
        return .object(try found.get())
    }
}
