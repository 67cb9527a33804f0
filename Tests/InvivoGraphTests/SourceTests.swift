import InvivoBase
import InvivoConfig
import Testing

@testable import InvivoGraph

@Suite struct SourceTests {
    private typealias Source = Injection.Source

    /// One source of each kind, nested where that kind has parts.
    private static let all: [Source] = [
        .value(.int32(1)), .reference("a.key", arguments: [.argument(0)], isOptional: true), .type(.init(name: "T")),
        .all(.init(name: "T")), .argument(1), .arguments, .path(.reference("a.key"), ["p", "q"], isOptional: false),
        .list([.value(.null), .reference("a.key")]), .set([.reference("a.key")]),
        .map([("one", .reference("a.key")), ("two", .asker)]), .provider(.reference("a.key")),
        .lazy(.reference("a.key")), .weak(.reference("a.key")), .resolver, .asker,
        .config("path", default: .reference("a.key"), isOptional: false, kind: .int32),
        .text(.value(.string("1")), converter: "number"), .entry("below", default: nil, isOptional: true), .entryName,
        .document(ConfigNode(.string("text"))),
    ]

    @Test func each_source_equals_itself_alone() {
        for (index, one) in Self.all.enumerated() {
            for (other, two) in Self.all.enumerated() { #expect((one == two) == (index == other)) }
        }
    }

    @Test func names_are_compared_by_their_bytes() {
        #expect(Source.reference("caf\u{e9}") != .reference("cafe\u{301}"))
        #expect(Source.type(.init(name: "caf\u{e9}")) != .type(.init(name: "cafe\u{301}")))
    }

    @Test func source_locations_do_not_count() {
        let one = ConfigNode(.value(.int32(1)), at: Location(file: "a.yaml", line: 1, column: 1))
        #expect(Source.document(one) == .document(ConfigNode(.value(.int32(1)))))
    }

    @Test func renaming_reaches_every_part() {
        let whole = Source.list(Self.all)
        var seen = 0
        let renamed = whole.renamed {
            seen += 1
            return "b" + $0.dropFirst()
        }
        #expect(seen == 9)
        var keys: [String] = []
        renamed.forEach { if case .reference(let key, _) = $0.kind { keys.append(key.text) } }
        #expect(keys == Array(repeating: "b.key", count: 9))
        #expect(renamed.renamed { "a" + $0.dropFirst() } == whole)
    }

    @Test func searches_look_into_parts() {
        #expect(Source.map([("a", .provider(.reference("k", arguments: [.argument(0)])))]).usesArguments)
        #expect(!Source.list([.reference("k")]).usesArguments)
        #expect(Source.list([.lazy(.reference("k", arguments: [.asker]))]).usesAsker)
        #expect(
            Source.list([
                .config(
                    "a", default: .config("b", default: nil, isOptional: true, kind: .any), isOptional: true, kind: .any
                )
            ])
            .configPaths == ["a", "b"])
    }

    @Test func a_pattern_is_filled_with_its_entry() throws {
        var body = Definition.Body()
        body.each = "servers"
        body.properties = [
            Injection(name: "name", .list([.entryName])),
            Injection(name: "port", .entry("port", default: .value(.int32(80)), isOptional: false)),
        ]
        let entry = ConfigEntry(name: "web", path: "servers.web", node: ConfigNode(.map([("port", .int32(1))])))
        let filled = Definition(id: 1, key: "pattern", body).of(entry, id: 2, key: "pattern[web]") { $0 }
        #expect(filled.body.each == nil && filled.body.entry == "web" && filled.body.origin == "pattern")
        #expect(
            filled.body.properties.map(\.source) == [
                .list([.value(.string("web"))]),
                .config("/servers.web.port", default: .value(.int32(80)), isOptional: false, kind: .any),
            ])
        let listed = ConfigEntry(name: "0", path: nil, node: ConfigNode(.map([("port", .int32(1))])))
        let second = Definition(id: 1, key: "pattern", body).of(listed, id: 3, key: "pattern[0]") { $0 }
        #expect(second.body.properties.last?.source == .document(ConfigNode(.int32(1))))
    }

    @Test func a_compiled_source_names_what_it_resolves() {
        let source = Recipe.Source.list([
            .object(1, arguments: [.object(2, arguments: [], isOptional: false)], isOptional: false), .all([3, 4]),
            .deferred(5, arguments: [.object(6, arguments: [], isOptional: false)], .lazy), .config([7], .value(.null)),
            .deferred(nil, arguments: [], .provider),
        ])
        #expect(source.keys == [1, 2, 3, 4, 5, 6, nil])
        #expect(source.names([2]) && source.names([4]) && source.names([6]) && source.names([7]))
        #expect(!source.names([5]) && source.names(nil) && !Recipe.Source.resolver.names(nil))
        var plain: [UInt32] = []
        source.forEachKey { plain.append($0) }
        #expect(plain == [2, 3, 4, 6])
    }
}
