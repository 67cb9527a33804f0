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
}
