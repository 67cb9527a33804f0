internal import CPlatform

/// The process in which something was made, so that it can tell when it has come into a forked child.
///
/// A child has none of its parent's threads, but the locks that they held stay held there. Ask `isHere` before taking any
/// lock of what the parent may have made, and answer `.forked` when it is false.
public struct HomeProcess: Sendable {
    private let forks: UInt64

    /// The calling process.
    public init() {
        iv_at_fork_install()
        forks = iv_forks()
    }

    /// One load and a comparison.
    public var isHere: Bool { iv_forks() == forks }
}
