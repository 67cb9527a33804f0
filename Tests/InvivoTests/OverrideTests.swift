import Invivo
import Synchronization
import Testing

extension SwiftAPI {
    @Suite struct OverrideTests {
        final class Clock: Sendable {
            let name: String
            init(_ name: String = "real") { self.name = name }
        }
        final class Desk: Sendable {
            let clock: Clock
            init(clock: Clock) { self.clock = clock }
        }
        final class App: Assembly {
            let clock = lazySingleton { Clock() }
            let desk = lazySingleton(Desk.init)
            let spare = lazySingleton { Clock("spare") }.hidden()
        }

        @Test func anOverrideHoldsForABlockAlsoWhenItThrows() throws {
            try withRuntime { runtime throws in
                let app = try runtime.activate(App())
                #expect(try app.desk().clock.name == "real")
                let name = try runtime.overriding(app.clock, with: Clock("test")) { try app.desk().clock.name }
                #expect(name == "test")
                #expect(try app.desk().clock.name == "real")
                #expect(throws: InvivoError.self) {
                    try runtime.overriding(app.clock, with: Clock("test")) { throw InvivoError(.system, "stop") }
                }
                #expect(try app.desk().clock.name == "real")
            }
        }

        @Test func aDefinitionOverridesAKey() throws {
            try withRuntime { runtime throws in
                let app = try runtime.activate(App())
                try runtime.overriding(app.clock, with: lazySingleton { Clock("recipe") }) { () throws in
                    #expect(try app.clock().name == "recipe" && app.clock() === app.desk().clock)
                }
                try runtime.overriding(app.clock, with: lazySingleton { resolver in try resolver(\App.spare) }) {
                    () throws in
                    #expect(try app.clock().name == "spare")
                }
            }
        }

        @Test func anOverrideWhoseEndFailsStaysAndCanBeEndedAgain() throws {
            final class Quartz: Sendable {
                static let breaks = Mutex(false)
                init() throws { if Self.breaks.withLock({ $0 }) { throw InvivoError(.system, "no quartz now") } }
                init(_ other: Void) {}
            }
            final class Hall: Assembly { let quartz = singleton { () throws in try Quartz() } }
            try withRuntime { runtime throws in
                let hall = try runtime.activate(Hall())
                let other = Quartz(())
                let override = try runtime.override("hall.quartz", with: other)
                Quartz.breaks.withLock { $0 = true }
                #expect(throws: InvivoError.self) { try override.end() }
                #expect(try hall.quartz() === other)
                Quartz.breaks.withLock { $0 = false }
                try override.end()
                #expect(try hall.quartz() !== other)
                try override.end()
            }
        }

        @Test func overriddenObjectsDoNotKeepTheRuntimeOpen() throws {
            final class Fixed: Assembly { let clock = constant(Clock("constant")) }
            for count in 1...3 {
                let runtime = try Runtime()
                let fixed = try runtime.activate(Fixed())
                let overrides = try (1...count).map { try runtime.override("fixed.clock", with: Clock("\($0)")) }
                #expect(try fixed.clock().name == "\(count)")
                try runtime.close()
                withExtendedLifetime(overrides) {}
            }
            let runtime = try Runtime()
            try runtime.describe(Fixed())
            try runtime.close()
        }

        @Test func overridesLieOnEachOtherAndAreTakenBackInAnyOrder() throws {
            try withRuntime { runtime throws in
                let app = try runtime.activate(App())
                let one = try runtime.override(app.clock, with: Clock("one"))
                let two = try runtime.override("app.clock", with: Clock("two"))
                #expect(try app.clock().name == "two" && two.key == "app.clock")
                try one.end()
                #expect(try app.clock().name == "two")
                try two.end()
                try two.end()
                #expect(try app.clock().name == "real")
            }
        }

        @Test func anAwaitingBlockIsOverriddenToo() async throws {
            let runtime = try Runtime()
            let app = try runtime.activate(App())
            let name = try await runtime.overriding(app.clock, with: Clock("test")) { () async throws in
                await Task.yield()
                return try await app.desk.resolved().clock.name
            }
            #expect(name == "test")
            let desk = try await app.desk.resolved()
            #expect(try desk === app.desk())
            try runtime.close()
        }
    }
}
