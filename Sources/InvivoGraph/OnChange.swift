/// How a dependent follows a change of a dependency, as it is declared.
public enum OnChange: UInt32, Sendable {
    /// The reference decides: an initializer is run again, an injection is repeated.
    case follow = 1
    /// Its objects keep the former object or value until they are rebuilt for another reason.
    case keep = 2
    /// Its objects are rebuilt.
    case rebuild = 3
    /// A change of the dependency is refused while there are objects.
    case refuse = 4
}

extension OnChange: Comparable {
    /// The order of strength: of several references to one key, the strongest decides.
    private var strength: Int {
        switch self {
        case .keep: 0
        case .follow: 1
        case .rebuild: 2
        case .refuse: 3
        }
    }

    public static func < (a: OnChange, b: OnChange) -> Bool { a.strength < b.strength }

    /// Whether its objects do not receive another object or value.
    public var isDeclaredToStay: Bool { self == .keep || self == .refuse }
}

/// A reference from a compiled definition to a key or a configuration path.
public struct Edge: Sendable, Equatable {
    /// How a dependency reaches its dependent.
    public enum Way: UInt8, Sendable, Comparable {
        /// The dependent resolves at each use and is not affected.
        case deferred = 0
        /// Into a property, or into a method that is called again.
        case injection = 1
        case initializer = 2

        public static func < (a: Way, b: Way) -> Bool { a.rawValue < b.rawValue }
    }

    public let way: Way
    public let onChange: OnChange
    /// Whether the dependent is set up again when the dependency changes.
    public let owns: Bool

    public init(_ way: Way, _ onChange: OnChange = .follow, owns: Bool = false) {
        self.way = way
        self.onChange = way == .deferred ? .follow : onChange
        self.owns = owns
    }

    public static let deferred = Edge(.deferred)
    public static let injection = Edge(.injection)
    public static let initializer = Edge(.initializer)

    public var isDeferred: Bool { way == .deferred }
    public var isKept: Bool { onChange == .keep }

    /// Whether a change of the dependency rebuilds the dependent.
    public var rebuilds: Bool {
        switch onChange {
        case .follow: way == .initializer
        case .keep: false
        case .rebuild, .refuse: true
        }
    }

    /// The stronger of both: as one edge, they affect a dependent like both.
    public func joined(_ other: Edge) -> Edge {
        let owns = owns || other.owns
        if isDeferred { return Edge(other.way, other.onChange, owns: owns) }
        if other.isDeferred { return Edge(way, onChange, owns: owns) }
        return Edge(max(way, other.way), max(onChange, other.onChange), owns: owns)
    }

    /// The edge of a reference that the dependent resolves at each use.
    public var deferred: Edge { Edge(.deferred, owns: owns) }

    // MARK: packed

    /// The number of bits of `packed`.
    public static let packedBits: UInt32 = 5

    public var packed: UInt32 { UInt32(way.rawValue) | (onChange.rawValue - 1) << 2 | (owns ? 16 : 0) }

    /// Nil for bits that no edge has.
    public init?(packed: UInt32) {
        guard let way = Way(rawValue: UInt8(packed & 3)), let onChange = OnChange(rawValue: packed >> 2 & 3 + 1)
        else { return nil }
        self.init(way, onChange, owns: packed & 16 != 0)
    }
}
