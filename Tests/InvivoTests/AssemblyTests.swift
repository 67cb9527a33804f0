import Invivo
import Testing

extension SwiftAPI {
    @Suite struct AssemblyTests {
        final class SystemClock: Sendable {}

        final class Voice {
            let note: Int
            let clock: SystemClock
            init(note: Int, clock: SystemClock) {
                self.note = note
                self.clock = clock
            }
        }

        final class Desk {
            let clock: SystemClock
            let mixer: Mixer
            init(clock: SystemClock, mixer: Mixer) {
                self.clock = clock
                self.mixer = mixer
            }
        }

        final class Mixer { var level = 1.0 }

        protocol Meter: Sendable { var level: Double { get } }
        struct Quiet: Meter { let level = 0.5 }

        final class Synth: Assembly {
            let clock = lazySingleton(SystemClock.init)
            let mixer = lazySingleton(confined: Mixer.init)
            let desk = lazySingleton(confined: Desk.init)
            let meter: Definition<any Meter> = singleton { Quiet() }
            let counted = singleton(Counted.init)
            let voice = prototype { resolver, note in try Voice(note: note, clock: resolver(\Synth.clock)) }
            let chord = prototype { (resolver: Resolver, root: Int, size: Int) in
                try (0..<size).map { try resolver(\Synth.voice, root + 4 * $0) }
            }
        }

        @Test func anAssemblyIsTypedFactoriesOnceItIsActive() throws {
            try withRuntime { runtime throws in
                let synth = try runtime.activate(Synth())
                let clock = try synth.clock()
                #expect(try synth.clock() === clock)
                let voice = try synth.voice(60)
                #expect(voice.note == 60 && voice.clock === clock)
                #expect(try synth.voice(60) !== voice)
                #expect(try synth.meter().level == 0.5)
                #expect(try synth.chord(60, 3).map(\.note) == [60, 64, 68])
            }
        }

        @Test func anInitializerIsWiredByItsParameterTypes() throws {
            try withRuntime { runtime throws in
                let synth = try runtime.activate(Synth())
                let desk = try synth.desk()
                #expect(try desk.clock === synth.clock() && desk.mixer === synth.mixer())
            }
        }

        @Test func keysAreNamedAfterTheAssemblyAndItsProperties() throws {
            try withRuntime { runtime throws in
                let synth = try runtime.activate(Synth(name: "lead"))
                #expect(try runtime.resolve("lead.clock", as: SystemClock.self) === synth.clock())
                #expect(try runtime.resolve("lead.meter", as: (any Meter).self).level == 0.5)
                #expect(try runtime.resolve(runtime.key("lead.voice", as: Voice.self), with: 62).note == 62)
                #expect(try synth.clock.key.name == "lead.clock")
            }
        }

        @Test func aSingletonIsMadeByActivationAndALazyOneByItsFirstUse() throws {
            let before = Counted.alive.load(ordering: .relaxed)
            try withRuntime { runtime throws in
                let synth = try runtime.activate(Synth())
                #expect(Counted.alive.load(ordering: .relaxed) == before + 1)
                #expect(runtime.view { view in (try? synth.clock.key).flatMap { view[$0] } } == nil)
                _ = try synth.clock()
                #expect(runtime.view { view in (try? synth.clock.key).flatMap { view[$0] } } != nil)
            }
            #expect(Counted.alive.load(ordering: .relaxed) == before)
        }

        @Test func aCallBeforeActivationSuggestsTheActivation() throws {
            let error = failure { _ = try Synth().clock() }
            #expect(error.code == .notReady && error.message.contains("activate"))
        }

        @Test func aReloadReplacesDependents() throws {
            final class First: Assembly {
                let clock = lazySingleton(SystemClock.init)
                let pair = lazySingleton { resolver in try Pair(clock: resolver(\First.clock)) }
                let apart = lazySingleton(Counted.init)
            }
            final class Pair: Sendable {
                let clock: SystemClock
                init(clock: SystemClock) { self.clock = clock }
            }
            try withRuntime { runtime throws in
                let assembly = try runtime.activate(First(name: "synth"))
                let (pair, apart) = (try assembly.pair(), try assembly.apart())
                try runtime.define("synth.clock") { _ in SystemClock() }
                #expect(try assembly.pair() !== pair)
                #expect(try assembly.pair().clock === assembly.clock())
                #expect(try assembly.apart() === apart)
            }
        }

        @Test func anAssemblyOfTheSameNameReplacesTheFormer() throws {
            final class Small: Assembly {
                let clock = lazySingleton(SystemClock.init)
                let extra = lazySingleton(Counted.init)
            }
            final class Smaller: Assembly { let clock = lazySingleton(SystemClock.init) }
            try withRuntime { runtime throws in
                let first = try runtime.activate(Small(name: "synth"))
                let clock = try first.clock()
                let second = try runtime.activate(Smaller(name: "synth"))
                #expect(try second.clock() !== clock)
                #expect(failure { _ = try first.extra() }.code == .notReady)
                try runtime.remove(second)
                #expect(failure { _ = try second.clock() }.code == .notReady)
                #expect(try runtime.info.definitions == 0)
            }
        }

        @Test func aDefinitionThatIsNotThereFromTheStartIsAnError() throws {
            final class Lazy: Assembly { lazy var clock = lazySingleton(SystemClock.init) }
            try withRuntime { runtime throws in
                let error = failure { try runtime.activate(Lazy()) }
                #expect(error.path == "lazy.clock" && error.message.contains("let"))
            }
        }

        @Test func parametersThatNothingMakesAreAllReportedByActivation() throws {
            final class Broken: Assembly {
                let desk = lazySingleton(confined: Desk.init)
                let one = lazySingleton(SystemClock.init)
                let two = lazySingleton(SystemClock.init)
            }
            try withRuntime { runtime throws in
                let error = failure { try runtime.activate(Broken()) }
                #expect(error.errors.count == 2)
                #expect(error.description.contains("Mixer") && error.description.contains("broken.one, broken.two"))
                #expect(try runtime.info.definitions == 0)
            }
        }

        @Test func aCycleIsAnErrorWithItsPath() throws {
            final class Circle: Assembly {
                let one: Definition<Counted> = lazySingleton { resolver in
                    _ = try resolver(\Circle.two)
                    return Counted()
                }
                let two: Definition<Counted> = lazySingleton { resolver in try resolver(\Circle.one) }
            }
            try withRuntime { runtime throws in
                let circle = try runtime.activate(Circle())
                let error = failure { _ = try circle.one() }
                #expect(error.description.contains("circle.one") && error.description.contains("circle.two"))
                var causes = [error]
                while let cause = causes.last?.cause { causes.append(cause) }
                #expect(causes.contains { $0.code == .cycle })
            }
        }

        @Test func aRecipesErrorReachesTheCaller() throws {
            final class Failing: Assembly {
                let broken: Definition<Counted> = lazySingleton { _ in throw InvivoError(.system, "no sound card") }
            }
            try withRuntime { runtime throws in
                let failing = try runtime.activate(Failing())
                let error = failure { _ = try failing.broken() }
                #expect(error.description.contains("no sound card"))
            }
        }
    }
}
