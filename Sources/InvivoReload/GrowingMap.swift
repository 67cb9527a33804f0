internal import InvivoBase
internal import InvivoConfig
internal import InvivoSpec
internal import InvivoTraits

/// A map of the configuration while the keys of one document are added. The cost of a key depends on its path, not on
/// the size of the map.
final class GrowingMap {
    private enum Part {
        case node(ConfigNode)
        case map(GrowingMap)
    }

    private let location: Location
    private var parts: [(name: String, part: Part)] = []
    private var indices: NameTable<Int> = [:]

    init(at location: Location) { self.location = location }

    /// Returns the map with the added entries.
    func node(like former: ConfigNode?) -> ConfigNode {
        ConfigNode(
            names: parts.map(\.name),
            nodes: parts.map { name, part in
                switch part {
                case .node(let node): node
                case .map(let map): map.node(like: former?[name])
                }
            }, at: location, like: former)
    }

    /// Adds the value of an entry of the document at a path below this map.
    func add(_ node: ConfigNode, at path: ArraySlice<String>, _ entry: SpecEntry) throws(Failure) {
        let name = path.first ?? ""
        let rest = path.dropFirst()
        guard let index = indices[name] else {
            indices[name] = parts.count
            if rest.isEmpty {
                parts.append((name, .node(node)))
            } else {
                let inner = GrowingMap(at: entry.keyLocation)
                parts.append((name, .map(inner)))
                try inner.add(node, at: rest, entry)
            }
            return
        }
        let inner = try map(at: index, entry)
        guard rest.isEmpty else { return try inner.add(node, at: rest, entry) }
        guard let pairs = node.map else { throw Self.twice(entry) }
        for (name, node) in pairs { try inner.add(node, at: [name], entry) }
    }

    /// The map under a name. Several keys of one document may add entries to it.
    private func map(at index: Int, _ entry: SpecEntry) throws(Failure) -> GrowingMap {
        switch parts[index].part {
        case .map(let map): return map
        case .node(let node):
            guard let pairs = node.map else { throw Self.twice(entry) }
            let map = GrowingMap(at: node.location)
            for (name, node) in pairs {
                map.indices[name] = map.parts.count
                map.parts.append((name, .node(node)))
            }
            parts[index].part = .map(map)
            return map
        }
    }

    private static func twice(_ entry: SpecEntry) -> Failure {
        Failure(
            .spec, "it is set twice: as a key, and as part of another key", path: "config.\(entry.key)",
            at: entry.keyLocation)
    }
}
