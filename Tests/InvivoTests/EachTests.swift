import Invivo
import Testing

extension SwiftAPI {
    /// One instance of a definition per configuration entry.
    @Suite struct EachTests {
        final class Voice: Sendable {
            let name: String
            let note: Int
            init(name: String, note: Int) {
                self.name = name
                self.note = note
            }
        }
        final class Synth: Assembly {
            let voice = lazySingleton(wired(.entryName, .entry("note", default: 60), by: Voice.init)).each("voices")
            let choir = lazySingleton { (resolver: Resolver) in try Choir(resolver([Voice].self)) }
        }
        final class Choir: Sendable {
            let voices: [Voice]
            init(_ voices: [Voice]) { self.voices = voices }
        }

        @Test func anEntryThatComesGoesOrChangesConcernsItsOwnAlone() throws {
            try withRuntime { runtime throws in
                func say(_ text: String) throws { try runtime.changes { try $0.document("voices.yaml", text) } }
                try say("config: { synth: { voices: { lead: { note: 72 }, bass: {} } } }")
                let synth = try runtime.activate(Synth())
                let (lead, bass) = (try synth.voice.entry("lead"), try synth.voice.entry("bass"))
                #expect(lead.name == "lead" && lead.note == 72 && bass.name == "bass" && bass.note == 60)
                #expect(try synth.choir().voices.map(\.name).sorted() == ["bass", "lead"])
                try say("config: { synth: { voices: { lead: { note: 74 }, bass: {}, pad: { note: 48 } } } }")
                #expect(try synth.voice.entry("bass") === bass)
                #expect(try synth.voice.entry("lead").note == 74 && synth.voice.entry("pad").note == 48)
                #expect(try synth.choir().voices.count == 3)
                try say("config: { synth: { voices: { bass: {} } } }")
                #expect(failure { _ = try synth.voice.entry("lead") }.code == .notFound)
                #expect(try synth.voice.entry("bass") === bass)
            }
        }
    }
}
