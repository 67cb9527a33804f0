internal import InvivoBase
internal import InvivoConfig
internal import InvivoGraph

/// Looks for what an input of a rule, or the path of a condition, means.
final class InputSearch {
    private let planner: Planner
    private let wiring: NextWiring
    private let readers: ConfigReaders
    private let tree: ConfigTree
    private lazy var keys = planner.keys(wiring.definitions)

    init(_ planner: Planner, _ wiring: NextWiring) {
        (self.planner, self.wiring) = (planner, wiring)
        readers = ConfigReaders(planner, wiring)
        tree = (wiring.config.layers ?? planner.before.config).tree
    }

    /// Returns the name that an input most likely means; nil if the input is known, or resembles nothing.
    func near(_ input: String) -> String? {
        let path = RuleTable.path(input)
        guard tree.find(path) == nil, !readers.isRead(besidesRules: planner.names.id(ofConfig: path)) else {
            return nil
        }
        let meanings = RuleTable.properties(input)
        var property: String?
        for (key, names) in meanings {
            guard let id = planner.names.id(of: key) else { continue }
            // The key of a target, or of a definition whose type is open.
            guard let type = type(of: id) else { return nil }
            let known = type.description.properties.map(\.name)
            if type.description.index(ofProperty: names[0]) != nil { return nil }
            property = property ?? nearestWord(to: names[0], among: known).map { "\(key).\($0)" }
        }
        return property ?? nearPath(path) ?? meanings.first.flatMap(nearKey)
    }

    /// Returns the path that a condition most likely means; nil if its own path is known, or resembles nothing.
    func near(condition path: String) -> String? {
        guard tree.find(path) == nil, !readers.isRead(besidesConditions: planner.names.id(ofConfig: path)) else {
            return nil
        }
        return nearValue(path) ?? readers.nearest(to: path, where: readers.isRead(besidesConditions:))
    }

    /// Returns the path that a declared secret most likely means; nil if its own path is known, or resembles nothing. `fields` are the
    /// paths of secret fields.
    func near(secret path: String, among fields: [String]) -> String? {
        guard tree.find(path) == nil, !fields.contains(path), !readers.isRead(planner.names.id(ofConfig: path)),
            !readers.isRead(below: path)
        else { return nil }
        return nearValue(path) ?? readers.nearest(to: path, where: { self.readers.isRead($0) })
            ?? misspelledName(of: path, among: fields)
    }

    private func type(of id: UInt32) -> ObjectType? {
        planner.next(id, wiring.definitions).flatMap { definition in
            planner.flatNext(
                definition.alias.flatMap(planner.names.id(of:)) ?? id, wiring.definitions, wiring.compiled)?.type
        }
    }

    /// A path with a value that differs in one name, or a similar path that something else reads.
    private func nearPath(_ path: String) -> String? {
        nearValue(path) ?? readers.nearest(to: path, where: readers.isRead(besidesRules:))
    }

    private func nearValue(_ path: String) -> String? {
        let names = ConfigPath.names(path)
        for index in names.indices.reversed() {
            guard let map = tree.find(names[..<index].joined(separator: "."))?.map,
                let near = nearestWord(to: names[index], among: map.map(\.name))
            else { continue }
            var other = names
            other[index] = near
            if tree.find(other.joined(separator: ".")) != nil { return other.joined(separator: ".") }
        }
        return nil
    }

    private func nearKey(_ meaning: (key: String, property: [String])) -> String? {
        guard let key = nearestWord(to: meaning.key, among: keys), let id = planner.names.id(of: key),
            type(of: id)?.description.index(ofProperty: meaning.property[0]) != nil
        else { return nil }
        return "\(key).\(meaning.property.joined(separator: "."))"
    }
}
