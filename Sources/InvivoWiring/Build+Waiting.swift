internal import InvivoBase
public import InvivoObjects

extension Build {
    /// Whether a chain is this build's, or runs hooks in which this one is.
    func isOurs(_ other: BuildChain) -> Bool { other === chain || chain.isInside(other) }

    /// The keys of the objects under construction, from the outermost on.
    var keysInProgress: [String] { frames.map(\.recipe.key) }

    /// Whether it can be rolled back and begun again: it holds nothing that others wait for. For a root.
    var canBackOff: Bool { depth > 0 && outer == nil && !isCommit }

    /// What the calling thread is in the middle of, which waits on behalf of this build.
    var standing: Standing {
        let state = currentThread()
        var found: [Build] = []
        var chains: Set<ObjectIdentifier> = []
        func add(_ build: Build?) {
            var next = build
            while let here = next, !found.contains(where: { $0 === here }) {
                found.append(here)
                chains.insert(ObjectIdentifier(here.chain))
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
            thread: state.identity, chains: chains, keys: found.reversed().flatMap(\.keysInProgress),
            isAcross: found.contains { $0.graph.raw.pointee.owner != owner })
    }
}

extension Build: ScopedBuild {}

extension Container: JobRuntime {
    public var outsideBuilds: JobContext { JobContext { [self] body in inside(nil, body) } }
    public var insideBuild: JobContext {
        let build = innermostBuild
        return JobContext(chain: build?.chain) { [self] body in inside(build, body) }
    }
    public var beneath: Waits.Suspension? {
        isBuildingHere ? (innermostBuild ?? detachedBuild).map(suspension) : nil
    }
    func suspension(_ build: Build) -> Waits.Suspension {
        Waits.Suspension(build.chain, keys: build.root.keysInProgress)
    }
}

extension Container: RetirementRuntime {
    func stopRetired(_ records: [Record]) {
        for failure in lifecycle.stopTogether(records) { lifecycle.stopFailures.note(failure) }
    }
    func detached<Result>(_ body: () -> Result) -> Result { apart(body) }
}
