internal import InvivoBase

/// Merges layers, later ones over earlier ones: maps merge, lists and scalars are replaced, null removes.
struct ConfigMerge {
    private var steps = LoadSteps()

    /// The former and the new content of one layer at a path.
    struct Change {
        let old: ConfigNode?
        let new: ConfigNode?
    }

    /// Merges the content of `layers` at a path; nil if it is empty. `former` is the result before the changes. Parts that the
    /// changes do not affect are shared with it and not visited.
    mutating func merged(
        _ layers: [ConfigNode], _ changes: [Change], former: ConfigNode?
    ) throws(Failure) -> ConfigNode? {
        try steps.step()
        guard !changes.isEmpty else { return former }
        // A single layer without null is the result itself.
        if layers.count == 1, layers[0].isPlain { return layers[0] }
        let wereMaps = changes.allSatisfy { $0.old.map { $0.map != nil } ?? true }
        guard wereMaps, let map = former?.map, let last = layers.last, let maps = Self.maps(layers) else {
            return try whole(layers)
        }
        return ConfigNode(.map(try merged(maps, changes, map)), at: last.place)
    }

    /// The maps of all layers; nil if one layer is not a map.
    private static func maps(_ layers: [ConfigNode]) -> [ConfigMap]? {
        var maps: [ConfigMap] = []
        maps.reserveCapacity(layers.count)
        for layer in layers {
            guard case .map(let map) = layer.content else { return nil }
            maps.append(map)
        }
        return maps
    }

    /// Merges all layers from scratch.
    mutating func whole(_ layers: [ConfigNode]) throws(Failure) -> ConfigNode? {
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
        return ConfigNode(.map(order.map { nodes[$0] }), at: last.place)
    }

    // MARK: incremental

    /// Merges layers that are all maps and were all maps before.
    private mutating func merged(
        _ layers: [ConfigMap], _ changes: [Change], _ former: ConfigMap
    ) throws(Failure) -> ConfigMap {
        var inner: [(name: String, changes: [Change])] = []
        var places: NameTable<Int> = [:]
        var keepsOrder = true
        for change in changes {
            let difference = try ConfigMap.difference(change.old?.map, change.new?.map, &steps)
            keepsOrder = keepsOrder && difference.keepsOrder
            for (name, old, new) in difference.entries {
                let isFirst = changes.count == 1
                if !isFirst, let place = places[name] {
                    inner[place].changes.append(Change(old: old, new: new))
                } else {
                    if !isFirst { places[name] = inner.count }
                    inner.append((name, [Change(old: old, new: new)]))
                }
                // Adding or removing a name may change the order, except an addition at the end of the last layer.
                keepsOrder = keepsOrder && old?.isNull != true && new?.isNull != true && new != nil
                if old == nil && layers.count > 1 {
                    keepsOrder = keepsOrder && changes.count == 1 && isLast(change, of: layers)
                }
            }
        }
        var editor = ConfigMap.Editor(former)
        var nodes: NameTable<ConfigNode?> = [:]
        for (name, changes) in inner {
            let place = former.place(of: name)
            let node = try merged(Self.nodes(name, in: layers), changes, former: place.map(former.node(at:)))
            if !keepsOrder { nodes[name] = .some(node) }
            switch (node, place) {
            case (let node?, let place?): if keepsOrder { editor.replace(at: place, by: node) }
            case (let node?, nil): if keepsOrder { editor.append(name, node) }
            case (nil, _): break
            }
        }
        guard !keepsOrder else { return editor.isChanged ? editor.map : former }
        var order = Order()
        for layer in layers {
            for (name, node) in layer {
                try steps.step()
                order.add(name, node)
            }
        }
        return order.map(like: former) { nodes[$0] ?? former[$0] }
    }

    private static func nodes(_ name: String, in layers: [ConfigMap]) -> [ConfigNode] {
        var nodes: [ConfigNode] = []
        for layer in layers {
            if let place = layer.place(of: name) { nodes.append(layer.node(at: place)) }
        }
        return nodes
    }

    private func isLast(_ change: Change, of layers: [ConfigMap]) -> Bool {
        guard let said = change.new?.map, let last = layers.last else { return false }
        return said === last
    }

    /// The order of names in a merged map: the order in which layers first add them.
    private struct Order {
        private var names: [String?] = []
        private var places: NameTable<Int> = [:]

        var kept: [String] { names.compactMap(\.self) }

        /// Records an entry of the next layer.
        mutating func add(_ name: String, _ node: ConfigNode) {
            if node.isNull {
                if let place = places.removeValue(forKey: name) { names[place] = nil }
            } else if places[name] == nil {
                places[name] = names.count
                names.append(name)
            }
        }

        func map(like former: ConfigMap? = nil, _ node: (String) -> ConfigNode?) -> ConfigMap {
            let found = kept.compactMap { name in node(name).map { (name, $0) } }
            return ConfigMap(names: found.map(\.0), nodes: found.map(\.1), like: former)
        }
    }
}
