/// What a check of the wiring finds, by names that stay: for tools, and for whoever looks one up.
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
    /// Nothing reads what the configuration says.
    case unread = "config.unread"
    case duplicate = "wiring.duplicate"
    case captive = "wiring.captive"
    /// What is needed is never made itself.
    case abstract = "wiring.abstract"
    /// The definition contradicts itself.
    case description = "wiring.description"

    /// What a failure with this status is when a check of the wiring found it.
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
        case .abstract: self = .abstract
        case .argument: self = .description
        default: return nil
        }
    }
}
