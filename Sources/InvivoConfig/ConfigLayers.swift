internal import HashTreeCollections
public import InvivoBase

/// The layers of the configuration (documents, then runtime settings) and their merged tree. A value: a plan edits a copy. The cost
/// of an edit is proportional to the edit.
public struct ConfigLayers: Sendable {
    /// The content of each document and its order. Orders ascend; later documents win.
    private var documents: [ConfigNode] = []
    private var orders: [UInt64] = []
    private var settings = RuntimeSettings()
    public private(set) var tree = ConfigTree()

    public init() {}

    /// Replaces the content of documents, identified by their order (nil removes it), and changes runtime settings (nil withdraws
    /// the settings of the path and all paths below it). Returns all paths whose value changed, parents before children.
    public mutating func apply(
        documents changed: [(order: UInt64, node: ConfigNode?)],
        settings changedSettings: [(path: String, node: ConfigNode?)]
    ) throws(Failure) -> [ConfigTree.Change] {
        var changes: [ConfigMerge.Change] = []
        for (order, node) in changed {
            let place = orders.firstPlace { $0 >= order }
            let isKnown = place < orders.count && orders[place] == order
            let old = isKnown ? documents[place] : nil
            switch (node, isKnown) {
            case (let node?, true): documents[place] = node
            case (let node?, false):
                documents.insert(node, at: place)
                orders.insert(order, at: place)
            case (nil, true):
                documents.remove(at: place)
                orders.remove(at: place)
            case (nil, false): break
            }
            if old != nil || node != nil { changes.append(ConfigMerge.Change(old: old, new: node)) }
        }
        let former = settings
        for (path, node) in changedSettings { settings.set(path, node) }
        var layers = documents
        var merge = ConfigMerge()
        let root: ConfigNode?
        if let old = former.merged, let new = settings.merged {
            if old.node != nil || new.node != nil { changes.append(ConfigMerge.Change(old: old.node, new: new.node)) }
            if let node = new.node { layers.append(node) }
            root = try merge.merged(layers, changes, former: tree.root)
        } else {
            root = try merge.whole(layers + settings.each)
        }
        let next = ConfigTree(root: root ?? ConfigNode(.map(.empty)))
        defer { tree = next }
        return try next.changes(since: tree)
    }

    /// The source location of the last null at a path, even if a later layer sets the path again.
    public func placeOfNull(_ path: String) -> Place? {
        (documents + settings.each).last { $0.find(path)?.isNull == true }?.find(path)?.place
    }
}

extension Array {
    /// The index of the first element that satisfies `isReached`, by binary search; `count` if there is none.
    fileprivate func firstPlace(_ isReached: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isReached(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// Values that the running program set by path, in order.
private struct RuntimeSettings: Sendable {
    private struct Setting: Sendable {
        var order: Int
        var node: ConfigNode
    }

    private var settings: TreeDictionary<Name, Setting> = [:]
    private var last = 0
    /// All settings as one layer; nil if the path of one lies in another, because their order matters then.
    private(set) var merged: Merged? = Merged(node: nil)

    struct Merged: Sendable {
        var node: ConfigNode?
    }

    /// One layer for each setting, in order.
    var each: [ConfigNode] {
        settings.sorted { $0.value.order < $1.value.order }.map { path, setting in
            Self.node(setting.node, at: ConfigPath.names(path.text)[...])
        }
    }

    mutating func set(_ path: String, _ node: ConfigNode?) {
        guard let node else { return withdraw(path) }
        last += 1
        let isKnown = settings.updateValue(Setting(order: last, node: node), forKey: Name(path)) != nil
        guard let merged else { return merge() }
        let names = ConfigPath.names(path)
        if !isKnown && (isInAnother(names) || merged.node?.find(path) != nil) || path.isEmpty {
            self.merged = settings.count == 1 ? Merged(node: node) : nil
            return
        }
        self.merged = Merged(node: Self.setting(merged.node, names[...], node))
    }

    private mutating func withdraw(_ path: String) {
        let count = settings.count
        if path.isEmpty {
            settings = [:]
        } else {
            settings[Name(path)] = nil
            settings = settings.filter { $0.key.text.rest(after: path + ".") == nil }
        }
        if settings.count != count { merge() }
    }

    /// Returns whether a parent of the path is set.
    private func isInAnother(_ names: [String]) -> Bool {
        (0..<names.count).contains { settings[Name(names[..<$0].joined(separator: "."))] != nil }
    }

    private mutating func merge() {
        var node: ConfigNode?
        for (path, setting) in settings.sorted(by: { $0.value.order < $1.value.order }) {
            let names = ConfigPath.names(path.text)
            guard settings.count == 1 || !names.isEmpty && !isInAnother(names) else { return merged = nil }
            node = Self.setting(node, names[...], setting.node)
        }
        merged = Merged(node: node)
    }

    /// Returns `around` with `node` at a path below it.
    private static func setting(_ around: ConfigNode?, _ names: ArraySlice<String>, _ node: ConfigNode) -> ConfigNode {
        guard let name = names.first else { return node }
        var editor = ConfigMap.Editor(around?.map ?? .empty)
        let place = around?.map?.place(of: name)
        let inner = setting(place.flatMap { around?.map?.node(at: $0) }, names.dropFirst(), node)
        if let place { editor.replace(at: place, by: inner) } else { editor.append(name, inner) }
        return ConfigNode(.map(editor.map), at: node.place)
    }

    private static func node(_ node: ConfigNode, at names: ArraySlice<String>) -> ConfigNode {
        setting(nil, names, node)
    }
}
