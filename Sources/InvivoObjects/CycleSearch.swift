/// Finds objects that hold each other in a cycle and that nothing else claims: trial deletion over the injected references.
///
/// It is exact, because an object lists every lease that was injected into it.
public struct CycleSearch {
    /// An object that may be in a cycle.
    public struct Node {
        let leases: UInt64
        let isHeld: Bool
        let targets: [UInt64]
        /// The leases that come from other nodes.
        fileprivate var inner: UInt64 = 0
        fileprivate var isLive = false

        /// - Parameters:
        ///   - leases: The number of leases on it.
        ///   - isHeld: Whether a generation holds it.
        ///   - targets: The objects that were injected into it, each as often as it leases them.
        public init(leases: UInt64, isHeld: Bool, targets: [UInt64]) {
            (self.leases, self.isHeld, self.targets) = (leases, isHeld, targets)
        }
    }

    private var nodes: [UInt64: Node] = [:]

    /// Looks at `start` and the objects that it leads to. The caller has one lease on `start`, which does not count.
    ///
    /// `read` returns nil for an object that is not marked as member of a cycle.
    public init(from start: UInt64, _ read: (UInt64) -> Node?) {
        var queue = [start]
        while let object = queue.popLast() {
            guard nodes[object] == nil, let node = read(object) else { continue }
            nodes[object] = node
            queue += node.targets
        }
        for node in nodes.values { for target in node.targets { nodes[target]?.inner += 1 } }
        nodes[start]?.inner += 1
        for (object, node) in nodes where node.leases > node.inner || node.isHeld { markLive(object) }
    }

    /// The objects that nothing else claims, each with its number of leases.
    public var unclaimed: [(object: UInt64, leases: UInt64)] {
        nodes.compactMap { $0.value.isLive ? nil : ($0.key, $0.value.leases) }
    }

    private mutating func markLive(_ start: UInt64) {
        var queue = [start]
        while let object = queue.popLast() {
            guard let node = nodes[object], !node.isLive else { continue }
            nodes[object]?.isLive = true
            queue += node.targets
        }
    }
}
