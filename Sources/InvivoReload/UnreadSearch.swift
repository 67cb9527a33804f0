internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph

/// Finds entries of the configuration that nothing reads after a plan. Reads of a running program are not known in advance.
struct UnreadSearch {
    let planner: Planner
    let before: Snapshot
    let names: KeyNames
    let wiring: NextWiring

    init(_ planner: Planner, _ wiring: NextWiring) {
        (self.planner, self.wiring) = (planner, wiring)
        (before, names) = (planner.before, planner.names)
    }

    /// Returns the entries that nothing reads and that resemble a path that is read. Examines the entries that a plan
    /// adds, and those that resemble a path that it reads for the first time.
    func misspelled() throws(Failure) -> [UnreadEntry] {
        var found: [UnreadEntry] = []
        if wiring.config.changes.contains(where: { $0.node != nil }) {
            found = try unread(wiring.config.changes.elements) { id in
                id.map { planner.graph.setting($0) == nil } ?? true
            }
        }
        let newPaths = tree.root.map?.isEmpty == false ? try newPaths() : []
        func add(_ entries: [ConfigTree.Change], _ isSought: (String) -> Bool) throws(Failure) {
            let known = Set(found.map(\.path))
            found += try unread(entries) { _ in true }.filter { entry in
                !known.contains(entry.path) && entry.near.map(isSought) == true
            }
        }
        if let resembling = resembling(newPaths) { try add(resembling.entries, resembling.isSought) }
        // A variable may resemble a path that a document configures, too.
        if !newPaths.isEmpty, let variables = config.environmentTree {
            let sought = Set(newPaths.flatMap(ConfigPath.around))
            try add(try variables.changes(since: ConfigTree()).elements, sought.contains)
        }
        let repeated = try RepeatedNames(planner, wiring).find()
        let reported = Set(repeated.map { [$0.path, $0.near] })
        return found.filter { $0.near != nil && !reported.contains([$0.path, $0.near]) } + repeated
    }

    /// Returns the paths that the plan is the first to read.
    func newPaths() throws(Failure) -> [String] {
        let others = planner.registrations.hostPaths
        var seen: Set<UInt32> = []
        var paths: [String] = []
        for (count, recipe) in wiring.compiled.recipes.values.enumerated() {
            if count % 64 == 63 { try Loading.check() }
            for edge in recipe.references.edges where seen.insert(edge.id).inserted {
                guard let path = names.configPath(edge.id), !others.contains(edge.id),
                    before.links.dependents.holders(of: edge.id).isEmpty
                else { continue }
                paths.append(path)
            }
        }
        for input in wiring.set.functions.rules.added.flatMap(\.inputs)
        where !RuleTable.properties(input).contains(where: { names.id(of: $0.key) != nil }) {
            paths.append(RuleTable.path(input))
        }
        return paths + wiring.set.functions.settings.added.map(\.path).filter { !$0.isEmpty }
    }

    /// Returns the entries that resemble a path without a value. Outer entries come before inner ones.
    private func resembling(_ paths: [String]) -> ConfigTree.Resembling? {
        let missing = paths.filter { tree.find($0) == nil }
        guard !missing.isEmpty else { return nil }
        var search = ConfigTree.Resembling(budget: Self.searched)
        for path in missing { search.find(path, in: tree) }
        return search
    }

    /// The configuration after the plan.
    var config: ConfigLayers { wiring.config.layers ?? before.config }

    var tree: ConfigTree { config.tree }

    /// All entries of a plan that nothing reads.
    func unread() throws(Failure) -> [UnreadEntry] {
        try unread(try wiring.config.layers?.tree.changes(since: ConfigTree()).elements ?? []) { _ in true }
    }

    /// How many nodes of the tree of paths one search may look at in all, so that it never takes long.
    static let searched = 200_000

    /// Returns the new entries that nothing reads: the outermost misspelled one, or else the values. In `entries`,
    /// outer entries come before inner ones.
    private func unread(
        _ entries: [ConfigTree.Change], isNew: (UInt32?) -> Bool
    ) throws(Failure) -> [UnreadEntry] {
        /// An entry that encloses the examined ones.
        struct Outer {
            let id: UInt32?
            let prefix: String
            /// It is read as a whole, or reported.
            let isDone: Bool
        }
        let readers = ConfigReaders(planner, wiring)
        var budget = PathTrie.Budget(nodes: Self.searched)
        var found: [UnreadEntry] = []
        var misspelled = 0
        var outer: [Outer] = []
        for (count, entry) in entries.enumerated() where entry.node != nil && !entry.path.isEmpty {
            if count % 64 == 63 { try Loading.check() }
            while let last = outer.last, !entry.path.utf8.starts(with: last.prefix.utf8) { outer.removeLast() }
            let id = names.id(ofConfig: entry.path)
            let isCounted = readers.isPattern(id) || readers.isPattern(outer.last?.id)
            var isDone = outer.last?.isDone == true || readers.isRead(id)
            if !isDone, !isCounted, let node = entry.node, isNew(id), !readers.isRead(below: entry.path) {
                let isValue = node.map?.isEmpty ?? true
                let near = misspelled < Failure.most ? readers.nearest(to: entry.path, &budget) : nil
                if near != nil { misspelled += 1 }
                if near != nil || isValue {
                    found.append(UnreadEntry(path: entry.path, location: node.firstLocation, near: near))
                    isDone = true
                }
            }
            outer.append(Outer(id: id, prefix: entry.path + ".", isDone: isDone))
        }
        return found
    }
}
