import Invivo
import Synchronization
import Testing

private final class Voice: Sendable {
    let count: Int
    let name: String
    init(_ count: Int, _ name: String) {
        self.count = count
        self.name = name
    }
}

private final class Settings {
    var limit = 0
    var size = 0
    var ratio: Double = 0
}

private final class Colour: Sendable {
    let text: String
    init(_ text: String) { self.text = text }
}

private final class Synth: Assembly {
    let voice = singleton(wired(.config("voices"), .config("name", default: "lead"), by: Voice.init))
    let settings = lazySingleton(confined: { (_: Resolver) in Settings() })
        .inject(\.limit, .config("limit", default: 3))
        .inject(\.size, .config("size", default: "1 KiB").read(by: "bytes"))
        .inject(\.ratio, .text("0.5", by: "number"))
}

private class Wave: @unchecked Sendable { var name: String { "wave" } }
private final class Saw: Wave, @unchecked Sendable { override var name: String { "saw" } }
private final class Sine: Wave, @unchecked Sendable { override var name: String { "sine" } }

private final class Waves: Assembly {
    let saw = lazySingleton { (_: Resolver) in Saw() }
    let sine = lazySingleton { (_: Resolver) in Sine() }
    let wave = choice(
        of: Wave.self, by: .config("wave", default: InvivoValue.null), .equal("saw", .member(\Waves.saw)),
        .null(.member(\Waves.sine)), .equal(3, .member(\Waves.saw)))
    let named = choice(of: Wave.self, taking: String.self, .equal("x", .member(\Waves.saw)), .named)
}

struct ConfigTests {
    @Test func aValueRebuildsInitializerDependentsAndKeepsPropertyDependents() throws {
        let runtime = try Runtime()
        try says(runtime, "config: { synth: { voices: 8 }, global: { size: 2 KiB } }")
        let synth = try runtime.activate(Synth())
        let (voice, settings) = (try synth.voice(), try synth.settings())
        #expect(voice.count == 8 && voice.name == "lead")
        #expect(settings.limit == 3 && settings.size == 2048 && settings.ratio == 0.5)
        try says(runtime, "config: { synth: { voices: 8, limit: 4 }, global: { size: 2 KiB } }")
        #expect(try synth.voice() === voice)
        #expect(try synth.settings() === settings)
        #expect(settings.limit == 4)
        try says(runtime, "config: { synth: { voices: 9, limit: 4 } }")
        #expect(try synth.voice().count == 9)
        #expect(settings.size == 1024)
        try runtime.close()
    }

    @Test func anUnsuitableValueIsRefusedWithItsLocation() throws {
        let runtime = try Runtime()
        #expect(throws: InvivoError.self) { try runtime.activate(Synth()) }
        try says(runtime, "config: { synth: { voices: 8 } }")
        try runtime.activate(Synth())
        let error = #expect(throws: InvivoError.self) { try says(runtime, "config:\n  synth: { voices: many }") }
        #expect(error?.code == .conversion)
        #expect(error?.line == 2 && error?.file == "a.yaml" && error?.path == "config.synth.voices")
        try runtime.close()
    }

    @Test func viewsReadValuesOfOneGenerationTyped() throws {
        let runtime = try Runtime()
        try says(runtime, "config: { a: { number: 3, part: 0.5, on: true, text: x, list: [1, 2] } }")
        let number = try runtime.configKey("a.number", as: Int.self)
        let part = try runtime.configKey("a.part", as: Double.self)
        let on = try runtime.configKey("a.on", as: Bool.self)
        let text = try runtime.configKey("a.text", as: String.self)
        let list = try runtime.configKey("a.list", as: [Int].self)
        let none = try runtime.configKey("a.none", as: Int.self)
        runtime.view { view in
            #expect(view[number, default: 0] == 3 && view[part, default: 0] == 0.5 && view[on, default: false])
            #expect(view[text] == "x" && view[list] == [1, 2] && view[none] == nil && view[none, default: 7] == 7)
        }
        #expect(throws: InvivoError.self) { try says(runtime, "config: { a: { number: text } }") }
        #expect(try runtime.configuration("a.number", as: Int.self) == 3)
        let error = #expect(throws: InvivoError.self) { try runtime.configuration("a.nummer", as: Int.self) }
        #expect(error?.code == .notConfigured)
        try runtime.close()
    }

    @Test func aPathIsObservedAndTheOperatorHasTheLastWord() throws {
        let runtime = try Runtime()
        let heard = Mutex<[String]>([])
        let observer = try runtime.observe(configuration: "a.b") { value, _ in
            let text = "\(value)"
            heard.withLock { $0.append(text) }
        }
        try says(runtime, "config: { a: { b: 1, c: 1 } }")
        try runtime.configure("a.b", 2)
        try runtime.configure("a.c", 2)
        try runtime.configure("a.b", InvivoValue.null)
        try runtime.unconfigure("a")
        try observer.close()
        try runtime.configure("a.b", 3)
        #expect(heard.withLock { $0 } == ["1", "2", "null", "1"])
        try runtime.close()
    }

    @Test func aChangedValueChoosesAnotherDefinitionAnArgumentToo() throws {
        let runtime = try Runtime()
        let waves = try runtime.activate(Waves())
        #expect(try waves.wave().name == "sine")
        try runtime.configure("waves.wave", "saw")
        #expect(try waves.wave() === waves.saw())
        try runtime.configure("waves.wave", 3.0)
        #expect(try waves.wave().name == "saw")
        let error = #expect(throws: InvivoError.self) { try runtime.configure("waves.wave", 4) }
        #expect(error?.code == .range)
        #expect(try waves.named("sine") === waves.sine())
        #expect(try waves.named("x") === waves.saw())
        try runtime.close()
    }

    @Test func textsAreReadByTheHostsOwnConverters() throws {
        let runtime = try Runtime()
        try runtime.addConverter("shout") { text in text.uppercased() }
        #expect(try runtime.convert("hush", by: "shout", as: String.self) == "HUSH")
        #expect(try runtime.convert("1 min", by: "duration", as: Double.self) == 60)
        let twice = #expect(throws: InvivoError.self) { try runtime.addConverter("shout") { $0 } }
        #expect(twice?.code == .exists)
        try runtime.addConverter("colour.host") { (text: String) throws -> String in
            guard text.hasPrefix("#") else { throw InvivoError(.conversion, "a colour begins with '#'") }
            return text
        }
        let wrong = #expect(throws: InvivoError.self) { try runtime.convert("x", by: "colour.host", as: String.self) }
        #expect(wrong?.message.contains("begins with '#'") == true)
        try runtime.removeConverter("shout")
        #expect(throws: InvivoError.self) { try runtime.convert("hush", by: "shout", as: String.self) }
        try runtime.close()
    }

    @Test func aConverterReadsValuesOfEveryKind() throws {
        let runtime = try Runtime()
        try runtime.addReader(
            "sum",
            { value throws -> Double in
                guard case .list(let items) = value else { throw InvivoError(.type, "a list is wanted") }
                var sum = 0.0
                for (index, item) in items.enumerated() {
                    guard case .int64(let number) = item else {
                        throw InvivoError(.type, "no number", path: "value.\(index)")
                    }
                    sum += Double(number)
                }
                return sum
            })
        final class Total: Sendable {
            let value: Double
            init(_ value: Double) { self.value = value }
        }
        final class Sums: Assembly {
            let total = lazySingleton(wired(.config("parts").read(by: "sum"), by: Total.init))
        }
        try runtime.configure("sums.parts", [1, 2, 3])
        let sums = try runtime.activate(Sums())
        #expect(try sums.total().value == 6)
        let wrong = #expect(throws: InvivoError.self) {
            try says(runtime, "config: { sums: { parts: word } }")
            try runtime.unconfigure("sums.parts")
        }
        #expect(wrong?.message.contains("a list is wanted") == true)
        try runtime.close()
    }

    @Test func aSectionUnderTheBeginningOfAnAssemblysNameIsAWarning() throws {
        final class Total: Sendable { init(_ value: Int) {} }
        final class StationAssembly: Assembly {
            let total = lazySingleton(wired(.config("capacity", default: 4), by: Total.init))
        }
        let runtime = try Runtime()
        try runtime.activate(StationAssembly())
        let heard = Locked<[String]>([])
        let observer = try runtime.observe { reload in heard.withLock { $0 += reload.warnings.map(\.description) } }
        try says(runtime, "config: { station: { capacity: 2 } }")
        let wanted = "'station' is not read by anything; did you mean 'station_assembly'?"
        #expect(heard.withLock { $0.contains { $0.contains(wanted) } })
        try observer.close()
        try runtime.close()
    }

    private func says(_ runtime: Runtime, _ text: String) throws {
        try runtime.changes { changes in try changes.document("a.yaml", text) }
    }
}
