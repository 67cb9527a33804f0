import Dispatch
import InvivoBase
import InvivoObjects
import InvivoReload
import InvivoWiring
import Synchronization
import Testing

@Suite(.serialized, .tags(.concurrent)) struct JobTests {
    private final class Resource: Sendable {}

    private final class WeakResource: @unchecked Sendable {
        weak var resource: Resource?

        init(_ resource: Resource) { self.resource = resource }
    }

    /// The host's thread keeps the job after its run: the host's loop still has its handle.
    @Test func aJobRefersToNothingWhenTheThreadThatWaitsForItGoesOn() throws {
        let engine = try Engine.open(EngineOptions())
        let mayEnd = DispatchSemaphore(value: 0)
        let thread = Mutex<OwnThread?>(nil)
        let domain = Domain(
            name: "host",
            kind: .posted(anyThread: false) { job throws(Failure) in
                let started = try OwnThread("host") {
                    #expect(job.run())
                    mayEnd.wait()
                    withExtendedLifetime(job) {}
                }
                thread.withLock { $0 = started }
            })
        var resource: Resource? = Resource()
        let observed = WeakResource(try #require(resource))
        try run(in: domain, of: engine, holding: try #require(resource))
        resource = nil
        #expect(observed.resource == nil)
        mayEnd.signal()
        try #require(thread.withLock { $0 }).join()
        try engine.close(deferring: false)
    }

    private func run(in domain: Domain, of engine: Engine, holding resource: Resource) throws {
        try engine.container.domains.run(in: domain, timeout: .max) { (_) throws(Failure) in
            withExtendedLifetime(resource) {}
        }
    }
}
