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

/// Resolves the traits that stand for lists of traits: Inherit and When.
struct TraitFlattener {
    /// The traits of a key in all documents; nil when no document names it.
    let traits: (String) throws(Failure) -> KeyTraits?
    /// The keys that the documents name, for suggestions.
    let keys: () -> [String]
    let config: ConfigTree
    /// The copy of the environment of the generation. Its variable `profiles` activates profiles.
    let environment: Environment
    /// Returns whether a trait with an error is skipped.
    var skips: (TraitSpec, Failure) -> Bool = { _, _ in false }

    /// A list without Inherit and When, and the names that it refers to.
    struct Flat {
        var traits: [FlatTrait] = []
        var uses: Set<TraitUses.Use> = []
    }

    /// The variable with the names of active profiles, separated by commas.
    static let profiles = "INVIVO_PROFILES"

    /// More traits of one key are a mistake, such as keys that inherit twice from each other in a row.
    private static let most = 10_000

    /// Returns the list of a key. Throws all errors at once.
    func flat(_ key: String, _ specs: [TraitSpec]) throws(Failure) -> Flat {
        var flat = Flat()
        // Most lists refer to nothing.
        guard specs.contains(where: { BuiltIn($0) != .plain || !TraitTable.isBuiltIn($0.type) }) else {
            flat.traits = specs.map { FlatTrait($0, isActive: true) }
            return flat
        }
        var failures: [Failure] = []
        try append(specs, to: &flat, isActive: true, path: [key], &failures)
        if let failure = Failure.gathered(failures) { throw failure }
        return flat
    }

    private enum BuiltIn {
        case inherit, when, plain

        init(_ spec: TraitSpec) {
            self = spec.type == TraitTable.inherit ? .inherit : spec.type == TraitTable.when ? .when : .plain
        }
    }

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
                    guard flat.traits.count < Self.most else {
                        throw Failure(
                            .tooLarge,
                            "the traits of '\(path[0])' are more than \(Self.most) with those that it inherits",
                            path: spec.path, at: spec.typeLocation)
                    }
                    if !TraitTable.isBuiltIn(spec.type) { flat.uses.insert(.type(Name(spec.type))) }
                    flat.traits.append(FlatTrait(spec, isActive: isActive))
                }
            } catch {
                guard error.code != .timeout, error.code != .closed, error.code != .tooLarge else { throw error }
                failures += error.all.filter { !skips(spec, $0) }
            }
        }
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
            guard let name = item.text, !name.isEmpty else {
                fail(
                    Failure(
                        .spec, "expected the key whose traits are inherited, found \(item.described)",
                        path: spec.path(of: ["traits"]), at: item.location))
                continue
            }
            flat.uses.insert(.inherits(Name(name)))
            if let start = path.firstIndex(where: { $0.isSameName(as: name) }) {
                fail(
                    Failure(
                        .cycle,
                        "the traits inherit from each other: "
                            + (path[start...] + [name]).joined(separator: " -> "),
                        path: spec.path(of: ["traits"]), at: item.location))
                continue
            }
            guard let inherited = try traits(name) else {
                fail(
                    Failure(
                        .spec, "no document has traits for '\(name)'\(suggestion(for: name, among: keys().sorted()))",
                        path: spec.path(of: ["traits"]), at: item.location))
                continue
            }
            try append(inherited.specs, to: &flat, isActive: isActive, path: path + [name], &failures)
        }
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
        let holds = try condition(spec, parameters, &flat.uses)
        for (name, isBranch) in [("traits", holds), ("otherwise", !holds)] {
            guard let list = parameters[name] else { continue }
            try append(
                try spec.nested(in: list), to: &flat, isActive: isActive && isBranch, path: path, &failures)
        }
    }

    private func condition(
        _ spec: TraitSpec, _ parameters: [String: SpecEntry], _ uses: inout Set<TraitUses.Use>
    ) throws(Failure) -> Bool {
        switch (parameters["config"], parameters["profile"]) {
        case (let config?, nil):
            guard let path = config.value.text, !ConfigPath.names(path).contains("") else {
                throw spec.failure(
                    "expected a configuration path, found \(config.value.described)", at: config, "config")
            }
            uses.insert(.configuration(Name(path)))
            let wanted = try parameters["is"].map { (entry) throws(Failure) in try Value(spec: entry.value) }
            let found = self.config.find(path)?.value ?? .null
            return found.isSame(as: wanted ?? .bool(true), numbersByWorth: true)
        case (nil, let profile?):
            guard let name = profile.value.text, !name.isEmpty else {
                throw spec.failure(
                    "expected the name of a profile, found \(profile.value.described)", at: profile, "profile")
            }
            if let other = parameters["is"] {
                throw spec.failure("a profile is active or not: 'is' belongs to 'config'", at: other, "is")
            }
            uses.insert(.configuration(Name(TraitSpec.profiles)))
            guard !config.hasProfile(name) else { return true }
            return try isActiveByEnvironment(name, spec)
        default:
            throw spec.failure("expected either 'config', a configuration path, or 'profile', the name of a profile")
        }
    }
}

extension TraitFlattener {
    /// Whether the environment activates a profile.
    fileprivate func isActiveByEnvironment(_ name: String, _ spec: TraitSpec) throws(Failure) -> Bool {
        guard let bytes = environment[Self.profiles] else { return false }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(
                .encoding, "the environment variable '\(Self.profiles)' is not UTF-8", path: spec.path(of: ["profile"]),
                at: spec.typeLocation)
        }
        return text.split(separator: ",").contains { part in
            let start = part.drop { $0 == " " }
            return start.prefix { $0 != " " } == name[...] && start.drop { $0 != " " }.allSatisfy { $0 == " " }
        }
    }
}

extension ConfigTree {
    /// Whether a profile is active: `profiles` is a list of names, or one name.
    fileprivate func hasProfile(_ name: String) -> Bool {
        switch find(TraitSpec.profiles)?.value {
        case .list(let names)?: names.contains { $0.isSame(as: .string(name)) }
        case .string(let only)?: only.isSameName(as: name)
        default: false
        }
    }
}

extension TraitSpec {
    /// The parameters by name. Throws for unknown ones.
    fileprivate func parameters(known: [String]) throws(Failure) -> [String: SpecEntry] {
        var found: [String: SpecEntry] = [:]
        var failures: [Failure] = []
        for parameter in parameters {
            guard known.contains(parameter.key) else {
                let near = suggestion(for: parameter.key, among: known)
                failures.append(
                    failure(
                        "\(type) has no parameter \(quoted(parameter.key))"
                            + (near.isEmpty ? "; expected \(known.joined(separator: ", "))" : near), at: nil,
                        parameter.key, parameter.keyLocation))
                continue
            }
            found[parameter.key] = parameter
        }
        if let failure = Failure.gathered(failures) { throw failure }
        return found
    }

    fileprivate func failure(_ message: String) -> Failure {
        Failure(.spec, message, path: parametersPath, at: typeLocation)
    }

    fileprivate func failure(_ message: String, at entry: SpecEntry?, _ name: String, _ location: Location? = nil)
        -> Failure
    {
        Failure(.spec, message, path: path(of: [name]), at: location ?? entry?.value.location ?? typeLocation)
    }
}
