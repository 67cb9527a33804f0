internal import InvivoBase

/// The definitions of the next generation, as a compiler finds them.
///
/// Caches the inheritance of parents, so that each chain is visited once. Valid as long as the definitions stay the same.
public final class DefinitionLookup {
    /// Returns the definition of an id, as described.
    let described: (UInt32) -> Definition?
    /// Returns the id of a key that has been named at any time.
    let identify: (String) -> UInt32?
    let knownKeys: () -> [String]
    /// Returns the assembly that must be activated before a key is defined.
    let inactiveAssembly: (String) -> String?
    /// Returns the missing dependencies of a definition that is blocked on them; nil for other definitions.
    let missingDependencies: (UInt32) -> [String]?

    /// Parents with all inherited parts.
    private var flats: [UInt32: Definition] = [:]
    /// Parents that are valid, with all of their parents.
    private var sound: Set<UInt32> = []

    public init(
        described: @escaping (UInt32) -> Definition?, identify: @escaping (String) -> UInt32?,
        knownKeys: @escaping () -> [String] = { [] },
        inactiveAssembly: @escaping (String) -> String? = { _ in nil },
        missingDependencies: @escaping (UInt32) -> [String]? = { _ in nil }
    ) {
        self.described = described
        self.identify = identify
        self.knownKeys = knownKeys
        self.inactiveAssembly = inactiveAssembly
        self.missingDependencies = missingDependencies
    }

    /// Returns the definition of a key, as described.
    func definition(of key: String) -> Definition? { identify(key).flatMap(described) }

    /// Returns the definition of an id with all inherited parts.
    func whole(_ id: UInt32) -> Definition? { described(id).map(flat) }

    /// The definition with all inherited parts. Parents are looked up by name. A cycle of parents ends where it began;
    /// the compiler reports it.
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
            known = flats[id]
            if known == nil { line.append(parent) }
        }
        var flat = known ?? line.removeLast()
        while let child = line.popLast() {
            flat = child.inheriting(from: flat)
            // The result for a member of a cycle depends on the member that was visited first.
            if !isRound && !line.isEmpty { flats[child.id] = flat }
        }
        return flat
    }

    /// The definition of a key after following aliases, with all inherited parts.
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

    /// The id of a key, unless it is not defined or blocked on missing dependencies.
    func present(_ key: String) -> UInt32? {
        guard let id = identify(key), described(id) != nil, missingDependencies(id) == nil else { return nil }
        return id
    }

    /// Whether a definition is blocked on missing dependencies.
    public func isBlocked(_ id: UInt32) -> Bool { missingDependencies(id) != nil }

    /// "'a.clock', which is not defined", for a missing key that the definition `own` names.
    func missing(_ key: String, besides own: String) -> String {
        if let id = identify(key), let needs = missingDependencies(id), described(id) != nil {
            return "'\(key)', which is blocked on missing dependencies: \(Recipe.list(needs))"
        }
        return "'\(key)', which is not defined\(hint(for: key, besides: own))"
    }

    /// Advice for a reference of the definition `own` to an undefined key.
    func hint(for key: String, besides own: String) -> String {
        if let assembly = inactiveAssembly(key) { return ": the assembly '\(assembly)' must be activated" }
        return suggestion(for: key, among: knownKeys().filter { $0 != own })
    }

    /// Whether a parent is known to be valid, with all of its parents.
    func isSound(_ parent: UInt32) -> Bool { sound.contains(parent) }

    func addSound(_ parents: some Sequence<UInt32>) { sound.formUnion(parents) }
}
