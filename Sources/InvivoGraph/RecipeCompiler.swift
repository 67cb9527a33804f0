public import InvivoBase
internal import InvivoConfig

/// Compiles definitions, and finds all their errors without creating objects.
public struct RecipeCompiler {
    /// The next generation's definition of an id, as described.
    let described: (UInt32) -> Definition?
    /// The id of a key that has been named at any time.
    let identify: (String) -> UInt32?
    let types: TypeIndex
    let knownKeys: () -> [String]
    /// The assembly that must be activated before there is a definition of a key.
    public var dormant: (String) -> String? = { _ in nil }
    /// Definitions that wait for something, and for what: nothing that they would make is there.
    public var asleep: (UInt32) -> [String]? = { _ in nil }
    /// Returns the error for a name that is not one of the host's scopes.
    public var scopeFailure: (String) -> Failure? = { _ in nil }
    /// Whether the properties that a type declares as needed are injected.
    public var fillsNeeds = true
    public private(set) var failures: [Failure] = []
    /// The definition of each failure.
    private var failed: [UInt32] = []
    /// The known dependencies of each definition with an error.
    public private(set) var needs: [UInt32: [UInt32]] = [:]

    /// Caches the inheritance of parents, so that each chain is visited once. Valid as long as `described` is.
    private final class Lineage {
        /// Parents with all that they take over.
        var flats: [UInt32: Definition] = [:]
        /// Parents with which, and with whose parents, nothing is wrong.
        var sound: Set<UInt32> = []
    }
    private let lineage = Lineage()

    // State of the definition being compiled.
    var definition: Definition
    /// The configuration of the next generation.
    public var config = ConfigLookup.none
    /// The configuration errors, by their index in `failures`.
    var configured: [Int: String] = [:]
    /// The value that was found last, for messages about it.
    var foundNode: ConfigNode?
    var former: Recipe?
    private var edges: [UInt32: Recipe.Edge] = [:]
    private var edgeOrder: [UInt32] = []
    var bindings: NameTable<[UInt32]> = [:]
    var wishes: Set<String> = []
    var missed: Set<String> = []
    /// The number of lookups by type at each index. A method that is called twice has each of its lookups twice.
    var lookups: NameTable<Int> = [:]
    var asks = false
    /// The last lookup found no object of the type, and its element is omitted.
    var isLeftOut = false
    /// The missing dependencies of a definition that may be blocked on them, and those among them that are keys.
    private var lacks: [String] = []
    private var awaits: Set<String> = []
    var hearing: NameSet = []
    var keeps: Set<UInt32> = []

    public init(
        types: TypeIndex, described: @escaping (UInt32) -> Definition?, identify: @escaping (String) -> UInt32?,
        knownKeys: @escaping () -> [String]
    ) {
        self.types = types
        self.described = described
        self.identify = identify
        self.knownKeys = knownKeys
        definition = Definition(id: 0, key: "", Definition.Body())
    }

    // MARK: looking round

    /// The definition with all inherited parts. Parents are looked up by name. A cycle of parents ends where it began;
    /// `compile` reports it.
    public func flat(_ definition: Definition) -> Definition {
        guard definition.body.parent != nil else { return definition }
        var line = [definition]
        var seen: Set<UInt32> = [definition.id]
        var known: Definition?
        var isRound = false
        while known == nil, let name = line[line.count - 1].body.parent, let id = identify(name),
            let parent = described(id)
        {
            isRound = !seen.insert(id).inserted
            if isRound { break }
            known = lineage.flats[id]
            if known == nil { line.append(parent) }
        }
        var flat = known ?? line.removeLast()
        while let child = line.popLast() {
            flat = child.inheriting(from: flat)
            // The result for a member of a cycle depends on the member that was visited first.
            if !isRound && !line.isEmpty { lineage.flats[child.id] = flat }
        }
        return flat
    }

    /// The definition behind a key, aliases followed, flat.
    public func final(_ id: UInt32) -> Definition? {
        var found = described(id)
        var seen: Set<UInt32> = [id]
        while let definition = found, let alias = definition.alias {
            let target = identify(alias)
            guard let target, seen.insert(target).inserted else { return nil }
            found = described(target)
        }
        return found.map(flat)
    }

    /// Advice for a reference to an undefined key.
    private func hint(for key: String) -> String {
        if let assembly = dormant(key) { return ": the assembly '\(assembly)' must be activated" }
        return suggestion(for: key, among: knownKeys().filter { $0 != definition.key })
    }

    /// The definition of a key, unless it is blocked on missing dependencies.
    func present(_ key: String) -> UInt32? {
        guard let id = identify(key), described(id) != nil, asleep(id) == nil else { return nil }
        return id
    }

    /// "'a.clock', which is not defined", for a missing key.
    func missing(_ key: String) -> String {
        if let id = identify(key), let needs = asleep(id), described(id) != nil {
            return "'\(key)', which is blocked on missing dependencies: \(Recipe.list(needs))"
        }
        return "'\(key)', which is not defined\(hint(for: key))"
    }

    /// Something is not there: an error, unless the definition may wait for it.
    mutating func lack(_ name: String, isKey: Bool, waits: Bool = false, as code: Status = .notFound, _ message: String)
    {
        guard waits || definition.body.flags.contains(.waits) else { return fail(code, message) }
        if !lacks.contains(name) { lacks.append(name) }
        if isKey { awaits.insert(name) }
    }

    mutating func fail(_ code: Status, _ message: String) {
        tell(Failure(code, message, path: definition.key, at: definition.place))
    }

    mutating func tell(_ failure: Failure) {
        failures.append(failure)
        failed.append(definition.id)
    }

    /// All failures, without those that a definition inherited: these are reported for the parent. An error in one
    /// value of the documents is reported once, for its first dependent.
    public var ownFailures: [Failure] {
        var firsts: [String: Int] = [:]
        var others: [Int: Set<UInt32>] = [:]
        for (index, what) in configured.sorted(by: { $0.key < $1.key }) {
            guard let first = firsts[what] else {
                firsts[what] = index
                continue
            }
            others[first, default: []].insert(failed[index])
        }
        var told: [(UInt32, Failure)] = []
        for (index, id) in failed.enumerated() {
            var failure = failures[index]
            if let what = configured[index], firsts[what] != index { continue }
            let count = (others[index] ?? []).subtracting([id]).count
            if count > 0 {
                failure.message += " (\(count) more \(count == 1 ? "definition needs" : "definitions need") it)"
            }
            told.append((id, failure))
        }
        return withoutInherited(told)
    }

    private func withoutInherited(_ told: [(UInt32, Failure)]) -> [Failure] {
        var messages: [UInt32: Set<String>] = [:]
        for (id, failure) in told { messages[id, default: []].insert(failure.message) }
        return told.filter { id, failure in
            var seen: Set<UInt32> = [id]
            var child = described(id)
            while let name = child?.body.parent, let parent = identify(name), seen.insert(parent).inserted {
                if messages[parent]?.contains(failure.message) == true { return false }
                child = described(parent)
            }
            return true
        }.map(\.1)
    }

    /// The number of errors and missing dependencies so far.
    var wrong: Int { failures.count + lacks.count }

    // MARK: compiling

    /// The compiled definition; nil after an error, which is added to `failures`.
    public mutating func compile(_ described: Definition, former: Recipe?) -> Recipe? {
        let before = failures.count
        definition = described
        self.former = former
        edges = [:]
        edgeOrder = []
        bindings = [:]
        wishes = []
        lookups = [:]
        missed = []
        asks = false
        lacks = []
        awaits = []
        hearing = []
        keeps = []
        // Without its parent nothing is known of it.
        let isOrphan = !checkParents()
        if described.body.parent != nil { checkProperties() }
        definition = flat(described)
        let recipe = isOrphan ? nil : definition.alias == nil ? compileMaking() : compileAlias()
        guard failures.count > before || (isOrphan && lacks.isEmpty) else {
            return lacks.isEmpty ? recipe : dormantRecipe()
        }
        needs[described.id] = edgeOrder
        return nil
    }

    /// The compiled definition of a blocked definition. The existing dependencies are its edges, so that it is compiled
    /// again when one of them is removed.
    private func dormantRecipe() -> Recipe {
        Recipe(
            definition, maker: .dormant(lacks), slots: [], steps: [], before: [], after: [], afterAll: [],
            edges: edgeOrder.map { ($0, .late) }, bindings: [:], wishes: wishes, missing: missed, asks: false,
            awaits: awaits)
    }

    /// Checks that the definition's flags can be satisfied.
    private mutating func checkLife(_ type: ObjectType) {
        let flags = definition.body.flags
        if flags.contains(.exclusive) {
            let takesArguments = definition.body.parameters?.parameters.isEmpty == false
            if takesArguments || (definition.scope != .singleton && definition.scope != .lazySingleton) {
                fail(
                    .argument,
                    "exclusive is for singletons and lazy singletons without runtime arguments, not "
                        + (takesArguments ? "one for each of them" : "of scope \(definition.scope.name)"))
            }
            if !type.canBeExclusive {
                fail(
                    .argument,
                    "exclusive needs a type with start and stop functions, and '\(type.name)' does not have both")
            }
        }
        if flags.contains(.tracked) {
            if definition.scope.isShared {
                fail(.argument, "shared instances are followed anyway: tracked is for prototypes and graph scope")
            }
            if !type.isConfined {
                fail(.argument, "objects of the shared type '\(type.name)' are never changed, so none can be tracked")
            }
        }
    }

    /// Returns false when one of the parents is invalid. Errors further up the chain are reported there.
    private mutating func checkParents() -> Bool {
        var line: [UInt32] = [definition.id]
        var seen: Set<UInt32> = [definition.id]
        var current = definition
        while let name = current.body.parent {
            let isOwn = line.count == 1
            guard let id = identify(name), let parent = described(id) else {
                if isOwn || current.body.flags.contains(.waits) {
                    lack(name, isKey: true, "the parent '\(name)' is not defined\(hint(for: name))")
                }
                return false
            }
            if parent.alias != nil {
                if isOwn { fail(.argument, "the parent '\(name)' is an alias") }
                return false
            }
            guard seen.insert(id).inserted else {
                // One definition of the cycle reports it.
                if id == definition.id, id == line.min() {
                    let way = (line + [id]).map { described($0)?.key ?? definition.key }
                    fail(.cycle, "the parents form a cycle: \(way.joined(separator: " -> "))")
                }
                return false
            }
            if lineage.sound.contains(id) { break }
            line.append(id)
            current = parent
        }
        lineage.sound.formUnion(line.dropFirst())
        return true
    }

    /// A child sets each property once. The second one would be lost if the parent sets it, too.
    private mutating func checkProperties() {
        var seen: NameSet = []
        for name in definition.body.properties.compactMap(\.name) where !seen.insert(name).inserted {
            fail(.exists, "the property '\(name)' is set twice")
        }
    }

    private mutating func compileAlias() -> Recipe? {
        let name = definition.alias ?? ""
        guard let target = present(name) else {
            // An alias of a blocked definition is blocked, too.
            let isAsleep = identify(name).map { asleep($0) != nil } ?? false
            lack(name, isKey: true, waits: isAsleep, "the alias needs \(missing(name))")
            return nil
        }
        // A plain one is nothing of its own: who names it names the target.
        if !definition.isPlainAlias { note(target, .initializer) }
        let named = described(target).map(flat)
        if let named { checkMade(named, "the alias") }
        let wanted = named?.body.parameters
        let slots = definition.body.initializer.enumerated().map { index, injection in
            Recipe.Slot(
                position: index,
                source: argument(injection.source, index, of: wanted, .initializer, "argument \(index)"),
                parameter: nil)
        }
        // An alias with its own parameters gives all arguments of its target, another one the first of them.
        if definition.body.parameters != nil, let named {
            check(slots.count, named, "the alias")
        } else if !slots.isEmpty, let named {
            check(slots.count, named, "the alias", orMore: true)
        }
        return recipe(.alias(target), slots: slots)
    }

    private mutating func compileMaking() -> Recipe? {
        if let choice = definition.body.choice { return compile(choice) }
        guard let type = definition.type else {
            guard let name = definition.body.typeName else {
                fail(.argument, "a definition needs a type, or a parent with a type")
                return nil
            }
            lack(name, isKey: false, "no type '\(name)' is registered")
            return nil
        }
        let body = definition.body
        if definition.scope == .singleton, let count = body.parameters?.parameters.count, count > 0 {
            fail(.arity, "an eager singleton takes no runtime arguments; '\(definition.key)' declares \(count)")
        }
        checkLife(type)
        if definition.scope == .host {
            if let failure = scopeFailure(body.scopeName ?? "") { fail(failure.code, failure.message) }
        }
        let maker: Recipe.Maker
        let slots: [Recipe.Slot]
        if let constant = body.constant {
            if let made = constant.type, !made.isKind(of: type.name) {
                fail(.type, "the object is a '\(made.name)' where a '\(type.name)' is needed")
            }
            if !body.initializer.isEmpty || !body.properties.isEmpty || !body.methods.isEmpty || body.factory != nil
                || body.maker != nil
            {
                fail(.argument, "a constant object is neither created nor injected")
            }
            return recipe(.constant(constant), slots: [])
        }
        if let method = body.maker {
            let object = source(method.object, .initializer, "the maker")
            maker = .method(object, name: method.invocation.method)
            slots = makerSlots(method.invocation, self.method(method.invocation.method, of: object))
        } else {
            maker =
                definition.isAbstract
                ? .abstract : type.isBlockOnly ? .block : body.factory.map { .factory($0) } ?? .initializer
            slots = initializer(type)
        }
        var set = NameSet()
        var steps: [Recipe.Step] = []
        for need in needs(of: type, besides: body.properties) {
            if let step = property(need, type, &set) { steps.append(step) }
        }
        let needCount = steps.count
        for injection in body.properties {
            if let step = property(injection, type, &set) { steps.append(step) }
        }
        steps += invocations(body.methods, type)
        // Compiled before the recipe is created, because their references are edges of the recipe.
        let before = invocations(body.before, type)
        let after = invocations(body.after, type)
        let afterAll = invocations(body.afterAll, type)
        let made = recipe(maker, slots: slots, steps: steps, before: before, after: after, afterAll: afterAll)
        made.needCount = needCount
        return made
    }

    /// The dependencies that the type declares and the definition does not set itself.
    private func needs(of type: ObjectType, besides own: [Injection]) -> [Injection] {
        guard !type.needs.isEmpty, fillsNeeds else { return [] }
        func property(_ injection: Injection) -> String? {
            injection.name.flatMap { try? type.description.property(named: $0).property.name }
        }
        let said = Set(own.compactMap(property))
        return type.needs.filter { need in property(need).map { !said.contains($0) } ?? true }
    }

    func recipe(
        _ maker: Recipe.Maker, slots: [Recipe.Slot], steps: [Recipe.Step] = [], before: [Recipe.Step] = [],
        after: [Recipe.Step] = [], afterAll: [Recipe.Step] = []
    ) -> Recipe {
        Recipe(
            definition, maker: maker, slots: slots, steps: steps, before: before, after: after, afterAll: afterAll,
            edges: edgeOrder.map { ($0, edges[$0] ?? .late) }, bindings: bindings, wishes: wishes, missing: missed,
            asks: asks, awaits: [], keeps: keeps, hearing: hearing)
    }

    mutating func note(_ id: UInt32, _ edge: Recipe.Edge) {
        if let known = edges[id] {
            edges[id] = max(known, edge)
        } else {
            edges[id] = edge
            edgeOrder.append(id)
        }
    }
}
