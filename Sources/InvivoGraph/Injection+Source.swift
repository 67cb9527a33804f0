public import InvivoBase
public import InvivoConfig

extension Injection {
    /// The origin of an injected value, as described: a kind and the nested sources.
    ///
    /// Keys and types are names; they are looked up when the definition is compiled. A new kind of source is one case of `Kind`,
    /// a function that builds it, and its meaning in `DefinitionCompiler`; CONTRIBUTING.md lists its spellings. Comparing, renaming and
    /// searching need no change.
    public struct Source: Equatable, Sendable {
        /// The source's own data, without the nested sources. Indirect, because a runtime keeps the sources of every definition: most
        /// are much smaller than the largest kind.
        public indirect enum Kind: Equatable, Sendable {
            case value(Constant)
            /// The object of a key. The parts are the runtime arguments.
            case reference(Name, isOptional: Bool)
            case type(TypeQuery)
            /// A list of all candidates of a type.
            case all(TypeQuery)
            case argument(Int)
            case arguments
            /// A path of properties of the only part.
            case path([Name], isOptional: Bool)
            case list
            case set
            /// The names of the parts.
            case map([Name])
            /// A callable that resolves the only part each time it is called.
            case provider
            /// A callable that resolves the only part once.
            case lazy
            /// A callable that returns the existing instance of the only part and creates none.
            case weak
            case resolver
            /// The key for which the object is created.
            case asker
            /// The configuration value at a path, looked up in the scopes of the definition. The part is the default. `kind` applies
            /// where the parameter or property declares none.
            case config(Name, isOptional: Bool, kind: ValueKind)
            /// A string, given by the only part, that a converter reads. Nil selects the converter of the parameter or property.
            case text(converter: Name?)
            /// In a definition for each entry: the value at a path below the entry. The part is the default.
            case entry(Name, isOptional: Bool)
            case entryName
            /// The value of a key of contexts, looked up from the context in which the object is created, or from the nearest one of a
            /// kind. The part is the default.
            case context(Name, kind: Name?, isOptional: Bool)
            /// A value of a document, converted for the parameter or property.
            case document(DocumentValue)
        }

        /// A constant. Two are equal if their values are the same.
        public struct Constant: Equatable, Sendable {
            public let value: Value

            public static func == (one: Constant, other: Constant) -> Bool { one.value.isSame(as: other.value) }
        }

        /// A value of a document with its source location, which does not count in comparisons.
        public struct DocumentValue: Equatable, Sendable {
            public let node: ConfigNode

            public static func == (one: DocumentValue, other: DocumentValue) -> Bool {
                one.node.value.isSame(as: other.node.value)
            }
        }

        public let kind: Kind
        /// The directly nested sources, in order.
        public let parts: [Source]

        /// Whether it, or a part of it, refers to keys, types or paths.
        var refers: Bool {
            switch kind {
            case .reference, .type, .all, .config: true
            default: parts.contains(where: \.refers)
            }
        }

        /// The value of a constant; nil for other sources.
        public var constant: Value? { if case .value(let constant) = kind { constant.value } else { nil } }

        private init(_ kind: Kind, _ parts: [Source] = []) {
            self.kind = kind
            self.parts = parts
        }
    }

    /// A type query: selects definitions by type.
    public struct TypeQuery: Equatable, Sendable {
        private let wanted: Name
        public let isExact: Bool
        public let isOptional: Bool
        /// Takes a better candidate that is added later. Otherwise an existing binding stays.
        public let isGreedy: Bool
        /// Omits the argument if there is no candidate.
        public let orDefault: Bool

        public var name: String { wanted.text }

        public init(
            name: String, isExact: Bool = false, isOptional: Bool = false, isGreedy: Bool = false,
            orDefault: Bool = false
        ) {
            wanted = Name(name)
            self.isExact = isExact
            self.isOptional = isOptional
            self.isGreedy = isGreedy
            self.orDefault = orDefault
        }
    }
}

// MARK: building sources

extension Injection.Source {
    public static func value(_ value: Value) -> Self { Self(.value(Constant(value: value))) }
    public static func reference(_ key: String, arguments: [Self] = [], isOptional: Bool = false) -> Self {
        Self(.reference(Name(key), isOptional: isOptional), arguments)
    }
    public static func type(_ query: Injection.TypeQuery) -> Self { Self(.type(query)) }
    public static func all(_ query: Injection.TypeQuery) -> Self { Self(.all(query)) }
    public static func argument(_ index: Int) -> Self { Self(.argument(index)) }
    public static var arguments: Self { Self(.arguments) }
    public static func path(_ object: Self, _ path: [String], isOptional: Bool) -> Self {
        Self(.path(path.map(Name.init), isOptional: isOptional), [object])
    }
    public static func list(_ items: [Self]) -> Self { Self(.list, items) }
    public static func set(_ items: [Self]) -> Self { Self(.set, items) }
    public static func map(_ pairs: [(name: String, source: Self)]) -> Self {
        Self(.map(pairs.map { Name($0.name) }), pairs.map(\.source))
    }
    public static func provider(_ target: Self) -> Self { Self(.provider, [target]) }
    public static func lazy(_ target: Self) -> Self { Self(.lazy, [target]) }
    public static func weak(_ target: Self) -> Self { Self(.weak, [target]) }
    public static var resolver: Self { Self(.resolver) }
    public static var asker: Self { Self(.asker) }
    public static func config(_ path: String, default other: Self?, isOptional: Bool, kind: ValueKind) -> Self {
        Self(.config(Name(path), isOptional: isOptional, kind: kind), other.map { [$0] } ?? [])
    }
    public static func text(_ text: Self, converter: String?) -> Self {
        Self(.text(converter: converter.map(Name.init)), [text])
    }
    public static func entry(_ path: String, default other: Self?, isOptional: Bool) -> Self {
        Self(.entry(Name(path), isOptional: isOptional), other.map { [$0] } ?? [])
    }
    public static var entryName: Self { Self(.entryName) }
    public static func context(_ key: String, kind: String?, default other: Self?, isOptional: Bool) -> Self {
        Self(.context(Name(key), kind: kind.map(Name.init), isOptional: isOptional), other.map { [$0] } ?? [])
    }
    public static func document(_ node: ConfigNode) -> Self { Self(.document(DocumentValue(node: node))) }
}

// MARK: traversal

extension Injection.Source {
    /// Returns a copy in which `change` has replaced each part.
    func mapParts(_ change: (Self) -> Self) -> Self { parts.isEmpty ? self : Self(kind, parts.map(change)) }

    /// Calls `body` with this source and all nested ones, parents before children.
    func forEach(_ body: (Self) -> Void) {
        body(self)
        for part in parts { part.forEach(body) }
    }

    /// Returns whether this source or a nested one satisfies `isMeant`.
    func contains(where isMeant: (Self) -> Bool) -> Bool {
        isMeant(self) || parts.contains { $0.contains(where: isMeant) }
    }

    /// Returns a copy in which `rename` has replaced each key.
    func renamed(_ rename: (String) -> String) -> Self {
        let inner = mapParts { $0.renamed(rename) }
        guard case .reference(let key, let isOptional) = kind else { return inner }
        return .reference(rename(key.text), arguments: inner.parts, isOptional: isOptional)
    }

    public var usesArguments: Bool {
        contains { source in
            switch source.kind {
            case .argument, .arguments: true
            default: false
            }
        }
    }

    var usesAsker: Bool { contains { $0.kind == .asker } }

    /// The configuration paths in this source, as spelled.
    public var configPaths: [String] {
        var found: [String] = []
        forEach { if case .config(let path, _, _) = $0.kind { found.append(path.text) } }
        return found
    }

    /// The source location of a value that a document gives; nil for another source.
    public var documentLocation: Location? {
        if case .document(let value) = kind { value.node.location } else { nil }
    }

    /// Calls `body` with the lease of each object that this source contains as a constant.
    public func forEachLease(_ body: (ObjectLease) -> Void) {
        forEach { if case .value(let constant) = $0.kind { constant.value.forEachLease(body) } }
    }
}
