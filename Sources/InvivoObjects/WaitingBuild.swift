public import InvivoBase

/// A build, as jobs and the search for cyclic waits see it.
///
/// The search reads these properties with the monitor held.
public protocol WaitingBuild: AnyObject, Sendable {
    /// The build at the beginning of a chain of calls: the whole chain waits as one.
    var rootBuild: any WaitingBuild { get }
    /// The object that it waits for, by name, and the build that creates that; nil while it runs.
    var awaited: (name: String, builder: (any WaitingBuild)?)? { get }
    /// The keys of the objects that it is creating, from the outermost on.
    var keysInProgress: [String] { get }
    /// Builds that run in hooks of its start phase.
    var innerBuilds: [any WaitingBuild] { get }
    /// Whether the build waits for a shared object and can be rolled back and begun again.
    var canBackOff: Bool { get }
    /// Whether a long wait for the build has been reported.
    var isReportedAsSlow: Bool { get set }
}

/// The runtime around jobs: connects them with the builds that they belong to.
public protocol JobRuntime: AnyObject, Sendable {
    /// The build on whose behalf the calling thread runs.
    var currentBuild: (any WaitingBuild)? { get }
    /// The build that continues only when the code that the calling thread runs next has returned.
    var buildBeneath: (any WaitingBuild)? { get }
    /// Whether the calling thread is in the middle of a build. Takes no lock.
    var isBuildingHere: Bool { get }
    /// Runs `body` as code of the runtime, on behalf of `build`. Such code may not wait for a reload.
    func run(for build: (any WaitingBuild)?, _ body: () -> Failure?) -> Failure?
}
