import InvivoBase
import InvivoObjects
import Testing

@Suite struct WaitsTests {
    private let monitor = Monitor()
    private let waits: Waits

    init() { waits = Waits(monitor) }

    private func cycle(_ other: ScriptedBuild, _ build: ScriptedBuild, on thread: UInt64 = 1, _ key: String) -> Waits
        .Cycle?
    {
        monitor.locked { waits.cycle(from: other, to: build, on: thread, key) }
    }

    @Test func twoBuildsThatWaitForEachOtherAreACycle() {
        let (a, b) = (ScriptedBuild("a"), ScriptedBuild("b"))
        #expect(cycle(b, a, "b") == nil)
        b.waits(for: "a", of: a)
        let found = cycle(b, a, "b")
        #expect(found?.path == ["b", "a"])
        #expect(found?.isThroughJob == false)
    }

    @Test func theWayLeadsThroughFurtherBuilds() {
        let (a, b, c) = (ScriptedBuild("a"), ScriptedBuild("b", "inner"), ScriptedBuild("c"))
        b.waits(for: "c", of: c)
        c.waits(for: "a", of: a)
        #expect(cycle(b, a, "b")?.path == ["b", "inner", "c", "a"])
    }

    @Test func aRunningBuildClosesNoCycle() {
        let (a, b, c) = (ScriptedBuild("a"), ScriptedBuild("b"), ScriptedBuild("c"))
        b.waits(for: "c", of: c)
        #expect(cycle(b, a, "b") == nil)
        #expect(cycle(c, a, "c") == nil)
    }

    @Test func aBuildWaitsForTheHooksOfItsStartPhase() {
        let (a, b, hook) = (ScriptedBuild("a"), ScriptedBuild("b"), ScriptedBuild("hook"))
        b.innerBuilds = [hook]
        hook.waits(for: "a", of: a)
        b.awaited = ("start", nil)
        #expect(cycle(b, a, "b")?.path == ["b", "hook", "a"])
    }

    @Test func aBuildBeneathAJobOfTheSameThreadIsACycle() {
        let (a, b) = (ScriptedBuild("a"), ScriptedBuild("b"))
        monitor.locked { waits.suspend(b, 1) }
        #expect(cycle(b, a, on: 1, "b")?.isThroughJob == true)
        #expect(cycle(b, a, on: 2, "b") == nil)
        monitor.locked { waits.resume(b, 1) }
        #expect(cycle(b, a, on: 1, "b") == nil)
    }

    @Test func aJobThatWaitsHoldsUpTheBuildBeneathIt() {
        let (a, b, job) = (ScriptedBuild("a"), ScriptedBuild("b"), ScriptedBuild("job"))
        job.waits(for: "a", of: a)
        monitor.locked {
            waits.suspend(b, 2)
            waits.begin(job, 2)
        }
        let found = cycle(b, a, on: 1, "b")
        #expect(found?.path == ["b", "job", "a"])
        #expect(found?.isThroughJob == true)
        monitor.locked { waits.end(job, 2) }
        #expect(cycle(b, a, on: 1, "b") == nil)
    }

    @Test func onlyAWaitingBuildThatLiesBeneathNoJobBacksOff() {
        let build = ScriptedBuild("a")
        func canBackOff() -> Bool { monitor.locked { waits.canBackOff(build) } }
        build.canBackOff = true
        #expect(!canBackOff())
        monitor.locked { waits.begin(build, 1) }
        #expect(canBackOff())
        monitor.locked { waits.suspend(ScriptedBuild("beneath"), 1) }
        #expect(!canBackOff())
    }
}
