internal import InvivoBase
public import InvivoConfig

/// One entry of a map or list of the configuration, for which there is one of a definition.
public struct ConfigEntry: Sendable {
    public let name: String
    /// Where it is found by a path; nil in a list.
    public let path: String?
    public let node: ConfigNode

    public init(name: String, path: String?, node: ConfigNode) {
        self.name = name
        self.path = path
        self.node = node
    }

    /// What a path below it leads to. A map's values are asked for by their paths, so that a change of one is a change of who
    /// names it and of nothing else.
    fileprivate func source(_ below: String, _ other: Injection.Source?, _ isOptional: Bool) -> Injection.Source {
        if let path {
            return .config(
                "/" + (below.isEmpty ? path : "\(path).\(below)"), default: other, isOptional: isOptional, kind: .any)
        }
        var node: ConfigNode? = node
        for name in ConfigPath.names(below) { node = node?[name] }
        if let node { return .said(node) }
        return other
            ?? (isOptional ? .value(.null) : .config("/\(name).\(below)", default: nil, isOptional: false, kind: .any))
    }
}

extension Definition {
    /// The one of a pattern, or of what stands in it, for an entry.
    public func of(_ entry: ConfigEntry, id: UInt32, key: String, _ rename: (String) -> String) -> Definition {
        func filled(_ source: Injection.Source) -> Injection.Source { source.filled(entry) }
        func filled(_ given: [Injection]) -> [Injection] {
            given.map { Injection(name: $0.name, filled($0.source), hears: $0.hears, label: $0.label) }
        }
        func filled(_ given: [Invocation]) -> [Invocation] {
            given.map { Invocation(method: $0.method, arguments: filled($0.arguments)) }
        }
        return renamed(id: id, key: key, rename).with { body in
            body.each = nil
            body.isPattern = false
            body.entry = entry.name
            body.initializer = filled(body.initializer)
            body.properties = filled(body.properties)
            body.methods = filled(body.methods)
            body.before = filled(body.before)
            body.after = filled(body.after)
            body.afterAll = filled(body.afterAll)
            body.maker = body.maker.map {
                MakerMethod(
                    object: filled($0.object),
                    invocation: Invocation(method: $0.invocation.method, arguments: filled($0.invocation.arguments)))
            }
            body.choice = body.choice.map { choice in
                DefinitionChoice(
                    chooser: filled(choice.chooser),
                    options: choice.options.map { .init($0.when, use: $0.use.map { filled($0) }) })
            }
        }
    }
}

extension Injection.Source {
    /// With what an entry says in the place of what asks for it.
    fileprivate func filled(_ entry: ConfigEntry) -> Injection.Source {
        switch self {
        case .entry(let path, let other, let isOptional): entry.source(path, other?.filled(entry), isOptional)
        case .entryName: .value(.string(entry.name))
        default: mapParts { $0.filled(entry) }
        }
    }
}
