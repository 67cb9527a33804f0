public import InvivoBase

/// The wiring of one generation as plain facts: its keys, their dependencies and the objects that are alive.
///
/// A copy of one moment, which outlives the runtime. Tools draw it and generate code from it.
public struct WiringFacts: Sendable {
    public struct Dependency: Sendable {
        public let key: String
        public let how: How

        public init(key: String, how: How) {
            self.key = key
            self.how = how
        }
    }

    /// How a dependency reaches its dependent.
    public enum How: String, Sendable {
        case initializer, injection, late, asked, alias
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
        /// The generation that brought the current definition.
        public var generation: UInt64 = 0
        /// The number of its objects that are alive.
        public var live: UInt64 = 0
        /// The time in nanoseconds that building the shared instance took; nil where there is none.
        public var buildTime: UInt64?
        public var place = Place()
        public var dependencies: [Dependency] = []
        /// The declared runtime arguments; nil where the definition declares none.
        public var parameters: [Signature.Parameter]?
        /// The number of runtime arguments that an alias binds itself.
        public var boundArguments = 0
        public var isNullable = false
        /// Whether it is defined inline, inside another definition.
        public var isInline = false
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

    public init(generation: UInt64, nodes: [Node]) {
        self.generation = generation
        self.nodes = nodes.sorted { $0.key < $1.key }
    }
}

/// The described members of a type, copied.
public struct TypeMembers: Sendable {
    public var supertypes: [String] = []
    public var properties: [(name: String, kind: ValueKind)] = []
    public var methods: [(name: String, parameters: [Signature.Parameter], result: ValueKind)] = []
    /// Whether the type has nothing but a block, which is read through views.
    public var isBlockOnly = false

    public init() {}

    init(_ type: TypeDescription) {
        supertypes = type.supertypes
        // Names with a colon belong to a language binding; no language can write them.
        properties = type.properties.filter { !$0.name.contains(":") }.map { ($0.name, $0.kind) }
        methods = type.methods.filter { !$0.name.contains(":") }.map { ($0.name, $0.signature.parameters, $0.result) }
        isBlockOnly = type.size == 0 && type.functions.make == nil && type.blockSize > 0
    }
}
