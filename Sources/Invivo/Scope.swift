internal import CInvivo

/// Determines the lifetime of an instance, and which dependents share it.
public enum Scope: UInt32, Sendable {
    /// A new one for each reference; inside its own making a reference back is itself.
    case prototype = 1
    /// One instance for each outermost resolve, shared by all objects that it creates.
    case graph = 2
    /// One, built by the commit that brings the definition.
    case singleton = 3
    /// One, built by the first resolve.
    case lazySingleton = 4
    /// One instance as long as it is retained.
    case weakSingleton = 5
    /// One instance for each context.
    case context = 6
    /// One instance for each thread, until the thread ends.
    case thread = 7
}
