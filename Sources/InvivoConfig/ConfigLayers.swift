internal import HashTreeCollections
public import InvivoBase

/// What documents and operators say, and the configuration that follows from it. A value: planning changes a copy. An edit costs
/// what it changes, however much else is said.
public struct ConfigLayers: Sendable {
    /// What documents say, and the order of each, which ascends: later ones win.
    private var documents: [ConfigNode] = []
    private var orders: [UInt64] = []
    private var operators = OperatorLayer()
    public private(set) var tree = ConfigTree()

    public init() {}

    /// Takes in what documents say now, by their order (nil: nothing), and what operators say (nil takes it back with all below
    /// the path). Answers every path whose value is another one, the outer before the inner.
    public mutating func say(
        documents said: [(order: UInt64, node: ConfigNode?)], operators words: [(path: String, node: ConfigNode?)]
    ) throws(Failure) -> [ConfigTree.Change] {
        var changes: [ConfigMerge.Change] = []
        for (order, node) in said {
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
        let former = operators
        for (path, node) in words { operators.say(path, node) }
        var layers = documents
        var merge = ConfigMerge()
        let root: ConfigNode?
        if let old = former.merged, let new = operators.merged {
            if old.node != nil || new.node != nil { changes.append(ConfigMerge.Change(old: old.node, new: new.node)) }
            if let node = new.node { layers.append(node) }
            root = try merge.merged(layers, changes, former: tree.root)
        } else {
            root = try merge.whole(layers + operators.each)
        }
        let next = ConfigTree(root: root ?? ConfigNode(.map(.empty)))
        defer { tree = next }
        return try next.changes(since: tree)
    }

    /// Where null was said of a path. Something may have been said of it again.
    public func placeOfNull(_ path: String) -> Place? {
        (documents + operators.each).last { $0.find(path)?.isNull == true }?.find(path)?.place
    }
}

extension Array {
    /// The place of the first element, of elements in order, that `isReached`; the count where there is none.
    fileprivate func firstPlace(_ isReached: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isReached(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// What operators say of paths, in the order in which they said it.
private struct OperatorLayer: Sendable {
    private struct Word: Sendable {
        var order: Int
        var node: ConfigNode
    }

    private var words: TreeDictionary<Name, Word> = [:]
    private var last = 0
    /// All of them as one layer; nil when one is about what lies in another, where their order counts.
    private(set) var merged: Merged? = Merged(node: nil)

    struct Merged: Sendable {
        var node: ConfigNode?
    }

    /// One layer for each word, in order.
    var each: [ConfigNode] {
        words.sorted { $0.value.order < $1.value.order }.map { path, word in
            Self.node(word.node, at: ConfigPath.names(path.text)[...])
        }
    }

    mutating func say(_ path: String, _ node: ConfigNode?) {
        guard let node else { return takeBack(path) }
        last += 1
        let isKnown = words.updateValue(Word(order: last, node: node), forKey: Name(path)) != nil
        guard let merged else { return merge() }
        let names = ConfigPath.names(path)
        if !isKnown && (isInAnother(names) || merged.node?.find(path) != nil) || path.isEmpty {
            self.merged = words.count == 1 ? Merged(node: node) : nil
            return
        }
        self.merged = Merged(node: Self.setting(merged.node, names[...], node))
    }

    private mutating func takeBack(_ path: String) {
        let count = words.count
        if path.isEmpty {
            words = [:]
        } else {
            words[Name(path)] = nil
            words = words.filter { $0.key.text.rest(after: path + ".") == nil }
        }
        if words.count != count { merge() }
    }

    /// Whether a path around this one is spoken of.
    private func isInAnother(_ names: [String]) -> Bool {
        (0..<names.count).contains { words[Name(names[..<$0].joined(separator: "."))] != nil }
    }

    private mutating func merge() {
        var node: ConfigNode?
        for (path, word) in words.sorted(by: { $0.value.order < $1.value.order }) {
            let names = ConfigPath.names(path.text)
            guard words.count == 1 || !names.isEmpty && !isInAnother(names) else { return merged = nil }
            node = Self.setting(node, names[...], word.node)
        }
        merged = Merged(node: node)
    }

    /// `around` with `node` at a path below it.
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
