internal import InvivoBase

/// The configuration paths whose values are secret, each with everything below it. A value.
public struct SecretPaths: Sendable, Equatable {
    /// No path lies below another one.
    private var paths: Set<String>

    public init(_ paths: some Sequence<String> = []) {
        let all = Set(paths)
        self.paths = all.filter { path in !Self.around(path).contains(where: all.contains) }
    }

    public var isEmpty: Bool { paths.isEmpty }

    /// Whether a path is secret, or lies below one that is.
    public func contains(_ path: String) -> Bool {
        !paths.isEmpty && (paths.contains(path) || Self.around(path).contains(where: paths.contains))
    }

    /// Whether the value at a path is secret, or a part of it.
    public func touches(_ path: String) -> Bool {
        contains(path) || paths.contains { path.isEmpty || $0.rest(after: path + ".") != nil }
    }

    /// The secret parts of the value at a path, as paths below it; "" for the whole value.
    public func parts(of path: String) -> [String] {
        if contains(path) { return [""] }
        return paths.compactMap { path.isEmpty ? $0 : $0.rest(after: path + ".") }.sorted()
    }

    /// The paths with a value in `tree` whose secrecy, or that of a part, differs from `former`. Outer paths come before inner ones.
    public func changes(since former: SecretPaths, in tree: ConfigTree) -> [String] {
        paths.symmetricDifference(former.paths).sorted().flatMap { path in
            guard let node = tree.find(path) else { return [] as [String] }
            let below = ConfigTree(root: node).paths.map { path.isEmpty ? $0 : "\(path).\($0)" }
            return Self.around(path) + [path] + below
        }
    }

    /// The paths around a path, "" included.
    private static func around(_ path: String) -> [String] {
        let names = ConfigPath.names(path)
        return (0..<names.count).map { names[..<$0].joined(separator: ".") }
    }

    /// Returns a layer of the configuration in which these paths are marked as secret. Paths that only `former` has are no longer marked.
    func marking(_ node: ConfigNode, after former: SecretPaths = SecretPaths()) -> ConfigNode {
        var marked = node
        for path in former.paths.subtracting(paths) {
            marked = marked.marked(ConfigPath.names(path)[...], isSecret: false)
        }
        for path in paths { marked = marked.marked(ConfigPath.names(path)[...], isSecret: true) }
        return marked
    }
}

extension ConfigNode {
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
