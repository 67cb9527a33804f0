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
    private static let environmentOrder = RuntimeSettings.firstOrder - 1

    public init(_ environment: Environment = .empty) { self.environment = environment }

    /// The paths that change sets have declared as secret.
    public struct DeclaredSecrets: Sendable, Equatable {
        fileprivate(set) var paths: TreeSet<Name> = []

        /// Returns the declared paths that `other` does not have, in no order.
        public func subtracting(_ other: DeclaredSecrets) -> [String] {
            paths.subtracting(other.paths).map(\.text)
        }

        /// In no order.
        public var all: [String] { paths.map(\.text) }
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
            declaredSecrets.paths.insert(Name(path))
            return true
        }
        return declaredSecrets.paths.remove(Name(path)) != nil
    }

    /// Replaces the content of documents, identified by their order (nil removes it), and changes runtime settings (nil withdraws
    /// the settings of the path and all paths below it). Returns all paths whose value changed, parents before children.
    public mutating func apply(
        documents changed: [(order: UInt64, node: ConfigNode?)],
        environment changedEnvironment: NewEnvironment? = nil,
        settings changedSettings: [(path: String, node: ConfigNode?)], secrets nextSecrets: SecretPaths? = nil
    ) throws(Failure) -> ConfigTree.Changes {
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
        var edited: [UInt64: ConfigNode?] = [:]
        for (path, node) in changedSettings { settings.set(path, node, &edited) }
        for (order, node) in edited.sorted(by: { $0.key < $1.key }) { change(order, node) }
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

/// Values that the running program set by path. Each is a layer of its own. A copy shares what does not change.
private struct RuntimeSettings: Sendable {
    /// The orders of the settings whose paths begin with one name after another.
    private struct Branch: Sendable {
        var order: UInt64?
        var branches: TreeDictionary<Name, Branch> = [:]

        /// Sets the order at a path below. Returns whether a setting lies around or below it.
        mutating func set(_ names: ArraySlice<String>, _ new: UInt64?) -> Bool {
            guard let name = names.first else {
                order = new
                return !branches.isEmpty
            }
            let isInside = order != nil
            return branches[Name(name), default: Branch()].set(names.dropFirst(), new) || isInside
        }

        func order(at names: ArraySlice<String>) -> UInt64? {
            guard let name = names.first else { return order }
            return branches[Name(name)]?.order(at: names.dropFirst())
        }

        /// Removes everything at a path below. Returns the orders.
        mutating func remove(_ names: ArraySlice<String>) -> [UInt64] {
            guard let name = names.first else {
                defer { self = Branch() }
                return orders
            }
            guard var inner = branches[Name(name)] else { return [] }
            let removed = inner.remove(names.dropFirst())
            branches[Name(name)] = inner.order == nil && inner.branches.isEmpty ? nil : inner
            return removed
        }

        private var orders: [UInt64] { (order.map { [$0] } ?? []) + branches.values.flatMap(\.orders) }
    }

    /// Above the orders of all documents.
    static let firstOrder = UInt64.max / 2
    private var root = Branch()
    private var next = Self.firstOrder

    /// Sets a path, or withdraws the settings at and below it (nil). `edited` receives the layers that change, by their order.
    mutating func set(_ path: String, _ node: ConfigNode?, _ edited: inout [UInt64: ConfigNode?]) {
        let names = ConfigPath.names(path)[...]
        guard let node else {
            for order in root.remove(names) { edited[order] = .some(nil) }
            return
        }
        let former = root.order(at: names)
        let overlaps = root.set(names, former ?? next)
        // A later setting lies over those around and below it.
        if let former, !overlaps { return edited[former] = Self.around(node, names) }
        if let former {
            edited[former] = .some(nil)
            _ = root.set(names, next)
        }
        edited[next] = Self.around(node, names)
        next += 1
    }

    /// Returns the maps around a value at a path.
    private static func around(_ node: ConfigNode, _ names: ArraySlice<String>) -> ConfigNode {
        guard let name = names.first else { return node }
        var editor = ConfigMap.Editor(.empty)
        editor.append(name, around(node, names.dropFirst()))
        return ConfigNode(.map(editor.map), at: node.location)
    }
}
