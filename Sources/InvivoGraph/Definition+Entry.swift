internal import InvivoBase
public import InvivoConfig

/// One entry of a map or list of the configuration, for which a definition is created from a pattern.
public struct ConfigEntry: Sendable {
    public let name: String
    /// The path of the entry; nil in a list.
    public let path: String?
    public let node: ConfigNode

    public init(name: String, path: String?, node: ConfigNode) {
        self.name = name
        self.path = path
        self.node = node
    }

    /// Returns the source for a path below the entry. In a map it is the configuration path, so that a changed value affects only
    /// the definitions that use it.
    fileprivate func source(_ below: String, _ other: Injection.Source?, _ isOptional: Bool) -> Injection.Source {
        if let path {
            return .config(
                "/" + (below.isEmpty ? path : "\(path).\(below)"), default: other, isOptional: isOptional, kind: .any)
        }
        var node: ConfigNode? = node
        for name in ConfigPath.names(below) { node = node?[name] }
        if let node { return .document(node) }
        return other
            ?? (isOptional ? .value(.null) : .config("/\(name).\(below)", default: nil, isOptional: false, kind: .any))
    }
}

extension Definition {
    /// Returns the definition of an entry, created from this pattern or from a definition inside a pattern.
    public func of(_ entry: ConfigEntry, id: UInt32, key: String, _ rename: (String) -> String) -> Definition {
        renamed(id: id, key: key, rename).with { body in
            body.each = nil
            body.isPattern = false
            body.entry = entry.name
            body.mapSources { $0.filled(entry) }
        }
    }
}

extension Injection.Source {
    /// Returns a copy in which the values of an entry have replaced the references to it.
    fileprivate func filled(_ entry: ConfigEntry) -> Injection.Source {
        switch kind {
        case .entry(let path, let isOptional): entry.source(path.text, parts.first?.filled(entry), isOptional)
        case .entryName: .value(.string(entry.name))
        default: mapParts { $0.filled(entry) }
        }
    }
}
