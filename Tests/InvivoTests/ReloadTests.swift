import CInvivo
import Glibc
import Invivo
import Synchronization
import Testing

extension SwiftAPI {
    @Suite struct ReloadTests {
        struct Tuning { var gain = 1.0 }

        @Test func observersReceiveEveryReloadInOrderWithItsChanges() throws {
            try withRuntime { runtime throws in
                let reloads = Log<Reload>()
                let observer = try runtime.observe { reloads.add($0) }
                try runtime.define(Block("synth.lead", Tuning()) { $0.field("gain", \.gain, in: 0...2) })
                let source = try runtime.source("t.yaml", "traits: { synth.lead: [Set: { gain: 2 }] }")
                _ = failure { try source.update("traits: { synth.lead: [Set: { gain: 3 }] }") }
                #expect(reloads.all.map(\.isCommitted) == [true, true, false])
                let tuned = reloads.all[1]
                #expect(tuned.changes.map(\.key) == ["synth.lead"] && tuned.changes.map(\.property) == ["gain"])
                #expect(tuned.changes.map(\.kind) == [.tuned])
                #expect(tuned.cause == "t.yaml")
                #expect(tuned.durations.total > .zero)
                #expect(tuned.description.contains("generation \(tuned.generation)"))
                #expect(reloads.all[2].generation == tuned.generation && reloads.all[2].error?.code == .range)
                try observer.close()
                try source.close()
                #expect(reloads.all.count == 3)
            }
        }

        @Test func reloadsAreAStreamThatEndsWithTheRuntime() async throws {
            let before = Live.now
            do {
                let runtime = try Runtime()
                let stream = runtime.reloads
                try runtime.define(Block("synth.lead", Tuning()) { $0.field("gain", \.gain, in: 0...2) })
                let source = try runtime.source("t.yaml", "traits: { synth.lead: [Set: { gain: 2 }] }")
                try source.update("traits: {}")
                try runtime.close()
                var causes: [String] = []
                for await reload in stream { causes.append(reload.cause) }
                #expect(causes.count == 3 && causes.suffix(2) == ["t.yaml", "t.yaml"])
            }
            #expect(Live.now == before)
        }

        @Test func anUnreadStreamReleasesItsObserver() async throws {
            let host = try Runtime()
            let runtime = try CountedObservers.attach(to: host)
            #expect(CountedObservers.open == 0)
            do {
                let begun = runtime.reloads
                #expect(CountedObservers.open == 1)
                let reading = Task {
                    for await _ in begun { return true }
                    return false
                }
                reading.cancel()
                #expect(await reading.value == false)
            }
            #expect(CountedObservers.open == 0)
            try runtime.define(Block("synth.lead", Tuning()) { $0.field("gain", \.gain) })
            #expect(CountedObservers.told == 0)
            try host.close()
        }

        @Test func documentsAndTheCountersOfFollowedFilesAreListed() throws {
            try withRuntime { runtime throws in
                let scratch = try Scratch()
                let file = scratch.write("a.yaml", "config: { a: { number: 1 } }")
                let memory = try runtime.source("memory.yaml", "config: { a: { number: 2 } }")
                let followed = try runtime.watch(file)
                let sources = try runtime.sources
                #expect(sources.map(\.name) == ["memory.yaml", file])
                #expect(sources.map(\.path) == ["", file])
                #expect(sources.map(\.following) == [.memory, .watching])
                // The files are scanned from time to time: the test waits for that.
                let end = ContinuousClock.now + .seconds(60)
                while try runtime.info.rescans == 0, ContinuousClock.now < end { sched_yield() }
                let info = try runtime.info
                #expect(info.rescans > 0)
                #expect(info.overflows == 0 && info.unannounced == 0)
                #expect(info.sources == 2 && info.reloads == 2 && info.failures == 0)
                try followed.close()
                try memory.close()
                #expect(try runtime.sources.isEmpty)
            }
        }

        @Test func aChangeSetIsAllOrNothing() throws {
            try withRuntime { runtime throws in
                let lead = try runtime.define(Block("synth.lead", Tuning()) { $0.field("gain", \.gain, in: 0...2) })
                let generation = try runtime.info.generation
                let error = failure {
                    try runtime.changes { changes in
                        try changes.set("synth.lead", "gain", 1.5)
                        try changes.define("a.player", Player.type, initializer: ["clock": .reference("a.nowhere")])
                    }
                }
                #expect(error.description.contains("a.nowhere"))
                #expect(runtime[lead].gain == 1)
                #expect(try runtime.info.generation == generation)
                try runtime.changes { changes in
                    try changes.set("synth.lead", "gain", 1.5)
                    try changes.document("more.yaml", "traits: {}")
                    try changes.alias("synth.main", of: "synth.lead")
                }
                #expect(runtime[lead].gain == 1.5)
                #expect(try runtime.info.generation == generation + 1)
                #expect(runtime[try runtime.block("synth.main", as: Tuning.self)].gain == 1.5)
            }
        }

        @Test func aChangeSetDependsOnItsGeneration() throws {
            try withRuntime { runtime throws in
                let expected = try runtime.generation
                try runtime.changes { changes in
                    try changes.expect(generation: expected)
                    try changes.document("a.yaml", "config: { number: 1 }")
                }
                let error = failure {
                    try runtime.changes { changes in
                        try changes.expect(generation: expected)
                        try changes.document("a.yaml", "config: { number: 2 }")
                    }
                }
                #expect(error.code == .stale)
                #expect(try runtime.generation == expected + 1)
            }
        }

        @Test func theLastReportsAreKeptWithTheLocationsOfTheirChanges() throws {
            try withRuntime { runtime throws in
                #expect(try runtime.reports.isEmpty)
                try runtime.changes { try $0.document("a.yaml", "config:\n  number: 1") }
                let error = failure { try runtime.changes { try $0.document("b.yaml", "config: [") } }
                for number in 2..<100 {
                    try runtime.changes { try $0.document("a.yaml", "config: { number: \(number) }") }
                    if number == 3 {
                        let reports = try runtime.reports
                        #expect(reports.map(\.isCommitted) == [true, false, true, true])
                        #expect(reports[0].changes.map(\.location) == ["a.yaml:2:11"])
                        #expect(reports[1].error?.code == error.code)
                    }
                }
                let reports = try runtime.reports
                #expect(reports.count == 64)
                #expect(reports.last?.generation == (try runtime.generation))
                #expect(reports.allSatisfy { $0.omitted == 0 })
            }
        }

        @Test func aThrowWhileDescribingChangesNothing() throws {
            struct Unsure: Error {}
            try withRuntime { runtime throws in
                let generation = try runtime.info.generation
                #expect(throws: Unsure.self) {
                    try runtime.changes { changes in
                        try changes.define("a.clock") { _ in Clock() }
                        throw Unsure()
                    }
                }
                #expect(try runtime.info.generation == generation)
                #expect(try runtime.info.definitions == 0)
            }
        }

        @Test func aRecipeThatFailsInACommitUndoesAllOfIt() throws {
            let before = Counted.alive.load(ordering: .relaxed)
            try withRuntime { runtime throws in
                let error = failure {
                    try runtime.changes { changes in
                        try changes.define("a.one", Counted.type, scope: .singleton)
                        try changes.define("a.two", scope: .singleton) { _ -> Clock in
                            throw InvivoError(.system, "no card")
                        }
                    }
                }
                #expect(error.description.contains("no card"))
                #expect(try runtime.info.definitions == 0)
                try eventually(runtime) { Counted.alive.load(ordering: .relaxed) == before }
            }
        }

        @Test func aSubmittedSetIsCommittedLaterWhereWaitingIsRefused() throws {
            try withRuntime { runtime throws in
                let reloads = Log<Reload>()
                let refusals = Log<InvivoError>()
                let observer = try runtime.observe { reload in
                    reloads.add(reload)
                    guard reload.generation == 1 else { return }
                    refusals.add(failure { try runtime.define("a.clock") { _ in Clock() } })
                    try runtime.submit { changes in _ = try changes.define("a.clock") { _ in Clock() } }
                }
                try runtime.define("a.first") { _ in Clock() }
                try eventually(runtime) { reloads.all.count == 2 }
                #expect(refusals.all.map(\.code) == [.wouldWait])
                #expect(reloads.all[1].isCommitted && reloads.all[1].changes.map(\.key) == ["a.clock"])
                _ = try runtime.resolve("a.clock", as: Clock.self)
                try observer.close()
            }
        }

        @Test func observersReceiveAFailingSubmittedSet() throws {
            try withRuntime { runtime throws in
                let reloads = Log<Reload>()
                let observer = try runtime.observe { reloads.add($0) }
                try runtime.submit { changes in
                    try changes.define("a.player", Player.type, initializer: ["clock": .reference("a.nowhere")])
                }
                try eventually(runtime) { !reloads.all.isEmpty }
                #expect(reloads.all[0].error?.description.contains("a.nowhere") == true)
                #expect(try runtime.info.definitions == 0)
                try observer.close()
            }
        }

        @Test func assembliesAreNotSubmitted() throws {
            final class One: Assembly { let clock = lazySingleton { Clock() } }
            try withRuntime { runtime throws in
                let one = One()
                let error = failure { try runtime.submit { try $0.activate(one) } }
                #expect(error.code == .unsupported && error.message.contains("Say `changes`"))
                #expect(try runtime.state(ofAssembly: "one") == .unknown)
                _ = try runtime.activate(one).clock()
                #expect(failure { try runtime.submit { try $0.remove(one) } }.code == .unsupported)
                _ = try one.clock()
            }
        }

        @Test func anErrorOfAnObserverIsLogged() throws {
            try withRuntime { runtime throws in
                let observer = try runtime.observe { _ in throw InvivoError(.system, "no paper") }
                try runtime.define("a.clock") { _ in Clock() }
                #expect(runtime.lastError?.message == "an observer of reloads threw: no paper")
                try observer.close()
                try runtime.define("b.clock") { _ in Clock() }
                #expect(runtime.lastError == nil)
                let paths = try runtime.observe(configuration: "a") { _, _ in throw InvivoError(.system, "no ink") }
                try runtime.configure("a", 1)
                #expect(runtime.lastError?.message == "an observer of the configuration threw: no ink")
                runtime.note(InvivoError(.host, "said by hand", path: "a.clock"))
                #expect(runtime.lastError?.path == "a.clock")
                try paths.close()
            }
        }

        @Test func liveObjectsAreCounted() throws {
            let before = try #require(Runtime.alive)
            let runtime = try Runtime()
            #expect(Runtime.alive?.runtimes == before.runtimes + 1)
            try runtime.close()
            #expect(Runtime.alive == before)
        }
    }

    @Suite struct TargetTests {
        @Test func aTargetFollowsItsKeyAndGetsItsValuesBackExactly() throws {
            try withRuntime { runtime throws in
                try runtime.register(Player.type)
                let player = Player(clock: nil)
                player.tempo = 61
                let source = try runtime.source("t.yaml", "traits: {}")
                do {
                    let target = try runtime.attachTarget(player, "player")
                    try source.update("traits: { player: [Set: { tempo: 90, wave: saw }, Set: { title: Etude }] }")
                    #expect(player.tempo == 90 && player.wave == .saw && player.title == "Etude")
                    #expect(failure { try source.update("traits: { player: [Set: { tempo: 900 }] }") }.code == .range)
                    #expect(player.tempo == 90)
                    try source.update("traits: { player: [Set: { speed: 100 }] }")
                    #expect(player.tempo == 100 && player.wave == .sine && player.title == nil)
                    withExtendedLifetime(target) {}
                }
                #expect(player.tempo == 61)
                try source.update("traits: { player: [Set: { tempo: 70 }] }")
                let again = try runtime.attachTarget(player, "player")
                #expect(player.tempo == 70)
                try again.detach()
                #expect(player.tempo == 61)
            }
        }

        @Test func aTargetThatACallbackLetsGoIsDetachedSoon() throws {
            try withRuntime { runtime throws in
                try runtime.register(Player.type)
                let player = Player(clock: nil)
                player.tempo = 61
                try runtime.declareTarget("player", try runtime.register(Player.type))
                let source = try runtime.source("t.yaml", "traits: { player: [Set: { tempo: 90 }] }")
                let held = Locked<Target?>(try runtime.attachTarget(player, "player"))
                let clock: Key<Clock> = try runtime.define("a.clock") { _ in
                    held.withLock { $0 = nil }
                    return Clock()
                }
                #expect(player.tempo == 90)
                _ = try runtime.resolve(clock)
                try eventually(runtime) { player.tempo == 61 }
                // Detached, it is no longer tuned.
                try source.update("traits: { player: [Set: { tempo: 70 }] }")
                #expect(player.tempo == 61)
            }
        }

        @Test func attachedObjectsGetTheirValuesBackAtClose() throws {
            let player = Player(clock: nil)
            player.tempo = 61
            var target: Target?
            do {
                let runtime = try Runtime()
                try runtime.declareTarget("player", try runtime.register(Player.type))
                _ = try runtime.source("t.yaml", "traits: { player: [Set: { tempo: 90 }] }")
                target = try runtime.attachTarget(player, "player")
                #expect(player.tempo == 90)
            }
            // Released, the runtime is closed; the target still exists.
            #expect(player.tempo == 61)
            #expect(target != nil)
            target = nil
        }

        @Test func aDeclaredTargetMayBeNamedBeforeItComes() throws {
            try withRuntime { runtime throws in
                try runtime.declareTarget("player", try runtime.register(Player.type))
                _ = try runtime.source("t.yaml", "traits: { player: [Set: { tempo: 90 }] }")
                let player = Player(clock: nil)
                let target = try runtime.attachTarget(player, "player")
                #expect(player.tempo == 90)
                withExtendedLifetime(target) {}
            }
        }

        @Test func anUndescribedClassIsRefused() throws {
            final class Unknown {}
            try withRuntime { runtime throws in
                #expect(failure { _ = try runtime.attachTarget(Unknown(), "x") }.message.contains("Unknown"))
            }
        }
    }

    @Suite struct SharingTests {
        @Test func anAttachedRuntimeSharesObjectsAndClosesNothing() throws {
            try withRuntime { runtime throws in
                let key = try runtime.define("a.clock", scope: .singleton) { _ in Clock() }
                let joined = try Runtime.attach(try runtime.share())
                #expect(try joined.resolve(key) === runtime.resolve(key))
                #expect(try joined.resolve("a.clock", as: Clock.self) === runtime.resolve(key))
                try joined.define("b.clock") { _ in Clock() }
                #expect(try runtime.resolve("b.clock", as: Clock.self) === joined.resolve("b.clock", as: Clock.self))
                try joined.close()
                #expect(try runtime.info.definitions == 2)
            }
        }

        @Test func anInvalidTokenIsRefused() throws {
            let words: [UInt64] = [1, 2, 3]
            words.withUnsafeBytes { bytes in
                guard let address = bytes.baseAddress else { return }
                #expect(failure { _ = try Runtime.attach(Token(address: address)) }.code == .handle)
            }
        }

        @Test func aMissingModuleIsAnError() throws {
            try withRuntime { runtime throws in
                let error = failure { try runtime.loadModule("/nonexistent/libthing.so") }
                #expect(error.description.contains("/nonexistent/libthing.so"))
            }
        }
    }
}

/// The functions of a runtime through another table, which counts open observers and their calls.
private enum CountedObservers {
    static let counts = Mutex((open: 0, told: 0))
    static var open: Int { counts.withLock { $0.open } }
    static var told: Int { counts.withLock { $0.told } }

    nonisolated(unsafe) private static let table: UnsafePointer<invivo_table> = {
        let copy = UnsafeMutablePointer<invivo_table>.allocate(capacity: 1)
        copy.initialize(to: invivo_table_get().pointee)
        copy.pointee.attach = { token, out, _ in
            out?.pointee = token?.pointee.runtime ?? invivo_runtime()
            return 0
        }
        copy.pointee.observe = { runtime, options, out, error in
            let status = invivo_observe(runtime, options, out, error)
            if status == 0 { counts.withLock { $0.open += 1 } }
            return status
        }
        copy.pointee.observer_close = { observer, error in
            let status = invivo_observer_close(observer, error)
            if status == 0 { counts.withLock { $0.open -= 1 } }
            return status
        }
        copy.pointee.report_generation = { report in
            counts.withLock { $0.told += 1 }
            return invivo_report_generation(report)
        }
        return UnsafePointer(copy)
    }()

    static func attach(to runtime: Runtime) throws -> Runtime {
        var token = try runtime.share().address.load(as: invivo_token.self)
        token.table = table
        return try withUnsafePointer(to: token) { try Runtime.attach(Token(address: UnsafeRawPointer($0))) }
    }
}
