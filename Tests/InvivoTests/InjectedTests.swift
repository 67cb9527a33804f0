import Invivo
import Testing

extension SwiftAPI {
    @Suite struct InjectedTests {
        final class Clock: Sendable {}
        final class Mixer: @unchecked Sendable {
            let name: String
            init(_ name: String = "real") { self.name = name }
        }

        class Player {
            @Injected var clock: Clock?
            @Injected var mixer: Mixer = Mixer("silent")
            @Injected var clocks: Provider<Clock>
            init() {}
            var why: InvivoError { failure { _ = try $clock.get() } }
        }
        final class Lead: Player {
            @InjectedIfAny var missing: Player?
            @InjectedByKey("app.clock") var named: Clock?
        }

        final class App: Assembly {
            let clock = lazySingleton { Clock() }
            let player = prototype { Player() }
            let lead = prototype { Lead() }.hidden()
        }

        @Test func theRuntimeThatMakesAnObjectFillsIt() throws {
            try withRuntime { runtime throws in
                let app = try runtime.activate(App())
                let player = try app.player()
                #expect(try player.clock === app.clock())
                #expect(player.mixer.name == "silent")
                #expect(try player.clocks() === (try app.clock()))
                let lead = try app.lead()
                #expect(try lead.named === app.clock() && lead.clock === app.clock())
            }
        }

        @Test func aMissingDependencyIsAnErrorAtActivation() throws {
            final class Bare: Assembly { let player = prototype { Player() } }
            try withRuntime { runtime throws in
                let error = failure { try runtime.activate(Bare()) }
                #expect(error.code == .notFound && error.description.contains("Clock"))
            }
        }

        @Test func aDefinitionsOwnInjectionWins() throws {
            let own = Clock()
            final class Own: Assembly {
                let clock = lazySingleton { Clock() }
                let player: Definition<Player>
                init(_ own: Clock) { player = prototype { Player() }.inject(\.clock, .instance(own)) }
            }
            try withRuntime { runtime throws in
                #expect(try runtime.activate(Own(own)).player().clock === own)
            }
        }

        @Test func anObjectOfTheHostsIsInjectedInto() throws {
            try withRuntime { runtime throws in
                let app = try runtime.activate(App())
                let player = Lead()
                #expect(player.clock == nil && player.why.code == .notReady)
                try runtime.inject(player)
                #expect(try player.clock === app.clock())
            }
        }

        @Test func elsewhereTheCurrentRuntimeAndThenTheDefaultAreAsked() async throws {
            let runtime = try Runtime()
            let app = try runtime.activate(App())
            #expect(Player().clock == nil)
            let player = runtime.with { Player() }
            #expect(try player.clock === app.clock())
            let clock = runtime.with { Player().clock }
            #expect(try clock === app.clock())
            let awaited = await runtime.with { () async -> Clock? in
                await Task.yield()
                return Player().clock
            }
            #expect(try awaited === app.clock())
            Runtime.default = runtime
            #expect(try Player().clock === app.clock())
            #expect(try Player().clocks() === app.clock())
            Runtime.default = nil
            #expect(Player().clock == nil)
            try runtime.close()
        }

        @Test func theCreatingRuntimeInjectsAnObjectNotTheCurrentOne() throws {
            try withRuntime { maker throws in
                let app = try maker.activate(App())
                let other = try Runtime()
                let elsewhere = try other.activate(App())
                for _ in 1...3 {
                    let player = try other.with { () throws in try app.player() }
                    #expect(try player.clock === app.clock() && player.clock !== elsewhere.clock())
                }
                try other.close()
            }
        }

        @Test func itCanBeTurnedOff() throws {
            var options = Runtime.Options()
            options.fillsInjected = false
            try withRuntime(options) { runtime throws in
                final class Bare: Assembly { let player = prototype { Player() } }
                let player = try runtime.activate(Bare()).player()
                #expect(player.clock == nil && player.mixer.name == "silent")
            }
        }

        @Test func aReloadRebuildsASharedHolder() throws {
            final class Keeping: Assembly {
                let clock = lazySingleton { Clock() }
                let player = lazySingleton(confined: { Player() })
            }
            try withRuntime { runtime throws in
                let app = try runtime.activate(Keeping())
                let player = try app.player()
                let former = player.clock
                try runtime.define("keeping.clock") { _ in Clock() }
                #expect(try app.player() === player)
                #expect(player.clock !== former)
                #expect(try player.clock === app.clock())
            }
        }
    }
}
