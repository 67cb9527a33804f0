internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoWiring

/// Finds paths of definitions that repeat the name of their assembly: `synth.size` in `synth` leads to `synth.synth.size`. If such a
/// path has a default, or its entries have definitions, no error reports it.
struct RepeatedNames {
    /// Paths without the repeated name, with the definitions that may read them with it.
    private typealias Repetitions = [String: Set<UInt32>]

    private let planner: Planner
    private let before: Snapshot
    private let names: KeyNames
    private let wiring: NextWiring

    init(_ planner: Planner, _ wiring: NextWiring) {
        (self.planner, self.wiring) = (planner, wiring)
        (before, names) = (planner.before, planner.names)
    }

    /// Returns paths that repeat a name and have no value, while the path without the repetition has a value or a
    /// reader. Examines the paths that a plan reads or configures for the first time.
    func find() throws(Failure) -> [UnreadEntry] {
        let repetitions = try repetitions()
        guard !repetitions.isEmpty else { return [] }
        let tree = wiring.config.layers?.tree ?? before.config.tree
        let planned = plannedReaders()
        var found: [UnreadEntry] = []
        for (path, holders) in repetitions.sorted(by: { $0.key < $1.key }) where found.count < Failure.most {
            try Loading.check()
            let node = tree.find(path)
            let repeated = Self.repeating(path)
            guard tree.find(repeated) == nil, node != nil || !readers(of: path, planned).isEmpty else {
                continue
            }
            for holder in holders.union(readers(of: repeated, planned)).sorted() {
                guard let definition = planner.next(holder, wiring.definitions),
                    let flat = planner.flatNext(holder, wiring.definitions, wiring.compiled)
                else { continue }
                let candidates = ConfigPath.candidates(path, for: flat)
                guard definition.reads(config: path) || flat.reads(config: path), candidates.contains(repeated),
                    candidates.allSatisfy({ tree.find($0) == nil })
                else { continue }
                let location = node?.location ?? definition.location
                found.append(
                    UnreadEntry(path: path, location: location, near: repeated, kind: .repeated(by: definition.key)))
                break
            }
        }
        return found
    }

    private static func repeating(_ path: String) -> String { "\(ConfigPath.names(path)[0]).\(path)" }

    private func repetitions() throws(Failure) -> Repetitions {
        guard planner.registrations.hasReadPaths else { return [:] }
        var found: Repetitions = [:]
        var sought: Set<String> = []
        for entry in wiring.config.changes where entry.node != nil && entry.path.contains(".") {
            let isNew = names.id(ofConfig: entry.path).flatMap { planner.graph.setting($0) } == nil
            if isNew && names.id(ofConfig: Self.repeating(entry.path)) != nil { sought.insert(entry.path) }
        }
        for case let pattern? in wiring.definitions.changed.values {
            if let path = pattern.body.each, path.contains(".") { found[path, default: []].insert(pattern.id) }
        }
        var seen: Set<UInt32> = []
        for (count, recipe) in wiring.compiled.recipes.values.enumerated() {
            if count % 64 == 63 { try Loading.check() }
            let new = recipe.references.edges.filter { seen.insert($0.id).inserted }
            guard !new.isEmpty else { continue }
            for edge in new {
                guard let path = names.configPath(edge.id), before.links.dependents.holders(of: edge.id).isEmpty else {
                    continue
                }
                let parts = ConfigPath.names(path)
                guard parts.count > 1 else { continue }
                // It may repeat a name, or be the path that another definition repeats a name of.
                if parts.count > 2, parts[0] == parts[1] { sought.insert(parts.dropFirst().joined(separator: ".")) }
                if names.id(ofConfig: Self.repeating(path)) != nil { sought.insert(path) }
            }
        }
        guard !sought.isEmpty else { return found }
        let patterns = patternsNext()
        for path in sought where found[path] == nil { found[path] = patterns[path] ?? [] }
        return found
    }

    /// The definitions for each entry after the plan, by their paths.
    private func patternsNext() -> [String: Set<UInt32>] {
        var found: [String: Set<UInt32>] = [:]
        let stay = before.links.patterns.all.filter { wiring.definitions.changed[$0] == nil }.compactMap {
            before.definitions[$0]
        }
        for pattern in stay + wiring.definitions.changed.values.compactMap({ $0 }) {
            if let path = pattern.body.each { found[path, default: []].insert(pattern.id) }
        }
        return found
    }

    /// The definitions that the plan compiles, by the keys and paths that they read.
    private func plannedReaders() -> [UInt32: [UInt32]] {
        var found: [UInt32: [UInt32]] = [:]
        for (holder, recipe) in wiring.compiled.recipes {
            for edge in recipe.references.edges { found[edge.id, default: []].append(holder) }
        }
        return found
    }

    /// The definitions that read a path after the plan.
    private func readers(of path: String, _ planned: [UInt32: [UInt32]]) -> [UInt32] {
        guard let id = names.id(ofConfig: path) else { return [] }
        let stay = before.links.dependents.holders(of: id).filter { holder in
            if wiring.compiled.recipes[holder] != nil { return false }
            if let planned = wiring.definitions.changed[holder], planned == nil { return false }
            return true
        }
        return stay + (planned[id] ?? [])
    }
}
