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
            init(named name: String? = nil) {
                super.init(name: name)
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

        @Test func anInactiveMemberNamesTheAssemblyToActivate() throws {
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

        @Test func anAssemblyWithDependentsIsNotRemovedAndTheErrorNamesThem() throws {
            try withRuntime { runtime throws in
                let (synth, tuning) = (Synth(), Tuning())
                try runtime.activate(synth, tuning)
                let error = failure { try runtime.remove(tuning) }
                #expect(error.code == .notFound && error.description.contains("synth"))
                #expect(try synth.voice().scale === tuning.scale())
                try runtime.remove(tuning, synth)
                #expect(try runtime.info.definitions == 0)
            }
        }

        @Test func dependentsOfAReplacedAssemblyFindTheNewOne() throws {
            try withRuntime { runtime throws in
                let synth = Synth()
                try { try runtime.activate(synth, Tuning()) }()
                try runtime.activate(JustTuning())
                #expect(try synth.voice().scale.name == "just")
            }
        }

        @Test func aDuplicateKeyIsAnErrorWithBothLocations() throws {
            try withRuntime { runtime throws in
                try runtime.define("tuning.scale") { _ in Scale("own") }
                let error = failure { try runtime.activate(Tuning()) }
                #expect(error.code == .exists && error.path == "tuning.scale")
                #expect(error.message.contains("AssembliesTests.swift"))
                try runtime.remove("tuning.scale")
                #expect(try runtime.activate(Tuning()).scale().name == "even")
            }
        }

        @Test func aDescribedAssemblyIsActivatedWithItsDependents() throws {
            try withRuntime { runtime throws in
                let (synth, tuning) = (Synth(), Tuning())
                try runtime.describe(tuning)
                #expect(try runtime.state(ofAssembly: "tuning") == .inactive)
                #expect(failure { _ = try tuning.scale() }.code == .notReady)
                let error = failure { _ = try runtime.resolve("tuning.scale", as: Scale.self) }
                #expect(error.code == .notReady && error.message.contains("'tuning'"))
                #expect(try runtime.info.definitions == 0)
                try runtime.activate(synth)
                #expect(try runtime.state(ofAssembly: "tuning") == .active)
                #expect(try synth.voice().scale === tuning.scale())
                let generation = try runtime.info.generation
                try runtime.activate(tuning)
                #expect(try runtime.info.generation == generation)
            }
        }

        @Test func aDescriptionIsTakenBack() throws {
            try withRuntime { runtime throws in
                let (synth, tuning) = (Synth(), Tuning())
                try runtime.describe(tuning)
                #expect(failure { try runtime.forget(Tuning()) }.code == .notFound)
                try runtime.forget(tuning)
                #expect(try runtime.state(ofAssembly: "tuning") == .unknown)
                #expect(failure { try runtime.forget(tuning) }.code == .notFound)
                #expect(failure { try runtime.forget(assembly: "tuning") }.code == .notFound)
                #expect(failure { try runtime.activate(synth) }.description.contains("Tuning"))
                // Its properties are definitions that may go to other tasks.
                let other = try Runtime()
                _ = try other.activate(tuning).scale()
                try other.remove(tuning)
                try other.close()
                // Active definitions stay.
                try runtime.describe(tuning)
                try runtime.activate(tuning)
                try runtime.forget(assembly: "tuning")
                #expect(try runtime.state(ofAssembly: "tuning") == .active)
                _ = try tuning.scale()
                try runtime.remove(tuning)
                #expect(try runtime.state(ofAssembly: "tuning") == .unknown)
            }
        }

        @Test func assembliesChangeInOneReloadWithOtherChanges() throws {
            try withRuntime { runtime throws in
                let (synth, tuning) = (Synth(), Tuning())
                let before = try runtime.info.generation
                try runtime.changes { changes in
                    try changes.activate(synth, tuning)
                    try changes.define("app.scale") { _ in Scale("own") }
                }
                #expect(try runtime.info.generation == before + 1)
                let error = failure {
                    try runtime.changes { changes in
                        try changes.remove(synth, tuning)
                        try changes.define("app.bad", scope: .singleton) { _ -> Scale in
                            throw InvivoError(.system, "no tuner")
                        }
                    }
                }
                #expect(error.description.contains("no tuner"))
                #expect(try synth.voice().scale === tuning.scale())
                try runtime.changes { try $0.remove(synth, tuning) }
                #expect(failure { _ = try synth.voice() }.code == .notReady)
            }
        }

        final class Channel: Assembly {
            let tuning = collaborator(Tuning.self)
            let filter = lazySingleton { Scale("filter") }
            let voice = lazySingleton { resolver in try Voice(scale: resolver(\Channel.tuning, \.scale)) }
            let direct = lazySingleton { resolver in try Voice(scale: resolver("clock.main")) }
            let wired = lazySingleton(Voice.init).parameter(0, .member(\Channel.filter))
            let outer = lazySingleton(Voice.init).parameter(0, .reference("clock.main"))
        }

        @Test func mountsOfOneAssemblyStandBesideEachOtherAndLeadWhereTheyAreLed() throws {
            try withRuntime { runtime throws in
                try runtime.define("studio.clock") { _ in Scale("studio") }
                try runtime.define("clock.main") { _ in Scale("main") }
                let tuning = try runtime.activate(Tuning())
                let other = try runtime.activate(JustTuning(named: "other"))
                let left = try runtime.mount(
                    Channel(), as: "left", remap: ["clock.main": "studio.clock", "tuning": other])
                let right = try runtime.mount(Channel(), as: "right")
                #expect(left.name == "left" && right.name == "right")
                #expect(try left.filter() !== right.filter())
                #expect(try left.wired().scale === left.filter() && right.wired().scale === right.filter())
                #expect(try left.voice().scale === other.scale() && right.voice().scale === tuning.scale())
                #expect(try left.outer().scale.name == "studio" && right.outer().scale.name == "main")
                #expect(try left.direct().scale.name == "studio" && right.direct().scale.name == "main")
                #expect(try runtime.resolve("left.voice", as: Voice.self) === left.voice())
                try runtime.remove(left)
                #expect(failure { _ = try left.voice() }.code == .notReady)
                #expect(try right.voice().scale === tuning.scale())
                #expect(failure { try runtime.mount(right, as: "third") }.code == .exists)
            }
        }

        @Test func aMountIsConfiguredUnderItsPrefixOrAsTheAssemblyThatItMounts() throws {
            final class Tuned: Assembly {
                let scale = lazySingleton(wired(.config("scale"), by: Scale.init))
                let voice = lazySingleton(Voice.init).parameter(0, .inline(lazySingleton { Scale("inline") }))
            }
            try withRuntime { runtime throws in
                try runtime.changes { changes in
                    try changes.document("scales.yaml", "config: { tuned: { scale: own }, right: { scale: mine } }")
                }
                let (left, right) = (try runtime.mount(Tuned(), as: "left"), try runtime.mount(Tuned(), as: "right"))
                #expect(try left.scale().name == "own" && right.scale().name == "mine")
                #expect(try left.voice().scale === runtime.resolve("left.voice.0", as: Scale.self))
                #expect(try left.voice().scale !== right.voice().scale)
            }
        }

        @Test func aRemapThatNothingFollowsIsAnError() throws {
            final class Plain: Assembly {
                let scale = lazySingleton { Scale("plain") }
                let voice = lazySingleton(Voice.init)
            }
            try withRuntime { runtime throws in
                let plain = Plain()
                let error = failure { try runtime.mount(plain, as: "left", remap: ["clock": "studio"]) }
                #expect(error.code == .argument && error.message.contains("'clock'"))
                #expect(plain.name == "plain")
                try runtime.mount(plain, as: "left")
                #expect(try plain.voice().scale === plain.scale())
            }
        }

        @Test func aCollaboratorMayBeKnownByItsNameAlone() throws {
            final class ByName: Assembly {
                let studio = collaborator(named: "tuning")
                let typed = collaborator(Tuning.self, named: "tuning")
                let voice = lazySingleton { resolver in try Voice(scale: resolver(\ByName.studio, "scale")) }
                let wired = lazySingleton(Voice.init).parameter(0, .member(\ByName.studio, "scale"))
                let third = lazySingleton(Voice.init).parameter(0, .member(\ByName.typed, \.scale))
            }
            try withRuntime { runtime throws in
                let byName = ByName()
                #expect(failure { try runtime.activate(byName) }.code == .notFound)
                let tuning = Tuning()
                try runtime.describe(tuning)
                try runtime.activate(byName)
                #expect(try byName.voice().scale === tuning.scale() && byName.wired().scale === tuning.scale())
                #expect(try byName.third().scale === tuning.scale())
                #expect(failure { try runtime.remove(tuning) }.code == .notFound)
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
