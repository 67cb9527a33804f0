import InvivoBase
import InvivoSpec
import Testing

@testable import InvivoReload
@testable import InvivoWiring

@Suite struct WiringDecisionTests {
    private func read(_ text: String, isTrusted: Bool) throws(Failure) -> [WiringDecision] {
        let engine = try Engine.open(EngineOptions())
        let document = Document(name: "w.yaml", path: nil, engine.container, isTrusted: isTrusted)
        var state = Document.State()
        do throws(Failure) {
            try state.read(Array(text.utf8), of: document, SpecLimits(), .empty) { (_) throws(Failure) in
                Document.State()
            }
        } catch {
            try engine.close(deferring: false)
            throw error
        }
        try engine.close(deferring: false)
        return state.wiring
    }

    @Test func aDocumentThatIsNotTrustedChangesNoDefinitions() throws {
        let text = "wiring: { a.one: { alias: a.two } }"
        let decisions = try read(text, isTrusted: true)
        #expect(decisions.map(\.key) == ["a.one"])
        let failure = #expect(throws: Failure.self) { try read(text, isTrusted: false) }
        #expect(failure?.code == .unsupported)
        #expect(
            failure?.text == "w.yaml:1:27: wiring.a.one: a document of a source that is not trusted changes no "
                + "definitions: remove 'wiring'")
    }

    @Test func decisionsAreTheSameByTheirContent() throws {
        let one = try read("wiring: { a: { choose: 1 }, b: { scope: graph }, c: null }", isTrusted: true)
        let other = try read("wiring:\n  a: { choose: 1 }\n  b: { scope: graph }\n  c:\n", isTrusted: true)
        #expect(zip(one, other).allSatisfy { $0.isSame(as: $1) })
        let different = try read(
            "wiring: { a: { choose: '1' }, b: { scope: thread }, c: { alias: d } }", isTrusted: true)
        #expect(!zip(one, different).contains { $0.isSame(as: $1) })
    }
}
