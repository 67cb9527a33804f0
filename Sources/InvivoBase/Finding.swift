/// A kind of problem that a check of the wiring reports. Names are stable, for tools and for searches.
public enum Finding: String, Sendable, CaseIterable {
    case missing = "wiring.missing"
    case cycle = "wiring.cycle"
    case ambiguous = "wiring.ambiguous"
    case arity = "wiring.arity"
    case unknownProperty = "wiring.unknown-property"
    case unknownMethod = "wiring.unknown-method"
    case type = "wiring.type"
    case readOnly = "wiring.read-only"
    case configuration = "wiring.configuration"
    /// A configuration value that nothing reads.
    case unread = "config.unread"
    case duplicate = "wiring.duplicate"
    case captive = "wiring.captive"
    /// A definition refuses a change of its dependency.
    case refused = "wiring.refused"
    /// A dependency on an abstract definition.
    case abstract = "wiring.abstract"
    /// A spec file uses a trait type that is not registered.
    case unknownTrait = "trait.unknown"
    /// A spec file names a trait that does not exist, with a name that is similar to one that does.
    case misspelledTrait = "trait.misspelled"
    /// A condition of a trait names a path or a profile that does not exist, and that is similar to one that does.
    case condition = "trait.condition"
    /// Nothing inherits the traits of a key that is similar to one that is used.
    case unreadTraits = "trait.unread"
    /// The definition contradicts itself.
    case description = "wiring.description"

    /// The finding for a failure with this status in a check of the wiring.
    public init?(_ code: Status) {
        switch code {
        case .notFound, .dormant: self = .missing
        case .notConfigured: self = .configuration
        case .cycle: self = .cycle
        case .ambiguous: self = .ambiguous
        case .arity: self = .arity
        case .property: self = .unknownProperty
        case .method: self = .unknownMethod
        case .type, .range, .null, .conversion: self = .type
        case .readOnly: self = .readOnly
        case .exists: self = .duplicate
        case .captive: self = .captive
        case .refused: self = .refused
        case .abstract: self = .abstract
        case .argument: self = .description
        default: return nil
        }
    }
}
