public import InvivoBase
public import InvivoConfig

/// One thing injected, as it was described: into a parameter or property, or by position.
public struct Injection: Sendable {
    /// How a value comes about when an object is made. Keys and types go by name: what they are is found when the
    /// definition is compiled.
    public indirect enum Source: Sendable {
        case value(Value)
        case reference(String, arguments: [Source], isOptional: Bool)
        case type(TypeWish)
        case all(TypeWish)
        case argument(Int)
        case arguments
        case path(Source, [String], isOptional: Bool)
        case list([Source])
        case set([Source])
        case map([(name: String, source: Source)])
        /// A callable that resolves what the source names, each time it is called.
        case provider(Source)
        /// A callable that resolves it once.
        case lazy(Source)
        /// A callable that answers what there is of it when it is called, and makes nothing.
        case weak(Source)
        case resolver
        case asker
        /// The configuration value at a path, as the definition's own scopes see it; the default where there is none. The kind
        /// is for places that say none themselves.
        case config(String, default: Source?, isOptional: Bool, kind: ValueKind)
        /// A text, said here or by the configuration, read by the converter of that name, or that of the place it goes to.
        case text(Source, converter: String?)

        /// Of the entry for which it is, in a definition for each entry: what is at a path below it.
        case entry(String, default: Source?, isOptional: Bool)
        case entryName
        /// What a document says, as it stands.
        case said(ConfigNode)

        public static func reference(_ key: String) -> Source { .reference(key, arguments: [], isOptional: false) }
    }

    /// A wish for something by its type.
    public struct TypeWish: Equatable, Sendable {
        public let name: String
        public let isExact: Bool
        public let isOptional: Bool
        /// Takes a better candidate that comes later; otherwise what was bound stays.
        public let isGreedy: Bool
        /// Left out when there is none.
        public let orDefault: Bool

        public init(
            name: String, isExact: Bool = false, isOptional: Bool = false, isGreedy: Bool = false,
            orDefault: Bool = false
        ) {
            self.name = name
            self.isExact = isExact
            self.isOptional = isOptional
            self.isGreedy = isGreedy
            self.orDefault = orDefault
        }
    }

    /// Of the parameter or property; nil goes by position.
    public let name: String?
    public let source: Source
    /// Of all of a type: methods of the holder that are called when one comes or goes later.
    public let hears: Hears?
    /// The name in messages of an injection that goes by position.
    public let label: String?

    public struct Hears: Sendable, Equatable {
        public let added: String
        public let removed: String

        public init(added: String, removed: String) {
            self.added = added
            self.removed = removed
        }
    }

    public init(name: String?, _ source: Source, hears: Hears? = nil, label: String? = nil) {
        self.label = label
        self.name = name
        self.source = source
        self.hears = hears
    }
}

/// A method called while an object is made.
public struct Invocation: Sendable {
    public let method: String
    public let arguments: [Injection]

    public init(method: String, arguments: [Injection]) {
        self.method = method
        self.arguments = arguments
    }
}

/// What makes the instance of a definition by a method of another object.
public struct MakerMethod: Sendable {
    public let object: Injection.Source
    public let invocation: Invocation

    public init(object: Injection.Source, invocation: Invocation) {
        self.object = object
        self.invocation = invocation
    }
}
