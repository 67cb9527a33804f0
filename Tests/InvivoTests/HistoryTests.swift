import Invivo
import Testing

extension SwiftAPI {
    /// Rollbacks and marks, and files whose bytes a rollback refused.
    @Suite struct HistoryTests {
        final class Beat: Sendable {
            let rate: Int
            init(rate: Int) { self.rate = rate }
        }

        private func define(_ rate: Int, in runtime: Runtime) throws {
            try runtime.changes { try $0.define("song.beat") { _ in Beat(rate: rate) } }
        }
        private func rate(in runtime: Runtime) throws -> Int {
            try runtime.resolve("song.beat", as: Beat.self).rate
        }

        @Test func aRollbackBringsAGenerationBack() throws {
            try withRuntime { runtime throws in
                try define(1, in: runtime)
                let first = try runtime.mark("first")
                try define(2, in: runtime)
                try runtime.rollBack(to: first)
                #expect(try rate(in: runtime) == 1)
                try runtime.rollBack(to: first + 1)
                #expect(try rate(in: runtime) == 2)
                try runtime.rollBack(to: "first")
                #expect(try rate(in: runtime) == 1)
                try runtime.changes { try $0.rollBack(to: first + 1) }
                #expect(try rate(in: runtime) == 2)
                #expect(try runtime.marked("first") == first)
                let kept = try runtime.history
                #expect(kept.map(\.number) == Array(0...6))
                #expect(kept[1].marks == ["first"])
                #expect(kept[6].cause == "rollback to generation 2")
                #expect(kept[0].time > .zero && kept[0].time <= kept[6].time)
                try runtime.unmark("first")
                let error = #expect(throws: InvivoError.self) { try runtime.rollBack(to: "first") }
                #expect(error?.code == .notFound)
            }
        }

        @Test func refusedBytesAreShownAndTriedAgain() throws {
            try withRuntime { runtime throws in
                let scratch = try Scratch()
                let file = scratch.write("a.yaml", "config: { n: 1 }\n")
                let source = try runtime.watch(file)
                let good = try runtime.generation
                scratch.write("a.yaml", "config: { n: 2 }\n")
                try source.refresh()
                try runtime.rollBack(to: good)
                try source.refresh()
                let divergence = try runtime.sources[0].divergence
                #expect(divergence?.live.count == 32 && divergence?.file.count == 32)
                #expect(try runtime.configuration("n", as: Int.self) == 1)
                try source.retry()
                #expect(try runtime.sources[0].divergence == nil)
                #expect(try runtime.configuration("n", as: Int.self) == 2)
            }
        }

        final class Song: Assembly {
            let beat = lazySingleton { Beat(rate: 3) }
        }

        @Test func membersOfAssembliesResolveAsInTheGeneration() throws {
            try withRuntime { runtime throws in
                let (one, other) = (Song(), Song())
                try runtime.activate(one)
                let start = try runtime.generation
                try runtime.activate(other)
                #expect(try other.beat().rate == 3)
                try runtime.rollBack(to: start)
                #expect(try one.beat() === runtime.resolve("song.beat", as: Beat.self))
                try runtime.rollBack(to: 0)
                #expect(throws: InvivoError.self) { try one.beat() }
                try runtime.rollBack(to: start + 1)
                #expect(try other.beat().rate == 3)
                try runtime.changes { try $0.remove(other) }
                #expect(throws: InvivoError.self) { try other.beat() }
                try runtime.changes { try $0.rollBack(to: start) }
                #expect(try one.beat().rate == 3)
                try runtime.changes { try $0.remove(one) }
                try runtime.activate(other)
                #expect(try other.beat().rate == 3)
            }
        }

        @Test func aRuntimeCanKeepNoGeneration() throws {
            var options = Runtime.Options()
            options.history = 0
            let runtime = try Runtime(options)
            try define(1, in: runtime)
            #expect(try runtime.history.count == 1)
            let error = #expect(throws: InvivoError.self) { try runtime.rollBack(to: 0) }
            #expect(error?.code == .notFound)
            try runtime.close()
        }
    }
}
