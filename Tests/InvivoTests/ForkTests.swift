import Glibc
import Invivo
import Synchronization
import Testing

extension SwiftAPI {
    /// A forked child, through the Swift API: it reads what its parent had built, whatever the parent's threads were doing.
    @Suite struct ForkTests {
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

        @Test func aChildReadsWhatWasBuiltAndBuildsNothing() async {
            await #expect(processExitsWith: .success) {
                let runtime = try Runtime()
                let station = try runtime.define("app.station", scope: .singleton) { _ in Station() }
                let visit = try runtime.define("app.visit", scope: .prototype) { Visit(try $0(station)) }
                let dial = try runtime.define(Block("app.dial", Dial()) { $0.field("gain", \.gain, in: 0...4) })
                try runtime.changes { try $0.document("said.yaml", "config: { app: { number: 4 } }") }
                let built = try runtime.resolve(station)
                let isOver = Atomic(false)
                // Its resolves look classes and instances up under the lock of the package.
                let other = Task.detached { () -> Int in
                    var count = 0
                    while !isOver.load(ordering: .acquiring) {
                        if try runtime.resolve("app.visit", as: Visit.self).station === built { count += 1 }
                        _ = try runtime.object("app.station")
                    }
                    return count
                }
                for _ in 0..<300 {
                    let child = forkedProcess()
                    if child == 0 {
                        alarm(60)
                        guard try runtime.resolve(station) === built,
                            try runtime.resolve("app.station", as: Station.self) === built,
                            runtime.view({ $0[dial].gain }) == 2, runtime.view({ $0[station] }) === built,
                            Self.isForked({ _ = try runtime.resolve(visit) }),
                            Self.isForked({ try runtime.define("app.other") { _ in Station() } })
                        else { _exit(1) }
                        try runtime.close()
                        _exit(0)
                    }
                    var status: Int32 = -1
                    precondition(waitpid(child, &status, 0) == child && status == 0, "the child ended with \(status)")
                }
                isOver.store(true, ordering: .releasing)
                let resolved = try await other.value
                precondition(resolved > 0)
                try runtime.close()
            }
        }
    }
}
