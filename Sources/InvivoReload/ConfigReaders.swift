internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph

/// The paths of the configuration that are read after a plan.
final class ConfigReaders {
    private let planner: Planner
    private let wiring: NextWiring
    private let others: Set<UInt32>
    private lazy var paths = planner.registrations.readPaths
    private let rules: RuleTable
    private let bindings: BindingTable
    /// The paths of the planned definitions for each entry. These read the entries, and the values in them that they name.
    private let plannedPatterns: Set<String>
    private lazy var planned = Set(wiring.compiled.recipes.values.flatMap { $0.references.edges.map(\.id) })

    init(_ planner: Planner, _ wiring: NextWiring) {
        self.planner = planner
        self.wiring = wiring
        rules = wiring.rules ?? planner.before.rules
        bindings = wiring.bindings ?? planner.before.constraints.bindings
        plannedPatterns = wiring.definitions.patternPaths
        others = planner.registrations.hostPaths
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
    private var hasPatterns: Bool { !plannedPatterns.isEmpty || !planner.before.links.patterns.isEmpty }
    func isPattern(_ id: UInt32?) -> Bool {
        guard hasPatterns, let id, let path = planner.names.configPath(id) else { return false }
        return plannedPatterns.contains(path)
            || planner.before.links.patterns[path].contains { wiring.definitions.changed[$0] == nil }
    }

    /// Whether a condition of a trait reads the path.
    private func isCondition(_ path: String) -> Bool {
        planner.before.traits.uses.isUsed(.configuration(Name(path)))
            || wiring.staged.documents.contains { $0.next.traits.conditions.contains(path) }
    }

    private func isNamed(_ id: UInt32) -> Bool { isPattern(id) || isRead(id) }

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
        var budget = PathTrie.Budget(nodes: UnreadSearch.searched)
        return paths.nearest(to: path, limit: 2, &budget) { id in
            self.isPattern(id) || isRead(id)
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
