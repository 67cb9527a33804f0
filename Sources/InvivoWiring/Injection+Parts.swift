/// The nested sources of a source. Every traversal uses these functions, so a new kind of source is added here once.
extension Injection.Source {
    /// The directly nested sources, in order.
    var parts: [Injection.Source] {
        switch self {
        case .reference(_, let arguments, _): arguments
        case .list(let items), .set(let items): items
        case .map(let pairs): pairs.map(\.source)
        case .path(let inner, _, _), .provider(let inner), .lazy(let inner), .weak(let inner), .text(let inner, _):
            [inner]
        case .config(_, let other, _, _), .entry(_, let other, _): other.map { [$0] } ?? []
        case .value, .type, .all, .argument, .arguments, .resolver, .asker, .entryName, .said: []
        }
    }

    /// Returns a copy in which `change` has replaced each part.
    func mapParts(_ change: (Injection.Source) -> Injection.Source) -> Injection.Source {
        switch self {
        case .reference(let key, let arguments, let isOptional):
            .reference(key, arguments: arguments.map(change), isOptional: isOptional)
        case .list(let items): .list(items.map(change))
        case .set(let items): .set(items.map(change))
        case .map(let pairs): .map(pairs.map { ($0.name, change($0.source)) })
        case .path(let object, let path, let isOptional): .path(change(object), path, isOptional: isOptional)
        case .provider(let target): .provider(change(target))
        case .lazy(let target): .lazy(change(target))
        case .weak(let target): .weak(change(target))
        case .text(let text, let converter): .text(change(text), converter: converter)
        case .config(let path, let other, let isOptional, let kind):
            .config(path, default: other.map(change), isOptional: isOptional, kind: kind)
        case .entry(let path, let other, let isOptional):
            .entry(path, default: other.map(change), isOptional: isOptional)
        case .value, .type, .all, .argument, .arguments, .resolver, .asker, .entryName, .said: self
        }
    }

    /// Calls `body` with this source and all nested ones, parents before children.
    func forEach(_ body: (Injection.Source) -> Void) {
        body(self)
        for part in parts { part.forEach(body) }
    }

    /// Returns whether this source or a nested one satisfies `isMeant`.
    func contains(where isMeant: (Injection.Source) -> Bool) -> Bool {
        isMeant(self) || parts.contains { $0.contains(where: isMeant) }
    }
}

/// The same traversals for compiled sources.
extension Recipe.Source {
    /// The directly nested sources, in order.
    var parts: [Recipe.Source] {
        switch self {
        case .object(_, let arguments, _), .late(_, let arguments, _): arguments
        case .list(let items), .set(let items): items
        case .map(let pairs): pairs.map(\.source)
        case .path(let inner, _, _), .config(_, let inner): [inner]
        case .value, .all, .argument, .arguments, .resolver, .asker, .setting: []
        }
    }

    func forEach(_ body: (Recipe.Source) -> Void) {
        body(self)
        for part in parts { part.forEach(body) }
    }

    func contains(where isMeant: (Recipe.Source) -> Bool) -> Bool {
        isMeant(self) || parts.contains { $0.contains(where: isMeant) }
    }
}
