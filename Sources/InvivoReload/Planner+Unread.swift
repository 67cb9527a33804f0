public import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoWiring

/// An entry of the configuration that nothing reads.
public struct UnreadEntry: Sendable {
    public let path: String
    public let location: Location
    /// A similar path that is read; nil if there is none.
    public let near: String?
    /// The definition that reads `near` because its path repeats the name of its assembly; nil for a misspelled entry.
    var reader: String?

    /// The warning about a misspelled one.
    var text: String {
        guard let near else { return "'\(path)' is not read by anything" }
        guard let reader else { return "'\(path)' is not read by anything\(suggestion(near))" }
        return "'\(reader)' reads '\(near)', which is not configured: a path begins after the assembly's name; "
            + "write '\(path.dropFirst(ConfigPath.names(path)[0].count + 1))' for '\(path)', or '/\(near)'"
    }

    /// The warning as an error of a check.
    var failure: Failure {
        var failure = Failure(.notConfigured, text, path: "config.\(path)", at: location)
        failure.finding = .unread
        return failure
    }
}

/// Entries of the configuration that nothing reads. Calls that read the configuration when the program runs cannot be known.
extension Planner {
    /// Returns the entries that nothing reads and that resemble a path that is read. Examines the entries that a plan
    /// adds, and those that resemble a path that it reads for the first time.
    func misspelled(_ wiring: NextWiring) throws(Failure) -> [UnreadEntry] {
        var found: [UnreadEntry] = []
        if wiring.config.changes.contains(where: { $0.node != nil }) {
            found = try unread(wiring.config.changes, wiring) { id in id.map { graph.setting($0) == nil } ?? true }
        }
        let resembling = try resemblingNewPaths(wiring)
        if let resembling {
            let known = Set(found.map(\.path))
            found += try unread(resembling.entries, wiring) { _ in true }.filter { entry in
                !known.contains(entry.path) && entry.near.map(resembling.isSought) == true
            }
        }
        let repeated = try repeatedNames(wiring)
        let reported = Set(repeated.map { [$0.path, $0.near] })
        return found.filter { $0.near != nil && !reported.contains([$0.path, $0.near]) } + repeated
    }

    /// Returns the entries that resemble a path without a value that the plan is the first to read. Outer entries come
    /// before inner ones.
    private func resemblingNewPaths(_ wiring: NextWiring) throws(Failure) -> ConfigTree.Resembling? {
        let tree = wiring.config.layers?.tree ?? before.config.tree
        guard tree.root.map?.isEmpty == false else { return nil }
        let others = registrations.hostPaths
        var seen: Set<UInt32> = []
        var search = ConfigTree.Resembling(budget: Self.searched)
        for (count, recipe) in wiring.compiled.recipes.values.enumerated() {
            if count % 64 == 63 { try Loading.check() }
            for edge in recipe.references.edges where seen.insert(edge.id).inserted {
                guard let path = names.configPath(edge.id) else { continue }
                guard !others.contains(edge.id), before.links.dependents.holders(of: edge.id).isEmpty,
                    tree.find(path) == nil
                else {
                    continue
                }
                search.find(path, in: tree)
            }
        }
        for input in wiring.set.functions.rules.added.flatMap(\.inputs)
        where !RuleTable.properties(input).contains(where: { names.id(of: $0.key) != nil }) {
            let path = RuleTable.path(input)
            if tree.find(path) == nil { search.find(path, in: tree) }
        }
        for path in wiring.set.functions.settings.added.map(\.path) where !path.isEmpty && tree.find(path) == nil {
            search.find(path, in: tree)
        }
        return search
    }

    /// All entries of a plan that nothing reads.
    func unread(_ wiring: NextWiring) throws(Failure) -> [UnreadEntry] {
        try unread(try wiring.config.layers?.tree.changes(since: ConfigTree()) ?? [], wiring) { _ in true }
    }

    /// How many nodes of the tree of paths one search may look at in all, so that it never takes long.
    static let searched = 200_000

    /// Returns the new entries that nothing reads: the outermost misspelled one, or else the values. In `entries`,
    /// outer entries come before inner ones.
    private func unread(
        _ entries: [ConfigTree.Change], _ wiring: NextWiring, isNew: (UInt32?) -> Bool
    ) throws(Failure) -> [UnreadEntry] {
        /// An entry that encloses the examined ones.
        struct Outer {
            let id: UInt32?
            let prefix: String
            /// It is read as a whole, or reported.
            let isDone: Bool
        }
        let readers = ConfigReaders(self, wiring)
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
                    found.append(UnreadEntry(path: entry.path, location: node.location, near: near))
                    isDone = true
                }
            }
            outer.append(Outer(id: id, prefix: entry.path + ".", isDone: isDone))
        }
        return found
    }
}

/// The paths of the configuration that are read after a plan.
final class ConfigReaders {
    private let planner: Planner
    private let wiring: NextWiring
    private let others: Set<UInt32>
    private lazy var paths = planner.registrations.readPaths
    private let rules: RuleTable
    private let bindings: BindingTable
    /// Paths with definitions for each entry. These read the entries, and the values in them that they name.
    private let patterns: Set<UInt32>
    private lazy var planned = Set(wiring.compiled.recipes.values.flatMap { $0.references.edges.map(\.id) })

    init(_ planner: Planner, _ wiring: NextWiring) {
        self.planner = planner
        self.wiring = wiring
        rules = wiring.rules ?? planner.before.rules
        bindings = wiring.bindings ?? planner.before.constraints.bindings
        let patterns =
            planner.before.links.patterns.filter { wiring.definitions.changed[$0] == nil }.compactMap {
                planner.before.definitions[$0]
            }
            + wiring.definitions.changed.values.compactMap { $0?.body.each == nil ? nil : $0 }
        others = planner.registrations.hostPaths
        let paths = patterns.flatMap { ConfigPath.candidates($0.body.each ?? "", for: $0) }
        self.patterns = Set(paths.compactMap(planner.registrations.noteRead))
    }

    /// Whether something reads this path, with all that lies below it.
    func isRead(_ id: UInt32?) -> Bool {
        guard let id else { return false }
        if !rules.isEmpty, let path = planner.names.configPath(id), !rules.rules(reading: path).isEmpty { return true }
        return isRead(besidesRules: id)
    }

    /// Whether something else than a rule reads this path, with all that lies below it.
    func isRead(besidesRules id: UInt32?) -> Bool {
        guard let id else { return false }
        if let path = planner.names.configPath(id), isCondition(path) { return true }
        return isRead(besidesConditions: id)
    }

    /// Whether something else than a rule or a condition reads this path, with all that lies below it.
    func isRead(besidesConditions id: UInt32?) -> Bool {
        guard let id else { return false }
        if others.contains(id) || planned.contains(id) { return true }
        if let path = planner.names.configPath(id), !bindings.bindings(at: path).isEmpty { return true }
        return planner.before.links.dependents.holders(of: id).contains { holder in
            if wiring.compiled.recipes[holder] != nil { return false }
            if let planned = wiring.definitions.changed[holder], planned == nil { return false }
            return true
        }
    }

    /// Whether there is a definition for each entry at this path.
    func isPattern(_ id: UInt32?) -> Bool { id.map(patterns.contains) ?? false }

    /// Whether a condition of a trait reads the path.
    private func isCondition(_ path: String) -> Bool {
        planner.before.traits.uses.isUsed(.configuration(Name(path)))
            || wiring.staged.documents.contains { $0.next.traits.conditions.contains(path) }
    }

    private func isNamed(_ id: UInt32) -> Bool { patterns.contains(id) || isRead(id) }

    func isRead(below path: String) -> Bool { paths.hasPath(below: path, isNamed) }

    /// The path that is read and spelled nearly as `path`.
    func nearest(to path: String, _ budget: inout PathTrie.Budget) -> String? {
        guard path.utf8.count <= Self.longest else { return nil }
        let names = ConfigPath.names(path)
        let near = paths.nearest(to: path, limit: 2, &budget, isNamed) { near, distance in
            Self.isMisspelled(names, path, ConfigPath.names(near), distance)
        }
        return near ?? section(path)
    }

    /// The path that is read in this way, or has a definition for each entry, and that is spelled nearly as `path`.
    func nearest(to path: String, where isRead: (UInt32) -> Bool) -> String? {
        guard path.utf8.count <= Self.longest else { return nil }
        let names = ConfigPath.names(path)
        var budget = PathTrie.Budget(nodes: Planner.searched)
        return paths.nearest(to: path, limit: 2, &budget) { id in
            self.patterns.contains(id) || isRead(id)
        } accepting: { near, distance in
            Self.isMisspelled(names, path, ConfigPath.names(near), distance)
        }
    }

    /// The section of an active assembly whose name continues that of `path`: `station` for `station_assembly`.
    private func section(_ path: String) -> String? {
        guard !path.contains(".") else { return nil }
        return (wiring.definitions.assemblies ?? planner.before.assemblies).names.sorted().first {
            $0.hasPrefix(path + "_") && isRead(below: $0)
        }
    }

    private static let longest = 256

    /// Names that differ only in digits, or in half of their letters or more, are different names. The paths above and
    /// below an entry are not misspellings of it.
    private static func isMisspelled(_ names: [String], _ path: String, _ near: [String], _ distance: Int) -> Bool {
        guard names.count == near.count else {
            return distance * 2 < path.utf8.count && !zip(names, near).allSatisfy { $0 == $1 }
        }
        return zip(names, near).allSatisfy { name, near in
            if name == near { return true }
            let isNumbered = name.utf8.filter { !isDigit($0) }.elementsEqual(near.utf8.filter { !isDigit($0) })
            return !isNumbered && distance * 2 < max(name.utf8.count, near.utf8.count)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
}
