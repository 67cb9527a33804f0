internal import Synchronization

/// The builds of one resolve from outside: the outermost one, and those that its constructors, hooks and jobs begin. They wait
/// for other builds as one.
public final class BuildChain: Sendable {
    /// The chain in whose start phase this one runs, maybe on another thread, or that it interrupts to end an object.
    public let outer: BuildChain?
    /// Whether a long wait for it has been reported.
    private let isReportedAsSlow = Atomic<Bool>(false)

    public init(outer: BuildChain? = nil) { self.outer = outer }

    /// Whether this chain runs in the start phase of another, maybe indirectly.
    public func isInside(_ other: BuildChain) -> Bool {
        var next = outer
        while let chain = next {
            if chain === other { return true }
            next = chain.outer
        }
        return false
    }

    /// True for the first caller: one of the threads that wait for a chain reports it.
    func reportAsSlow() -> Bool { !isReportedAsSlow.exchange(true, ordering: .relaxed) }
}

/// An object that one chain of builds creates and others wait for.
public protocol Awaited: AnyObject, Sendable {
    /// Its name in messages.
    var awaitedName: String { get }
    /// The chain that creates it; nil if the creation has ended, or waits for nothing. Called with the monitor held.
    var maker: BuildChain? { get }
}
