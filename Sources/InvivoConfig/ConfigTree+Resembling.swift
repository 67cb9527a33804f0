extension ConfigTree {
    /// Finds the entries with as many names as a path and of nearly the same length, so that the spelling of few must
    /// be compared.
    public struct Resembling {
        /// The number of nodes that the search may still visit.
        private var budget: Int
        private var found: [(names: [String], node: ConfigNode)] = []
        /// The paths, and the paths that enclose them.
        private var sought: Set<String> = []

        public init(budget: Int) { self.budget = budget }

        public mutating func find(_ path: String, in tree: ConfigTree) {
            let names = ConfigPath.names(path)
            for count in 1...max(1, names.count) { sought.insert(names.prefix(count).joined(separator: ".")) }
            find(names[...], in: tree.root, below: [], difference: 0)
        }

        private mutating func find(
            _ names: ArraySlice<String>, in node: ConfigNode, below outer: [(names: [String], node: ConfigNode)],
            difference: Int
        ) {
            guard let name = names.first else { return found += outer }
            for (other, inner) in node.map ?? .empty where !ConfigPath.isNameless(other) {
                guard budget > 0 else { return }
                budget -= 1
                let difference = difference + abs(other.utf8.count - name.utf8.count)
                guard difference <= 2 else { continue }
                find(
                    names.dropFirst(), in: inner, below: outer + [((outer.last?.names ?? []) + [other], inner)],
                    difference: difference)
            }
        }

        public func isSought(_ path: String) -> Bool { sought.contains(path) }

        /// The found entries and the entries around them, each once, the outer before the inner.
        public var entries: [Change] {
            let ordered = found.sorted { $0.names.lexicographicallyPrecedes($1.names) }
            var entries: [Change] = []
            for (names, node) in ordered {
                let path = names.joined(separator: ".")
                if entries.last?.path != path { entries.append(Change(path: path, node: node, isLeaf: false)) }
            }
            return entries
        }
    }
}
