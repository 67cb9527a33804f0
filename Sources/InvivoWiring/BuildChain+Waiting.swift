public import InvivoBase
public import InvivoObjects

extension BuildChain: WaitingBuild {
    public var rootBuild: any WaitingBuild { root }
    public var awaited: (name: String, builder: (any WaitingBuild)?)? { waitingOn.map { ($0.name, $0.builder) } }
    public var keysInProgress: [String] { frames.map(\.recipe.key) }
    public var innerBuilds: [any WaitingBuild] { inner }
    public var canBackOff: Bool {
        guard case .cell = waitingOn else { return false }
        return depth > 0 && parent == nil && outer == nil && !isCommit
    }
}

extension Container: JobRuntime {
    public var currentBuild: (any WaitingBuild)? { currentChain }
    public var buildBeneath: (any WaitingBuild)? { isBuildingHere ? currentChain ?? chainBeneath : nil }
    public func run(for build: (any WaitingBuild)?, _ body: () -> Failure?) -> Failure? {
        inside(word: build.map { Unmanaged<AnyObject>.passUnretained($0).toOpaque() }, body)
    }
}

extension Container: RetirementRuntime {
    func stopRetired(_ records: [Record]) { for failure in stopTogether(records) { stopFailures.note(failure) } }
    func detached<Result>(_ body: () -> Result) -> Result { apart(body) }
}
