internal import InvivoBase
internal import InvivoConfig
internal import InvivoSpec
internal import InvivoTraits

/// The traits of all documents for one key.
struct KeyTraits {
    var specs: [TraitSpec]
    /// The location of the key in the first document that names it.
    var location: Location
}

/// Resolves the traits that stand for lists of traits: Inherit and When. Each key is resolved once. Belongs to one plan.
final class TraitFlattener {
    /// The traits of a key in all documents; nil when no document names it.
    let traits: (String) throws(Failure) -> KeyTraits?
    /// The keys that the documents name, for suggestions.
    let keys: () -> [String]
    let config: ConfigTree
    /// The copy of the environment of the generation. Its variable `profiles` activates profiles.
    let environment: Environment
    /// Returns whether a trait with an error is skipped.
    private let skips: (TraitSpec, Failure) -> Bool
    /// The inherited keys that are resolved.
    private var inherited: [Name: Resolved] = [:]
    /// The traits that the keys of `inherited` inherit.
    private var inheritedSize = 0
    /// The present search has found more keys in a row than are allowed, and ends.
    private var isTooDeep = false
    private let budget: InheritedTraits
    /// The conditions that do not hold because their names mean nothing.
    private(set) var unmet: [UnmetCondition] = []
    /// The number of cycles that were found. The list of a key on a cycle that is skipped depends on where the search began.
    private var cycles = 0

    init(
        traits: @escaping (String) throws(Failure) -> KeyTraits?, keys: @escaping () -> [String], config: ConfigTree,
        environment: Environment, budget: InheritedTraits, skips: @escaping (TraitSpec, Failure) -> Bool
    ) {
        self.budget = budget
        self.traits = traits
        self.keys = keys
        self.config = config
        self.environment = environment
        self.skips = skips
    }

    /// A list without Inherit and When, and the names that it refers to.
    struct Flat {
        var traits: [FlatTrait] = []
        var uses: Set<TraitUses.Use> = []
        /// The number of inherited traits, or of names that come with them.
        var inherited = 0
        /// The keys that inherit from each other in a row below this one. The list does not depend on where the search began, and
        /// neither does this number.
        var depth = 0
    }

    /// An inherited key: its list, or its errors, with the depth that was found until then.
    private struct Resolved {
        let result: Result<Flat, Failure>
        let depth: Int
    }

    /// The variable with the names of active profiles, separated by commas.
    static let profiles = "INVIVO_PROFILES"

    /// More traits of one key are a mistake, such as keys that inherit twice from each other in a row.
    private static let most = 10_000
    /// The keys that may inherit from each other in a row.
    private static let deepest = 64

    /// Returns the list of a key. Throws all errors at once.
    func flat(_ key: String, _ specs: [TraitSpec]) throws(Failure) -> Flat {
        // Most lists refer to nothing.
        guard specs.contains(where: { BuiltIn($0) != .plain || !TraitTable.isBuiltIn($0.type) }) else {
            return Flat(traits: specs.map { FlatTrait($0, isActive: true) })
        }
        isTooDeep = false
        return try resolve(specs, path: [key]).result.get()
    }

    /// Resolves the list of the last key of a path of inheritance.
    private func resolve(_ specs: [TraitSpec], path: [String]) -> Resolved {
        var flat = Flat()
        var failures: [Failure] = []
        do throws(Failure) { try append(specs, to: &flat, isActive: true, path: path, &failures) } catch {
            return Resolved(result: .failure(error), depth: flat.depth)
        }
        let failure = Failure.gathered(failures)
        return Resolved(result: failure.map { .failure($0) } ?? .success(flat), depth: flat.depth)
    }

    private enum BuiltIn {
        case inherit, when, plain

        init(_ spec: TraitSpec) {
            self = spec.type == TraitSpec.inherit ? .inherit : spec.type == TraitSpec.when ? .when : .plain
        }
    }

    /// Whether a trait stands for a list of traits.
    static func standsForList(_ spec: TraitSpec) -> Bool { BuiltIn(spec) != .plain }

    private func append(
        _ specs: [TraitSpec], to flat: inout Flat, isActive: Bool, path: [String], _ failures: inout [Failure]
    ) throws(Failure) {
        for spec in specs {
            try Loading.check()
            do throws(Failure) {
                switch BuiltIn(spec) {
                case .inherit: try inherit(spec, &flat, isActive: isActive, path, &failures)
                case .when: try when(spec, &flat, isActive: isActive, path, &failures)
                case .plain:
                    try checkSize(flat.traits.count + 1, path, spec)
                    if !TraitTable.isBuiltIn(spec.type) { flat.uses.insert(.type(Name(spec.type))) }
                    flat.traits.append(FlatTrait(spec, isActive: isActive))
                }
            } catch {
                try Self.rethrowIfFinal(error)
                failures += error.all.filter { !skips(spec, $0) }
            }
        }
    }

    /// Throws the errors after which no other one is looked for.
    private static func rethrowIfFinal(_ failure: Failure) throws(Failure) {
        if [.timeout, .closed, .tooLarge].contains(failure.code) { throw failure }
    }

    // MARK: Inherit

    /// `Inherit: { traits: [base, button] }`
    private func inherit(
        _ spec: TraitSpec, _ flat: inout Flat, isActive: Bool, _ path: [String], _ failures: inout [Failure]
    ) throws(Failure) {
        let parameters = try spec.parameters(known: ["traits"])
        guard let given = parameters["traits"] else {
            throw spec.failure(
                "'traits' is missing; expected the keys to inherit from, as in 'Inherit: { traits: [base] }'")
        }
        let items = given.value.items ?? [given.value]
        func fail(_ failure: Failure) { if !skips(spec, failure) { failures.append(failure) } }
        for item in items {
            try Loading.check()
            guard let name = item.text, !name.isEmpty else {
                fail(
                    Failure(
                        .spec, "expected the key whose traits are inherited, found \(item.described)",
                        path: spec.path(of: ["traits"]), at: item.location))
                continue
            }
            flat.uses.insert(.inherits(Name(name)))
            if let start = path.firstIndex(where: { $0.isSameName(as: name) }) {
                cycles += 1
                fail(
                    Failure(
                        .cycle,
                        "the traits inherit from each other: "
                            + (path[start...] + [name]).path(),
                        path: spec.path(of: ["traits"]), at: item.location))
                continue
            }
            // Without the keys that a search found below: the same search can begin at any of them.
            func tooDeep() -> Failure {
                Failure(
                    .tooLarge, "more than \(Self.deepest) keys inherit from each other in a row, from '\(path[0])'",
                    path: spec.path(of: ["traits"]), at: item.location)
            }
            let resolution: Resolved
            if let known = inherited[Name(name)] {
                resolution = known
            } else {
                guard path.count < Self.deepest else {
                    isTooDeep = true
                    throw tooDeep()
                }
                guard let own = try traits(name) else {
                    fail(
                        Failure(
                            .spec,
                            item.variables.map { "no document has traits for the key that is \($0.describedValue)" }
                                ?? "no document has traits for '\(name)'\(suggestion(for: name, among: keys().sorted()))",
                            path: spec.path(of: ["traits"]), at: item.location))
                    continue
                }
                let known = cycles
                resolution = resolve(own.specs, path: path + [name])
                // The error is the one of the key at which the search began, whatever is known of the keys below.
                if isTooDeep {
                    if path.count == 1 { isTooDeep = false }
                    throw tooDeep()
                }
                var isSkipped = false
                if case .success(let list) = resolution.result {
                    isSkipped = cycles > known
                    inheritedSize += list.inherited
                    try budget.check(inheritedSize, spec.path(of: ["traits"]), item.location)
                }
                if !isSkipped { inherited[Name(name)] = resolution }
            }
            flat.depth = max(flat.depth, resolution.depth + 1)
            guard path.count + resolution.depth < Self.deepest else {
                isTooDeep = path.count > 1
                throw tooDeep()
            }
            switch resolution.result {
            case .success(let list):
                flat.inherited += max(list.traits.count, list.uses.count)
                try budget.check(flat.inherited, spec.path(of: ["traits"]), item.location)
                try checkSize(flat.traits.count + list.traits.count, path, spec)
                flat.uses.formUnion(list.uses)
                flat.traits += isActive ? list.traits : list.traits.map { FlatTrait($0.spec, isActive: false) }
            case .failure(let failure):
                try Self.rethrowIfFinal(failure)
                failures += failure.all
            }
        }
    }

    private func checkSize(_ count: Int, _ path: [String], _ spec: TraitSpec) throws(Failure) {
        guard count > Self.most else { return }
        throw Failure(
            .tooLarge, "the traits of '\(path[path.count - 1])' are more than \(Self.most) with those that it inherits",
            path: spec.path, at: spec.typeLocation)
    }

    // MARK: When

    /// `When: { config: audio.mode, is: night, traits: [...], otherwise: [...] }` or `When: { profile: night, traits: [...] }`
    private func when(
        _ spec: TraitSpec, _ flat: inout Flat, isActive: Bool, _ path: [String], _ failures: inout [Failure]
    ) throws(Failure) {
        let parameters = try spec.parameters(known: ["config", "is", "profile", "traits", "otherwise"])
        guard parameters["traits"] != nil || parameters["otherwise"] != nil else {
            throw spec.failure("'traits' is missing; expected a list of traits")
        }
        let holds = try condition(spec, parameters, of: path[0], &flat.uses)
        for (name, isBranch) in [("traits", holds), ("otherwise", !holds)] {
            guard let list = parameters[name] else { continue }
            try append(
                try spec.nested(in: list), to: &flat, isActive: isActive && isBranch, path: path, &failures)
        }
    }

    private func condition(
        _ spec: TraitSpec, _ parameters: [String: SpecEntry], of key: String, _ uses: inout Set<TraitUses.Use>
    ) throws(Failure) -> Bool {
        switch (parameters["config"], parameters["profile"]) {
        case (let config?, nil):
            guard let path = config.value.text, !ConfigPath.names(path).contains("") else {
                throw spec.failure(
                    "expected a configuration path, found \(config.value.described)", at: config, "config")
            }
            uses.insert(.configuration(Name(path)))
            let wanted = try parameters["is"].map { (entry) throws(Failure) in try Value(spec: entry.value) }
            let found = self.config.find(path)?.value
            if found == nil { unmet.append(UnmetCondition(.path(path), of: key, spec, config)) }
            guard let wanted else { return try isTrue(found ?? .null, spec, config) }
            return (found ?? .null).isSame(as: wanted, numbersByWorth: true)
        case (nil, let profile?):
            guard let name = profile.value.text, !name.isEmpty else {
                throw spec.failure(
                    "expected the name of a profile, found \(profile.value.described)", at: profile, "profile")
            }
            if let other = parameters["is"] {
                throw spec.failure("a profile is active or not: 'is' belongs to 'config'", at: other, "is")
            }
            uses.formUnion([.configuration(Name(TraitSpec.profiles)), .profile(Name(name))])
            let isActive = try isActive(name, spec)
            if !isActive { unmet.append(UnmetCondition(.profile(name), of: key, spec, profile)) }
            return isActive
        default:
            throw spec.failure("expected either 'config', a configuration path, or 'profile', the name of a profile")
        }
    }
}

extension TraitFlattener {
    /// The value of a condition without `is`. A string is read as a plain scalar of YAML, because variables in flow form need quotes.
    private func isTrue(_ value: Value, _ spec: TraitSpec, _ config: SpecEntry) throws(Failure) -> Bool {
        switch value {
        case .null: return false
        case .bool(let bool): return bool
        case .string(let text):
            if case .bool(let bool)? = TextReader.plain(text) { return bool }
        default: break
        }
        throw spec.failure(
            "the value of the condition is \(value.kind.inWords), not true or false; give the value that it is compared with, as in "
                + "'is: VALUE'", at: config, "config")
    }

    /// Whether the configuration or the environment activates a profile.
    private func isActive(_ name: String, _ spec: TraitSpec) throws(Failure) -> Bool {
        if config.profiles.contains(where: { $0.isSameName(as: name) }) { return true }
        guard let bytes = environment[Self.profiles] else { return false }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(
                .encoding, "the environment variable '\(Self.profiles)' is not UTF-8", path: spec.path(of: ["profile"]),
                at: spec.typeLocation)
        }
        return Self.names(in: text).contains { $0.isSameName(as: name) }
    }

    /// The names of the active profiles that messages may show.
    var shownProfiles: [String] {
        let text = environment[Self.profiles].flatMap { String(validating: $0, as: UTF8.self) }
        return config.shownProfiles + Self.names(in: text ?? "")
    }

    /// Names that are separated by commas. Spaces around them do not count, and a name has none.
    private static func names(in text: String) -> [String] {
        text.split(separator: ",").compactMap { part in
            let names = part.split(separator: " ")
            return names.count == 1 ? String(names[0]) : nil
        }
    }
}

extension ConfigTree {
    /// The names of the active profiles.
    fileprivate var profiles: [String] { profileValues.compactMap { $0.node.profile } }

    /// The values at the path `profiles`: a list of names, or one name.
    private var profileValues: [(path: String, node: ConfigNode)] {
        guard let node = find(TraitSpec.profiles) else { return [] }
        let path = "config.\(TraitSpec.profiles)"
        guard case .list(let items) = node.content else { return [(path, node)] }
        return items.enumerated().map { index, item in ("\(path)[\(index)]", item) }
    }

    /// The errors of values at the path `profiles` that are no names.
    var profileFailures: [Failure] {
        profileValues.filter { $0.node.profile == nil }.map { path, node in
            let expected = "the names of the active profiles: a list of strings, or one string"
            let message = "expected \(expected), found \(node.value.withKind)"
            return node.masked(Failure(.spec, message, path: path, at: node.location), expected: expected)
        }
    }

    /// The same without values that come from environment variables or files, and without secrets.
    fileprivate var shownProfiles: [String] {
        guard ContentQuoting.isAllowed, let node = find(TraitSpec.profiles), node.anyVariables == nil else { return [] }
        return profiles
    }
}

extension ConfigNode {
    /// The name of a profile; nil if the value is no string.
    fileprivate var profile: String? {
        if let text = variables?.text { return text }
        if case .value(.string(let name)) = content { return name }
        return nil
    }
}
