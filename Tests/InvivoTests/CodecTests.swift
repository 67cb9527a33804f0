import Invivo
import Testing

/// A dimmer with codecs.
private final class Dimmer: InvivoObject, @unchecked Sendable {
    var level = 1.0
    var frame: [String: Double] = [:]
    static let invivoType = ObjectType<Dimmer>(confined: "Dimmer") { type in
        type.make(by: Dimmer.init)
        type.property("level", \.level, codec: .decibel)
        type.property("frame", \.frame, codec: .size)
    }
}

extension SwiftAPI {
    /// Values of properties and live documents as text: docs/rules/codecs.md.
    @Suite struct CodecTests {
        private struct Levels: BitwiseCopyable, Sendable { var share = 0.5 }

        @Test func valuesAndDocumentsAreText() throws {
            let runtime = try Runtime()
            try runtime.define(
                Block("room.levels", Levels()) { $0.field("share", \.share, in: 0...1, codec: .percent) })
            try runtime.changes {
                try $0.document("a.yaml", "traits: { room.levels: [ Set: { share: 25 % } ] }")
            }
            let json = #"{"traits":{"room.levels":[{"Set":{"share":"25 %"}}]}}"#
            #expect(try runtime.documentText("a.yaml", as: .json) == json)
            #expect(try runtime.traitsText(of: "room.levels", in: "a.yaml", as: .json) == json)
            #expect(try runtime.traitsText(as: .json) == json)
            let missing = #expect(throws: InvivoError.self) { try runtime.documentText("b.yaml") }
            #expect(missing?.code == .notFound)
            try runtime.close()
        }

        @Test func propertiesHaveCodecs() throws {
            let runtime = try Runtime()
            try runtime.register(Dimmer.invivoType)
            let type = try runtime.type("Dimmer")
            #expect(type.properties.map(\.codec) == [.decibel, .size])
            #expect(try type.value("20 dB", of: "level") == 10.0)
            #expect(try type.text(of: 10.0, as: "level") == "20 dB")
            #expect(try type.value("640 x 480", of: "frame") == ["width": 640.0, "height": 480.0])
            let wrong = #expect(throws: InvivoError.self) { try type.value("loud", of: "level") as Double }
            #expect(wrong?.code == .conversion)
            try runtime.close()
        }
    }
}
