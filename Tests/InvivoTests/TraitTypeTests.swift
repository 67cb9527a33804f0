import CInvivo
import Invivo
import Testing

private final class Voice: InvivoObject {
    var gain = 1.0
    var cutoff = 1000.0
    var wave = Wave.sine
    static let invivoType = ObjectType<Voice>(confined: "Voice") { type in
        type.make { Voice() }
        type.property("gain", \.gain, in: 0...8)
        type.property("cutoff", \.cutoff, unit: "Hz")
        type.property("wave", \.wave)
    }
}

private enum Wave: String, CaseIterable, InvivoConvertible { case sine, square }

private struct Duck {
    var amount = 0.5
    var wave = Wave.square
    var steps: Int?
}

private struct Boost { var by = 1.0 }

extension SwiftAPI {
    /// Trait types: fields of a struct, with layers or code.
    @Suite struct TraitTypeTests {
        private func tell(_ runtime: Runtime, _ text: String, _ name: String = "a.yaml") throws {
            try runtime.changes { try $0.document(name, text) }
        }

        private func lead(_ runtime: Runtime) throws -> Voice {
            try runtime.resolve(try runtime.define("synth.lead", Voice.invivoType))
        }

        private var duck: TraitType<Duck> {
            TraitType("synth.Duck", Duck(), text: "lowers the gain") {
                $0.target(Voice.self)
                $0.required("amount", \.amount, in: 0...1)
                $0.field("wave", \.wave)
                $0.field("steps", \.steps, in: -10...10, was: ["step"])
                $0.check { duck in
                    if duck.steps == 3 { throw TraitRefusal("three steps", field: "steps") }
                    if duck.steps == 4 { throw InvivoError(.range, "four steps") }
                }
                $0.layers { duck, layers in
                    try layers.scale("gain", by: 1 - duck.amount)
                    try layers.set("wave", duck.wave)
                    if let steps = duck.steps { try layers.offset("cutoff", by: Double(steps)) }
                }
            }
        }

        @Test func aTraitTypeDeclaresLayers() throws {
            try withRuntime { runtime throws in
                let lead = try lead(runtime)
                try runtime.addTrait(duck)
                try tell(runtime, "traits: { synth.lead: [synth.Duck: { amount: 0.25 }] }")
                #expect(lead.gain == 0.75 && lead.cutoff == 1000 && lead.wave == .square)
                try tell(runtime, "traits: { synth.lead: [synth.Duck: { amount: 0.5, wave: sine, step: -2 }] }")
                #expect(lead.gain == 0.5 && lead.cutoff == 998 && lead.wave == .sine)
                let missing = failure { try tell(runtime, "traits: { synth.lead: [synth.Duck: {}] }") }
                #expect(missing.description.contains("the field 'amount' of the trait 'synth.Duck' is missing"))
                let refused = failure {
                    try tell(
                        runtime, "traits:\n  synth.lead:\n    - synth.Duck:\n        amount: 1\n        steps: 3\n")
                }
                #expect(refused.line == 5 && refused.description.contains("three steps"))
                let other = failure {
                    try tell(runtime, "traits: { synth.lead: [synth.Duck: { amount: 1, steps: 4 }] }")
                }
                #expect(other.cause?.code == .range)
                #expect(failure { try tell(runtime, "traits: { synth.lead: [synth.Duck: { amount: 2 }] }") }.line == 1)
                #expect(lead.gain == 0.5)
                try runtime.removeTrait("synth.Duck")
                #expect(lead.gain == 1 && lead.cutoff == 1000 && lead.wave == .sine)
                #expect(failure { try runtime.removeTrait("synth.Duck") }.code == .notFound)
            }
        }

        @Test func aTraitTypeRunsCodeAndReversesIt() throws {
            let calls = Locked([String]())
            try withRuntime { runtime throws in
                let lead = try lead(runtime)
                let boost = TraitType("synth.Boost", Boost()) {
                    $0.field("by", \.by)
                    $0.apply(to: Voice.self) { voice, boost in
                        calls.withLock { $0.append("apply \(boost.by)") }
                        voice.gain += boost.by
                        return { voice in
                            calls.withLock { $0.append("revert \(boost.by)") }
                            voice.gain -= boost.by
                        }
                    }
                }
                try runtime.addTrait(boost)
                try tell(runtime, "traits: { synth.lead: [Set: { gain: 2 }, synth.Boost: {}, Scale: { gain: 2 }] }")
                #expect(lead.gain == 6)
                try tell(runtime, "traits: { synth.lead: [Set: { gain: 1 }, synth.Boost: { by: 2 }] }")
                #expect(lead.gain == 3)
                #expect(calls.withLock { $0 } == ["apply 1.0", "revert 1.0", "apply 2.0"])
                let error = failure { try tell(runtime, "traits: { synth.lead: [synth.Boost: { by: loud }] }") }
                #expect(error.path == "traits.synth.lead[0].synth.Boost.by")
                try tell(runtime, "traits: {}")
                #expect(lead.gain == 1 && calls.withLock { $0.last } == "revert 2.0")
            }
        }

        @Test func valuesThatAreSetWithoutAReversalArePutBack() throws {
            try withRuntime { runtime throws in
                let lead = try lead(runtime)
                let fails = Locked(true)
                try runtime.addTrait(
                    TraitType("synth.Loud") {
                        $0.target("*")
                        $0.apply { object, _ in
                            try object.set("gain", 4.0)
                            try object.set("cutoff", 5.0)
                            if fails.withLock({ $0 }) { throw InvivoError(.host, "no more") }
                        }
                    })
                let error = failure { try tell(runtime, "traits: { synth.lead: [synth.Loud: {}] }") }
                #expect(error.description.contains("no more"))
                #expect(lead.gain == 1 && lead.cutoff == 1000)
                fails.withLock { $0 = false }
                try tell(runtime, "traits: { synth.lead: [synth.Loud: {}] }")
                #expect(lead.gain == 4 && lead.cutoff == 5)
                try tell(runtime, "traits: {}")
                #expect(lead.gain == 1 && lead.cutoff == 1000)
            }
        }

        @Test func aNewVersionOfAModuleReplacesTheType() throws {
            func enter(_ runtime: Runtime, _ factor: Double) throws {
                // The entry of a module, as the library calls it.
                var error: OpaquePointer?
                let token = try runtime.share()
                let handle = token.address.load(as: invivo_token.self).runtime
                let status = Module.enter(invivo_table_get(), handle, &error) { runtime in
                    try runtime.addTrait(
                        TraitType("synth.Boost", Boost()) {
                            $0.field("by", \.by)
                            $0.apply(to: Voice.self) { voice, boost in
                                voice.gain += boost.by * factor
                                return { $0.gain -= boost.by * factor }
                            }
                        })
                }
                #expect(status == 0)
            }
            try withRuntime { runtime throws in
                let lead = try lead(runtime)
                try enter(runtime, 1)
                try tell(runtime, "traits: { synth.lead: [synth.Boost: { by: 2 }] }")
                #expect(lead.gain == 3)
                try enter(runtime, 3)
                #expect(lead.gain == 7)
                try tell(runtime, "traits: {}")
                #expect(lead.gain == 1)
            }
        }

        @Test func aTraitTypeIsReleased() throws {
            final class Token: Sendable {}
            weak var kept: Token?
            try withRuntime { runtime throws in
                let token = Token()
                kept = token
                _ = try lead(runtime)
                let described = TraitType("synth.Held", Boost()) {
                    $0.apply(to: Voice.self) { _, _ in { _ in withExtendedLifetime(token) {} } }
                }
                try runtime.addTrait(described)
                try tell(runtime, "traits: { synth.lead: [synth.Held: {}] }")
                #expect(
                    failure { try runtime.addTrait(TraitType("synth.None") { $0.target("*") }) }.description
                        .contains("neither layers nor apply"))
                #expect(
                    failure { try runtime.addTrait(TraitType("synth.None") { $0.layers { _, _ in } }) }.description
                        .contains("accepts no target"))
                #expect(failure { try runtime.addTrait(TraitType("Set", Boost()) { $0.target("*") }) }.code == .exists)
            }
            #expect(kept == nil)
        }
    }
}
