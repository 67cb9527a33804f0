internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoSpec
internal import InvivoWiring

/// Plans the definitions of patterns: one for each entry of a map or list of the configuration.
///
/// Adding, removing or changing an entry affects only the definition of that entry.
struct PatternExpansion {
    private let before: Snapshot
    private let names: KeyNames
    private let config: ConfigPlan
    /// The largest number of entries for one pattern.
    private let mostEntries: Int

    init(_ before: Snapshot, _ names: KeyNames, _ config: ConfigPlan, mostEntries: Int) {
        self.before = before
        self.names = names
        self.config = config
        self.mostEntries = mostEntries
    }

    /// The configuration after the plan.
    private var nextConfig: ConfigLayers { config.layers ?? before.config }

    /// Adds the definitions of entries to a plan, and removes those of removed entries.
    func plan(_ definitions: inout DefinitionPlan, _ failures: inout [Failure]) throws(Failure) {
        var ids = Set(definitions.changed.compactMap { id, definition in definition?.body.each == nil ? nil : id })
        // Of the others those with other entries, at another place, or with a changed inline definition.
        let others = concernedByConfig().union(definitions.moved.keys).union(owners(of: definitions.changed.keys))
        ids.formUnion(others.filter { before.definitions[$0]?.body.each != nil && definitions.changed[$0] == nil })
        for id in ids.sorted() {
            guard let pattern = definitions.changed[id] ?? definitions.moved[id] ?? before.definitions[id] else {
                continue
            }
            try Loading.check()
            do throws(Failure) { try expand(pattern, &definitions) } catch {
                // A load that has timed out.
                try Loading.check()
                failures += error.all.map { one in
                    var failure = one
                    if failure.location.file.isEmpty { failure.location = pattern.location }
                    if failure.path.isEmpty { failure.path = pattern.key }
                    return failure
                }
            }
        }
    }

    /// The patterns whose path has another value, order or secrecy.
    private func concernedByConfig() -> Set<UInt32> {
        guard !before.links.patterns.isEmpty else { return [] }
        guard nextConfig.secrets == before.config.secrets else { return before.links.patterns.all }
        let paths = config.changes.map(\.path) + config.changes.reordered
        return Set(paths.flatMap { before.links.patterns[$0] })
    }

    /// The definitions of whose inline definitions, other than those of entries, these are.
    private func owners(of ids: some Sequence<UInt32>) -> Set<UInt32> {
        Set(
            ids.compactMap { id in
                guard let body = before.definitions[id]?.body, body.entry == nil else { return nil }
                return body.owner.flatMap(names.id(of:))
            })
    }

    private func expand(_ pattern: Definition, _ definitions: inout DefinitionPlan) throws(Failure) {
        let family = family(of: pattern, &definitions)
        let keys = Set(family.map(\.key))
        var present: Set<UInt32> = []
        let entries = try entries(of: pattern)
        let positions = try positions(of: entries, pattern)
        for (entry, position) in zip(entries, positions) {
            try Loading.check()
            let instance = instance(of: pattern, entry)
            func rename(_ key: String) -> String {
                keys.contains(key) ? instance + key.dropFirst(pattern.key.count) : key
            }
            for member in family {
                let key = rename(member.key)
                let id = try names.intern(key)
                // Inline definitions of an entry are removed with the entry's definition, and that with the pattern.
                let definition = member.of(entry, id: id, key: key, rename).with { body in
                    body.owner = member.id == pattern.id ? pattern.key : body.owner
                    body.order = member.body.order.at(position)
                }
                present.insert(id)
                let live = before.definitions[id]
                if let other = (definitions.changed[id] ?? live), other.body.entry == nil {
                    throw AssemblyDescription.twice(key, other, definition)
                }
                guard let live, live.isSame(as: definition) else {
                    definitions.changed[id] = .some(definition)
                    continue
                }
                switch definitions.changed[id] {
                // Compiled again for another reason: a parent, an override, a base value.
                case .some(.some(let planned)):
                    definitions.changed[id] = .some(planned.with { $0.order = definition.body.order })
                case .some(.none): definitions.changed.removeValue(forKey: id)
                case .none: break
                }
                if live.body.order != definition.body.order {
                    definitions.moved[id] = live.with { $0.order = definition.body.order }
                }
            }
        }
        // Definitions of removed entries, and their inline definitions.
        var queue = present.union([pattern.id])
        while let id = queue.popFirst() {
            let gone = before.links.inlines[id].filter {
                before.definitions[$0]?.body.entry != nil && !present.contains($0)
            }
            for inline in gone { definitions.changed[inline] = .some(nil) }
            queue.formUnion(gone)
        }
    }

    /// Returns a pattern and its inline definitions, at any depth. They create nothing by themselves.
    private func family(of pattern: Definition, _ definitions: inout DefinitionPlan) -> [Definition] {
        var children: NameTable<[Definition]> = [:]
        for definition in definitions.changed.values {
            if let definition, let owner = definition.body.owner, definition.body.entry == nil {
                children[owner, default: []].append(definition)
            }
        }
        var found = [pattern]
        var next = 0
        while next < found.count {
            let holder = found[next]
            next += 1
            let kept = before.links.inlines[holder.id].filter { definitions.changed[$0] == nil }.compactMap {
                definitions.moved[$0] ?? before.definitions[$0]
            }
            for child in (children[holder.key] ?? []) + kept where child.body.entry == nil {
                let marked = child.body.isPattern ? child : child.with { $0.isPattern = true }
                if definitions.changed[child.id] != nil { definitions.changed[child.id] = .some(marked) }
                found.append(marked)
            }
        }
        return [pattern] + found.dropFirst().sorted { $0.key < $1.key }
    }

    // MARK: entries

    private func instance(of pattern: Definition, _ entry: ConfigEntry) -> String { "\(pattern.key)[\(entry.name)]" }

    /// The positions of the definitions of entries, in the order of the configuration.
    private func positions(of entries: [ConfigEntry], _ pattern: Definition) throws(Failure) -> [Int] {
        var known: [Int?] = []
        var steps = LoadSteps()
        for entry in entries {
            try steps.step()
            let live = before.definitions[try names.intern(instance(of: pattern, entry))]
            known.append(live?.body.entry == nil ? nil : live?.body.order.position)
        }
        return EntryPositions.following(known)
    }

    /// Returns the entries at the pattern's path; none if the path is not configured.
    private func entries(of pattern: Definition) throws(Failure) -> [ConfigEntry] {
        let tree = nextConfig.tree
        for path in ConfigPath.candidates(pattern.body.each ?? "", for: pattern) {
            guard let node = tree.find(path) else { continue }
            guard !nextConfig.secrets.contains(path) else {
                throw Failure(
                    .unsupported,
                    "'\(pattern.key)' is for each entry of '\(path)', which is secret: the names of the entries would be keys, which "
                        + "reports and graphs show; use a path that is not secret, and declare the secret values in the entries",
                    path: "config.\(path)", at: node.location)
            }
            switch node.content {
            case .map(let pairs):
                return try checked(
                    pairs.map { ConfigEntry(name: $0.name, path: "\(path).\($0.name)", node: $0.node) }, path)
            case .list(let items):
                var found: [ConfigEntry] = []
                for item in items { found.append(ConfigEntry(name: try name(of: item, path), path: nil, node: item)) }
                return try checked(found, path)
            case .value:
                throw Failure(
                    .type,
                    "'\(pattern.key)' is for each entry of a map or list, and here is \(node.value.kind.withArticle)",
                    path: "config.\(path)", at: node.location)
            }
        }
        return []
    }

    /// Returns the name that identifies an entry of a list.
    private func name(of item: ConfigNode, _ path: String) throws(Failure) -> String {
        let named = item.map == nil ? item : item["name"]
        switch named?.value {
        case .string(let text)?: return text
        case .some(let value):
            if let number = value.signedInteger { return "\(number)" }
        case nil: break
        }
        throw Failure(
            .spec,
            "an entry of a list is known by its text or number, or as a map by its 'name', and this one has none; or write a map",
            path: "config.\(path)", at: item.location)
    }

    private func checked(_ entries: [ConfigEntry], _ path: String) throws(Failure) -> [ConfigEntry] {
        guard entries.count <= mostEntries else {
            throw Failure(
                .tooLarge,
                "there are \(entries.count) entries, at most \(mostEntries) are allowed where a definition is "
                    + "for each; max_each_entries permits more",
                path: "config.\(path)", at: entries[mostEntries].node.location)
        }
        var seen: NameSet = []
        var steps = LoadSteps()
        for entry in entries {
            try steps.step()
            guard !entry.name.isEmpty, !entry.name.contains(where: { ".[]".contains($0) }) else {
                throw Failure(
                    .spec,
                    "\(quoted(entry.name)) is no name for an entry: it is part of a key, without dots and brackets",
                    path: "config.\(path)", at: entry.node.location)
            }
            guard seen.insert(entry.name).inserted else {
                throw Failure(
                    .exists, "two entries are \(quoted(entry.name))", path: "config.\(path)", at: entry.node.location)
            }
        }
        return entries
    }
}
