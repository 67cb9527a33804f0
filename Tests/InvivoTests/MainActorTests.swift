import Invivo
import Testing

extension SwiftAPI {
    /// A program whose main code awaits: its confined objects live on the main actor by default.
    @Suite struct MainActorTests {
        @MainActor @Test func anAttachedObjectChangesWhileTheMainActorAwaits() async throws {
            let before = Live.now
            do {
                let scratch = try Scratch()
                let file = scratch.write("tuning.yaml", "traits: { player: [Set: { tempo: 90 }] }\n")
                let runtime = try Runtime(watching: file)
                let player = Player(clock: nil)
                let target = try runtime.attachTarget(player, "player")
                #expect(player.tempo == 90)
                let reloads = runtime.reloads
                scratch.write("tuning.yaml", "traits: { player: [Set: { tempo: 60 }] }\n")
                for await reload in reloads {
                    #expect(reload.isCommitted)
                    break
                }
                #expect(player.tempo == 60)
                try target.detach()
                #expect(player.tempo == 120)
            }
            #expect(Live.now == before)
        }

        @MainActor @Test func theMainActorIsNotifiedOfTheWorkOfCommits() async throws {
            let log = Log<String>()
            let (ends, told) = AsyncStream<Void>.makeStream()
            var options = Runtime.Options()
            options.commitBegin = { log.add("begin") }
            options.commitEnd = {
                log.add("end")
                told.yield()
            }
            let runtime = try Runtime(options)
            @Sendable func define(_ name: String) throws -> Key<Player> {
                try runtime.define(
                    name,
                    confined: { _ in
                        log.add("init")
                        return Player(clock: nil)
                    })
            }
            _ = try runtime.resolve(try define("a.player"))
            #expect(log.all == ["init"])
            _ = try define("a.player")
            #expect(log.all == ["init", "begin", "init", "end"])
            _ = try await Task.detached { try define("a.player") }.value
            var iterator = ends.makeAsyncIterator()
            for _ in 0..<2 { await iterator.next() }
            #expect(log.all == ["init", "begin", "init", "end", "begin", "init", "end"])
            try runtime.close()
        }

        @MainActor @Test func noticesNeedTheMainActorAndBothFunctions() async throws {
            var options = Runtime.Options()
            options.commitBegin = {}
            #expect(failure { _ = try Runtime(options) }.code == .argument)
            options.commitEnd = {}
            options.home = .loop
            #expect(failure { _ = try Runtime(options) }.code == .argument)
        }

        @MainActor @Test func aSharedObjectIsResolvedAndTunedAcrossAwaits() async throws {
            let before = Live.now
            do {
                let scratch = try Scratch()
                let file = scratch.write("tuning.yaml", "traits: { a.player: [Set: { tempo: 90 }] }\n")
                let runtime = try Runtime(watching: file)
                let key = try runtime.define("a.player", confined: { _ in Player(clock: nil) })
                await Task.yield()
                let player = try runtime.resolve(key)
                #expect(player.tempo == 90)
                let reloads = runtime.reloads
                scratch.write("tuning.yaml", "traits: { a.player: [Set: { tempo: 60 }] }\n")
                for await _ in reloads { break }
                #expect(try runtime.resolve(key) === player)
                #expect(runtime.view { $0[key]?.tempo } == 60)
            }
            #expect(Live.now == before)
        }

        @MainActor @Test func elsewhereAConfinedObjectIsRefusedAndAwaitedOnTheMainActor() async throws {
            let runtime = try Runtime()
            let key = try runtime.define("a.player", confined: { _ in Player(clock: nil) })
            // Once cold, once built.
            for _ in 1...2 {
                let elsewhere = Task.detached { () -> InvivoError.Code in
                    failure { _ = try runtime.resolve(key) }.code
                }
                #expect(await elsewhere.value == .domain)
                let awaited = Task.detached { () async throws -> Double in
                    try await MainActor.run { try runtime.resolve(key).tempo }
                }
                #expect(try await awaited.value == 120)
            }
            try runtime.close()
        }

        /// Its thread waits for its turn, and the reload with the turn waits for the main actor.
        @MainActor @Test func aCallOfTheMainActorThatWaitsLetsAnothersReloadThrough() async throws {
            let before = Live.now
            do {
                let runtime = try Runtime()
                let player = Player(clock: nil)
                let target = try runtime.attachTarget(player, "player")
                let source = try runtime.source("t.yaml", "traits: {}")
                let others = Task.detached {
                    for tempo in 1...50 {
                        try source.update("traits: { player: [Set: { tempo: \(100 + tempo) }] }")
                    }
                }
                for count in 0..<50 {
                    try runtime.define("a.clock\(count)") { _ in Clock() }
                    await Task.yield()
                }
                try await others.value
                #expect(player.tempo == 150)
                try target.detach()
                try source.close()
            }
            #expect(Live.now == before)
        }

        @MainActor @Test func aPollOfTheMainActorRunsPendingJobs() async throws {
            let before = Live.now
            do {
                let runtime = try Runtime()
                let player = Player(clock: nil)
                let target = try runtime.attachTarget(player, "player")
                let source = try runtime.source("t.yaml", "traits: {}")
                let isDone = Log<Bool>()
                let other = Task.detached {
                    defer { isDone.add(true) }
                    try source.update("traits: { player: [Set: { tempo: 90 }] }")
                }
                try eventually(runtime) { !isDone.all.isEmpty }
                try await other.value
                #expect(player.tempo == 90)
                try target.detach()
                try source.close()
            }
            #expect(Live.now == before)
        }
    }
}
