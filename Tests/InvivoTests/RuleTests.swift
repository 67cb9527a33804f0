import Dispatch
import Invivo
import Testing

extension SwiftAPI {
    /// Rules: closures over values that each generation satisfies.
    @Suite struct RuleTests {
        private func document(_ runtime: Runtime, _ text: String, _ name: String = "a.yaml") throws {
            try runtime.changes { try $0.document(name, text) }
        }

        private func refusal(_ body: () throws -> Void) -> InvivoError? {
            do { try body() } catch { return error as? InvivoError }
            return nil
        }

        @Test func anEditThatBreaksARuleIsRefusedAtTheLineOfTheValue() throws {
            try withRuntime { runtime throws in
                try document(runtime, "config:\n  band: { low: 1, high: 10 }\n")
                let calls = Locked([[InvivoKind]]())
                try runtime.addRule("low < high", over: ["band.low", "band.high", "band.other"]) { values in
                    calls.withLock { $0.append(values.all.map(\.kind)) }
                    guard let low = try values.value(0, as: Double.self) else { return }
                    if low == 5 { throw InvivoError(.range, "five") }
                    if let high: Double = try values.value(1), low >= high {
                        throw RuleRefusal("low must be below high", input: low > 100 ? 1 : nil)
                    }
                }
                #expect(calls.withLock { $0.first?.last } == .null)
                let error = refusal { try document(runtime, "config:\n  band:\n    low: 20\n    high: 10\n") }
                #expect(
                    "\(error!)"
                        == "a.yaml:3:10: band.low: the rule 'low < high' refuses this value (because low must be below high)"
                )
                #expect(error?.line == 3 && error?.code == .host)
                #expect(
                    refusal { try document(runtime, "config:\n  band:\n    low: 200\n    high: 10\n") }?.path
                        == "band.high")
                #expect(
                    refusal { try document(runtime, "config: { band: { low: 5 } }", "b.yaml") }?.cause?.message
                        == "five")
                #expect(try runtime.configuration("band.low", as: Int.self) == 1)
                try document(runtime, "config:\n  band: { low: 2, high: 10 }\n")
                #expect(try runtime.configuration("band.low", as: Int.self) == 2)
                try runtime.removeRule("low < high")
                try document(runtime, "config:\n  band: { low: 20, high: 10 }\n")
                #expect(refusal { try runtime.removeRule("low < high") }?.code == .notFound)
                #expect(refusal { try runtime.addRule("none", over: []) { _ in } }?.code == .argument)
            }
        }

        @Test func aRuleMustNotCallItsRuntimeAndIsReleased() throws {
            final class Token: Sendable {}
            weak var kept: Token?
            try withRuntime { runtime throws in
                let token = Token()
                kept = token
                let error = refusal {
                    try runtime.addRule("calls", over: ["low"]) { _ in
                        try withExtendedLifetime(token) { try runtime.configure("low", 1) }
                    }
                }
                #expect(error?.cause?.code == .inCallback)
            }
            #expect(kept == nil)
        }

        @Test func aRuleThatDoesNotReturnIsGivenUp() throws {
            var options = Runtime.Options()
            options.ruleTimeout = .milliseconds(50)
            options.logLevel = .silent
            let entered = DispatchSemaphore(value: 0)
            let opened = DispatchSemaphore(value: 0)
            let runtime = try Runtime(options)
            try runtime.addRule("gate", over: ["low"]) { values in
                guard try values.value(0, as: Int.self) == 99 else { return }
                entered.signal()
                opened.wait()
            }
            let error = refusal { try document(runtime, "config: { low: 99 }") }
            #expect(error?.code == .timeout)
            #expect("\(error!)".contains("the rule 'gate' has not answered"))
            entered.wait()
            try document(runtime, "config: { other: 1 }", "b.yaml")
            #expect(refusal { try document(runtime, "config: { low: 2 }") }?.code == .timeout)
            opened.signal()
            while refusal({ try document(runtime, "config: { low: 2 }") })?.code == .timeout {}
            #expect(try runtime.configuration("low", as: Int.self) == 2)
            try runtime.close()
        }
    }
}
