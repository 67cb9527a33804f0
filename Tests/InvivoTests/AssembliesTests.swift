import Invivo
import Testing

extension SwiftAPI {
    /// Several assemblies: derived, referring to each other, activated together, replaced and removed.
    @Suite struct AssembliesTests {
        final class Scale: Sendable {
            let name: String
            init(_ name: String) { self.name = name }
        }
        final class Voice: Sendable {
            let scale: Scale
            init(scale: Scale) { self.scale = scale }
        }

        class Tuning: Assembly {
            var scale = lazySingleton { Scale("even") }
            let organ = lazySingleton { resolver in try Voice(scale: resolver(\Tuning.scale)) }
        }
        final class JustTuning: Tuning {
            init() {
                super.init()
                scale = lazySingleton { Scale("just") }
            }
        }
        final class Synth: Assembly {
            let tuning = collaborator(Tuning.self)
            let voice = lazySingleton { resolver in try Voice(scale: resolver(\Synth.tuning, \.scale)) }
        }

        @Test func theMostDerivedDefinitionWins() throws {
            try withRuntime { runtime throws in
                let even = try runtime.activate(Tuning())
                #expect(try even.organ().scale.name == "even")
                let just = try runtime.activate(JustTuning())
                #expect(just.name == "tuning")
                #expect(try just.organ().scale.name == "just")
                #expect(try runtime.resolve("tuning.scale", as: Scale.self).name == "just")
                let again = try runtime.activate(Tuning())
                #expect(try again.organ().scale.name == "even")
            }
        }

        @Test func assembliesAreActivatedTogetherInAnyOrderAsOneReload() throws {
            for isReversed in [false, true] {
                try withRuntime { runtime throws in
                    let (synth, tuning) = (Synth(), Tuning())
                    let before = try runtime.info.generation
                    if isReversed { try runtime.activate(tuning, synth) } else { try runtime.activate(synth, tuning) }
                    #expect(try runtime.info.generation == before + 1)
                    #expect(try synth.voice().scale === tuning.scale())
                }
            }
        }

        @Test func aDerivedAssemblyStandsInForTheOneAskedFor() throws {
            try withRuntime { runtime throws in
                let (synth, tuning) = (Synth(), JustTuning())
                try runtime.activate(synth, tuning)
                #expect(try synth.voice().scale.name == "just")
            }
        }

        @Test func anUnmetCollaboratorIsAnErrorAtActivation() throws {
            try withRuntime { runtime throws in
                let synth = Synth()
                let error = failure { try runtime.activate(synth) }
                #expect(error.code == .notFound && error.path == "synth.tuning" && error.message.contains("Tuning"))
                try runtime.activate(Tuning())
                try runtime.activate(synth)
                #expect(try synth.voice().scale.name == "even")
            }
        }

        @Test func whatIsNotActiveSaysWhichAssemblyToActivate() throws {
            try withRuntime { runtime throws in
                let tuning = try runtime.activate(Tuning())
                try runtime.remove(tuning)
                let error = failure { _ = try tuning.scale() }
                #expect(error.code == .notReady && error.message.contains("'tuning'"))
                try runtime.activate(tuning)
                #expect(try tuning.scale().name == "even")
            }
        }

        @Test func activationIsIdempotent() throws {
            try withRuntime { runtime throws in
                let tuning = try runtime.activate(Tuning())
                let scale = try tuning.scale()
                let generation = try runtime.info.generation
                try runtime.activate(tuning)
                #expect(try runtime.info.generation == generation)
                #expect(try tuning.scale() === scale)
            }
        }

        @Test func aChangedAssemblyIsActivatedAgainAsAReload() throws {
            try withRuntime { runtime throws in
                let tuning = try runtime.activate(Tuning())
                let organ = try tuning.organ()
                tuning.scale = lazySingleton { Scale("new") }
                try runtime.activate(tuning)
                #expect(try tuning.scale().name == "new")
                #expect(try tuning.organ() !== organ && tuning.organ().scale.name == "new")
            }
        }

        @Test func assembliesMayReferToEachOtherInACircle() throws {
            final class Left: Assembly {
                let other = collaborator(Right.self)
                let scale = lazySingleton { Scale("left") }
                let voice = lazySingleton { resolver in try Voice(scale: resolver(\Left.other, \.scale)) }
            }
            final class Right: Assembly {
                let other = collaborator(Left.self)
                let scale = lazySingleton { Scale("right") }
                let voice = lazySingleton { resolver in try Voice(scale: resolver(\Right.other, \.scale)) }
            }
            try withRuntime { runtime throws in
                let (left, right) = (Left(), Right())
                try runtime.activate(right, left)
                #expect(try left.voice().scale.name == "right" && right.voice().scale.name == "left")
            }
        }

        @Test func anAssemblyThatIsAPropertyIsActivatedToo() throws {
            final class Whole: Assembly {
                let tuning = Tuning()
                let voice = lazySingleton { resolver in try Voice(scale: resolver(\Whole.tuning.scale)) }
            }
            try withRuntime { runtime throws in
                let whole = try runtime.activate(Whole())
                #expect(try whole.voice().scale === whole.tuning.scale())
            }
        }

        @Test func twoOfOneNameInOneActivationAreAnError() throws {
            try withRuntime { runtime throws in
                let error = failure { try runtime.activate(Tuning(), JustTuning()) }
                #expect(error.code == .exists && error.path == "tuning")
            }
        }

        @Test func aFailedActivationLeavesRecipes() throws {
            final class Failing: Assembly {
                let good = lazySingleton { Scale("good") }
                let bad = singleton { (_: Resolver) -> Scale in throw InvivoError(.system, "no tuner") }
            }
            try withRuntime { runtime throws in
                let failing = Failing()
                #expect(failure { try runtime.activate(failing) }.description.contains("no tuner"))
                #expect(failure { _ = try failing.good() }.code == .notReady)
                #expect(try runtime.info.definitions == 0)
            }
        }
    }
}
