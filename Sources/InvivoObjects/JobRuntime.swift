public import InvivoBase

/// The runtime around jobs: connects them with the builds that they belong to.
public protocol JobRuntime: AnyObject, Sendable {
    /// Code of the runtime that runs on behalf of no build.
    var outsideBuilds: JobContext { get }
    /// Code of the runtime that runs on behalf of the build that the calling thread is in, if any.
    var insideBuild: JobContext { get }
    /// The chain of builds that continues only when the code that the calling thread runs next has returned.
    var beneath: Waits.Suspension? { get }
    /// Whether the calling thread is in the middle of a build. Takes no lock.
    var isBuildingHere: Bool { get }
}

/// The build on whose behalf code runs.
public struct JobContext: Sendable {
    /// The chain of the build; nil without one.
    let chain: BuildChain?
    /// Runs a body as code of the runtime, in the build. Such code may not wait for a reload.
    let run: @Sendable (() -> Failure?) -> Failure?

    public init(chain: BuildChain? = nil, _ run: @escaping @Sendable (() -> Failure?) -> Failure?) {
        (self.chain, self.run) = (chain, run)
    }

    func run(_ body: () throws(Failure) -> Void) throws(Failure) {
        let failure = run { () -> Failure? in
            do throws(Failure) {
                try body()
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }
}
