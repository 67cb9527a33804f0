internal import InvivoBase

/// A trie of paths by their bytes. Finds paths that are spelled similarly without comparing all of them.
public struct PathTrie: Sendable {
    private struct Node {
        var byte: UInt8
        /// Indices of nodes; 0 stands for none, because no node leads to the root.
        var firstChild: UInt32 = 0
        var next: UInt32 = 0
        /// The path that ends here; `.max` is none.
        var id = UInt32.max
    }

    private var nodes = [Node(byte: 0)]

    public init() {}

    public mutating func insert(_ path: String, _ id: UInt32) {
        var node = 0
        for byte in path.utf8 {
            if let child = child(of: node, byte) {
                node = child
            } else {
                nodes.append(Node(byte: byte, next: nodes[node].firstChild))
                nodes[node].firstChild = UInt32(nodes.count - 1)
                node = nodes.count - 1
            }
        }
        nodes[node].id = id
    }

    private func child(of node: Int, _ byte: UInt8) -> Int? {
        var child = nodes[node].firstChild
        while child != 0 {
            if nodes[Int(child)].byte == byte { return Int(child) }
            child = nodes[Int(child)].next
        }
        return nil
    }

    /// Whether a path below `path` satisfies `isMeant`.
    public func hasPath(below path: String, _ isMeant: (UInt32) -> Bool) -> Bool {
        var node = 0
        for byte in path.utf8 {
            guard let child = child(of: node, byte) else { return false }
            node = child
        }
        return child(of: node, UInt8(ascii: ".")).map { hasPath(from: $0, isMeant) } ?? false
    }

    private func hasPath(from node: Int, _ isMeant: (UInt32) -> Bool) -> Bool {
        var stack = [node]
        while let node = stack.popLast() {
            if nodes[node].id != .max && isMeant(nodes[node].id) { return true }
            var child = nodes[node].firstChild
            while child != 0 {
                stack.append(Int(child))
                child = nodes[Int(child)].next
            }
        }
        return false
    }

    // MARK: nearly the same

    /// The number of nodes that a search may still visit.
    public struct Budget: Sendable {
        var nodes: Int
        public init(nodes: Int) { self.nodes = nodes }
        public var isSpent: Bool { nodes <= 0 }
    }

    /// Returns the path or prefix of paths with the least edit distance to `name`, at most `limit`: the distance of
    /// `EditDistance`. Of equally similar ones, returns the first in byte order. `name` itself is not meant. The path must
    /// satisfy `isMeant`, and `accepts` with its distance.
    public func nearest(
        to name: String, limit: Int, _ budget: inout Budget, _ isMeant: (UInt32) -> Bool,
        accepting accepts: (String, Int) -> Bool
    ) -> String? {
        for distance in 0...limit {
            var search = Search(Array(name.utf8), distance)
            visit(0, &search, &budget) { node, path in
                isEnd(node, isMeant) && !path.elementsEqual(name.utf8)
                    && accepts(String(decoding: path, as: UTF8.self), distance)
            }
            if let found = search.found { return String(decoding: found, as: UTF8.self) }
        }
        return nil
    }

    private struct Search {
        let name: [UInt8]
        let limit: Int
        /// The bytes that lead to the node, and for each of them the distances to the beginnings of `name`.
        var path: [UInt8] = []
        var rows: [[Int]]
        var found: [UInt8]?

        init(_ name: [UInt8], _ limit: Int) {
            self.name = name
            self.limit = limit
            rows = [Array(0...name.count)]
        }

        /// Appends one byte. Returns false if no path with this beginning is similar enough.
        mutating func enter(_ byte: UInt8) -> Bool {
            let depth = path.count + 1
            let last = rows[depth - 1]
            var row = [Int](repeating: limit + 1, count: name.count + 1)
            var least = limit + 1
            let first = max(0, depth - limit)
            let final = min(name.count, depth + limit)
            if first <= final {
                for column in first...final {
                    var best = column == 0 ? depth : min(last[column] + 1, row[column - 1] + 1)
                    if column > 0 {
                        best = min(best, last[column - 1] + (name[column - 1].isSameLetter(as: byte) ? 0 : 1))
                        if column > 1, depth > 1, name[column - 1].isSameLetter(as: path[depth - 2]),
                            name[column - 2].isSameLetter(as: byte)
                        {
                            best = min(best, rows[depth - 2][column - 2] + 1)
                        }
                    }
                    row[column] = best
                    least = min(least, best)
                }
            }
            // A swap of two letters may reduce a distance that is too large by one.
            guard least <= limit || last.contains(where: { $0 < limit }) else { return false }
            path.append(byte)
            if rows.count > depth { rows[depth] = row } else { rows.append(row) }
            return true
        }
    }

    private func visit(_ node: Int, _ search: inout Search, _ budget: inout Budget, _ isFound: (Int, [UInt8]) -> Bool) {
        guard !budget.isSpent else { return }
        budget.nodes -= 1
        let depth = search.path.count
        if search.rows[depth][search.name.count] == search.limit,
            search.found.map({ search.path.lexicographicallyPrecedes($0) }) ?? true, isFound(node, search.path)
        {
            search.found = search.path
        }
        var child = nodes[node].firstChild
        while child != 0 {
            if search.enter(nodes[Int(child)].byte) {
                visit(Int(child), &search, &budget, isFound)
                search.path.removeLast()
            }
            child = nodes[Int(child)].next
        }
    }

    /// Whether a matching path ends at this node or below it.
    private func isEnd(_ node: Int, _ isMeant: (UInt32) -> Bool) -> Bool {
        if nodes[node].id != .max && isMeant(nodes[node].id) { return true }
        return child(of: node, UInt8(ascii: ".")).map { hasPath(from: $0, isMeant) } ?? false
    }
}
