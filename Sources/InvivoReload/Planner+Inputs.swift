internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph

/// Inputs of rules that nothing defines.
extension Planner {
    /// Returns warnings about inputs of new rules that nothing defines or reads, and that resemble something. A rule without a similar
    /// name may wait for a value that comes later.
    /// `reported` are entries with a warning of their own.
    func misspelledInputs(
        _ wiring: NextWiring, besides reported: [UnreadEntry]
    ) throws(Failure) -> [Report.Warning] {
        let added = wiring.set.functions.rules.added
        guard !added.isEmpty else { return [] }
        let search = InputSearch(self, wiring)
        var warnings: [Report.Warning] = []
        for rule in added {
            for input in rule.inputs {
                try Loading.check()
                let path = RuleTable.path(input)
                let isReported = reported.contains { entry in
                    entry.near.map { path == $0 || path.hasPrefix("\($0).") } ?? false
                }
                guard !isReported, let near = search.near(input) else { continue }
                warnings.append(
                    Report.Warning(
                        .unread,
                        "the rule '\(rule.name)' reads '\(input)', which nothing defines\(suggestion(near))",
                        at: Location()))
            }
        }
        return warnings
    }
}
