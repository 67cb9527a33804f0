internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph
internal import InvivoWiring

/// Paths of definitions that repeat the name of their assembly: `synth.size` in `synth` leads to `synth.synth.size`. Where such a
/// path has a default, or its entries have definitions, no error reports it.
extension Planner {
    /// Paths without the repeated name, with the definitions that may read them with it.
    private typealias Repetitions = [String: Set<UInt32>]

    /// Of the paths that a plan reads or configures for the first time, those that repeat a name and have nothing, while
    /// something has or reads the path without the repetition.
    func repeatedNames(_ plan: Plan) throws(Failure) -> [UnreadEntry] {
        let repetitions = try repetitions(plan)
        guard !repetitions.isEmpty else { return [] }
        let tree = plan.config?.tree ?? before.config.tree
        let planned = readers(in: plan)
        var found: [UnreadEntry] = []
        for (path, holders) in repetitions.sorted(by: { $0.key < $1.key }) where found.count < Failure.most {
            try Loading.check()
            let node = tree.find(path)
            let repeated = Self.repeating(path)
            guard tree.find(repeated) == nil, node != nil || !readers(of: path, plan, planned).isEmpty else { continue }
            for holder in holders.union(readers(of: repeated, plan, planned)).sorted() {
                guard let definition = next(holder, plan), let flat = flatNext(holder, plan) else { continue }
                let candidates = ConfigPath.candidates(path, for: flat)
                guard definition.reads(config: path) || flat.reads(config: path), candidates.contains(repeated),
                    candidates.allSatisfy({ tree.find($0) == nil })
                else { continue }
                let place = node?.place ?? definition.place
                found.append(UnreadEntry(path: path, place: place, near: repeated, reader: definition.key))
                break
            }
        }
        return found
    }

    private static func repeating(_ path: String) -> String { "\(ConfigPath.names(path)[0]).\(path)" }

    private func repetitions(_ plan: Plan) throws(Failure) -> Repetitions {
        guard registrations.hasReadPaths else { return [:] }
        var found: Repetitions = [:]
        var sought: Set<String> = []
        for entry in plan.settings where entry.node != nil && entry.path.contains(".") {
            let isNew = names.id(ofConfig: entry.path).flatMap { graph.setting($0) } == nil
            if isNew && names.id(ofConfig: Self.repeating(entry.path)) != nil { sought.insert(entry.path) }
        }
        for case let pattern? in plan.definitions.values {
            if let path = pattern.body.each, path.contains(".") { found[path, default: []].insert(pattern.id) }
        }
        var seen: Set<UInt32> = []
        for (count, recipe) in plan.recipes.values.enumerated() {
            if count % 64 == 63 { try Loading.check() }
            let new = recipe.edges.filter { seen.insert($0.id).inserted }
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
        let patterns = patternsNext(plan)
        for path in sought where found[path] == nil { found[path] = patterns[path] ?? [] }
        return found
    }

    /// The definitions for each entry after the plan, by their paths.
    private func patternsNext(_ plan: Plan) -> [String: Set<UInt32>] {
        var found: [String: Set<UInt32>] = [:]
        let stay = before.links.patterns.filter { plan.definitions[$0] == nil }.compactMap { before.definitions[$0] }
        for pattern in stay + plan.definitions.values.compactMap({ $0 }) {
            if let path = pattern.body.each { found[path, default: []].insert(pattern.id) }
        }
        return found
    }

    private func readers(in plan: Plan) -> [UInt32: [UInt32]] {
        var found: [UInt32: [UInt32]] = [:]
        for (holder, recipe) in plan.recipes { for edge in recipe.edges { found[edge.id, default: []].append(holder) } }
        return found
    }

    /// The definitions that read a path after the plan.
    private func readers(of path: String, _ plan: Plan, _ planned: [UInt32: [UInt32]]) -> [UInt32] {
        guard let id = names.id(ofConfig: path) else { return [] }
        let stay = before.links.dependents.holders(of: id).filter { holder in
            if plan.recipes[holder] != nil { return false }
            if let planned = plan.definitions[holder], planned == nil { return false }
            return true
        }
        return stay + (planned[id] ?? [])
    }
}
