public import InvivoBase

extension Value {
    /// Whether it leads to an object or callable, which must then be kept by whoever refers to it.
    public var holdsReference: Bool {
        switch self {
        case .object, .callable: return true
        case .list, .map: break
        default: return false
        }
        // Without recursion: values may lie deep in each other and the stack may be small.
        var inner = [self]
        while let value = inner.popLast() {
            switch value {
            case .object, .callable: return true
            case .list(let items): inner += items
            case .map(let pairs): for pair in pairs { inner.append(pair.value) }
            default: break
            }
        }
        return false
    }
}

extension Recipe.Source {
    /// Whether it resolves one of `ids` (nil: anything) when it is worked out.
    func names(_ ids: Set<UInt32>?) -> Bool {
        switch self {
        case .value, .argument, .arguments, .resolver, .asker, .setting: false
        // What it resolves is nothing to its holder; what it was given for that is.
        case .late(_, let arguments, _): arguments.contains { $0.names(ids) }
        case .config(let paths, let source):
            (ids.map { paths.contains(where: $0.contains) } ?? true) || source.names(ids)
        case .object(let id, let arguments, _): (ids?.contains(id) ?? true) || arguments.contains { $0.names(ids) }
        case .all(let all): ids.map { all.contains(where: $0.contains) } ?? true
        case .path(let source, _, _): source.names(ids)
        case .list(let items), .set(let items): items.contains { $0.names(ids) }
        case .map(let pairs): pairs.contains { $0.source.names(ids) }
        }
    }

    /// The keys that it names, in their order; nil where a provider, lazy or weak reference has none.
    var keys: [UInt32?] {
        switch self {
        case .value, .argument, .arguments, .resolver, .asker, .setting: []
        case .late(let id, let arguments, _): [id] + arguments.flatMap(\.keys)
        case .config(_, let source), .path(let source, _, _): source.keys
        case .object(let id, let arguments, _): [id] + arguments.flatMap(\.keys)
        case .all(let all): all
        case .list(let items), .set(let items): items.flatMap(\.keys)
        case .map(let pairs): pairs.flatMap(\.source.keys)
        }
    }

    /// Calls `body` with each key that it resolves without arguments when it is worked out.
    func forEachKey(_ body: (UInt32) -> Void) {
        switch self {
        case .value, .argument, .arguments, .resolver, .asker, .setting: break
        case .late(_, let arguments, _): for source in arguments { source.forEachKey(body) }
        case .config(_, let source), .path(let source, _, _): source.forEachKey(body)
        case .object(let id, let arguments, _):
            if arguments.isEmpty { body(id) }
            for source in arguments { source.forEachKey(body) }
        case .all(let all): for id in all { body(id) }
        case .list(let items), .set(let items): for item in items { item.forEachKey(body) }
        case .map(let pairs): for pair in pairs { pair.source.forEachKey(body) }
        }
    }
}

extension Recipe {
    /// The keys whose objects are injected after the initializer: what an object that is kept gets from a reload.
    public var injectedKeys: Set<UInt32> {
        var found: Set<UInt32> = []
        for step in before + steps + after + afterAll {
            for source in step.sources { source.forEachKey { found.insert($0) } }
        }
        return found
    }
}
