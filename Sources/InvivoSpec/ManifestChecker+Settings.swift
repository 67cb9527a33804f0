internal import InvivoBase

/// Reads the sections that are settings.
extension ManifestChecker {
    /// A map from paths of sections to types, or to maps with a type and the name of the binding.
    mutating func settings(of root: SpecNode) -> [ManifestSettings] {
        guard let node = root["settings"] else { return [] }
        let path = SpecPath().key("settings")
        let entries = checker.map(node, "of sections and their types", path: path, hint: "write {} if there are none")
        var found: [ManifestSettings] = []
        for entry in entries ?? [] {
            guard let settings = settings(entry, path: path) else { continue }
            if let other = found.first(where: { $0.name.isSameName(as: settings.name) }) {
                checker.fail(
                    "the sections '\(other.section)' and '\(settings.section)' are both bound as '\(settings.name)': name one of them, "
                        + "as in { type: \(settings.type), name: other }", path: path.key(entry.key),
                    at: settings.location)
            }
            found.append(settings)
        }
        return found
    }

    private mutating func settings(_ entry: SpecEntry, path: SpecPath) -> ManifestSettings? {
        guard checker.checkName(entry, "the path of a section", path: path) else { return nil }
        let path = path.key(entry.key)
        let what = "the name of a settings type"
        func settings(_ type: String, _ name: String?, at location: Location) -> ManifestSettings {
            ManifestSettings(
                section: entry.key, type: type, name: name ?? type, location: location, path: path.text)
        }
        guard let map = entry.value.entries else {
            let type = checker.text(entry.value, "\(what), or a map such as '{ type: Audio, name: left }'", path: path)
            return type.map { settings($0, nil, at: entry.value.location) }
        }
        checker.refuseUnknownKeys(map, known: ["type", "name"], path: path)
        let name = map["name"].flatMap { checker.text($0, "the name of the binding", path: path.key("name")) }
        guard let node = map["type"] else {
            checker.fail("the key 'type' is missing; it has \(what)", path: path, at: entry.keyLocation)
            return nil
        }
        return checker.text(node, what, path: path.key("type")).map { settings($0, name, at: node.location) }
    }
}
