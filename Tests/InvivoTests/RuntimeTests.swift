import Invivo
import Testing

extension SwiftAPI {
    @Suite struct RuntimeTests {
        @Test func aNameThatWouldBeCutIsRefusedEverywhere() throws {
            try withRuntime { runtime in
                try runtime.define("one.voice") { _ in Player(clock: nil) }
                let voice = try runtime.object("one.voice")
                let attempts: [() throws -> Void] = [
                    { _ = try runtime.object("one.voice\0x") }, { _ = try runtime.type("Player\0x") },
                    { _ = try voice.get("tempo\0x", as: Double.self) }, { try voice.set("tempo\0x", 1.0) },
                    { try voice.call("play\0x", with: []) }, { try runtime.loadModule("a\0b") },
                    { _ = try runtime.watch("a\0b") }, { _ = try runtime.attachTarget(voice, "a\0b") },
                    { try runtime.declareTarget("a\0b", runtime.type("Player")) },
                    { try runtime.changes { try $0.remove("one.voice\0x") } },
                    { try runtime.changes { try $0.set("one.voice\0x", "tempo", 1.0) } },
                    { try runtime.changes { try $0.set("one.voice", "tempo\0x", 1.0) } },
                    { try runtime.changes { try $0.document("a\0b", "") } },
                    { _ = try Application.needsPython("a\0b") }, { _ = try Application("a\0b") },
                ]
                for attempt in attempts {
                    let error = failure(attempt)
                    #expect(error.code == .argument && error.message.contains("may not contain NUL"), "\(error)")
                }
            }
        }

        @Test func openingAndClosingLeavesNothing() throws {
            try withRuntime { runtime throws in #expect(try runtime.info.generation >= 0) }
        }

        @Test func everyUseAfterCloseThrows() throws {
            let runtime = try Runtime()
            let lead = try runtime.define("synth.lead") { _ in Clock() }
            #expect(try runtime.resolve(lead) === runtime.resolve(lead))
            try runtime.close()
            try runtime.close()
            let gone: Set<InvivoError.Code> = [.closed, .handle]
            #expect(gone.contains(failure { _ = try runtime.resolve(lead) }.code))
            #expect(gone.contains(failure { try runtime.define("a.b") { _ in Clock() } }.code))
            #expect(gone.contains(failure { try runtime.watch("/tmp/x.yaml") }.code))
            #expect(gone.contains(failure { _ = try runtime.info }.code))
            #expect(gone.contains(failure { try runtime.poll() }.code))
            #expect(gone.contains(failure { _ = try runtime.share() }.code))
            #expect(runtime.view { $0[lead] == nil })
        }

        @Test func aDroppedRuntimeClosesItself() throws {
            let before = Live.now
            do {
                let runtime = try Runtime()
                try runtime.define("synth.clock", scope: .singleton) { _ in Clock() }
            }
            #expect(Live.now == before)
        }

        @Test func closingWithAHeldObjectIsBusyAndLeavesItOpen() throws {
            try withRuntime { runtime throws in
                try runtime.define("synth.clock") { _ in Clock() }
                var held: Object? = try runtime.object("synth.clock")
                let error = failure { try runtime.close() }
                #expect(error.code == .busy)
                #expect(error.description.contains("synth.clock"))
                #expect(try held?.instance(as: Clock.self) === runtime.resolve("synth.clock", as: Clock.self))
                held = nil
            }
        }

        @Test func twoRuntimesShareNothing() throws {
            try withRuntime { first throws in
                try withRuntime { second throws in
                    let key = try first.define("synth.clock") { _ in Clock() }
                    #expect(failure { _ = try second.resolve("synth.clock", as: Clock.self) }.code == .notFound)
                    #expect(failure { _ = try second.resolve(key) }.code == .handle)
                }
            }
        }

        @Test func anUnknownKeyNamesTheNearest() throws {
            try withRuntime { runtime throws in
                try runtime.define("synth.clock") { _ in Clock() }
                let error = failure { _ = try runtime.resolve("synth.clokc", as: Clock.self) }
                #expect(error.code == .notFound)
                #expect(error.description.contains("synth.clock"))
            }
        }

        @Test func theLogIsCalledAtItsLevelAndNeverAfterClose() throws {
            let lines = Log<String>()
            var options = Runtime.Options()
            options.logLevel = .error
            options.log = { lines.add("\($0)") }
            let before = Live.now
            let runtime = try Runtime(options)
            _ = failure { _ = try runtime.source("bad.yaml", "traits: [") }
            try runtime.close()
            let count = lines.all.count
            #expect(count == lines.all.count)
            #expect(lines.all.allSatisfy { $0.hasPrefix("error: ") })
            #expect(Live.now == before)
        }

        /// In a separate process, whose standard error only the runtime uses.
        @Test func withoutALogStandardErrorGetsRefusedEdits() async throws {
            let result = try await #require(
                processExitsWith: .success, observing: [\.standardErrorContent]
            ) {
                let scratch = try Scratch()
                let file = scratch.write("a.yaml", "config: { a: 1 }")
                for level in [LogLevel.info, .silent] {
                    var options = Runtime.Options()
                    options.name = "studio"
                    options.logLevel = level
                    let runtime = try Runtime(options)
                    let failures = Log<String>()
                    let observer = try runtime.observe { if $0.error != nil { failures.add($0.cause) } }
                    try runtime.watch(file)
                    _ = failure { _ = try runtime.source("b.yaml", "config: [") }
                    scratch.write("a.yaml", "config: [")
                    try eventually(runtime) { failures.all.contains(file) }
                    scratch.write("a.yaml", "config: { a: 1 }")
                    try eventually(runtime) { runtime.lastError == nil }
                    try observer.close()
                    try runtime.close()
                }
            }
            let text = String(decoding: result.standardErrorContent, as: UTF8.self)
            let lines = text.split(separator: "\n").filter { $0.contains("a.yaml") || $0.contains("b.yaml") }
            #expect(lines.count == 2, "\(text)")
            #expect(lines.first?.hasPrefix("studio: error: /tmp/invivo-swift-") == true, "\(text)")
            #expect(lines.first?.contains("/a.yaml:1:") == true && lines.last?.hasSuffix("was not applied") == true)
        }

        @Test func anErrorOfACallListsAllErrors() throws {
            try withRuntime { runtime throws in
                let error = failure {
                    try runtime.changes { changes in
                        try changes.define("a.one", Player.type, initializer: ["clock": .reference("a.missing")])
                        try changes.define("a.two", Player.type, initializer: ["clock": .reference("a.absent")])
                    }
                }
                #expect(error.errors.count == 2)
                #expect(error.description.contains("a.missing") && error.description.contains("a.absent"))
                #expect(try runtime.info.definitions == 0)
            }
        }
    }
}

final class Clock: Sendable {
    let name: String
    init(name: String = "clock") { self.name = name }
}

/// A confined class with all parts of a description.
final class Player: InvivoObject {
    let clock: Object?
    var tempo = 120.0
    var notes: [Int] = []
    var wave = Wave.sine
    var title: String?

    enum Wave: String, CaseIterable, InvivoConvertible { case sine, saw }

    init(clock: Object?) { self.clock = clock }

    static let type = ObjectType<Player>(confined: "Player", text: "Plays notes.") { type in
        type.make("clock", by: Player.init)
        type.property("tempo", \.tempo, in: 30...300, unit: "bpm", was: ["speed"])
        type.property("notes", \.notes)
        type.property("wave", \.wave)
        type.property("title", \.title)
        type.property("count", get: { $0.notes.count }, set: nil)
        type.method("play", "note") { player, note in player.notes.append(note) }
        type.method("scaled", "factor", "by") { (player: Player, factor: Double, by: Int?) -> Double in
            player.tempo * factor * Double(by ?? 1)
        }
        type.method("fail") { (_: Player) -> Int in
            throw InvivoError(.range, "too loud", path: "player.volume", file: "etude.mid", line: 3, column: 7)
        }
        type.method("failForeign") { (_: Player) -> Int in throw Unplayable.broken }
        type.method("same", "player") { (_: Player, other: Player) -> Player in other }
    }

    enum Unplayable: Error { case broken }

    static var invivoType: ObjectType<Player> { type }
}
