import InvivoBase
import InvivoLoop
import InvivoWiring
import Testing

@testable import InvivoReload

/// Asking the loop thread to end generations.
@Suite(.serialized, .tags(.concurrent)) struct ReclaimerTests {
    /// The loop may end between the moment at which it is found and the call that asks it.
    @Test func aLoopThatHasEndedIsNotAwaited() throws {
        let engine = try Engine.open(EngineOptions())
        let container = engine.container
        let ended = try Loop(name: "ended")
        ended.stop()
        let reclaimer = Reclaimer(
            container, LoopThread(container, name: "test", running: ended), Announcer(container))
        container.monitor.locked { container.builds.add(BuildRecords.Outdated(object: 0, birth: 0, nil)) }

        reclaimer.handOver()
        #expect(container.monitor.locked { !reclaimer.needsLoop })

        _ = container.monitor.locked { container.builds.takeOutdated() }
        try engine.close(deferring: false)
    }
}
