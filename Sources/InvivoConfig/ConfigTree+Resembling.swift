internal import InvivoBase

extension ConfigTree {
    /// Finds the entries that are spelled nearly as a path, with as many names.
    public struct Resembling {
        /// How many nodes the search may still visit. A comparison of two names costs as much as eight nodes.
        public private(set) var budget: Int
        private static let comparison = 8
        /// The number of letters in which entries may differ from a path.
        private static let mostDifferent = 2
        private var spelling = EditDistance()
        private var found: [(names: [String], node: ConfigNode)] = []
        /// The paths, and the paths that enclose them.
        private var sought: Set<String> = []

        public init(budget: Int) { self.budget = budget }

        public mutating func find(_ path: String, in tree: ConfigTree) {
            let names = ConfigPath.names(path)
            for count in 1...max(1, names.count) { sought.insert(names.prefix(count).joined(separator: ".")) }
            find(names.map { Array($0.utf8) }[...], in: tree.root, below: [], limit: Self.mostDifferent)
        }

        private mutating func find(
            _ names: ArraySlice<[UInt8]>, in node: ConfigNode, below outer: [(names: [String], node: ConfigNode)],
            limit: Int
        ) {
            guard let name = names.first else { return found += outer }
            for (other, inner) in node.map ?? .empty where !ConfigPath.isNameless(other) {
                guard budget > 0 else { return }
                budget -= 1
                guard abs(other.utf8.count - name.count) <= limit else { continue }
                budget -= Self.comparison
                guard let distance = spelling.distance(name[...], Array(other.utf8)[...], limit: limit) else {
                    continue
                }
                find(
                    names.dropFirst(), in: inner, below: outer + [((outer.last?.names ?? []) + [other], inner)],
                    limit: limit - distance)
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

    /// Returns the entry that an unknown path most likely means; nil if none is similar enough. `other` is not meant.
    /// Looks below the innermost entry that encloses the path first, then around it, and visits 10,000 entries at most.
    public func nearestPath(to path: String, besides other: String? = nil) -> String? {
        var nearby = Nearby(path)
        let names = ConfigPath.names(path)
        var enclosing = [root]
        while enclosing.count <= names.count, let inner = enclosing.last?.map?[names[enclosing.count - 1]] {
            enclosing.append(inner)
        }
        for count in enclosing.indices.reversed() {
            let isOutermost = count == enclosing.count - 1
            nearby.visit(
                enclosing[count], names[..<count].joined(separator: "."), besides: isOutermost ? nil : names[count])
        }
        return nearestName(to: path, among: nearby.found.lazy.filter { $0 != other })
    }

    /// Gathers the entries whose paths have nearly the length of another path.
    private struct Nearby {
        private let lengths: ClosedRange<Int>
        private var visited = 0
        var found: [String] = []

        init(_ path: String) {
            let length = path.utf8.count
            lengths = max(0, length - length / 3 - 1)...(length + length / 3 + 1)
        }

        /// Visits the entries below a node, except one of its own.
        mutating func visit(_ node: ConfigNode, _ path: String, besides known: String?) {
            for (name, inner) in node.map ?? .empty where name != known && !ConfigPath.isNameless(name) {
                guard visited < 10_000 else { return }
                visited += 1
                let length = path.isEmpty ? name.utf8.count : path.utf8.count + 1 + name.utf8.count
                guard length <= lengths.upperBound else { continue }
                let path = path.isEmpty ? name : "\(path).\(name)"
                if length >= lengths.lowerBound { found.append(path) }
                visit(inner, path, besides: nil)
            }
        }
    }
}
