internal import CInvivo

/// How an object follows a change of a dependency: of a key or a configuration path that it received by injection, not through
/// a provider, lazy or weak reference.
///
/// Of several references to one key, the strongest decides: `refuse`, `rebuild`, `follow`, `keep`.
public enum OnChange: UInt32, Sendable {
    /// The reference decides: after a change of an initializer argument the object is rebuilt; a property or method is
    /// injected again.
    case follow = 1
    /// The object keeps what it has until it is rebuilt for another reason. A report that replaces something that objects
    /// keep has a warning and a change of kind `kept` for each of their keys. An error of the plan for an exclusive
    /// dependency.
    case keep = 2
    /// The object is rebuilt, also for a property or method.
    case rebuild = 3
    /// The change set fails with the code `refused`, unless it defines or removes the holder, too. For shared and tracked
    /// definitions; without objects they refuse nothing.
    case refuse = 4

    /// The one with a name; `follow` for nil, or for one of a newer library.
    init(named name: String?) {
        switch name {
        case "keep": self = .keep
        case "rebuild": self = .rebuild
        case "refuse": self = .refuse
        default: self = .follow
        }
    }

    /// The flag of an injection.
    var flag: UInt32 {
        switch self {
        case .follow: UInt32(INVIVO_INJECT_FOLLOW)
        case .keep: UInt32(INVIVO_INJECT_KEEP)
        case .rebuild: UInt32(INVIVO_INJECT_REBUILD)
        case .refuse: UInt32(INVIVO_INJECT_REFUSE)
        }
    }
}
