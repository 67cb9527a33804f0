public import InvivoBase
public import InvivoConfig
public import InvivoSpec
internal import InvivoTraits

extension ConfigNode {
    /// The value for a host that reads it as these kinds. A scalar with environment variables is a string, a number or a boolean, as
    /// all of them request.
    func value(for kinds: Set<ValueKind>) -> Value {
        guard case .value(let value) = content, let text = variables?.text, !kinds.isEmpty else { return self.value }
        if kinds == [.string] { return .string(text) }
        guard case .string = value, kinds.allSatisfy({ $0.isNumber || $0 == .bool }),
            let read = TextReader.plain(text).flatMap({ try? Value(spec: SpecNode($0)) })
        else { return value }
        return read
    }

    /// Fails if the value at `path` is not of the kind as which the host reads it. `kinds` are all kinds as which it does.
    func require(_ kind: ValueKind, _ kinds: Set<ValueKind>, at path: String) throws(Failure) {
        do throws(Failure) { _ = try value(for: kinds).converted(to: kind) } catch {
            let failure = masked(error, expected: kind.withArticle)
            throw Failure(
                failure.code, "the host reads it as \(kind.withArticle): \(failure.message)", path: "config.\(path)",
                at: location)
        }
    }

    /// Reads the map under `config:` of a document. A key at the top may be a path. Parts that have not changed are shared with
    /// `former`.
    public init(document node: SpecNode, like former: ConfigNode? = nil) throws(Failure) {
        let root = GrowingMap(at: node.location)
        var steps = LoadSteps()
        for entry in node.entries ?? [] {
            let before = former?.find(entry.key)
            try root.add(
                try ConfigNode(spec: entry.value, like: before, &steps).under(keyAt: entry.keyLocation),
                at: ConfigPath.names(entry.key)[...], entry)
        }
        self = root.node(like: former)
    }

    init(spec node: SpecNode, like former: ConfigNode?, _ steps: inout LoadSteps) throws(Failure) {
        try steps.step()
        switch node.content {
        case .list(let items):
            var nodes: [ConfigNode] = []
            for item in items { nodes.append(try ConfigNode(spec: item, like: nil, &steps)) }
            self.init(ConfigNode.Content.list(nodes), at: node.location)
        case .map(let entries):
            var names: [String] = []
            var nodes: [ConfigNode] = []
            names.reserveCapacity(entries.count)
            nodes.reserveCapacity(entries.count)
            for entry in entries {
                names.append(entry.key)
                // Only maps are shared.
                let before = entry.value.entries == nil ? nil : former?[entry.key]
                let node = try ConfigNode(spec: entry.value, like: before, &steps)
                nodes.append(node.under(keyAt: entry.keyLocation))
            }
            self.init(names: names, nodes: nodes, at: node.location, like: former)
        default:
            self.init(
                ConfigNode.Content.value(try Value(spec: node)), at: node.location, variables: node.variables)
        }
    }
}
