import Invivo

/// The recipe of a case, for each place where one is allowed.
struct Recipe {
    let member: AnyDefinition
    let define: (ChangeSet, String) throws -> Void
    let override: (Runtime, String) throws -> Override
    let inline: Injection

    init<Value>(_ definition: Definition<Value>) {
        member = definition
        define = { changes, key in try changes.define(key, as: definition) }
        override = { runtime, key in try runtime.override(key, with: definition) }
        inline = .inline(definition)
    }
}

/// The definition of a case: its words and the lines below it.
struct Parts: Sendable {
    private let values: any Values
    private let words: [Script.Word]
    private let lines: [Script.Line]
    private let properties: [Script.Word]

    init(_ values: any Values, _ words: some Sequence<Script.Word>, _ lines: [Script.Line]) {
        self.values = values
        self.words = words.filter { $0.label == nil }
        properties = words.filter { $0.label != nil }
        self.lines = lines.filter { $0.verb != "fails" && $0.verb != "finds" }
    }

    static func scope(_ word: String) throws -> Scope? {
        switch word {
        case "prototype": .prototype
        case "graph": .graph
        case "singleton": .singleton
        case "lazy": .lazySingleton
        case "weak": .weakSingleton
        case "thread": .thread
        default: throw Script.Problem(description: "'\(word)' is no scope")
        }
    }

    private func line(_ verb: String) -> Script.Line? { lines.first { $0.verb == verb } }

    /// The resulting recipe.
    func recipe() throws -> Recipe {
        let type = words.first { $0.text.first?.isUppercase == true }?.text
        let scope = words.compactMap { try? Self.scope($0.text) }.first ?? nil
        if let said = line("alias") {
            return Recipe(
                try added(to: alias(of: said.words[1].text, binding: try said.words.dropFirst(2).map(injection))))
        }
        if let said = line("choose") {
            let options = try lines.filter { $0.verb == "when" }.map(option)
            return Recipe(try added(to: choice(by: try injection(said.words[1]), options: options)))
        }
        if let said = line("constant") {
            return Recipe(try added(to: constant(try values.value(said.words[1]).get(Object.self))))
        }
        if let said = line("factory"), let kind = type.flatMap(ThingKind.named) {
            let keys = said.words.dropFirst().filter { $0.label == nil }.map(\.text)
            let copies = said.labelled("former") == "number"
            let made = try kind.recipe(scope, self, { try Self.resolve(keys, $0) }, copiesFormer: copies, values.world)
            if let made { return made }
        }
        guard let type else {
            guard let parent = line("parent") else {
                throw Script.Problem(description: "a definition has a type or a parent")
            }
            return Recipe(try added(to: child(of: parent.words[1].text, scope: scope)))
        }
        return Recipe(try added(to: component(type, scope: scope)))
    }

    private static func resolve(_ keys: [String], _ resolver: Resolver) throws -> Object? {
        var last: Object?
        for key in keys { last = try resolver(key, as: Object.self) }
        return last
    }

    // MARK: - Parts

    func added<Value>(to start: Definition<Value>) throws -> Definition<Value> {
        var definition = start
        for word in words { definition = try added(word, to: definition) }
        for property in properties {
            definition = definition.inject(property.label ?? "", try injection(property))
        }
        for line in lines { definition = try added(line, to: definition) }
        return definition
    }

    private func added<Value>(_ word: Script.Word, to definition: Definition<Value>) throws -> Definition<Value> {
        if word.text.first?.isUppercase == true { return definition }
        switch word.text {
        case "in": return definition.inScope(word.items?.first?.text ?? "")
        case "thread": return definition.perThread()
        case "abstract": return definition.abstract()
        case "hidden_class": return definition.hidden(.ownType)
        case "hidden_interface": return definition.hidden(.interfaces)
        case "nullable": return definition.nullable()
        case "exclusive": return definition.exclusive()
        case "waits": return definition.waits()
        case "tracked": return definition.tracked()
        case "restart": return definition.restart()
        case "spec_key":
            guard let key = word.items?.first?.text else { return definition }
            return definition.specKey(key == "none" ? nil : key)
        case "on_change":
            let all: [String: OnChange] = ["follow": .follow, "keep": .keep, "rebuild": .rebuild, "refuse": .refuse]
            let items = word.items ?? []
            guard let onChange = items.first.flatMap({ all[$0.text] }) else { return definition }
            return definition.onChange(onChange, reason: items.dropFirst().first?.text)
        default:
            _ = try Self.scope(word.text)
            return definition
        }
    }

    private func added<Value>(_ line: Script.Line, to definition: Definition<Value>) throws -> Definition<Value> {
        let words = line.words
        func rest(_ count: Int) throws -> [Injection] { try words.dropFirst(count).map(injection) }
        switch (line.verb, words.count) {
        case ("alias", _), ("choose", _), ("when", _), ("constant", _), ("factory", _): return definition
        case ("init", _):
            var next = definition
            for word in words.dropFirst() { next = next.parameter(word.label ?? "", try injection(word)) }
            return next
        case ("set", 3...):
            var what = try injection(words[2])
            if let added = line.labelled("added"), let removed = line.labelled("removed") {
                what = what.hearing(added: added, removed: removed)
            }
            return definition.inject(words[1].text, what)
        case ("call", 2...): return definition.call(words[1].text, with: try rest(2))
        case ("before", 2...): return definition.before(words[1].text, with: try rest(2))
        case ("after", 2...): return definition.after(words[1].text, with: try rest(2))
        case ("after_all", 2...): return definition.afterAll(words[1].text, with: try rest(2))
        case ("parameter", 3...):
            guard let kind = InvivoKind.allCases.first(where: { "\($0)" == words[2].text }) else { break }
            let isOptional = line.says("optional", from: 3)
            guard let word = words.first(where: { $0.label == "default" }) else {
                return definition.argument(words[1].text, kind, isOptional: isOptional)
            }
            return definition.argument(
                words[1].text, kind, isOptional: isOptional, default: try values.value(word))
        case ("maker", 3...):
            return definition.made(by: try injection(words[2]), calling: words[1].text, with: try rest(3))
        case ("parent", 2): return definition.inheriting(from: words[1].text)
        case ("rank", 2): return definition.rank(Int(words[1].text) ?? 0)
        case ("generic", 2): return definition.generic(words[1].text)
        case ("each", 2): return definition.each(words[1].text)
        case ("deadline", 3):
            let time = Duration.milliseconds(Int64(words[2].text) ?? 0)
            return words[1].text == "stop" ? definition.deadlines(stop: time) : definition.deadlines(start: time)
        case ("setup", _):
            return definition.inject("any", .value(InvivoValue.list(try words.dropFirst().map(Self.step))))
        case ("inject", 2...):
            let (world, keys) = (values.world, words.dropFirst().map(\.text))
            return definition.inject(by: { value, resolver in
                let object = value as? Object
                guard let thing = try value as? Thing ?? object?.instance(as: Thing.self) else { return }
                try world.event("\(thing.kind).inject")
                if let last = try Self.resolve(keys, resolver) {
                    thing.hold(last)
                    thing.right = try last.instance(as: Thing.self)
                }
            })
        default: break
        }
        throw Script.Problem(description: "a definition has no part '\(line.verb)' of \(words.count) words")
    }

    private func option(_ line: Script.Line) throws -> ChoiceOption {
        let words = line.words
        let use = { try injection(words[words.count - 1]) }
        switch words.count > 1 ? words[1].text : "" {
        case "equal": return .equal(try values.value(words[2]), try use())
        case "exact": return .exactly(named: words[2].text, try use())
        case "kind": return .kind(named: words[2].text, try use())
        case "named": return .named
        case "otherwise": return .otherwise(try use())
        default: throw Script.Problem(description: "an option is not '\(line.verb)'")
        }
    }

    // MARK: - Injections

    func injection(_ word: Script.Word) throws -> Injection {
        guard let items = word.items else { return .value(try values.value(word)) }
        func all(from first: Int = 0) throws -> [Injection] { try items.dropFirst(first).map(injection) }
        switch (word.text, items.count) {
        case ("optional", 1): return try injection(items[0]).optional
        case ("exact", 1): return try injection(items[0]).exact
        case ("greedy", 1): return try injection(items[0]).greedy
        case ("keep", 1): return try injection(items[0]).onChange(.keep)
        case ("rebuild", 1): return try injection(items[0]).onChange(.rebuild)
        case ("refuse", 1): return try injection(items[0]).onChange(.refuse)
        case ("owns", 1): return try injection(items[0]).owned()
        case ("ref", 1...): return .reference(items[0].text, with: try all(from: 1))
        case ("type", 1): return .type(named: items[0].text)
        case ("all", 1): return .all(named: items[0].text)
        case ("arg", 1): return .argument(Int(items[0].text) ?? 0)
        case ("args", 0): return .arguments
        case ("path", 2): return .property(items[0].text, of: try injection(items[1]))
        case ("list", _): return .list(of: try all())
        case ("set", _): return .set(of: try all())
        case ("map", _): return .map(of: try items.map { (name: $0.label ?? "", injection: try injection($0)) })
        case ("provider", 1): return .provider(of: try injection(items[0]))
        case ("lazy", 1): return .lazy(of: try injection(items[0]))
        case ("weak", 1): return .weak(of: try injection(items[0]))
        case ("resolver", 0): return .resolver
        case ("asker", 0): return .asker
        case ("config", 1): return .config(items[0].text)
        case ("config", 2): return .config(items[0].text, default: try injection(items[1]))
        case ("context", 1...):
            let kind = items.first { $0.label == "kind" }?.text
            guard let other = items.dropFirst().first(where: { $0.label == nil }) else {
                return .context(named: items[0].text, of: kind)
            }
            return .context(named: items[0].text, of: kind, default: try injection(other))
        case ("text", 2): return try injection(items[0]).read(by: items[1].text)
        case ("entry", 0): return .entry()
        case ("entry", 1): return .entry(items[0].text)
        case ("entry", 2): return .entry(items[0].text, default: try injection(items[1]))
        case ("entry_name", 0): return .entryName
        case ("inline", 1...): return try Parts(values, items, []).recipe().inline
        default:
            throw Script.Problem(description: "no injection is written '\(word.text)(…)' with \(items.count) items")
        }
    }
}

/// The meanings of words of a case.
protocol Values: Sendable {
    var world: World { get }
    func value(_ word: Script.Word) throws -> InvivoValue
}
