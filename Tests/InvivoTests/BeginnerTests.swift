import Invivo
import Testing

extension SwiftAPI {
    /// Programs as beginners write them.
    @Suite struct BeginnerTests {
        struct Tuning {
            var gain = 1.0
            var cutoff = 800.0
        }

        final class Player {
            var tempo = 120.0
        }

        @Test func aTenLineProgramSeesAnEditLive() throws {
            let scratch = try Scratch()
            let file = scratch.write(
                "tuning.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 0.5, cutoff: 1.2 kHz }\n")
            let before = Live.now
            do {
                let runtime = try Runtime()
                let lead = try runtime.define(
                    Block("synth.lead", Tuning()) {
                        $0.field("gain", \.gain, in: 0...2)
                        $0.field("cutoff", \.cutoff, in: 20...20000, unit: "Hz")
                    })
                #expect(runtime[lead].gain == 1)
                try runtime.watch(file)
                #expect(runtime[lead].gain == 0.5)
                #expect(runtime[lead].cutoff == 1200)
                scratch.write("tuning.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 0.25 }\n")
                try eventually(runtime) { runtime[lead].gain == 0.25 }
                #expect(runtime[lead].cutoff == 800)
                try runtime.close()
                #expect(runtime[lead].gain == 1)
            }
            #expect(Live.now == before)
        }

        @Test func anObjectOfTheProgramFollowsItsDocument() throws {
            let scratch = try Scratch()
            let file = scratch.write("tuning.yaml", "traits:\n  player:\n    - Set: { tempo: 90 }\n")
            let runtime = try Runtime(watching: file)
            try runtime.register(ObjectType<Player>(confined: "Player") { $0.property("tempo", \.tempo, in: 30...300) })
            let player = Player()
            let target = try runtime.attachTarget(player, "player")
            #expect(player.tempo == 90)
            scratch.write("tuning.yaml", "traits:\n  player:\n    - Set: { tempo: 60 }\n")
            try eventually(runtime) { player.tempo == 60 }
            try target.detach()
            #expect(player.tempo == 120)
        }

        @Test func anInvalidEditKeepsTheGenerationAndNamesTheLocation() throws {
            let scratch = try Scratch()
            let file = scratch.write("tuning.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 0.5 }\n")
            try withRuntime { runtime throws in
                let lead = try runtime.define(Block("synth.lead", Tuning()) { $0.field("gain", \.gain, in: 0...2) })
                try runtime.watch(file)
                let generation = try runtime.info.generation
                let reloads = Log<Reload>()
                try runtime.observe { reloads.add($0) }
                scratch.write("tuning.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 7 }\n")
                try eventually(runtime) { runtime.lastError != nil }
                try eventually(runtime) { !reloads.all.isEmpty }
                #expect(runtime[lead].gain == 0.5)
                #expect(try runtime.info.generation == generation)
                let error = try #require(reloads.all.first?.error)
                #expect(error.code == .range)
                #expect(error.file.hasSuffix("tuning.yaml") && error.line == 3)
                #expect(error.errors.count == 1)
                scratch.write("tuning.yaml", "traits:\n  synth.lead:\n    - Set: { gain: 2 }\n")
                try eventually(runtime) { runtime[lead].gain == 2 }
                try eventually(runtime) { runtime.lastError == nil }  // notified after the commit
            }
        }

        @Test func aMissingDocumentIsAnErrorAndLeavesNothingRunning() throws {
            let before = Live.now
            let error = failure { _ = try Runtime(watching: "/nonexistent/tuning.yaml") }
            #expect(error.code == .notFound || error.code == .file)
            #expect(error.description.contains("/nonexistent/tuning.yaml"))
            #expect(Live.now == before)
        }
    }
}
