internal import HashTreeCollections
public import InvivoBase

/// The layers of the configuration (documents, then the environment, then runtime settings) and their merged tree. A value: a plan edits a copy. The cost
/// of an edit is proportional to the edit.
public struct ConfigLayers: Sendable {
    /// The content of each document at its order, and the runtime settings above them.
    private var layers = LayerStack()
    private var settings = RuntimeSettings()
    public private(set) var tree = ConfigTree()
    /// The paths that change sets have declared as secret.
    public private(set) var declaredSecrets = DeclaredSecrets()
    /// All secret paths: also those of assemblies and of bindings of settings. Their values are marked in `tree`.
    public private(set) var secrets = SecretPaths()
    /// The copy of the environment from which the documents and the layer of the environment were read.
    public private(set) var environment: Environment

    /// The order of the layer of the environment: above all documents, and below the runtime settings.
    private static let environmentOrder = RuntimeSettings.mergedOrder - 1

    public init(_ environment: Environment = .empty) { self.environment = environment }

    /// The paths that change sets have declared as secret.
    public struct DeclaredSecrets: Sendable, Equatable {
        fileprivate(set) var paths: TreeSet<String> = []

        /// Returns the declared paths that `other` does not have, in no order.
        public func subtracting(_ other: DeclaredSecrets) -> [String] { Array(paths.subtracting(other.paths)) }

        /// In no order.
        public var all: [String] { Array(paths) }
    }

    /// A new copy of the environment, with the values that it gives to paths.
    public struct NewEnvironment: Sendable {
        let copy: Environment
        let node: ConfigNode?

        public init(_ copy: Environment, _ node: ConfigNode?) { (self.copy, self.node) = (copy, node) }
    }

    /// Declares a path as secret, or revokes that. Returns false if it was not declared. `mark` must follow, or `apply`.
    public mutating func declare(secret path: String, _ isSecret: Bool) -> Bool {
        if isSecret {
            declaredSecrets.paths.insert(path)
            return true
        }
        return declaredSecrets.paths.remove(path) != nil
    }

    /// Replaces the content of documents, identified by their order (nil removes it), and changes runtime settings (nil withdraws
    /// the settings of the path and all paths below it). Returns all paths whose value changed, parents before children.
    public mutating func apply(
        documents changed: [(order: UInt64, node: ConfigNode?)],
        environment changedEnvironment: NewEnvironment? = nil,
        settings changedSettings: [(path: String, node: ConfigNode?)], secrets nextSecrets: SecretPaths? = nil
    ) throws(Failure) -> [ConfigTree.Change] {
        var changes: [ConfigMerge.Change] = []
        let formerSecrets = secrets
        let secrets = nextSecrets ?? formerSecrets
        self.secrets = secrets
        func change(_ order: UInt64, _ node: ConfigNode?) {
            let old = layers[order]
            guard old != nil || node != nil else { return }
            let new = secrets.isEmpty ? node : node.map { secrets.marking($0) }
            changes.append(ConfigMerge.Change(order: order, old: old, new: new))
        }
        for (order, node) in changed { change(order, node) }
        if let changedEnvironment {
            environment = changedEnvironment.copy
            change(Self.environmentOrder, changedEnvironment.node)
        }
        if !changedSettings.isEmpty {
            let former = settings.layers
            for (path, node) in changedSettings { settings.set(path, node) }
            let next = settings.layers
            for order in former.keys where next[order] == nil { change(order, nil) }
            // A setting has an order of its own for each value.
            for (order, node) in next where former[order] == nil || order == RuntimeSettings.mergedOrder {
                change(order, node)
            }
        }
        if secrets != formerSecrets {
            let changed = Set(changes.map(\.order))
            let marks = SecretPaths.Change(from: formerSecrets, to: secrets)
            let concerned = Set(marks.paths.flatMap(layers.orders(with:))).subtracting(changed)
            for order in concerned.sorted() {
                guard let node = layers[order], let marked = marks.marking(node) else { continue }
                changes.append(ConfigMerge.Change(order: order, old: node, new: marked))
            }
        }
        for change in changes { layers.set(change.order, change.new) }
        var merge = ConfigMerge()
        let root = try merge.merge(&layers, changes, former: tree.root)
        let next = ConfigTree(root: root ?? ConfigNode(.map(.empty)))
        defer { tree = next }
        return try next.changes(since: tree)
    }

    /// The values that environment variables give to paths; nil if there are none.
    public var environmentTree: ConfigTree? { layers[Self.environmentOrder].map { ConfigTree(root: $0) } }

    /// The source location of the last null at a path, even if a later layer sets the path again.
    public func placeOfNull(_ path: String) -> Location? {
        layers.layers.last { $0.node.find(path)?.isNull == true }?.node.find(path)?.location
    }
}

/// Values that the running program set by path, in order.
private struct RuntimeSettings: Sendable {
    private struct Setting: Sendable {
        var order: UInt64
        var node: ConfigNode
    }

    /// The order of the layer of all settings, and below the orders of separate settings.
    static let mergedOrder = UInt64.max / 2

    private var settings: TreeDictionary<Name, Setting> = [:]
    private var last: UInt64 = 0
    /// All settings as one layer; nil if the path of one lies in another, because their order matters then.
    private(set) var merged: Merged? = Merged(node: nil)

    struct Merged: Sendable {
        var node: ConfigNode?
    }

    /// The layers of the settings by their order, which is above the orders of all documents.
    var layers: [UInt64: ConfigNode] {
        if let merged { return merged.node.map { [Self.mergedOrder: $0] } ?? [:] }
        var layers: [UInt64: ConfigNode] = [:]
        for (path, setting) in settings {
            layers[Self.mergedOrder + setting.order] = Self.setting(nil, ConfigPath.names(path.text)[...], setting.node)
        }
        return layers
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
        let index = around?.map?.index(of: name)
        let inner = setting(index.flatMap { around?.map?.node(at: $0) }, names.dropFirst(), node)
        if let index { editor.replace(at: index, by: inner) } else { editor.append(name, inner) }
        return ConfigNode(.map(editor.map), at: node.location)
    }
}
