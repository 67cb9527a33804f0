import Glibc
import Invivo
import Synchronization
import Testing

extension SwiftAPI {
    /// A forked child with the Swift API reads the objects of its parent, whatever the parent's threads do.
    @Suite(.tags(.forks)) struct ForkTests {
        final class Station: Sendable {}
        final class Visit {
            let station: Station
            init(_ station: Station) { self.station = station }
        }
        struct Dial: BitwiseCopyable, Sendable { var gain = 2.0 }

        private static func isForked(_ body: () throws -> Void) -> Bool {
            do {
                try body()
                return false
            } catch { return (error as? InvivoError)?.code == .forked }
        }

        @Test func aForkedChildReadsBuiltObjectsAndBuildsNothing() async {
            await #expect(processExitsWith: .success) {
                let runtime = try Runtime()
                let station = try runtime.define("app.station", scope: .singleton) { _ in Station() }
                let visit = try runtime.define("app.visit", scope: .prototype) { Visit(try $0(station)) }
                let dial = try runtime.define(Block("app.dial", Dial()) { $0.field("gain", \.gain, in: 0...4) })
                try runtime.changes { try $0.document("said.yaml", "config: { app: { number: 4 } }") }
                let built = try runtime.resolve(station)
                let isOver = Atomic(false)
                @Sendable func reads() throws -> Bool {
                    let (one, named) = (
                        try runtime.resolve(station), try runtime.resolve("app.station", as: Station.self)
                    )
                    let (gain, viewed) = runtime.view { ($0[dial].gain, $0[station]) }
                    return one === built && named === built && gain == 2 && viewed === built
                }
                // Swift's own locks do not survive a fork: a child reads what its parent has read before, and errors
                // too.
                guard try reads() else { preconditionFailure("the parent reads something else") }
                _ = Self.isForked { _ = try runtime.resolve("app.nothing", as: Station.self) }
                // Its resolves look up classes and instances under the lock of the package.
                let rounds = Atomic(0)
                let other = Task.detached {
                    while !isOver.load(ordering: .acquiring) {
                        let visit = try runtime.resolve("app.visit", as: Visit.self)
                        precondition(visit.station === built)
                        _ = try runtime.object("app.station")
                        rounds.add(1, ordering: .releasing)
                    }
                }
                while rounds.load(ordering: .acquiring) == 0 { await Task.yield() }
                // Threads of Dispatch block signals.
                var signals = sigset_t()
                sigemptyset(&signals)
                sigaddset(&signals, SIGALRM)
                pthread_sigmask(SIG_UNBLOCK, &signals, nil)
                for _ in 0..<300 {
                    let child = forkedProcess()
                    if child == 0 {
                        alarm(60)
                        guard try reads(), Self.isForked({ _ = try runtime.resolve(visit) }),
                            Self.isForked({ try runtime.define("app.other") { _ in Station() } })
                        else { _exit(1) }
                        try runtime.close()
                        _exit(0)
                    }
                    var status: Int32 = -1
                    precondition(waitpid(child, &status, 0) == child && status == 0, "the child ended with \(status)")
                }
                isOver.store(true, ordering: .releasing)
                try await other.value
                try runtime.close()
            }
        }
    }
}
