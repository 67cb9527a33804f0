public import InvivoBase

/// Turns definitions into recipes, and finds all that is wrong with them without running anything.
public struct RecipeCompiler {
    /// The next generation's definition of an id, as described.
    let described: (UInt32) -> Definition?
    /// The id of a key that has been named at any time.
    let identify: (String) -> UInt32?
    private let types: TypeIndex
    let knownKeys: () -> [String]
    /// The assembly that must be activated before there is a definition of a key.
    public var dormant: (String) -> String? = { _ in nil }
    /// Definitions that wait for something, and for what: nothing that they would make is there.
    public var asleep: [UInt32: [String]] = [:]
    public private(set) var failures: [Failure] = []
    /// The definition of each failure.
    private var failed: [UInt32] = []
    /// What definitions name in which something is wrong, as far as it is there.
    public private(set) var needs: [UInt32: [UInt32]] = [:]

    /// What was found out of parents: a line of any length is gone through once. Good as long as `described` is.
    private final class Lineage {
        /// Parents with all that they take over.
        var flats: [UInt32: Definition] = [:]
        /// Parents with which, and with whose parents, nothing is wrong.
        var sound: Set<UInt32> = []
    }
    private let lineage = Lineage()

    // Of the definition being compiled.
    var definition: Definition
    /// What the configuration will say.
    public var config = ConfigLookup.none
    /// The value that was found last, for messages about it.
    var foundNode: ConfigNode?
    private var former: Recipe?
    private var edges: [UInt32: Recipe.Edge] = [:]
    private var edgeOrder: [UInt32] = []
    private var bindings: [String: [UInt32]] = [:]
    private var wishes: Set<String> = []
    private var missed: Set<String> = []
    /// How many lookups by type there were at each place: a method that is called twice has each place twice.
    private var lookups: [String: Int] = [:]
    private var asks = false
    /// What a definition that may wait lacks, and which of that are keys.
    private var lacks: [String] = []
    private var awaits: Set<String> = []
    private var hearing: Set<String> = []
    private var keeps: Set<UInt32> = []

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

    /// The definition with all that it takes over. Its parents are looked for by name; a circle of them ends where it
    /// began, and is told by `compile`.
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
            // What a circle comes to depends on where it is begun.
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

    /// What might help who named a key that is not there.
    private func hint(for key: String) -> String {
        if let assembly = dormant(key) { return ": the assembly '\(assembly)' must be activated" }
        return suggestion(for: key, among: knownKeys().filter { $0 != definition.key })
    }

    /// The definition of a key that may be named: not one that lies dormant.
    private func present(_ key: String) -> UInt32? {
        guard let id = identify(key), described(id) != nil, asleep[id] == nil else { return nil }
        return id
    }

    /// "'a.clock', which is not defined", for what is not there.
    private func missing(_ key: String) -> String {
        if let id = identify(key), let needs = asleep[id], described(id) != nil {
            return "'\(key)', which lies dormant: it waits for \(Recipe.list(needs))"
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

    /// All failures so far, without those that a definition only took over: they are told of the parent.
    public var ownFailures: [Failure] {
        var messages: [UInt32: Set<String>] = [:]
        for (id, failure) in zip(failed, failures) { messages[id, default: []].insert(failure.message) }
        return zip(failed, failures).filter { id, failure in
            var seen: Set<UInt32> = [id]
            var child = described(id)
            while let name = child?.body.parent, let parent = identify(name), seen.insert(parent).inserted {
                if messages[parent]?.contains(failure.message) == true { return false }
                child = described(parent)
            }
            return true
        }.map(\.1)
    }

    /// How much is wrong or missing so far.
    var wrong: Int { failures.count + lacks.count }

    private mutating func fail(_ failure: Failure, _ what: String) { fail(failure.code, "\(what): \(failure.message)") }

    // MARK: compiling

    /// The recipe of one definition; nil when something is wrong, which is added to `failures`.
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

    /// It names what is there, so that it is looked at again when that goes, and waits for the rest.
    private func dormantRecipe() -> Recipe {
        Recipe(
            definition, maker: .dormant(lacks), slots: [], steps: [], before: [], after: [], afterAll: [],
            edges: edgeOrder.map { ($0, .late) }, bindings: [:], wishes: wishes, asks: false, awaits: awaits)
    }

    /// Whether what its flags ask of it can be.
    private mutating func checkLife(_ type: ObjectType) {
        let functions = type.description.functions
        let flags = definition.body.flags
        if flags.contains(.exclusive) {
            let takesArguments = definition.body.parameters?.parameters.isEmpty == false
            if takesArguments || (definition.scope != .singleton && definition.scope != .lazySingleton) {
                fail(
                    .argument,
                    "what is exclusive is a singleton or lazy singleton without runtime arguments, not "
                        + (takesArguments ? "one for each of them" : "of scope \(definition.scope.name)"))
            }
            if functions.start == nil || functions.stop == nil {
                fail(
                    .argument,
                    "what is exclusive is taken by start and given back by stop, and '\(type.name)' has not both")
            }
        }
        if flags.contains(.tracked) {
            if definition.scope.isShared {
                fail(.argument, "shared instances are followed anyway: tracked is for prototypes and graph scope")
            }
            if type.domain == nil {
                fail(.argument, "objects of the shared type '\(type.name)' are never changed, so none can be tracked")
            }
        }
    }

    /// False when one of them is wrong. What is wrong further up is told there.
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
                // One of the circle tells it.
                if id == definition.id, id == line.min() {
                    let way = (line + [id]).map { described($0)?.key ?? definition.key }
                    fail(.cycle, "the parents go round in a circle: \(way.joined(separator: " -> "))")
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

    /// A child says each property once; the second would be lost where the parent has it too.
    private mutating func checkProperties() {
        var seen: Set<String> = []
        for name in definition.body.properties.compactMap(\.name) where !seen.insert(name).inserted {
            fail(.exists, "the property '\(name)' is set twice")
        }
    }

    private mutating func compileAlias() -> Recipe? {
        let name = definition.alias ?? ""
        guard let target = present(name) else {
            // Another name of what lies dormant does so too.
            let isAsleep = identify(name).map { asleep[$0] != nil } ?? false
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
        // With parameters of its own it says all that its target gets, else what comes first of that.
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
                fail(.argument, "a definition needs a type, or a parent that has one")
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
            do throws(Failure) { _ = try type.container.scope(named: body.scopeName ?? "") } catch {
                fail(error.code, error.message)
            }
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
                fail(.argument, "an object that is there already is neither made nor injected into")
            }
            return recipe(.constant(constant), slots: [])
        }
        if let method = body.maker {
            let object = source(method.object, .initializer, "the maker")
            maker = .method(object, name: method.invocation.method)
            slots = method.invocation.arguments.enumerated().map { index, injection in
                Recipe.Slot(
                    position: index, source: source(injection.source, .initializer, "argument \(index) of the maker"),
                    parameter: nil)
            }
        } else {
            maker =
                definition.isAbstract
                ? .abstract : type.isBlockOnly ? .block : body.factory.map { .factory($0) } ?? .initializer
            slots = initializer(type)
        }
        var set = Set<String>()
        var steps: [Recipe.Step] = []
        for need in needs(of: type, besides: body.properties) {
            if let step = property(need, type, &set) { steps.append(step) }
        }
        let needCount = steps.count
        for injection in body.properties {
            if let step = property(injection, type, &set) { steps.append(step) }
        }
        steps += invocations(body.methods, type)
        // Beforehand: what they name is an edge of the recipe.
        let before = invocations(body.before, type)
        let after = invocations(body.after, type)
        let afterAll = invocations(body.afterAll, type)
        let made = recipe(maker, slots: slots, steps: steps, before: before, after: after, afterAll: afterAll)
        made.needCount = needCount
        return made
    }

    /// What the type declares and the definition does not say itself.
    private func needs(of type: ObjectType, besides own: [Injection]) -> [Injection] {
        guard !type.needs.isEmpty, type.container.fillsNeeds else { return [] }
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
        let recipe = Recipe(
            definition, maker: maker, slots: slots, steps: steps, before: before, after: after, afterAll: afterAll,
            edges: edgeOrder.map { ($0, edges[$0] ?? .late) }, bindings: bindings, wishes: wishes, missing: missed,
            asks: asks, awaits: [])
        recipe.hearing = hearing
        recipe.keeps = keeps
        return recipe
    }

    mutating func note(_ id: UInt32, _ edge: Recipe.Edge) {
        if let known = edges[id] {
            edges[id] = max(known, edge)
        } else {
            edges[id] = edge
            edgeOrder.append(id)
        }
    }

    // MARK: the initializer

    /// By name or by position: what has no name fills the first gap.
    private mutating func initializer(_ type: ObjectType) -> [Recipe.Slot] {
        let body = definition.body
        let parameters = type.description.signature.parameters
        var slots: [Recipe.Slot] = []
        var taken = Set<Int>()
        for injection in body.initializer {
            let position: Int
            if let name = injection.name {
                guard let index = parameters.firstIndex(where: { $0.name == name }) else {
                    fail(
                        .arity,
                        "'\(type.name)' has no initializer parameter '\(name)'\(suggestion(for: name, among: parameters.map(\.name)))"
                    )
                    _ = source(injection.source, .initializer, "initializer parameter '\(name)'")
                    continue
                }
                position = index
            } else {
                var gap = 0
                while taken.contains(gap) { gap += 1 }
                position = gap
            }
            guard taken.insert(position).inserted else {
                fail(.arity, "the initializer parameter '\(injection.name ?? "\(position)")' is given twice")
                continue
            }
            guard body.factory != nil || position < parameters.count else {
                fail(
                    .arity,
                    "'\(type.name)' takes \(parameters.count) initializer arguments, got \(body.initializer.count)")
                break
            }
            let parameter = position < parameters.count ? parameters[position] : nil
            slots.append(slot(injection.source, position, body.factory == nil ? parameter : nil, type))
        }
        let isComplete = body.parameters != nil || definition.scope.isShared
        if body.factory == nil && isComplete && !definition.isAbstract {
            for (index, parameter) in parameters.enumerated() where !parameter.isOptional && !taken.contains(index) {
                fail(.arity, "the initializer parameter '\(parameter.name)' of '\(type.name)' is not given")
            }
        }
        return slots.sorted { $0.position < $1.position }
    }

    private mutating func slot(_ given: Injection.Source, _ position: Int, _ parameter: Parameter?, _ type: ObjectType)
        -> Recipe.Slot
    {
        let what = "initializer parameter '\(parameter?.name ?? "\(position)")'"
        let before = wrong
        let signature = type.description.signature
        var compiled = source(given, .initializer, what, parameter.map { .parameter(signature, $0) } ?? .any)
        // What comes of something wrong is not checked: that has been told.
        if let parameter, wrong == before {
            do throws(Failure) {
                compiled = try compiled.constant { value throws(Failure) in try signature.checked(value, parameter) }
            } catch { fail(error.code, error.message) }
            checkKind(compiled, parameter.kind, what)
            checkType(compiled, parameter.typeName, what)
        }
        return Recipe.Slot(position: position, source: compiled, parameter: parameter)
    }

    mutating func checkType(_ source: Recipe.Source, _ wanted: String?, _ what: String) {
        guard let wanted, case .object(let id, _, _) = source, let target = final(id), let type = target.type else {
            return
        }
        if !type.description.isKind(of: wanted) {
            fail(.type, "\(what) wants a '\(wanted)', and '\(described(id)?.key ?? target.key)' is a '\(type.name)'")
        }
    }

    // MARK: properties and methods

    private mutating func property(_ injection: Injection, _ type: ObjectType, _ set: inout Set<String>) -> Recipe.Step?
    {
        guard let name = injection.name else {
            fail(.argument, "a property injection needs the property's name")
            return nil
        }
        do throws(Failure) {
            let property = try type.description.property(named: name).property
            if property.isReadOnly { throw Failure(.readOnly, "\(type.name).\(name) cannot be set: it is read only") }
            if !set.insert(property.name).inserted { throw Failure(.exists, "the property '\(name)' is set twice") }
            let before = wrong
            var compiled = source(
                injection.source, property.isInBlock ? .late : .injection, "the property '\(name)'", .property(property)
            )
            guard wrong == before else { return nil }
            if let hears = injection.hears {
                guard case .all(let ids) = compiled else {
                    throw Failure(.argument, "only a list of all of a type has candidates that are added and removed")
                }
                hearing.insert("the property '\(name)'")
                return .candidates(
                    property: type.description.index(of: property), ids, added: try hearer(hears.added, type),
                    removed: try hearer(hears.removed, type))
            }
            compiled = try compiled.constant { value throws(Failure) in
                do throws(Failure) { return try property.check(value) } catch {
                    // A field of a nested struct says its own way.
                    let place = error.path.isEmpty ? name : error.path
                    throw Failure(error.code, "the property '\(place)': \(error.message)")
                }
            }
            if property.isInBlock {
                guard let value = compiled.constant else {
                    throw Failure(.type, "the block property '\(name)' cannot hold an object")
                }
                keepInBlock(name, value)
                return nil
            }
            checkKind(compiled, property.kind, "the property '\(name)'")
            return .property(index: type.description.index(of: property), compiled)
        } catch {
            fail(error.code, error.message)
            return nil
        }
    }

    /// A method that takes one object.
    private func hearer(_ name: String, _ type: ObjectType) throws(Failure) -> Int {
        let method = try type.description.method(named: name)
        guard method.signature.parameters.count == 1 else {
            throw Failure(.arity, "'\(name)' must take one object, to be told of candidates: \(method.signature.text)")
        }
        return type.description.methods.firstIndex { $0 === method } ?? 0
    }

    private mutating func invocations(_ given: [Invocation], _ type: ObjectType) -> [Recipe.Step] {
        var steps: [Recipe.Step] = []
        for invocation in given {
            do throws(Failure) {
                let method = try type.description.method(named: invocation.method)
                let parameters = method.signature.parameters
                let least = parameters.prefix { !$0.isOptional }.count
                guard invocation.arguments.count >= least, invocation.arguments.count <= parameters.count else {
                    throw Failure(
                        .arity, "\(method.signature.text) is called with \(invocation.arguments.count) arguments")
                }
                var sources: [Recipe.Source] = []
                for (parameter, injection) in zip(parameters, invocation.arguments) {
                    let what = "the argument '\(parameter.name)' of '\(invocation.method)'"
                    let before = wrong
                    let signature = method.signature
                    var compiled = source(injection.source, .injection, what, .parameter(signature, parameter))
                    if wrong == before {
                        compiled = try compiled.constant { value throws(Failure) in
                            try signature.checked(value, parameter)
                        }
                        checkKind(compiled, parameter.kind, what)
                    }
                    checkType(compiled, parameter.typeName, what)
                    sources.append(compiled)
                }
                let index = type.description.methods.firstIndex { $0 === method } ?? 0
                steps.append(.method(index: index, sources))
            } catch { fail(error.code, error.message) }
        }
        return steps
    }

    // MARK: sources

    mutating func source(
        _ given: Injection.Source, _ edge: Recipe.Edge, _ place: String, _ taker: Taker = .any,
        given argumentEdge: Recipe.Edge? = nil
    ) -> Recipe.Source {
        switch given {
        case .value(let value): return .value(value)
        case .reference(let key, let arguments, let isOptional):
            guard let id = present(key) else {
                if isOptional {
                    missed.insert(key)
                } else {
                    lack(key, isKey: true, "\(place) needs \(missing(key))")
                }
                return .value(.null)
            }
            note(id, edge)
            let target = described(id).map(flat)
            if let target { checkMade(target, place) }
            let wanted = target?.body.parameters
            let arguments = arguments.enumerated().map { index, argument in
                self.argument(argument, index, of: wanted, argumentEdge ?? edge, "\(place), argument \(index)")
            }
            if edge != .late, let target { check(arguments.count, target, place) }
            return .object(id, arguments: arguments, isOptional: isOptional)
        case .type(let wish): return byType(wish, edge, place)
        case .all(let wish):
            wishes.insert(wish.name)
            let ids = types.all(wish.name, isExact: wish.isExact).map(\.id)
            bindings[lookup(place)] = ids
            for id in ids { note(id, edge) }
            return .all(ids)
        case .argument(let index):
            let count = definition.body.parameters?.parameters.count ?? 0
            if index >= count {
                fail(
                    .arity,
                    "\(place) wants runtime argument \(index), and the definition declares \(count == 0 ? "none" : "\(count)")"
                )
            }
            return .argument(index)
        case .arguments: return .arguments
        case .path(let object, let path, let isOptional):
            let object = source(object, edge, place)
            checkPath(path, of: object, place)
            return .path(object, path, isOptional: isOptional)
        case .list(let items): return .list(items.enumerated().map { source($1, edge, "\(place)[\($0)]") })
        case .set(let items): return .set(items.enumerated().map { source($1, edge, "\(place)[\($0)]") })
        case .map(let pairs): return .map(pairs.map { ($0.name, source($0.source, edge, "\(place).\($0.name)")) })
        case .provider(let target): return provider(target, edge, place, isLazy: false)
        case .lazy(let target): return provider(target, edge, place, isLazy: true)
        case .config(let path, let other, let isOptional, let kind):
            return setting(path, other, isOptional, edge, place, taker.orKind(kind))
        case .text(let text, let converter): return self.text(text, converter, edge, place, taker)
        case .said(let node): return said(node, place, taker)
        case .entry, .entryName:
            if !definition.isAbstract {
                fail(.argument, "\(place) wants an entry, and '\(definition.key)' is not one for each of them")
            }
            return .arguments
        case .resolver: return .resolver
        case .asker:
            asks = true
            return .asker
        }
    }

    /// It resolves when it is called; what it is given for that it has from the beginning, as its holder would.
    private mutating func provider(
        _ target: Injection.Source, _ edge: Recipe.Edge, _ place: String, isLazy: Bool
    ) -> Recipe.Source {
        if case .config(let path, let other, let isOptional, _) = target {
            return reader(of: path, other, isOptional, place)
        }
        switch source(target, .late, place, given: edge) {
        case .object(let id, let arguments, _):
            if isLazy { keeps.insert(id) }
            return .provider(id, arguments: arguments, isLazy: isLazy)
        case .value(.null): return .provider(nil, arguments: [], isLazy: isLazy)
        default:
            fail(.argument, "\(place): a provider resolves a key or a type")
            return .value(.null)
        }
    }

    /// What is given to a runtime argument of another definition; what is known by now is checked.
    private mutating func argument(
        _ given: Injection.Source, _ index: Int, of wanted: Signature?, _ edge: Recipe.Edge, _ place: String
    ) -> Recipe.Source {
        let before = wrong
        let compiled = source(given, edge, place, wanted.taker(of: index))
        guard let wanted, index < wanted.parameters.count, wrong == before else { return compiled }
        let parameter = wanted.parameters[index]
        if let value = compiled.constant {
            do throws(Failure) { _ = try wanted.checked(value, parameter) } catch {
                fail(error.code, "\(place): \(error.message)")
            }
        }
        checkKind(compiled, parameter.kind, place)
        checkType(compiled, parameter.typeName, place)
        return compiled
    }

    /// As many as it declares; where it declares none they go to the end of its initializer, which must not lack any then.
    private mutating func check(_ count: Int, _ target: Definition, _ place: String, orMore: Bool = false) {
        let gives = "\(place) gives \(count) argument\(count == 1 ? "" : "s") to"
        if let parameters = target.body.parameters {
            let least = orMore ? 0 : parameters.parameters.prefix { !$0.isOptional }.count
            if count < least || count > parameters.parameters.count { fail(.arity, "\(gives) \(parameters.text)") }
            return
        }
        guard !orMore, !target.isAbstract, target.alias == nil, target.body.choice == nil, target.body.factory == nil,
            target.body.maker == nil, target.body.constant == nil, let type = target.type
        else { return }
        var lacking = type.description.signature.parameters
        for injection in target.body.initializer {
            if let name = injection.name {
                lacking.removeAll { $0.name == name }
            } else if !lacking.isEmpty {
                lacking.removeFirst()
            }
        }
        if let first = lacking.dropFirst(count).first(where: { !$0.isOptional }) {
            fail(.arity, "\(gives) '\(target.key)', whose initializer lacks '\(first.name)'")
        }
    }

    /// What is made beside the definition comes before what others make as well.
    private func inOwnAssembly(_ ids: [UInt32]) -> [UInt32] {
        guard let assembly = definition.body.assembly else { return [] }
        return ids.filter { described($0)?.body.assembly == assembly }
    }

    /// What a lookup's binding is kept by: its place in the definition.
    private mutating func lookup(_ place: String) -> String {
        lookups[place, default: 0] += 1
        let number = lookups[place] ?? 1
        return number == 1 ? place : "\(place) (\(number))"
    }

    private mutating func byType(_ wish: Injection.TypeWish, _ edge: Recipe.Edge, _ place: String) -> Recipe.Source {
        wishes.insert(wish.name)
        let lookup = lookup(place)
        // Never itself: a decorator of a type may look for the type.
        let list = types.all(wish.name, isExact: wish.isExact).filter { $0.id != definition.id }
        var chosen: UInt32?
        if !wish.isGreedy, let bound = former?.bindings[lookup]?.first, list.contains(where: { $0.id == bound }) {
            // A working binding stays.
            chosen = bound
        } else {
            switch types.best(of: list) {
            case .one(let id): chosen = id
            case .none:
                if !wish.isOptional {
                    lack(
                        wish.name, isKey: false,
                        "\(place) needs a '\(wish.name)', and nothing makes one\(suggestion(for: wish.name, among: types.names))"
                    )
                }
            case .several(let ids) where inOwnAssembly(ids).count == 1: chosen = inOwnAssembly(ids)[0]
            case .several(let ids):
                let names = ids.prefix(8).compactMap { described($0)?.key }.joined(separator: ", ")
                fail(
                    .ambiguous,
                    "\(place) needs a '\(wish.name)', and several make one: \(names)\(ids.count > 8 ? ", ..." : ""); name one, or give one a higher rank"
                )
            }
        }
        guard let chosen else { return .value(.null) }
        bindings[lookup] = [chosen]
        note(chosen, edge)
        return .object(chosen, arguments: [], isOptional: wish.isOptional)
    }
}
