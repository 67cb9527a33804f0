internal import InvivoBase
internal import InvivoConfig
internal import InvivoSpec

/// Conditions and inherited keys that are most likely misspelled.
extension Planner {
    /// Returns the conditions that do not hold because their names mean nothing, and that resemble a name with a meaning.
    func misspelledConditions(_ traits: TraitsNext, _ wiring: NextWiring) throws(Failure) -> [DoubtfulName] {
        guard !traits.unmet.isEmpty else { return [] }
        let search = InputSearch(self, wiring)
        var nearPaths: [String: String?] = [:]
        var seen: Set<Location> = []
        var found: [DoubtfulName] = []
        for condition in traits.unmet where found.count < Failure.most && seen.insert(condition.location).inserted {
            try Loading.check()
            switch condition.subject {
            case .path(let path):
                guard nearPaths[path] != nil || nearPaths.count < Self.mostSearches else { continue }
                let near = nearPaths[path] ?? search.near(condition: path)
                nearPaths[path] = .some(near)
                guard let near else { continue }
                found.append(
                    DoubtfulName(
                        key: condition.key, finding: .condition, isCertain: Self.areLong(path, near),
                        path: condition.path,
                        location: condition.location,
                        message: condition.isInserted
                            ? "the condition reads a path that nothing configures\(suggestion(near))"
                            : "the condition reads '\(path)', which nothing configures\(suggestion(near))",
                        readPath: (path, near)))
            case .profile(let name):
                guard !condition.isInserted, let near = nearestWord(to: name, among: traits.shownProfiles) else {
                    continue
                }
                let isNamed = traits.isUsed(.profile(Name(near)))
                found.append(
                    DoubtfulName(
                        key: condition.key, finding: .condition, isCertain: !isNamed, path: condition.path,
                        location: condition.location,
                        message: "the profile \(quoted(name)) is not active"
                            + (isNamed ? "" : ", and no condition names the active profile '\(near)'")
                            + suggestion(near)))
            }
        }
        return found
    }

    /// Whether the names that differ are so long that their similarity is no chance.
    private static func areLong(_ path: String, _ near: String) -> Bool {
        zip(ConfigPath.names(path), ConfigPath.names(near)).allSatisfy {
            $0 == $1 || max($0.utf8.count, $1.utf8.count) >= 4
        }
    }

    /// The number of different paths that one plan searches for.
    private static let mostSearches = 200

    /// Returns the keys that begin with a dot, among these, whose traits nothing inherits.
    func unreadTemplates(
        _ keys: [(key: String, location: Location)], _ traits: TraitsNext, _ wiring: NextWiring
    ) throws(Failure) -> (doubtful: [DoubtfulName], unread: [UnreadEntry]) {
        var doubtful: [DoubtfulName] = []
        var unread: [UnreadEntry] = []
        var inherited: [String]?
        for (key, location) in keys where key.hasPrefix(".") && !traits.isInherited(key) {
            guard traits.specKeys.users(of: key).isEmpty else { continue }
            try Loading.check()
            let path = "traits.\(key)"
            unread.append(UnreadEntry(path: path, location: location, near: nil))
            guard doubtful.count < Failure.most else { continue }
            let target = String(key.dropFirst())
            let isTarget = names.id(of: target).map { isDefined($0, wiring) } ?? false
            let known = inherited ?? traits.inheritedKeys.sorted()
            inherited = known
            guard let near = isTarget ? target : nearestWord(to: key, among: known) else { continue }
            doubtful.append(
                DoubtfulName(
                    key: key, finding: .unreadTraits, isCertain: isTarget, path: path, location: location,
                    message:
                        "a key that begins with a dot is only inherited, and nothing inherits '\(key)'\(suggestion(near))"
                ))
        }
        return (doubtful, unread)
    }

    private func isDefined(_ id: UInt32, _ wiring: NextWiring) -> Bool {
        next(id, wiring.definitions) != nil || !observed.targets(id).isEmpty
    }
}
