import InvivoBase
import InvivoSpec
import Testing

/// Environment variables in the strings of documents: docs/rules/spec-files.md.
@Suite struct ExpansionTests {
    private static let environment = Environment([
        ("A", "5"), ("B", "saw"), ("EMPTY", ""), ("NULL", "null"), ("YES", "true"), ("REF", "${B} $${B}"),
        ("BIG", "1e999"),
        ("SECRET", "99999999999999999999999"), ("LONG", String(repeating: "x", count: 1000)), ("_a1", "under"),
    ])

    private func read(
        _ text: String, file: String = "t.yaml", limits: SpecLimits = SpecLimits(),
        _ expansion: Expansion = .from(environment)
    ) throws(Failure) -> SpecDocument {
        try SpecReader.read(text, file: file, format: SpecFormat.of(fileName: file), limits: limits, expansion)
    }

    private func bare(_ text: String, file: String = "t.yaml") throws -> Bare { Bare(try read(text, file: file).root) }

    private func errors(_ text: String, file: String = "t.yaml", _ expansion: Expansion = .from(environment))
        -> [String]
    {
        let found = failure { () throws(Failure) in try read(text, file: file, expansion) }
        return found?.all.map(\.text) ?? []
    }

    private func text(_ text: String) -> Bare { Bare(SpecNode(.text(text))) }
    private func integer(_ value: Int64) -> Bare { Bare(SpecNode(.integer(value))) }

    @Test func plainScalarsAreResolved() throws {
        for (scalar, expected) in [
            ("${A}", Bare(SpecNode(.integer(5)))), ("${A}0", Bare(SpecNode(.integer(50)))),
            ("0x${A}", Bare(SpecNode(.integer(5)))), ("${A}.5", Bare(SpecNode(.number(5.5)))),
            ("${YES}", Bare(SpecNode(.bool(true)))), ("${NULL}", Bare(SpecNode(.null))), ("${B}", text("saw")),
            ("${EMPTY}", text("")), ("${NONE:-7}", integer(7)), ("${NONE:-}", text("")), ("\"${A}\"", text("5")),
            ("'${A}'", text("5")), ("!!str ${A}", text("5")), ("!!float ${A}", Bare(SpecNode(.number(5)))),
            ("!!int \"${A}\"", integer(5)), ("${_a1}", text("under")), ("|-\n  ${A}", text("5")),
            ("${A} kHz", text("5 kHz")), ("~${EMPTY}", Bare(SpecNode(.null))),
        ] {
            #expect(try bare("k: \(scalar)\n") == .map(["k"], [expected]), "\(scalar)")
        }
        #expect(try bare(#"{"k": "${A}"}"#, file: "t.json") == .map(["k"], [text("5")]))
        #expect(try bare("[\"${A}\", '${B}', x]\n") == .list([text("5"), text("saw"), text("x")]))
    }

    @Test func dollarSignsStandForThemselves() throws {
        for (scalar, expected) in [
            ("$", "$"), ("$$", "$$"), ("$A", "$A"), ("$key", "$key"), ("$${A}", "${A}"), ("$$${A}", "$${A}"),
            ("$${", "${"),
            ("a$", "a$"), ("{$}", "{$}"), ("$ {A}", "$ {A}"), ("$${A}${A}$$", "${A}5$$"), ("${REF}", "${B} $${B}"),
            ("${NONE:-$$x${B}", "$$x${B"), ("${NONE:-a:-b}", "a:-b"),
        ] {
            #expect(try bare("k: \"\(scalar)\"\n") == .map(["k"], [text(expected)]), "\(scalar)")
        }
    }

    @Test func escapesOfTheFormatComeFirst() throws {
        #expect(
            try bare(#"{"k": "\u0024{A}", "l": "$\u007bB}"}"#, file: "t.json")
                == .map(["k", "l"], [text("5"), text("saw")]))
        #expect(try bare("k: \"\\x24{A}\"\n") == .map(["k"], [text("5")]))
        #expect(
            errors("k:\n  l: \"\\t${NONE}\"\n") == [
                "t.yaml:2:6: k.l: the environment variable 'NONE' is not set; set it before the runtime opens or its "
                    + "environment is refreshed, or write ${NAME:-default}"
            ])
    }

    @Test func keysAndManifestsContainNoVariables() throws {
        #expect(try bare("\"${A}\": 1\n") == .map(["${A}"], [integer(1)]))
        let manifest = try read("k: ${A}\nl: $${A}\n", .none)
        #expect(Bare(manifest.root) == .map(["k", "l"], [text("${A}"), text("$${A}")]))
        #expect(manifest.variables.isEmpty)
        let known = failure { () throws(Failure) in
            try TraitDocument(try read("traits:\n  a.b:\n    - { type: \"${B}\" }\n"))
        }
        #expect(
            known?.text
                == "t.yaml:3:15: traits.a.b[0].type: the name of a trait cannot contain an environment variable; write the name"
        )
    }

    @Test func theColumnIsThatOfTheExpansion() {
        func places(_ document: String, file: String = "t.yaml") -> [String] {
            let found = failure { () throws(Failure) in try read(document, file: file) }
            return (found?.all ?? []).map { "\($0.location.line):\($0.location.column)" }
        }
        #expect(places("k: ${N}") == ["1:4"])
        #expect(places("k: ab ${N}") == ["1:7"])
        #expect(places("k: \"é€😀${N}\"") == ["1:8"])
        #expect(places("k: 'ab ${N}'") == ["1:8"])
        #expect(places("k: 'it''s ${N}'") == ["1:4"])
        #expect(places("k: \"\\t${N}\"") == ["1:4"])
        #expect(places("k: a\n  b ${N}\n") == ["1:4"])
        #expect(places("k: !!str x${N}") == ["1:4"])
        #expect(places("k: |\n  x${N}\n") == ["1:4"])
        #expect(places("a: [1, ' ${N}', \"${M}\"]\nb: ${O}\n") == ["1:10", "1:18", "2:4"])
        #expect(places(#"{"k": "ab${N}", "l": "\t${M}"}"#, file: "t.json") == ["1:10", "1:22"])
        #expect(places("k: $${A}${N}") == ["1:9"])
    }

    @Test func wrongExpansionsAreReported() {
        let advice = "; write $${ for the string '${'"
        let name =
            "t.yaml:1:4: k: expected the name of an environment variable after '${': letters, digits and '_', not a digit first"
            + advice
        let open = "t.yaml:1:4: k: '${' is not closed: expected ${NAME} or ${NAME:-default}" + advice
        let after = "t.yaml:1:4: k: expected '}' or ':-' after the name 'A'" + advice
        for (scalar, expected) in [
            ("${", open), ("${A", open), ("${A:-x", open), ("${}", name), ("${1A}", name), ("${:-x}", name),
            ("${ A}", name),
            ("${é}", name), ("${A:default}", after), ("${A-b}", after), ("${A }", after), ("${A${B}}", after),
            ("${A:}", after),
            ("${A.b}", after),
        ] {
            #expect(errors("k: \(scalar)\n") == [expected], "\(scalar)")
        }
        // The value and the default are literal, so that nothing nests.
        #expect(errors("k: ${N:-${B}}\n").isEmpty)
        #expect(failure { () throws(Failure) in try read("k: ${") }?.code == .syntax)
        #expect(failure { () throws(Failure) in try read("k: ${N}") }?.code == .spec)
    }

    @Test func errorsDoNotShowValues() {
        let all =
            errors("k: ${SECRET}\nl: ${BIG}\n") + errors("m: !!int ${B}\n") + errors("n: !!null \"${REF}\"\n")
        #expect(
            all == [
                "t.yaml:1:4: k: the environment variable 'SECRET' gives a number that is too large",
                "t.yaml:2:4: l: the environment variable 'BIG' gives a number that is too large",
                "t.yaml:1:4: m: the value of the environment variable 'B' is not what the tag !!int says",
                "t.yaml:1:4: n: the value of the environment variable 'REF' is not what the tag !!null says",
            ])
        let form = failure { () throws(Failure) in
            try TraitDocument(try read("config: ${SECRETS:-hunter2}\ntraits: '${B}'\n"))
        }
        #expect(form?.text.contains("hunter2") == false && form?.text.contains("saw") == false)
        #expect(form?.text.contains("the default of the environment variable 'SECRETS'") == true)
    }

    @Test func aValueThatIsNotUTF8IsRefused() {
        let environment = Environment([("BAD", [0x66, 0xFF, 0x67])])
        #expect(
            errors("k: x${BAD}\n", .from(environment)) == ["t.yaml:1:5: k: the environment variable 'BAD' is not UTF-8"]
        )
    }

    @Test func anUntrustedDocumentContainsNoVariables() throws {
        #expect(
            errors("k: ${A}\nl: $${A}\n", .refused) == [
                "t.yaml:1:4: k: the document must not use the environment variable 'A': its source is not trusted; write $${ "
                    + "for the string '${'"
            ])
        #expect(Bare(try read("l: $${A}\n", .refused).root) == .map(["l"], [text("${A}")]))
    }

    @Test func limitsApplyAfterTheExpansion() throws {
        let limits = SpecLimits(bytes: 4096, nodes: 4)
        let message =
            "the document has too many bytes with the values of its environment variables; max_document_bytes permits more"
        let four = failure { () throws(Failure) in try read("k: ${LONG}${LONG}${LONG}${LONG}${LONG}", limits: limits) }
        #expect(four?.code == .tooLarge && four?.text == "t.yaml:1:32: k: \(message)")
        #expect(failure { () throws(Failure) in try read("k: ${LONG}${LONG}${LONG}", limits: limits) } == nil)
        let long = failure { () throws(Failure) in
            try read("k: ${LONG}${LONG}", limits: SpecLimits(bytes: 1 << 20, stringLength: 1500))
        }
        #expect(long?.text == "t.yaml:1:4: k: the string has 2000 bytes, more than the 1500 allowed for one")
        // A megabyte of expansions is read in one pass, or refused by the limit.
        let many = String(repeating: "${EMPTY}", count: 100_000)
        #expect(Bare(try read("k: \"\(many)\"").root) == .map(["k"], [text("")]))
        let more = failure { () throws(Failure) in
            try read("k: \"" + String(repeating: "${A}", count: 262_000) + "\"")
        }
        #expect(more?.code == .tooLarge)
        #expect(failure { () throws(Failure) in try read("[a, b, c, '${A}']", limits: limits) }?.code == .tooLarge)
    }

    @Test func theNamedVariablesAreKnown() throws {
        let document = try read("a: ${A}${B}\nb: ['${NONE:-x}', '$${EMPTY}', '${A}']\n")
        #expect(document.variables == ["A", "B", "NONE"])
        #expect(document.root["a"]?.variables?.variables == ["A", "B"])
        #expect(document.root["b"]?.variables == nil && document.root["b"]?.hasVariables == true)
        #expect(document.root["b"]?.items?[1].variables == nil)
        #expect(document.root["a"]?.described == "the value of the environment variables 'A', 'B'")
        #expect(try read("a: x$y\n").variables.isEmpty)
    }
}
