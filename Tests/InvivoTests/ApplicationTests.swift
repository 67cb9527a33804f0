import Invivo
import Testing

extension SwiftAPI {
    /// Applications with assemblies from the program.
    @Suite struct ApplicationTests {
        final class Voice: Sendable {
            let count: Int
            init(count: Int) { self.count = count }
        }
        final class Synth: Assembly {
            let voice = lazySingleton(wired(.config("voices"), by: Voice.init))
        }

        @Test func theProgramGivesTheAssembliesThatAreActiveFromTheStart() throws {
            let scratch = try Scratch()
            let manifest = scratch.write("app.yaml", "config: { synth: { voices: 3 }, left: { voices: 4 } }\n")
            let before = Live.now
            let (synth, left) = (Synth(), Synth())
            let application = try Application(manifest) { changes in
                try changes.activate(synth)
                try changes.mount(left, as: "left")
            }
            #expect(try synth.voice().count == 3 && left.voice().count == 4)
            #expect(try application.runtime.resolve("left.voice", as: Voice.self) === left.voice())
            try application.close()
            #expect(Live.now == before)
        }

        @Test func assembliesFromBothAreAnErrorAndNothingIsActive() throws {
            let scratch = try Scratch()
            let manifest = scratch.write("app.yaml", "assemblies: [other]\nconfig: { synth: { voices: 3 } }\n")
            let synth = Synth()
            let error = failure { _ = try Application(manifest) { try $0.activate(synth) } }
            #expect(error.errors.contains { $0.code == .exists })
            #expect(failure { _ = try synth.voice() }.code == .notReady)
            let plain = scratch.write("plain.yaml", "config: { synth: { voices: 3 } }\n")
            let failed = failure {
                _ = try Application(plain) { changes in
                    try changes.activate(synth)
                    throw InvivoError(.host, "on purpose")
                }
            }
            #expect(failed.description.contains("on purpose"))
            #expect(failure { _ = try synth.voice() }.code == .notReady)
            let application = try Application(plain) { try $0.activate(synth) }
            #expect(try synth.voice().count == 3)
            try application.close()
        }
    }
}
