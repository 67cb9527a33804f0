import CInvivo
import InvivoBase
import Testing

@testable import InvivoReload
@testable import InvivoTools

/// Drawings and output formats, from facts that are written by hand.
@Suite struct GraphDrawingTests {
    private static func node(_ key: String, _ change: (inout WiringFacts.Node) -> Void = { _ in }) -> WiringFacts.Node {
        var node = WiringFacts.Node(key: key)
        node.type = "Part"
        node.scope = "prototype"
        change(&node)
        return node
    }

    private let facts = WiringFacts(
        generation: 3,
        nodes: [
            node("other.time") {
                $0.scope = "lazy singleton"
                $0.alias = "app.clock"
                $0.dependencies = [.init(key: "app.clock", how: .alias)]
            },
            node("app.player") {
                $0.rank = 2
                $0.dependencies = [
                    .init(key: "app.clock", how: .injection), .init(key: "app.gone", how: .initializer),
                    .init(key: "other.time", how: .initializer), .init(key: "app.base", how: .deferred),
                ]
            },
            node("app.base") { $0.isAbstract = true },
            node("app.clock") {
                $0.scope = "lazy singleton"
                $0.instances = .init(generation: 3, live: 1, buildTime: 1_250_000)
                $0.location = Location(file: "a \"b\".c", line: 7, column: 2)
                $0.dependencies = [.init(key: "app.player", how: .asked)]
            },
        ])

    @Test func nodesAreSortedByKey() {
        #expect(facts.nodes.map(\.key) == ["app.base", "app.clock", "app.player", "other.time"])
    }

    @Test func jsonLeavesOutFactsWithTheirDefault() {
        #expect(
            facts.json == """
                [{"key": "app.base", "type": "Part", "scope": "prototype", "abstract": true, "generation": 0, "live": 0, \
                "needs": []}, \
                {"key": "app.clock", "type": "Part", "scope": "lazy singleton", "generation": 3, "live": 1, \
                "built_ns": 1250000, "file": "a \\"b\\".c", "line": 7, "column": 2, \
                "needs": [{"key": "app.player", "how": "asked"}]}, \
                {"key": "app.player", "type": "Part", "scope": "prototype", "rank": 2, "generation": 0, "live": 0, \
                "needs": [{"key": "app.clock", "how": "injection"}, {"key": "app.gone", "how": "initializer"}, \
                {"key": "other.time", "how": "initializer"}, {"key": "app.base", "how": "late"}]}, \
                {"key": "other.time", "type": "Part", "scope": "lazy singleton", "alias": "app.clock", "generation": 0, \
                "live": 0, "needs": [{"key": "app.clock", "how": "alias"}]}]

                """)
    }

    @Test func dotHasAClusterForEachAssemblyAndNoArrowToAMissingKey() {
        #expect(
            facts.dot == #"""
                digraph wiring {
                    rankdir=LR;
                    fontname="sans-serif";
                    node [fontname="sans-serif", fontsize=10];
                    edge [fontname="sans-serif", fontsize=8];
                    subgraph cluster_0 {
                        label="app";
                        style=rounded;
                        color=gray;
                        n0 [label="app.base\nPart, prototype, abstract", shape=ellipse, style=dashed];
                        n1 [label="app.clock\nPart, lazy singleton\ngeneration 3, 1 live, 1.3 ms\na \"b\".c:7", shape=box, style=filled, fillcolor=aliceblue];
                        n2 [label="app.player\nPart, prototype", shape=ellipse];
                    }
                    subgraph cluster_1 {
                        label="other";
                        style=rounded;
                        color=gray;
                        n3 [label="other.time\nPart, lazy singleton", shape=box];
                    }
                    n1 -> n2 [style=dotted, tooltip="asked"];
                    n2 -> n1 [style=dashed, tooltip="injection"];
                    n2 -> n3 [style=solid, tooltip="initializer"];
                    n2 -> n0 [style=dotted, tooltip="late"];
                    n3 -> n1 [style=bold, tooltip="alias"];
                }

                """#)
    }

    @Test func mermaidWritesCharactersWithAMeaningByTheirNumber() {
        let facts = WiringFacts(
            generation: 1,
            nodes: [
                Self.node("a.\"b\" <i>\u{1}") { $0.dependencies = [.init(key: "c", how: .injection)] },
                Self.node("c") {
                    $0.scope = "singleton"
                    $0.dependencies = [
                        .init(key: "c", how: .deferred), .init(key: "a.\"b\" <i>\u{1}", how: .initializer),
                    ]
                },
            ])
        #expect(
            facts.mermaid == """
                flowchart LR
                    subgraph a0["a"]
                        n0("a.#34;b#34; #60;i#62; <br/>Part, prototype")
                    end
                    subgraph a1["c"]
                        n1["c<br/>Part, singleton"]
                    end
                    n0 -->|injected| n1
                    n1 -.->|late| n1
                    n1 --> n0

                """)
    }

    @Test func keptDependenciesAreShownAndPathsAreNoKeys() {
        let facts = WiringFacts(
            generation: 9,
            nodes: [
                Self.node("a") {
                    $0.dependencies = [
                        .init(key: "b", how: .injection, onChange: .keep, keptSince: 4),
                        .init(key: "b", how: .configuration), .init(key: "c", how: .initializer, onChange: .refuse),
                    ]
                },
                Self.node("b"), Self.node("c"),
            ])
        #expect(
            facts.json.contains(
                #""needs": [{"key": "b", "how": "injection", "on_change": "keep", "kept_since": 4}, "#
                    + #"{"key": "b", "how": "configuration"}, {"key": "c", "how": "initializer", "on_change": "refuse"}]"#
            ))
        #expect(facts.dot.contains(#"n0 -> n1 [style=dashed, color=orangered, label=kept, tooltip="injection"];"#))
        #expect(facts.dot.split(separator: "\n").count { $0.contains("n0 -> n1") } == 1)
        #expect(facts.mermaid.contains("n0 -.->|kept| n1"))
    }

    @Test func dotReplacesControlCharacters() {
        let facts = WiringFacts(generation: 1, nodes: [Self.node("a\n\u{7f}\\b")])
        #expect(facts.dot.contains(#"label="a  \\b\nPart, prototype""#))
    }

    @Test(arguments: [
        (999, "999 ns"), (1_000, "1.0 us"), (1_949, "1.9 us"), (1_950, "2.0 us"), (2_000_000_000, "2.0 s"),
    ])
    func buildTimesHaveOneDecimal(time: UInt64, text: String) {
        let facts = WiringFacts(generation: 1, nodes: [Self.node("a") { $0.instances = .init(buildTime: time) }])
        #expect(facts.dot.contains("\\n\(text)\""))
    }

    @Test func eachFormatIsTheOneOfItsNumber() throws {
        guard case .list(let list) = try facts.output(UInt32(INVIVO_GRAPH_FACTS)) else {
            throw Failure(.type, "no list")
        }
        #expect(list.count == 4)
        for (format, text) in [(INVIVO_GRAPH_JSON, facts.json), (INVIVO_GRAPH_DOT, facts.dot)] + [
            (INVIVO_GRAPH_MERMAID, facts.mermaid), (INVIVO_GRAPH_KEYS_C, try KeyFunctions(facts).c),
            (INVIVO_GRAPH_KEYS_SWIFT, try KeyFunctions(facts).swift),
            (INVIVO_GRAPH_KEYS_PYTHON, try KeyFunctions(facts).python),
            (INVIVO_GRAPH_SCHEMA, try DocumentSchema(facts.schema).text),
        ] {
            guard case .string(text) = try facts.output(UInt32(format)) else {
                Issue.record("format \(format) is another text")
                continue
            }
        }
        #expect { try facts.output(9) } throws: { ($0 as? Failure)?.code == .argument }
    }

    @Test func unreadEntriesAreAnErrorWhereNobodyLookedForThem() throws {
        let format = UInt32(INVIVO_GRAPH_UNREAD)
        #expect { try facts.output(format) } throws: { ($0 as? Failure)?.code == .unsupported }
        var checked = facts
        checked.unread = [
            UnreadEntry(path: "voices", location: Location(file: "app.yaml", line: 3, column: 5), near: nil),
            UnreadEntry(path: "rate", location: Location(file: "app.yaml", line: 4, column: 5), near: "rates"),
        ]
        guard case .string("app.yaml:3:5: voices\napp.yaml:4:5: rate\n") = try checked.output(format) else {
            Issue.record("\(try checked.output(format))")
            return
        }
    }
}
