import Invivo
import Testing

private final class Voice {
    var note: Int
    var said: [String] = []
    var other: Voice?
    init(_ note: Int) { self.note = note }

    static let type = ObjectType<Voice>(confined: "NamedVoice") { type in
        type.supertype("Sounding")
        type.make("note") { (note: Int?) in Voice(note ?? 0) }
        type.property("note", \.note)
        type.property(
            "other", get: { $0.other.map { InvivoValue.instance($0) } ?? .null },
            set: { voice, value in voice.other = try value.get(Object?.self)?.instance(as: Voice.self) })
        type.method("say", "text") { (voice, text: String) in voice.said.append(text) }
        type.method("double", "voice") { (_, voice: Object) in Voice(try voice.get("note") * 2) }
    }
}
extension Voice: InvivoObject {
    static var invivoType: ObjectType<Voice> { type }
}

extension SwiftAPI {
    @Suite struct NamesTests {
        @Test func aDefinitionIsDeclaredByNamesOfTypesMethodsAndParameters() throws {
            try withRuntime { runtime in
                try runtime.register(Voice.type)
                try runtime.define(
                    "synth.voice",
                    as: component("NamedVoice", scope: .prototype).argument("pitch", .int64)
                        .parameter("note", .argument(0)).before("say", "before").call("say", "call")
                        .after("say", "after").afterAll("say", "all"))
                try runtime.define("synth.lead", as: alias(of: "synth.voice", binding: [60]))
                let lead: Voice = try runtime.object("synth.lead").instance()
                #expect(lead.note == 60)
                #expect(lead.said == ["before", "call", "after", "all"])
                let wrong = failure { _ = try runtime.object("synth.voice") }
                #expect(wrong.code == .arity)
                #expect(wrong.description.contains("synth.voice(pitch: int64)"))
            }
        }

        @Test func anArgumentThatIsLeftOutHasItsDefault() throws {
            try withRuntime { runtime in
                try runtime.register(Voice.type)
                try runtime.define(
                    "synth.voice",
                    as: component("NamedVoice", scope: .prototype).argument("by", .int64)
                        .argument("pitch", .int64, default: 60).parameter("note", .argument(1)))
                let lead: Voice = try runtime.object("synth.voice", with: [1]).instance()
                #expect(lead.note == 60)
                let other: Voice = try runtime.object("synth.voice", with: [1, 61]).instance()
                #expect(other.note == 61)
                let wrong = failure { _ = try runtime.object("synth.voice") }
                #expect(wrong.code == .arity && wrong.description.contains("'by' is missing"))
            }
        }

        @Test func aTypeIsNamedWithItsArgumentsOrByTheOneForWhichItStands() throws {
            final class Pooled: Sendable {}
            final class Plain: Sendable {}
            try withRuntime { runtime in
                let plain = ObjectType<Plain>("PlainStore") { type in type.make { Plain() } }
                let pooled = ObjectType<Pooled>("PooledStore") { type in
                    type.make { Pooled() }
                    type.stands(for: "PlainStore")
                }
                try runtime.register(plain)
                try runtime.register(pooled)
                try runtime.define("app.users", as: component("PlainStore").generic("PlainStore[User]"))
                try runtime.define("app.orders", as: component("PlainStore").generic("PlainStore[Order]"))
                let users = try runtime.object(ofType: "PlainStore[User]")
                #expect(try users.key == "app.users")
                let orders = try runtime.object(ofType: "PlainStore[Order]")
                #expect(try orders.key == "app.orders")
                let wrong = failure { _ = try runtime.object(ofType: "PlainStore") }
                #expect(wrong.code == .ambiguous)
                try runtime.define("app.pooled", as: component("PooledStore").rank(1))
                let pool = try runtime.object(ofType: "PlainStore", exact: true)
                #expect(try pool.key == "app.pooled")
            }
        }

        @Test func anInstanceThatWasTakenOutOfAnObjectComesBackAsThatObject() throws {
            try withRuntime { runtime in
                try runtime.register(Voice.type)
                let first = try runtime.make(try runtime.type("NamedVoice"), 1)
                let second = try runtime.make(try runtime.type("NamedVoice"), 2)
                try first.set("other", second)
                #expect(try first.get("other", as: Object.self) == second)
                #expect(try runtime.object(for: try second.instance(as: Voice.self)) == second)
                (try first.instance(as: Voice.self)).other = nil
            }
        }

        @Test func codeInjectsIntoAnObjectThatIsKnownByNameAlone() throws {
            try withRuntime { runtime in
                try runtime.register(Voice.type)
                try runtime.define(
                    "synth.voice",
                    as: component("NamedVoice").inject(by: { object, _ in try object.call("say", "by code") }))
                #expect(try runtime.object("synth.voice").instance(as: Voice.self).said == ["by code"])
            }
        }

        @Test func decoratorsAndOverridesWorkOnObjectsOfAnyType() throws {
            try withRuntime { runtime in
                try runtime.register(Voice.type)
                try runtime.define("synth.voice", as: component("NamedVoice").parameter("note", 3))
                try runtime.changes { changes in
                    try changes.decorate("double", ofType: "Sounding") { former in
                        try former.call("double", former).get(Object.self)
                    }
                }
                #expect(try runtime.object(ofType: "Sounding").get("note") == 6)
                let override = try runtime.override("synth.voice", with: component("NamedVoice").parameter("note", 5))
                #expect(try runtime.object("synth.voice").get("note") == 10)
                try override.end()
                try runtime.unprocess("double")
                #expect(try runtime.object("synth.voice").get("note") == 3)
            }
        }

        @Test func aPoolOfObjectsHoldsThoseOfAnyType() throws {
            try withRuntime { runtime in
                try runtime.register(Voice.type)
                let pool = try runtime.pool("voices", of: Object.self)
                let type = try runtime.type("NamedVoice")
                let made = try pool.get("a") { try runtime.make(type, 7) }
                #expect(try pool.get("a") { throw InvivoError(.host, "made twice") } == made)
                #expect(try pool.entries.map(\.value) == [made])
                #expect(try pool.peek("b") == nil)
            }
        }
    }
}
