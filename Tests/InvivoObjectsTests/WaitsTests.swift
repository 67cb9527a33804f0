import InvivoBase
import InvivoObjects
import Testing

@Suite struct WaitsTests {
    private let monitor = Monitor()
    private let waits: Waits

    init() { waits = Waits(monitor) }

    private func cycle(_ other: BuildChain, _ chain: BuildChain, on thread: UInt64 = 1, _ key: String) -> Waits.Cycle? {
        monitor.locked { waits.cycle(from: other, to: chain, on: thread, key) }
    }

    /// `chain` waits, on a thread of its own, for an object that `maker` creates.
    private func wait(
        _ chain: BuildChain, _ keys: String..., for name: String, of maker: BuildChain?, on thread: UInt64 = 9,
        canBackOff: Bool = false
    ) {
        monitor.locked {
            waits.begin(
                Waits.Wait(
                    of: chain, on: thread, for: ScriptedObject(name, of: maker), keys: keys, canBackOff: canBackOff))
        }
    }

    @Test func twoBuildsThatWaitForEachOtherAreACycle() {
        let (a, b) = (BuildChain(), BuildChain())
        #expect(cycle(b, a, "b") == nil)
        wait(b, "b", for: "a", of: a)
        let found = cycle(b, a, "b")
        #expect(found?.path == ["b", "a"])
        #expect(found?.isThroughJob == false)
        monitor.locked { _ = waits.end(b, 9) }
        #expect(cycle(b, a, "b") == nil)
    }

    @Test func theWayLeadsThroughFurtherBuilds() {
        let (a, b, c) = (BuildChain(), BuildChain(), BuildChain())
        wait(b, "b", "inner", for: "c", of: c)
        wait(c, "c", for: "a", of: a)
        #expect(cycle(b, a, "b")?.path == ["b", "inner", "c", "a"])
    }

    @Test func aRunningBuildClosesNoCycle() {
        let (a, b, c) = (BuildChain(), BuildChain(), BuildChain())
        wait(b, "b", for: "c", of: c)
        #expect(cycle(b, a, "b") == nil)
        #expect(cycle(c, a, "c") == nil)
    }

    @Test func aCommitThatGoesFirstIsWaitedForByNoBuild() {
        let (a, b) = (BuildChain(), BuildChain())
        monitor.locked { waits.begin(Waits.Wait(of: b, on: 9, for: nil, keys: ["b"])) }
        #expect(cycle(b, a, "b") == nil)
    }

    @Test func aBuildWaitsForTheHooksOfItsStartPhase() {
        let (a, b) = (BuildChain(), BuildChain())
        let hook = BuildChain(outer: b)
        monitor.locked { waits.beginStart(hook, in: b) }
        #expect(cycle(b, a, "b") == nil)
        wait(hook, "hook", for: "a", of: a)
        #expect(cycle(b, a, "b")?.path == ["b", "hook", "a"])
        monitor.locked { waits.endStart(hook) }
        #expect(cycle(b, a, "b") == nil)
    }

    @Test func aHookIsInsideTheBuildsAroundIt() {
        let build = BuildChain()
        let hook = BuildChain(outer: build)
        let nested = BuildChain(outer: hook)
        #expect(hook.isInside(build) && nested.isInside(build) && nested.isInside(hook))
        #expect(!build.isInside(hook) && !build.isInside(build))
    }

    @Test func aBuildBeneathAJobOfTheSameThreadIsACycle() {
        let (a, b) = (BuildChain(), BuildChain())
        monitor.locked { waits.suspend(Waits.Suspension(b, keys: ["x"]), 1) }
        #expect(cycle(b, a, on: 1, "b")?.isThroughJob == true)
        #expect(cycle(b, a, on: 1, "b")?.path == ["b", "x"])
        #expect(cycle(b, a, on: 2, "b") == nil)
        monitor.locked { waits.resume(b, 1) }
        #expect(cycle(b, a, on: 1, "b") == nil)
    }

    @Test func aJobThatWaitsHoldsUpTheBuildBeneathIt() {
        let (a, b, job) = (BuildChain(), BuildChain(), BuildChain())
        monitor.locked { waits.suspend(Waits.Suspension(b, keys: []), 2) }
        wait(job, "job", for: "a", of: a, on: 2)
        let found = cycle(b, a, on: 1, "b")
        #expect(found?.path == ["b", "job", "a"])
        #expect(found?.isThroughJob == true)
        monitor.locked { _ = waits.end(job, 2) }
        #expect(cycle(b, a, on: 1, "b") == nil)
    }

    @Test func onlyAWaitingBuildThatLiesBeneathNoJobBacksOff() {
        let chain = BuildChain()
        func canBackOff() -> Bool { monitor.locked { waits.canBackOff(chain) } }
        #expect(!canBackOff())
        wait(chain, for: "x", of: nil, on: 1, canBackOff: true)
        #expect(canBackOff())
        monitor.locked { waits.suspend(Waits.Suspension(BuildChain(), keys: []), 1) }
        #expect(!canBackOff())
    }

    @Test func aBuildThatIsAskedToBackOffLearnsItWhenItsWaitEnds() {
        let chain = BuildChain()
        wait(chain, for: "x", of: nil, on: 1, canBackOff: true)
        monitor.locked { waits.askToBackOff(chain) }
        #expect(monitor.locked { waits.end(chain, 1) })
        wait(chain, for: "x", of: nil, on: 1, canBackOff: true)
        #expect(!monitor.locked { waits.end(chain, 1) })
    }
}
