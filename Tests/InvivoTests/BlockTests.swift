import Invivo
import Testing

extension SwiftAPI {
    @Suite struct BlockTests {
        enum Wave: String, CaseIterable, InvivoField { case sine, saw, square }
        enum Octave: Int, CaseIterable, InvivoField { case low = -1, middle = 0, high = 1 }

        struct Tuning {
            var isOn = true
            var wave = Wave.saw
            var octave = Octave.middle
            var voices: UInt8 = 4
            var detune: Int16 = -3
            var gain: Float = 0.5
            var cutoff = 800.0
            var seed: UInt64 = 7
            var doubled: Double { cutoff * 2 }
        }

        static let block = block("synth.lead")
        static func block(_ key: String) -> Block<Tuning> {
            Block(key, Tuning()) {
                $0.field("on", \.isOn)
                $0.field("wave", \.wave)
                $0.field("octave", \.octave)
                $0.field("voices", \.voices, in: 1...16)
                $0.field("detune", \.detune)
                $0.field("gain", \.gain, in: 0...2)
                $0.field("cutoff", \.cutoff, in: 20...20000, unit: "Hz")
                $0.field("seed", \.seed)
            }
        }

        @Test func aFieldBeginsInItsRange() throws {
            final class Amp {
                var gain = 5.0
            }
            try withRuntime { runtime throws in
                let outside = failure {
                    try runtime.define(
                        Block("synth.lead", Tuning(), typeName: "Tuning") { $0.field("gain", \.gain, in: 0.75...1) })
                }
                #expect(outside.code == .argument)
                #expect(outside.description.contains("Tuning.gain: the initial value: 0.5 is outside 0.75...1"))
                // The type of a closure's result is unknown before it runs.
                try runtime.register(
                    ObjectType<Amp>(confined: "RangedAmp") { type in
                        type.make { Amp() }
                        type.property("gain", \.gain, in: 0...1)
                    })
            }
        }

        @Test func everyKindOfFieldIsTunedAndComesBackExactly() throws {
            try withRuntime { runtime throws in
                let lead = try runtime.define(Self.block)
                #expect(runtime[lead].wave == .saw && runtime[lead].detune == -3 && runtime[lead].seed == 7)
                let source = try runtime.source(
                    "tuning.yaml",
                    """
                    traits:
                      synth.lead:
                        - Set: { on: false, wave: square, octave: high, voices: 16, detune: -300, gain: 2, cutoff: 1.5 kHz }
                        - Set: { seed: 18446744073709551615 }
                    """)
                let tuned = runtime[lead]
                #expect(!tuned.isOn && tuned.wave == .square && tuned.octave == .high && tuned.voices == 16)
                #expect(tuned.detune == -300 && tuned.gain == 2 && tuned.cutoff == 1500 && tuned.seed == .max)
                try source.close()
                let former = runtime[lead]
                #expect(former.isOn && former.wave == .saw && former.octave == .middle && former.voices == 4)
                #expect(former.detune == -3 && former.gain == 0.5 && former.cutoff == 800 && former.seed == 7)
            }
        }

        struct Numbers: Equatable {
            var small: UInt8 = 7
            var number = 2.0
            var most: UInt64 = .max
            var odd: Int64 = 9_007_199_254_740_993
            var padding: Int64 = 77
        }

        @Test func aBlockBeginsWithItsStructExactly() throws {
            try withRuntime { runtime throws in
                func block(_ key: String, _ initial: Numbers) -> Block<Numbers> {
                    Block(key, initial) {
                        $0.field("number", \.number)
                        $0.field("most", \.most)
                        $0.field("odd", \.odd)
                    }
                }
                let other = Numbers(small: 8, number: 3, most: 1, odd: -1, padding: 78)
                let lead = try runtime.define(block("synth.lead", Numbers()))
                let bass = try runtime.define(block("synth.bass", other))
                #expect(runtime[lead] == Numbers() && runtime[bass] == other)
                let source = try runtime.source("t.yaml", "traits: { synth.lead: [Set: { number: 5, odd: 1 }] }")
                #expect(runtime[lead] == Numbers(number: 5, odd: 1) && runtime[bass] == other)
                try source.close()
                #expect(runtime[lead] == Numbers() && runtime[bass] == other)
                // After a redefinition, a held key shows its new initial values.
                try runtime.define(block("synth.lead", other))
                #expect(runtime[lead] == other)
            }
        }

        @Test func valuesOutsideAreRefusedAndNothingChanges() throws {
            try withRuntime { runtime throws in
                let lead = try runtime.define(Self.block)
                let source = try runtime.source("t.yaml", "traits: { synth.lead: [Set: { gain: 1 }] }")
                for (text, code) in [
                    ("gain: 2.1", InvivoError.Code.range), ("voices: 0", .range), ("wave: triangle", .range),
                    ("gain: loud", .type),
                    ("gian: 1", .property), ("detune: 40000", .range),
                ] {
                    let error = failure { try source.update("traits: { synth.lead: [Set: { \(text) }] }") }
                    #expect(error.code == code, "\(text): \(error)")
                    #expect(error.line == 1 && error.column > 1)
                }
                #expect(runtime[lead].gain == 1)
            }
        }

        @Test func aSourceThatKeepsGoingSkipsWhatIsWrong() throws {
            try withRuntime { runtime throws in
                let lead = try runtime.define(Self.block)
                let text = "traits: { synth.lead: [Set: { gain: 2.1 }, Set: { cutoff: 500 }] }"
                #expect(failure { _ = try runtime.source("t.yaml", text) }.code == .range)
                let source = try runtime.source("t.yaml", text, keepingGoing: true)
                #expect(runtime[lead].gain == 0.5 && runtime[lead].cutoff == 500)
                let warning = try #require(try runtime.reports.last?.warningDetails.first)
                #expect(warning.kind == .skipped && warning.line == 1)
                try source.close()
                #expect(runtime[lead].cutoff == 800)
            }
        }

        @Test func theGraphMarksADecisionOfADocument() throws {
            try withRuntime { runtime throws in
                _ = try runtime.define(Self.block)
                _ = try runtime.define(Self.block("synth.bass"))
                func node() throws -> WiringGraph.Node? { try runtime.wiring.nodes.first { $0.key == "synth.lead" } }
                #expect(try node()?.isWired == false)
                let source = try runtime.source("w.yaml", "wiring: { synth.lead: { alias: synth.bass } }")
                let wired = try #require(try node())
                #expect(wired.isWired && wired.alias == "synth.bass" && wired.file == "w.yaml" && wired.line == 1)
                try source.close()
                #expect(try node()?.isWired == false)
            }
        }

        @Test func aComputedFieldIsRefused() throws {
            try withRuntime { runtime throws in
                let error = failure { try runtime.define(Block("a.b", Tuning()) { $0.field("doubled", \.doubled) }) }
                #expect(error.code == .argument && error.message.contains("stored"))
            }
        }

        @Test func aBlockIsReadByItsKeyAndStruct() throws {
            try withRuntime { runtime throws in
                try runtime.define(Self.block)
                let lead = try runtime.block("synth.lead", as: Tuning.self)
                #expect(runtime[lead].cutoff == 800)
                #expect(failure { _ = try runtime.block("synth.lead", as: UInt8.self) }.code == .type)
                #expect(failure { _ = try runtime.block("synth.laed", as: Tuning.self) }.code == .notFound)
            }
        }

        @Test func aSharedObjectIsTunedThroughItsBlock() throws {
            struct Filter { var cutoff = 500.0 }
            let type = ObjectType<Clock>("LowPass") { type in
                type.make { Clock(name: "low") }
                type.block(Filter()) { $0.field("cutoff", \.cutoff, in: 20...20000) }
            }
            try withRuntime { runtime throws in
                let key = try runtime.define("synth.filter", type, scope: .singleton)
                let block = try runtime.block("synth.filter", as: Filter.self)
                let clock = try runtime.resolve(key)
                _ = try runtime.source("t.yaml", "traits: { synth.filter: [Set: { cutoff: 900 }] }")
                #expect(runtime[block].cutoff == 900)
                #expect(try runtime.resolve(key) === clock)
                #expect(try runtime.object("synth.filter").get("cutoff", as: Double.self) == 900)
            }
        }

        @Test func oneTypeNameForTwoStructsIsRefused() throws {
            struct Other { var gain = 1.0 }
            try withRuntime { runtime throws in
                try runtime.define(Block("a.b", Tuning(), typeName: "T") { $0.field("gain", \.gain) })
                let error = failure {
                    try runtime.define(Block("a.c", Other(), typeName: "T") { $0.field("gain", \.gain) })
                }
                #expect(error.code == .exists)
            }
        }
    }

    @Suite struct ViewTests {
        struct Tuning { var gain = 1.0 }

        @Test func aViewStaysWithItsGenerationWhileReloadsCommit() throws {
            try withRuntime { runtime throws in
                let lead = try runtime.define(Block("synth.lead", Tuning()) { $0.field("gain", \.gain) })
                try runtime.view { view in
                    let generation = view.generation
                    #expect(view[lead].gain == 1)
                    onAnotherThread { _ = try? runtime.source("t.yaml", "traits: { synth.lead: [Set: { gain: 2 }] }") }
                    #expect(view[lead].gain == 1 && view.generation == generation)
                    #expect(runtime[lead].gain == 1, "an inner view sees the generation of the outer")
                    _ = try runtime.info
                }
                #expect(runtime[lead].gain == 2)
            }
        }

        @Test func aViewLendsInstancesWithoutCounting() throws {
            try withRuntime { runtime throws in
                let key = try runtime.define("a.clock", scope: .singleton) { _ in Clock(name: "wall") }
                let clock = try runtime.resolve(key)
                runtime.view { view in
                    #expect(view.with(key) { $0 === clock } == true)
                    #expect(view[key] === clock)
                }
            }
        }

        @Test func aKeyThatWasRedefinedWithAnotherTypeIsNeverReadAsTheFormer() throws {
            try withRuntime { runtime throws in
                let key = try runtime.define("a.thing", scope: .singleton) { _ in Clock() }
                try runtime.define("a.thing", scope: .singleton) { _ in Counted() }
                #expect(failure { _ = try runtime.resolve(key) }.code == .type)
                #expect(runtime.view { $0.with(key) { $0.name } } == nil)
                #expect(
                    try runtime.resolve("a.thing", as: Counted.self) === runtime.resolve("a.thing", as: Counted.self))
            }
        }

        @Test func aSupertypeIsResolvedToo() throws {
            class Base: @unchecked Sendable {}
            final class Derived: Base, @unchecked Sendable {}
            try withRuntime { runtime throws in
                let key = try runtime.define("a.thing", scope: .singleton) { _ in Derived() }
                #expect(try runtime.resolve("a.thing", as: Base.self) === runtime.resolve(key))
                #expect(failure { _ = try runtime.resolve("a.thing", as: Clock.self) }.code == .type)
            }
        }
    }
}
