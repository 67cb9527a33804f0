import CInvivo
import Invivo
import Testing

private class Voice: @unchecked Sendable {
    let note: Int
    init(_ note: Int = 0) { self.note = note }
    var name: String { "voice \(note)" }
}
private final class Muted: Voice, @unchecked Sendable {
    let inner: Voice
    init(_ inner: Voice) {
        self.inner = inner
        super.init(inner.note)
    }
    override var name: String { "muted \(inner.name)" }
}
private final class Pitch: InvivoObject, Sendable {
    let note = 60
    static let invivoType = ObjectType<Pitch>("FactsPitch")
}

private let voiceType = ObjectType<Voice>("FactsVoice") { type in
    type.make("note") { (note: Int?) in Voice(note ?? 0) }
}
private let mutedType = ObjectType<Muted>("FactsMuted") { type in
    type.supertype("FactsVoice")
    type.make("of") { (of: Object) in Muted(try of.instance()) }
}

extension SwiftAPI {
    /// The effective definition of a key, and its object.
    @Suite struct KeyFactsTests {
        @Test func theDefinitionInForceIsDescribed() throws {
            try withRuntime { runtime in
                let type = try runtime.register(voiceType)
                try runtime.scope("window") { 1 }
                let line = #line + 3
                try runtime.define(
                    "synth.voice",
                    as: component("FactsVoice", scope: .prototype)
                        .argument("by", .double).argument("pitch", .int64, default: 60)
                        .argument("name", .string, isOptional: true).parameter("note", .argument(1)))
                let facts = try runtime.describe("synth.voice")
                #expect(facts.type == type)
                #expect(facts.making == "initializer")
                #expect(facts.scope == .prototype)
                #expect(facts.scopeName == nil)
                #expect(facts.file.hasSuffix("KeyFactsTests.swift"))
                #expect(facts.line == line)
                #expect(facts.parameters.map(\.name) == ["by", "pitch", "name"])
                #expect(facts.parameters.map(\.kind) == [.double, .int64, .any])
                #expect(facts.parameters.map(\.type) == [nil, nil, nil])
                #expect(facts.parameters.map(\.isOptional) == [false, false, true])
                #expect(try facts.parameters[1].defaultValue?.get(Int.self) == 60)
                #expect(facts.parameters[0].defaultValue == nil && facts.parameters[2].defaultValue == nil)
            }
        }

        @Test func theScopeIsThatOfTheKeyAndTheRestThatOfTheOverride() throws {
            try withRuntime { runtime in
                try runtime.register(voiceType)
                let scopes: [Scope] = [.prototype, .graph, .singleton, .lazySingleton, .weakSingleton, .thread]
                for scope in scopes {
                    try runtime.define("synth.\(scope)", as: component("FactsVoice", scope: scope))
                    #expect(try runtime.describe("synth.\(scope)").scope == scope)
                }
                let override = try runtime.override(
                    "synth.weakSingleton", with: component("FactsVoice", file: "other.swift", line: 7))
                let facts = try runtime.describe("synth.weakSingleton")
                #expect(facts.scope == .weakSingleton && facts.file == "other.swift" && facts.line == 7)
                try override.end()
                #expect(failure { _ = try runtime.describe("synth.nothing") }.code == .notFound)
            }
        }

        @Test func aScopeOfTheHostsIsNamed() throws {
            final class Panes: Assembly {
                let pane = prototype { (_, pitch: Pitch) in Voice(pitch.note) }.inScope("window")
            }
            try withRuntime { runtime in
                try runtime.register(voiceType)
                try runtime.scope("window") { 1 }
                try runtime.activate(Panes())
                let facts = try runtime.describe("panes.pane")
                #expect(facts.scope == nil)
                #expect(facts.scopeName == "window")
                #expect(facts.making == "factory")
                #expect(facts.parameters.map(\.kind) == [.object])
                #expect(facts.parameters.map(\.type) == [nil])
                #expect(facts.parameters.map(\.isOptional) == [false])
            }
        }

        @Test func aParameterOfAnotherLanguageNamesItsType() throws {
            try withRuntime { runtime in
                try runtime.register(voiceType)
                let token = try runtime.share().address.assumingMemoryBound(to: invivo_token.self)
                var raw = invivo_runtime()
                #expect(invivo_attach(token, &raw, nil) == 0)
                "synth.voice".withCString { key in
                    "FactsVoice".withCString { type in
                        let taken = [
                            invivo_parameter(
                                name: type, kind: InvivoKind.object.rawValue, flags: UInt32(INVIVO_PARAMETER_OPTIONAL),
                                type_name: type)
                        ]
                        taken.withUnsafeBufferPointer { parameters in
                            var definition = invivo_definition()
                            definition.struct_size = MemoryLayout<invivo_definition>.size
                            definition.key = key
                            definition.type_name = type
                            definition.scope = UInt32(INVIVO_SCOPE_PROTOTYPE)
                            definition.parameters = parameters.baseAddress
                            definition.parameter_count = 1
                            #expect(invivo_define(raw, &definition, nil, nil) == 0)
                        }
                    }
                }
                let facts = try runtime.describe("synth.voice")
                #expect(facts.parameters.map(\.kind) == [.object])
                #expect(facts.parameters.map(\.type) == ["FactsVoice"])
                #expect(facts.parameters.map(\.isOptional) == [true])
            }
        }

        @Test func aReplacementHasTheDefinitionsTypeInAView() throws {
            try withRuntime { runtime in
                let type = try runtime.register(voiceType)
                let before: Key<Voice> = try runtime.define("synth.voice") { _ in Voice(60) }
                try runtime.decorate("muting", Voice.self, key: "synth.voice") { Muted($0) }
                let made = try runtime.resolve(before)
                #expect(made.name == "muted voice 60")
                #expect(try runtime.describe("synth.voice").type == type)
                #expect(try runtime.object("synth.voice").type == type)
                let after: Key<Voice> = try runtime.key("synth.voice")
                let muted: Key<Muted> = try runtime.key("synth.voice")
                runtime.view { view in
                    #expect(view[before] === made && view[after] === made)
                    #expect(view.with(before) { $0.name } == "muted voice 60")
                    // The definition is of Voices, regardless of the decorator; a resolve checks the instance.
                    #expect(view[muted] == nil)
                }
                #expect(try runtime.resolve(muted) === made)
            }
        }

        @Test func aDecoratorOfAnotherTypeIsTheTypeOfTheObjectAndNotOfTheDefinition() throws {
            try withRuntime { runtime in
                let type = try runtime.register(voiceType)
                let other = try runtime.register(mutedType)
                try runtime.define(
                    "synth.mute",
                    as: component("FactsMuted", scope: .prototype).argument("of", .object)
                        .parameter("of", .argument(0)))
                let before: Key<Voice> = try runtime.define("synth.voice") { _ in Voice(60) }
                try runtime.changes { changes in
                    try changes.decorate("muting", by: "synth.mute", key: "synth.voice")
                }
                let made = try runtime.resolve(before)
                #expect(made.name == "muted voice 60")
                #expect(try runtime.describe("synth.voice").type == type)
                #expect(try runtime.object("synth.voice").type == other)
                let after: Key<Voice> = try runtime.key("synth.voice")
                let muted: Key<Muted> = try runtime.key("synth.voice")
                runtime.view { view in
                    #expect(view[before] === made)
                    #expect(view[after] === made)
                    #expect(view[muted] === made)
                }
            }
        }

        @Test func codesAreDescribedByTheirNamesInSwift() {
            let named: [(InvivoError.Code, String)] = [
                (.argument, "argument"), (.handle, "handle"), (.closed, "closed"), (.memory, "memory"),
                (.notFound, "notFound"), (.exists, "exists"), (.type, "type"), (.range, "range"),
                (.readOnly, "readOnly"), (.property, "property"), (.method, "method"), (.arity, "arity"),
                (.cold, "cold"), (.stale, "stale"), (.domain, "domain"), (.wouldWait, "wouldWait"),
                (.inCallback, "inCallback"), (.busy, "busy"), (.timeout, "timeout"), (.cycle, "cycle"),
                (.syntax, "syntax"), (.spec, "spec"), (.encoding, "encoding"), (.empty, "empty"),
                (.tooLarge, "tooLarge"), (.file, "file"), (.system, "system"), (.module, "module"),
                (.version, "version"), (.host, "host"), (.forked, "forked"), (.notReady, "notReady"),
                (.changed, "changed"), (.null, "null"), (.unsupported, "unsupported"), (.internal, "internal"),
                (.ambiguous, "ambiguous"), (.abstract, "abstract"), (.stop, "stop"), (.dormant, "dormant"),
                (.captive, "captive"), (.refused, "refused"), (.orphaned, "orphaned"),
                (.notConfigured, "notConfigured"),
                (.conversion, "conversion"),
            ]
            for (code, name) in named { #expect("\(code)" == name) }
            // The numbers of the library are exactly those.
            let numbers = (-1000...(-1)).filter { String(cString: invivo_status_name(Int32($0))) != "INVIVO_E_UNKNOWN" }
            #expect(Set(numbers) == Set(named.map { Int($0.0.rawValue) }))
            #expect("\(InvivoError.Code(rawValue: 0))" == "ok")
            #expect("\(InvivoError.Code(rawValue: -1000))" == "unknown(-1000)")
        }
    }
}
