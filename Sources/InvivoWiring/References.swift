public import InvivoBase

extension Value {
    /// Whether it leads to an object or callable, which must then be kept by whoever refers to it.
    public var holdsReference: Bool {
        contains { value in
            switch value {
            case .object, .callable: true
            default: false
            }
        }
    }
}

extension Recipe.Source {
    /// Whether it resolves one of `ids` (nil: anything) when it is worked out.
    func names(_ ids: Set<UInt32>?) -> Bool {
        contains { source in
            switch source {
            case .object(let id, _, _): ids?.contains(id) ?? true
            case .all(let all), .config(let all, _): ids.map { all.contains(where: $0.contains) } ?? true
            // What it resolves is nothing to its holder; what it was given for that is.
            case .late, .value, .argument, .arguments, .resolver, .asker, .setting, .path, .list, .set, .map: false
            }
        }
    }

    /// The keys that it names, in their order; nil where a provider, lazy or weak reference has none.
    var keys: [UInt32?] {
        var found: [UInt32?] = []
        forEach { source in
            switch source {
            case .late(let id, _, _): found.append(id)
            case .object(let id, _, _): found.append(id)
            case .all(let all): found += all.map(Optional.some)
            case .value, .argument, .arguments, .resolver, .asker, .setting, .config, .path, .list, .set, .map: break
            }
        }
        return found
    }

    /// Calls `body` with each key that it resolves without arguments when it is worked out.
    func forEachKey(_ body: (UInt32) -> Void) {
        forEach { source in
            switch source {
            case .object(let id, let arguments, _): if arguments.isEmpty { body(id) }
            case .all(let all): all.forEach(body)
            case .late, .value, .argument, .arguments, .resolver, .asker, .setting, .config, .path, .list, .set, .map:
                break
            }
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
