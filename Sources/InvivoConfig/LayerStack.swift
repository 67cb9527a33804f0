internal import HashTreeCollections
internal import InvivoBase

/// The layers that contain a value at one path, in their order. A copy with one changed layer shares most of its storage.
struct LayerStack: Sendable {
    struct Layer: Sendable {
        let order: UInt64
        var node: ConfigNode
    }

    /// The layers that contain a name.
    private enum Holders: Sendable {
        case one(order: UInt64)
        indirect case several(LayerStack)
    }

    /// Up to this number of layers are searched one after another. An existing index is kept until half of them are left.
    static let longestLinearSearch = 16
    private static let leafSize = 32

    /// Layers with ascending orders. No leaf is empty.
    private var leaves: [[Layer]] = []
    private(set) var count = 0
    private var otherCount = 0
    /// The layers that contain each name; nil for short stacks, and if not all layers are maps.
    private var index: TreeDictionary<Name, Holders>?

    init() {}

    /// Creates a stack of layers with ascending orders.
    private init(_ layers: [Layer]) {
        leaves =
            layers.count <= Self.leafSize
            ? (layers.isEmpty ? [] : [layers])
            : stride(from: 0, to: layers.count, by: Self.leafSize).map {
                Array(layers[$0..<min($0 + Self.leafSize, layers.count)])
            }
        count = layers.count
        otherCount = layers.count { $0.node.map == nil }
    }

    /// Whether the content of all layers is maps.
    var areMaps: Bool { otherCount == 0 }

    /// Whether the content of a layer is null.
    var hasNull: Bool { !areMaps && layers.contains { $0.node.isNull } }

    var first: Layer? { leaves.first?.first }
    var last: Layer? { leaves.last?.last }

    var layers: some BidirectionalCollection<Layer> { leaves.joined() }

    /// The layers that no later list or scalar hides.
    var visible: [ConfigNode] {
        var nodes: [ConfigNode] = []
        for layer in layers.reversed() {
            nodes.append(layer.node)
            if layer.node.map == nil { break }
        }
        return nodes.reversed()
    }

    subscript(order: UInt64) -> ConfigNode? {
        guard let (leaf, position) = find(order), position < leaves[leaf].count else { return nil }
        let layer = leaves[leaf][position]
        return layer.order == order ? layer.node : nil
    }

    /// Replaces the content of a layer; nil removes the layer. `updateIndex` must follow.
    mutating func set(_ order: UInt64, _ node: ConfigNode?) {
        guard let (leaf, position) = find(order) else {
            if let node { insert(Layer(order: order, node: node), 0, 0) }
            return
        }
        guard position < leaves[leaf].count, leaves[leaf][position].order == order else {
            if let node { insert(Layer(order: order, node: node), leaf, position) }
            return
        }
        if leaves[leaf][position].node.map == nil { otherCount -= 1 }
        if let node {
            leaves[leaf][position].node = node
            if node.map == nil { otherCount += 1 }
        } else {
            leaves[leaf].remove(at: position)
            if leaves[leaf].isEmpty { leaves.remove(at: leaf) }
            count -= 1
        }
    }

    /// The leaf and the index in it at which an order is, or belongs; nil if the stack is empty.
    private func find(_ order: UInt64) -> (leaf: Int, position: Int)? {
        guard !leaves.isEmpty else { return nil }
        let leaf = max(0, leaves.partitioningIndex { $0[0].order > order } - 1)
        return (leaf, leaves[leaf].partitioningIndex { $0.order >= order })
    }

    private mutating func insert(_ layer: Layer, _ leaf: Int, _ position: Int) {
        count += 1
        if layer.node.map == nil { otherCount += 1 }
        guard leaf < leaves.count else { return leaves.append([layer]) }
        guard leaves[leaf].count == Self.leafSize else { return leaves[leaf].insert(layer, at: position) }
        // Most layers are added at the end: a full last leaf stays full.
        let half = position == Self.leafSize ? position : Self.leafSize / 2
        leaves.insert(Array(leaves[leaf][half...]), at: leaf + 1)
        leaves[leaf].removeSubrange(half...)
        if position < half {
            leaves[leaf].insert(layer, at: position)
        } else {
            leaves[leaf + 1].insert(layer, at: position - half)
        }
    }

    // MARK: names

    /// The layers below a name. `changes` are those below the name that the index does not contain yet.
    func inner(_ name: String, after changes: [ConfigMerge.Change] = []) -> LayerStack {
        if let index {
            var stack = LayerStack()
            switch index[Name(name)] {
            case nil: break
            case .one(let order)?: if let node = self[order]?[name] { stack.set(order, node) }
            case .several(let several)?: stack = several
            }
            for change in changes { stack.set(change.order, change.new) }
            return stack
        }
        var inner: [Layer] = []
        for leaf in leaves {
            for layer in leaf {
                if let node = layer.node[name] { inner.append(Layer(order: layer.order, node: node)) }
            }
        }
        return LayerStack(inner)
    }

    /// The orders of the layers that have a value at a path.
    func orders(with names: ArraySlice<String>) -> [UInt64] {
        guard let name = names.first else { return layers.map(\.order) }
        return inner(name).orders(with: names.dropFirst())
    }

    /// Records the layers below a name after a change.
    mutating func setInner(_ name: String, _ stack: LayerStack) {
        guard index != nil else { return }
        index?[Name(name)] =
            switch stack.count {
            case 0: nil
            case 1: stack.last.map { .one(order: $0.order) }
            default: .several(stack)
            }
    }

    mutating func dropIndex() { index = nil }

    /// Creates the index if there are many layers, and drops it if there are few.
    mutating func updateIndex(_ steps: inout LoadSteps) throws(Failure) {
        let least = index == nil ? Self.longestLinearSearch + 1 : Self.longestLinearSearch / 2
        guard areMaps, count >= least else { return index = nil }
        guard index == nil else { return }
        var inner: NameTable<[Layer]> = [:]
        for layer in layers {
            for (name, node) in layer.node.map ?? .empty {
                try steps.step()
                inner[name, default: []].append(Layer(order: layer.order, node: node))
            }
        }
        index = [:]
        for (name, layers) in inner {
            var stack = LayerStack(layers)
            try stack.updateIndex(&steps)
            setInner(name, stack)
        }
    }
}
