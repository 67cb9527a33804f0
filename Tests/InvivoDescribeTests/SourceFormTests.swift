import CInvivo
import InvivoBase
import InvivoGraph
import InvivoWiring
import Testing

@testable import InvivoDescribe

/// Every kind of source, taken apart and put together again, and written as a C table and read again.
@Suite struct SourceFormTests {
    private static let sources: [Injection.Source] = [
        .value(.int64(5)), .value(.string("text")),
        .reference("a", arguments: [.argument(1), .value(.bool(true))], isOptional: true),
        .type(Injection.TypeQuery(name: "T", isExact: true, isOptional: true, isGreedy: true, orDefault: true)),
        .all(Injection.TypeQuery(name: "T", isExact: true)), .argument(3), .arguments,
        .path(.reference("a"), ["b", "c"], isOptional: true), .list([.reference("a"), .list([])]),
        .set([.reference("a")]), .map([("x", .reference("a")), ("y", .value(.null))]), .provider(.reference("a")),
        .lazy(.reference("a")), .weak(.reference("a")), .resolver, .asker,
        .config("a.b", default: .value(.int64(1)), isOptional: true, kind: .int32),
        .config("a", default: nil, isOptional: false, kind: .any),
        .text(.value(.string("64 KiB")), converter: "bytes"),
        .text(.config("a", default: nil, isOptional: false, kind: .any), converter: nil),
        .entry("a", default: .value(.int64(60)), isOptional: true), .entry("", default: nil, isOptional: false),
        .entryName, .context("user", kind: "session", default: .value(.string("guest")), isOptional: true),
        .context("user", kind: nil, default: nil, isOptional: false),
    ]

    @Test(arguments: sources.indices)
    func aSourceIsTheSameAfterItWasTakenApart(index: Int) throws {
        let source = Self.sources[index]
        #expect(try SourceForm(of: source).source() == source)
    }

    @Test func everyKindIsCovered() {
        let kinds = Set(Self.sources.map { SourceForm(of: $0).kind })
        #expect(kinds == Set(SourceForm.Kind.allCases))
    }

    @Test func aDefinitionIsTheSameAfterItWasWrittenAsACTable() throws {
        var body = Definition.Body()
        body.typeName = "Part"
        body.scope = .graph
        body.initializer = Self.sources.map { Injection(name: nil, $0) }
        body.properties = [
            Injection(
                name: "left", .all(Injection.TypeQuery(name: "T")),
                listeners: Injection.Listeners(added: "a", removed: "b"))
        ]
        body.after = [Invocation(method: "play", arguments: [Injection(name: nil, .value(.int64(60)))])]
        body.parameters = Signature(
            name: "k",
            parameters: [
                Signature.Parameter(name: "n", kind: .int32, isOptional: true, typeName: nil, defaultValue: .int32(4)),
                Signature.Parameter(name: "o", kind: .object, isOptional: true, typeName: "T"),
            ])
        body.choice = DefinitionChoice(
            chooser: .config("wave", default: nil, isOptional: false, kind: .any),
            options: [
                .init(.equal(.string("saw")), use: .reference("saw")), .init(.exact("E"), use: .reference("e")),
                .init(.kind("K"), use: .reference("k")), .init(.named, use: nil),
                .init(.otherwise, use: .reference("o")),
            ])
        let lender = BorrowedDefinition()
        let definition = Definition(id: 0, key: "k", body)
        var lent = lender.lend(definition)
        let read = try DefinitionReader(Registry(), InlineDefinitions()).definition(&lent)
        withExtendedLifetime(lender) {}
        #expect(read.isSame(as: definition))
    }
}
