internal import CInvivo

/// Determines the lifetime of an instance, and which dependents share it.
public enum Scope: UInt32, Sendable {
    /// A new instance for each reference. During its creation, a reference back returns the instance itself.
    case prototype = 1
    /// One instance for each outermost resolve, shared by all objects that it creates.
    case graph = 2
    /// One instance, built by the commit that adds the definition.
    case singleton = 3
    /// One instance, built by the first resolve.
    case lazySingleton = 4
    /// One instance as long as it is retained.
    case weakSingleton = 5
    /// One instance for each context.
    case context = 6
    /// One instance for each thread, until the thread ends.
    case thread = 7
}
