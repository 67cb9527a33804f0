public import InvivoBase

extension Recipe {
    /// The origin of an injected value, compiled: names are ids, lookups by type are bound, constants are converted.
    public indirect enum Source: Sendable {
        case value(Value)
        case object(UInt32, arguments: [Source], isOptional: Bool)
        case all([UInt32])
        case argument(Int)
        case arguments
        case path(Source, [String], isOptional: Bool)
        case list([Source])
        case set([Source])
        case map([(name: String, source: Source)])
        case deferred(UInt32?, arguments: [Source], Deferred)
        case resolver
        case asker
        /// The configuration value found at the last of these paths when the definition was compiled, or the default.
        case config([UInt32], Source)
        /// A callable that returns the configuration value at the time of the call.
        case setting(ConfigSetting)
        /// The value of a key of contexts, found when it is evaluated; else the default. Without one, a missing value is an error.
        case context(ContextValue, otherwise: Source?)
    }

    /// A lookup of a value of contexts.
    public struct ContextValue: Sendable, Equatable {
        public let key: String
        /// The id of the key; nil if nothing had named it when the definition was compiled.
        public let id: UInt32?
        /// The kind of the context in which the lookup begins; nil: any.
        public let kind: String?

        public static func == (one: ContextValue, other: ContextValue) -> Bool {
            one.key.isSameName(as: other.key) && one.kind.map(Name.init) == other.kind.map(Name.init)
        }
    }

    /// The behavior of an injected callable.
    public enum Deferred: Sendable {
        /// Resolves on each call.
        case provider
        /// Resolves on the first call.
        case lazy
        /// Returns the existing instance and creates none.
        case weak
    }
}

// MARK: traversal

/// Every search through compiled sources uses these functions. A new kind of compiled source is added to `parts` and, if it
/// names keys, to `references`.
extension Recipe.Source {
    /// The directly nested sources, in order.
    public var parts: [Recipe.Source] {
        switch self {
        case .object(_, let arguments, _), .deferred(_, let arguments, _): arguments
        case .list(let items), .set(let items): items
        case .map(let pairs): pairs.map(\.source)
        case .path(let inner, _, _), .config(_, let inner): [inner]
        case .context(_, let otherwise): otherwise.map { [$0] } ?? []
        case .value, .all, .argument, .arguments, .resolver, .asker, .setting: []
        }
    }

    /// The ids that a source itself names, without those of its parts.
    enum References {
        case none
        /// Objects that are resolved when the value is computed.
        case objects([UInt32])
        /// The configuration paths of a value.
        case paths([UInt32])
        /// An object that is resolved later; nil if there is none.
        case deferred(UInt32?)
    }

    var references: References {
        switch self {
        case .object(let id, _, _): .objects([id])
        case .all(let ids): .objects(ids)
        case .deferred(let id, _, _): .deferred(id)
        case .config(let ids, _): .paths(ids)
        case .value, .argument, .arguments, .path, .list, .set, .map, .resolver, .asker, .setting, .context:
            .none
        }
    }

    /// Calls `body` with this source and all nested ones, parents before children.
    public func forEach(_ body: (Recipe.Source) -> Void) {
        body(self)
        for part in parts { part.forEach(body) }
    }

    func contains(where isMeant: (Recipe.Source) -> Bool) -> Bool {
        isMeant(self) || parts.contains { $0.contains(where: isMeant) }
    }

    /// Whether computing the value resolves one of `ids` or reads it from the configuration; nil stands for any id.
    public func names(_ ids: IDSet?, except others: Set<UInt32> = []) -> Bool {
        contains { source in
            switch source.references {
            case .objects(let named), .paths(let named):
                if others.isEmpty {
                    ids.map { named.contains(where: $0.contains) } ?? true
                } else {
                    named.contains { id in !others.contains(id) && ids?.contains(id) != false }
                }
            case .deferred, .none: false
            }
        }
    }

    /// The keys that it names, in order; nil for a deferred reference to nothing.
    public var keys: [UInt32?] { keys(except: []) }

    /// The keys that it names, in order, without references to `others` that are resolved at once.
    public func keys(except others: Set<UInt32>) -> [UInt32?] {
        var found: [UInt32?] = []
        forEach { source in
            switch source.references {
            case .objects(let ids): for id in ids where !others.contains(id) { found.append(id) }
            case .deferred(let id): found.append(id)
            case .paths, .none: break
            }
        }
        return found
    }

    /// Whether everything in it is the same that is no key or configuration path.
    func hasSameConstants(as other: Recipe.Source) -> Bool {
        guard parts.elementsEqual(other.parts, by: { $0.hasSameConstants(as: $1) }) else { return false }
        return switch (self, other) {
        case (.value(let mine), .value(let its)): mine.isSame(as: its)
        case (.argument(let mine), .argument(let its)): mine == its
        case (.path(_, let mine, _), .path(_, let its, _)): mine.elementsEqual(its) { $0.isSameName(as: $1) }
        case (.map(let mine), .map(let its)): mine.elementsEqual(its) { $0.name.isSameName(as: $1.name) }
        case (.deferred(_, _, let mine), .deferred(_, _, let its)): mine == its
        case (.setting(let mine), .setting(let its)):
            mine.ids == its.ids && (mine.otherwise ?? .null).isSame(as: its.otherwise ?? .null)
        case (.context(let mine, _), .context(let its, _)): mine == its
        case (.object, .object), (.all, .all), (.arguments, .arguments), (.list, .list), (.set, .set),
            (.resolver, .resolver), (.asker, .asker), (.config, .config):
            true
        default: false
        }
    }

    /// Calls `body` with each key that is resolved without arguments when the value is computed.
    func forEachKey(_ body: (UInt32) -> Void) {
        forEach { if case .objects(let ids) = $0.references, $0.parts.isEmpty { ids.forEach(body) } }
    }

    /// Calls `body` with the lease of each object that this source contains as a constant.
    func forEachLease(_ body: (ObjectLease) -> Void) {
        forEach { if case .value(let value) = $0 { value.forEachLease(body) } }
    }
}
