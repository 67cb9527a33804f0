internal import HashTreeCollections
internal import InvivoBase

/// The configuration paths whose values are secret, each with everything below it. A path may be declared several times. A value.
public struct SecretPaths: Sendable, Equatable {
    /// The declarations of paths that begin with one name after another.
    fileprivate struct Branch: Sendable, Equatable {
        var declarations = 0
        var branches: TreeDictionary<Name, Branch> = [:]

        var isSecret: Bool { declarations > 0 }

        /// Adds declarations of a path below this one. Returns how many there are now.
        mutating func declare(_ names: ArraySlice<String>, _ more: Int) -> Int {
            guard let name = names.first else {
                declarations += more
                return declarations
            }
            var inner = branches.removeValue(forKey: Name(name)) ?? Branch()
            let count = inner.declare(names.dropFirst(), more)
            if inner.isSecret || !inner.branches.isEmpty { branches[Name(name)] = inner }
            return count
        }

        /// The declarations around, at and below a path: a secret branch, or one with secret parts. Nil if there are none.
        func branch(at names: ArraySlice<String>) -> Branch? {
            guard !isSecret, let name = names.first else { return isSecret || !branches.isEmpty ? self : nil }
            return branches[Name(name)]?.branch(at: names.dropFirst())
        }

        /// The secret paths below a path, without those below another one.
        func paths(below path: String) -> [String] {
            if isSecret { return [path] }
            return branches.flatMap { name, branch in
                branch.paths(below: path.isEmpty ? name.text : "\(path).\(name.text)")
            }
        }
    }

    private let paths: TreeSet<Name>
    /// The same paths by their names.
    private let root: Branch

    public init() { (paths, root) = ([], Branch()) }

    private init(_ paths: TreeSet<Name>, _ root: Branch) { (self.paths, self.root) = (paths, root) }

    public init(_ paths: some Sequence<String>) { self = SecretPaths().declaring(paths) }

    /// Returns the same with more declarations.
    public func declaring(_ more: some Sequence<String>) -> SecretPaths {
        var (paths, root) = (paths, root)
        for path in more {
            _ = root.declare(ConfigPath.names(path)[...], 1)
            paths.insert(Name(path))
        }
        return SecretPaths(paths, root)
    }

    /// Returns the same without some of the declarations.
    public func revoking(_ ended: some Sequence<String>) -> SecretPaths {
        var (paths, root) = (paths, root)
        for path in ended where root.declare(ConfigPath.names(path)[...], -1) == 0 { paths.remove(Name(path)) }
        return SecretPaths(paths, root)
    }

    /// Whether both have the same declarations.
    public static func == (left: SecretPaths, right: SecretPaths) -> Bool { left.root == right.root }

    public var isEmpty: Bool { paths.isEmpty }

    private func branch(at path: String) -> Branch? {
        isEmpty ? nil : root.branch(at: ConfigPath.names(path)[...])
    }

    /// Whether a path is secret, or lies below one that is.
    public func contains(_ path: String) -> Bool { branch(at: path)?.isSecret == true }

    /// Whether the value at a path is secret, or a part of it.
    public func touches(_ path: String) -> Bool { branch(at: path) != nil }

    /// The secret parts of the value at a path, as paths below it; "" for the whole value.
    public func parts(of path: String) -> [String] { branch(at: path)?.paths(below: "").sorted() ?? [] }

    /// The paths with a value in `tree` whose secrecy, or that of a part, differs from `former`. Outer paths come before inner ones.
    public func changes(since former: SecretPaths, in tree: ConfigTree) -> [String] {
        guard self != former else { return [] }
        return paths.symmetricDifference(former.paths).map(\.text).sorted().flatMap { path in
            guard let node = tree.find(path) else { return [] as [String] }
            let below = ConfigTree(root: node).paths.map { path.isEmpty ? $0 : "\(path).\($0)" }
            return [""] + ConfigPath.around(path) + below
        }
    }

    /// Whether exactly this path is declared.
    public func declares(_ path: String) -> Bool { paths.contains(Name(path)) }

    /// Finds declared paths with as many names as another path, some of which are spelled differently.
    public struct Resembling {
        /// How many names the search may still look at. A comparison of two names costs as much as eight of them.
        private var budget: Int
        private static let comparison = 8
        public private(set) var found: Set<String> = []

        public init(budget: Int) { self.budget = budget }

        public mutating func find(_ path: String, in secrets: SecretPaths) {
            find(ConfigPath.names(path)[...], in: secrets.root, below: [], isSame: true)
        }

        private mutating func find(
            _ names: ArraySlice<String>, in branch: Branch, below outer: [String], isSame: Bool
        ) {
            guard let name = names.first else {
                if branch.isSecret, !isSame { found.insert(outer.joined(separator: ".")) }
                return
            }
            if let inner = branch.branches[Name(name)] {
                find(names.dropFirst(), in: inner, below: outer + [name], isSame: isSame)
            }
            for (other, inner) in branch.branches.lazy.map({ ($0.key.text, $0.value) })
            where !other.isSameName(as: name) {
                guard budget > 0 else { return }
                budget -= 1
                guard abs(other.utf8.count - name.utf8.count) <= other.utf8.count / 3 + 1 else { continue }
                budget -= Self.comparison
                guard nearestWord(to: name, among: CollectionOfOne(other)) != nil else { continue }
                find(names.dropFirst(), in: inner, below: outer + [other], isSame: false)
            }
        }
    }

    /// Returns a layer of the configuration in which these paths are marked as secret.
    func marking(_ node: ConfigNode) -> ConfigNode { node.marked(by: root) }

    /// The change of the marks from one set of secret paths to another.
    struct Change {
        private let revoked, declared: [ArraySlice<String>]
        /// The paths that one set has and the other has not, as names.
        var paths: [ArraySlice<String>] { revoked + declared }
        private let next, new: SecretPaths

        init(from former: SecretPaths, to next: SecretPaths) {
            self.next = next
            revoked = former.paths.subtracting(next.paths).map { ConfigPath.names($0.text)[...] }
            let added = next.paths.subtracting(former.paths)
            declared = added.map { ConfigPath.names($0.text)[...] }
            new = SecretPaths(added.map(\.text))
        }

        /// Returns a layer that was marked by the former paths, marked by the next ones. Nil if it has no value at a changed path.
        func marking(_ node: ConfigNode) -> ConfigNode? {
            let revoked = revoked.filter(node.contains)
            if revoked.isEmpty { return declared.contains(where: node.contains) ? new.marking(node) : nil }
            var marked = node
            for names in revoked { marked = marked.marked(names, isSecret: false) }
            // A revoked path may lie around others.
            return next.marking(marked)
        }
    }
}

extension ConfigNode {
    /// The node with the values of a branch as secrets.
    fileprivate func marked(by branch: SecretPaths.Branch) -> ConfigNode {
        if branch.isSecret { return marked(isSecret: true) }
        guard let map else { return self }
        var editor = ConfigMap.Editor(map)
        // Proportional to the smaller of both.
        if map.count < branch.branches.count {
            for (index, entry) in map.enumerated() {
                if let inner = branch.branches[Name(entry.name)] {
                    editor.replace(at: index, by: entry.node.marked(by: inner))
                }
            }
        } else {
            for (name, inner) in branch.branches {
                if let index = map.index(of: name.text) {
                    editor.replace(at: index, by: map.node(at: index).marked(by: inner))
                }
            }
        }
        return editor.isChanged ? ConfigNode(.map(editor.map), at: location, variables: variables) : self
    }

    /// Whether the node has a value at a path below it.
    fileprivate func contains(_ names: ArraySlice<String>) -> Bool {
        guard let name = names.first else { return true }
        guard let map, let index = map.index(of: name) else { return false }
        return map.node(at: index).contains(names.dropFirst())
    }

    /// The node with the value at a path below it as a secret, or as none. Everything beside the path is shared.
    fileprivate func marked(_ names: ArraySlice<String>, isSecret: Bool) -> ConfigNode {
        guard let name = names.first else { return marked(isSecret: isSecret) }
        guard let map, let index = map.index(of: name) else { return self }
        var editor = ConfigMap.Editor(map)
        editor.replace(at: index, by: map.node(at: index).marked(names.dropFirst(), isSecret: isSecret))
        return ConfigNode(.map(editor.map), at: location, variables: variables)
    }

    /// The node with all its parts as secrets, or as none. Null stays null.
    private func marked(isSecret: Bool) -> ConfigNode {
        let variables = VariableText.marking(variables, isSecret: isSecret)
        switch content {
        case .value: return ConfigNode(content, at: location, variables: variables)
        case .list(let items):
            return ConfigNode(.list(items.map { $0.marked(isSecret: isSecret) }), at: location, variables: variables)
        case .map(let map):
            let nodes = map.map { $0.node.marked(isSecret: isSecret) }
            return ConfigNode(.map(ConfigMap(names: map.map(\.name), nodes: nodes, like: map)), at: location)
        }
    }
}
