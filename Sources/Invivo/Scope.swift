internal import CInvivo

/// Determines the lifetime of an instance, and which dependents share it.
public enum Scope: Sendable, Hashable {
    /// A new instance for each reference. During its creation, a reference back returns the instance itself.
    case prototype
    /// One instance for each outermost resolve, shared by all objects that it creates.
    case graph
    /// One instance, built by the commit that adds the definition.
    case singleton
    /// One instance, built by the first resolve.
    case lazySingleton
    /// One instance as long as it is retained.
    case weakSingleton
    /// One instance in each context of a kind; without a kind, in each context in which it is resolved.
    case context(kind: String?)
    /// One instance for each thread, until the thread ends.
    case thread

    /// One instance in each context in which it is resolved.
    public static var context: Scope { .context(kind: nil) }
    /// One instance in each context of a kind. It is found in the nearest one, from the current context upward.
    public static func context(_ kind: String) -> Scope { .context(kind: kind) }
    /// One instance in each context of a kind.
    public static func context(_ kind: ContextKind) -> Scope { .context(kind: kind.name) }
}

extension Scope {
    /// The number in the C ABI.
    var code: UInt32 {
        let code =
            switch self {
            case .prototype: INVIVO_SCOPE_PROTOTYPE
            case .graph: INVIVO_SCOPE_GRAPH
            case .singleton: INVIVO_SCOPE_SINGLETON
            case .lazySingleton: INVIVO_SCOPE_LAZY_SINGLETON
            case .weakSingleton: INVIVO_SCOPE_WEAK_SINGLETON
            case .context: INVIVO_SCOPE_CONTEXT
            case .thread: INVIVO_SCOPE_THREAD
            }
        return UInt32(code)
    }

    /// The scope of a number in the C ABI, with the name of its kind of contexts. Nil for a scope of the host, and for none.
    init?(code: UInt32, kind: String?) {
        switch Int(code) {
        case INVIVO_SCOPE_PROTOTYPE: self = .prototype
        case INVIVO_SCOPE_GRAPH: self = .graph
        case INVIVO_SCOPE_SINGLETON: self = .singleton
        case INVIVO_SCOPE_LAZY_SINGLETON: self = .lazySingleton
        case INVIVO_SCOPE_WEAK_SINGLETON: self = .weakSingleton
        case INVIVO_SCOPE_CONTEXT: self = .context(kind: kind)
        case INVIVO_SCOPE_THREAD: self = .thread
        default: return nil
        }
    }

    /// The kind of contexts; nil for a scope without one.
    var kind: String? { if case .context(let kind) = self { kind } else { nil } }
}
