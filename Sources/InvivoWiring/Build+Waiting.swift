public import InvivoBase
public import InvivoObjects

extension Build: WaitingBuild {
    public var rootBuild: any WaitingBuild { root }
    public var awaited: (name: String, builder: (any WaitingBuild)?)? { waitingOn.map { ($0.name, $0.builder) } }
    public var keysInProgress: [String] { frames.map(\.recipe.key) }
    public var innerBuilds: [any WaitingBuild] { inner }
    public var canBackOff: Bool {
        guard case .cell = waitingOn else { return false }
        return depth > 0 && parent == nil && outer == nil && !isCommit
    }
}

extension Build {
    /// What the calling thread is in the middle of, which waits on behalf of this build.
    var standing: Standing {
        let state = currentThread()
        var found: [Build] = []
        var seen: Set<ObjectIdentifier> = []
        func add(_ build: Build?) {
            var next = build
            while let here = next, seen.insert(ObjectIdentifier(here)).inserted {
                found.append(here)
                next = here.parent ?? here.outer
            }
        }
        add(self)
        add(Build.at(state.build))
        var around = state.pointee.around
        while let here = around {
            add(Build.at(here.pointee.threadBuild))
            around = here.pointee.outer
        }
        var creation = state.pointee.creation
        while let here = creation {
            add(here.build)
            creation = here.pointee.outer
        }
        let owner = graph.raw.pointee.owner
        return Standing(
            thread: state.identity, builds: seen, keys: found.reversed().flatMap(\.keysInProgress),
            isAcross: found.contains { $0.graph.raw.pointee.owner != owner })
    }
}

extension Build: ScopedBuild {}

extension Container: JobRuntime {
    public var currentBuild: (any WaitingBuild)? { innermostBuild }
    public var buildBeneath: (any WaitingBuild)? { isBuildingHere ? innermostBuild ?? detachedBuild : nil }
    public func run(for build: (any WaitingBuild)?, _ body: () -> Failure?) -> Failure? {
        // Jobs return the builds that `currentBuild` has given them.
        inside(build.map { unsafeDowncast($0, to: Build.self) }, body)
    }
}

extension Container: RetirementRuntime {
    func stopRetired(_ records: [Record]) {
        for failure in lifecycle.stopTogether(records) { lifecycle.stopFailures.note(failure) }
    }
    func detached<Result>(_ body: () -> Result) -> Result { apart(body) }
}
