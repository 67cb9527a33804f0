public import InvivoBase
public import InvivoConfig
public import InvivoGraph

/// The wiring of one generation as plain facts: its keys, their dependencies and the objects that are alive.
///
/// A copy of one moment, which outlives the runtime. Tools draw it and generate code from it.
public struct WiringFacts: Sendable {
    public struct Dependency: Sendable {
        public let key: String
        public let how: How
        public let onChange: OnChange
        /// The generation that first replaced what the dependent keeps; nil if it has the current object or value.
        public var keptSince: UInt64?
        /// Whether it is a path of the configuration whose value is secret, or has a secret part.
        public let isSecret: Bool

        public init(
            key: String, how: How, onChange: OnChange = .follow, keptSince: UInt64? = nil, isSecret: Bool = false
        ) {
            self.isSecret = isSecret
            self.key = key
            self.how = how
            self.onChange = onChange
            self.keptSince = keptSince
        }
    }

    /// How a dependency reaches its dependent.
    public enum How: String, Sendable {
        case initializer, injection
        case deferred = "late"
        case asked, alias
        /// The key is a path of the configuration.
        case configuration
    }

    /// How code resolves a key.
    public struct Call: Sendable {
        /// The declared runtime arguments; nil where the definition declares none.
        public let parameters: [Signature.Parameter]?
        /// The number of runtime arguments that an alias binds itself.
        public let boundArguments: Int
        /// Whether the result may be null.
        public let isNullable: Bool

        public init(parameters: [Signature.Parameter]? = nil, boundArguments: Int = 0, isNullable: Bool = false) {
            self.parameters = parameters
            self.boundArguments = boundArguments
            self.isNullable = isNullable
        }
    }

    /// The objects of a key.
    public struct Instances: Sendable {
        /// The generation that brought the current definition.
        public let generation: UInt64
        /// The number of objects that are alive.
        public let live: UInt64
        /// The time in nanoseconds that building the shared instance took; nil where there is none.
        public let buildTime: UInt64?

        public init(generation: UInt64 = 0, live: UInt64 = 0, buildTime: UInt64? = nil) {
            self.generation = generation
            self.live = live
            self.buildTime = buildTime
        }
    }

    /// The facts of one key.
    public struct Node: Sendable {
        public let key: String
        /// The name of the type of its objects; empty where it is open.
        public var type = ""
        public var scope = ""
        public var alias: String?
        public var isAbstract = false
        public var rank: Int32 = 0
        public var location = Location()
        public var dependencies: [Dependency] = []
        /// The key whose traits apply to its objects, "none" for no traits; nil if it is that of the node.
        public var specKey: String?
        /// Whether a document has decided about it, at the location.
        public var isWired = false
        /// Whether it is defined inline, inside another definition.
        public var isInline = false
        public var call = Call()
        public var instances = Instances()
        public var members = TypeMembers()

        public init(key: String) { self.key = key }

        /// The part of the key before its first dot.
        public var assembly: String { key.split(separator: ".", maxSplits: 1).first.map(String.init) ?? key }
    }

    public let generation: UInt64
    /// Sorted by key.
    public let nodes: [Node]
    /// The entries of the configuration that nothing reads; nil where they were not looked for.
    public var unread: [UnreadEntry]?
    /// The paths of the configuration whose values are shown nowhere.
    public let secrets: SecretPaths
    /// The permitted content of documents.
    public let schema: SchemaFacts

    public init(
        generation: UInt64, nodes: [Node], secrets: SecretPaths = SecretPaths(), schema: SchemaFacts = SchemaFacts()
    ) {
        self.generation = generation
        self.secrets = secrets
        self.nodes = nodes.sorted { $0.key < $1.key }
        self.schema = schema
    }
}
