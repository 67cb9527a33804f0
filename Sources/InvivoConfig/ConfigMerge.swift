internal import InvivoBase

/// Merges layers, later ones over earlier ones: maps merge, lists and scalars are replaced, null removes.
struct ConfigMerge {
    private var steps = LoadSteps()

    /// The former and the new content of one layer at a path.
    struct Change {
        /// The order of the layer.
        let order: UInt64
        let old: ConfigNode?
        let new: ConfigNode?
    }

    /// Merges the layers at a path; nil if the result is empty. `former` is the result before the changes, which `stack` contains
    /// already. Parts that the changes do not affect are shared with it and not visited.
    mutating func merge(
        _ stack: inout LayerStack, _ changes: [Change], former: ConfigNode?
    ) throws(Failure) -> ConfigNode? {
        try steps.step()
        guard !changes.isEmpty else { return former }
        let merged: ConfigNode?
        // A single layer without null is the result itself.
        if stack.count == 1, let only = stack.last?.node, only.isPlain {
            merged = only
        } else if stack.areMaps, let last = stack.last?.node, let map = former?.map,
            changes.allSatisfy({ $0.old.map { $0.map != nil } ?? true })
        {
            merged = ConfigNode(.map(try mergeMaps(&stack, changes, map)), at: last.location)
        } else {
            stack.dropIndex()
            merged = try whole(stack.visible)
        }
        try stack.updateIndex(&steps)
        return merged
    }

    /// Merges layers from scratch.
    private mutating func whole(_ layers: [ConfigNode]) throws(Failure) -> ConfigNode? {
        try steps.step()
        guard let last = layers.last else { return nil }
        guard last.map != nil else { return last.isNull ? nil : last }
        // A list or scalar hides all layers below it.
        let maps = layers.suffix(from: layers.lastIndex { $0.map == nil }.map { $0 + 1 } ?? layers.startIndex)
        if maps.count == 1, last.isPlain { return last }
        var order = Order()
        var inner: NameTable<[ConfigNode]> = [:]
        for layer in maps {
            for (name, node) in layer.map ?? .empty {
                try steps.step()
                order.add(name, node)
                inner[name, default: []].append(node)
            }
        }
        var nodes: NameTable<ConfigNode> = [:]
        for name in order.kept { nodes[name] = try whole(inner[name] ?? []) }
        return ConfigNode(.map(order.map { nodes[$0] }), at: last.location)
    }

    // MARK: incremental

    /// Merges layers that are all maps and were all maps before.
    private mutating func mergeMaps(
        _ stack: inout LayerStack, _ changes: [Change], _ former: ConfigMap
    ) throws(Failure) -> ConfigMap {
        var inner: [(name: String, changes: [Change])] = []
        var indices: NameTable<Int> = [:]
        var keepsOrder = true
        for change in changes {
            let difference = try ConfigMap.difference(change.old?.map, change.new?.map, &steps)
            keepsOrder = keepsOrder && difference.keepsOrder
            for (name, old, new) in difference.entries {
                let isFirst = changes.count == 1
                let below = Change(order: change.order, old: old, new: new)
                if !isFirst, let index = indices[name] {
                    inner[index].changes.append(below)
                } else {
                    if !isFirst { indices[name] = inner.count }
                    inner.append((name, [below]))
                }
            }
        }
        let isLast = changes.count == 1 && changes[0].order == stack.last?.order
        var results: [(name: String, index: Int?, node: ConfigNode?)] = []
        results.reserveCapacity(inner.count)
        for (name, changes) in inner {
            let index = former.index(of: name)
            var below = stack.inner(name, after: changes)
            let node = try merge(&below, changes, former: index.map(former.node(at:)))
            stack.setInner(name, below)
            keepsOrder = keepsOrder && Self.keepsPlace(changes, below, isLast: isLast)
            results.append((name, index, node))
        }
        guard !keepsOrder else {
            var editor = ConfigMap.Editor(former)
            var removed: Set<Int> = []
            for (name, index, node) in results {
                switch (node, index) {
                case (let node?, let index?): editor.replace(at: index, by: node)
                case (let node?, nil): editor.append(name, node)
                case (nil, let index?): removed.insert(index)
                case (nil, nil): break
                }
            }
            return editor.isChanged || !removed.isEmpty ? editor.map(without: removed) : former
        }
        var nodes: NameTable<ConfigNode?> = [:]
        for (name, _, node) in results { nodes[name] = .some(node) }
        var order = Order()
        for layer in stack.layers {
            for (name, node) in layer.node.map ?? .empty {
                try steps.step()
                order.add(name, node)
            }
        }
        return order.map(like: former) { nodes[$0] ?? former[$0] }
    }

    /// Whether a name stays at its place in a merged map, or is a new one at the end. `below`: the layers with the name after the
    /// changes. `isLast`: only the last layer changes.
    private static func keepsPlace(_ changes: [Change], _ below: LayerStack, isLast: Bool) -> Bool {
        func isValue(_ node: ConfigNode?) -> Bool { node?.isNull == false }
        if changes.allSatisfy({ isValue($0.old) && isValue($0.new) }) { return true }
        if isLast, changes.allSatisfy({ $0.old == nil && isValue($0.new) }) { return true }
        // A null below others takes a name away, and a later layer adds it at the end.
        guard !below.hasNull, !changes.contains(where: { $0.old?.isNull == true }) else { return false }
        guard let first = below.first else { return true }
        return changes.allSatisfy { $0.order > first.order }
    }

    /// The order of names in a merged map: the order in which layers first add them.
    private struct Order {
        private var names: [String?] = []
        private var indices: NameTable<Int> = [:]

        var kept: [String] { names.compactMap(\.self) }

        /// Records an entry of the next layer.
        mutating func add(_ name: String, _ node: ConfigNode) {
            if node.isNull {
                if let index = indices.removeValue(forKey: name) { names[index] = nil }
            } else if indices[name] == nil {
                indices[name] = names.count
                names.append(name)
            }
        }

        func map(like former: ConfigMap? = nil, _ node: (String) -> ConfigNode?) -> ConfigMap {
            let found = kept.compactMap { name in node(name).map { (name, $0) } }
            return ConfigMap(names: found.map(\.0), nodes: found.map(\.1), like: former)
        }
    }
}
