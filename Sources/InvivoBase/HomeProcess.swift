internal import CPlatform

/// The process in which an object was created, to detect a forked child.
///
/// A child has none of its parent's threads, but the locks that they held stay locked. Check `isHere` before taking a
/// lock that the parent may have created, and fail with `.forked` when it is false.
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
