import InvivoBase
import InvivoSpec
import Testing

/// Documents as text: docs/rules/codecs.md.
@Suite struct SpecTextTests {
    private static let environment = Environment([
        ("A", "5"), ("B", "saw"), ("EMPTY", ""), ("N", "null"), ("D", "2.5e3"),
    ])

    private func expanded(_ text: String, _ file: String) throws(Failure) -> SpecDocument {
        try SpecReader.read(
            text, file: file, format: SpecFormat.of(fileName: file), .from(Self.environment))
    }

    private func written(_ text: String, _ file: String = "t.yaml", as format: SpecFormat) throws(Failure) -> String {
        try SpecText.document(Array(text.utf8), file: file, as: format, limits: SpecLimits())
    }

    @Test func everyDocumentIsReadBackAsItWas() throws {
        var random = SplitMix(seed: 0x7E47)
        var counts = (documents: 0, json: 0)
        while counts.documents < 500 {
            let text = block(&random, indent: 0, depth: 3)
            guard let before = try? expanded(text, "t.yaml") else { continue }
            counts.documents += 1
            let yaml = try written(text, as: .yaml)
            let after = try expanded(yaml, "t.yaml")
            #expect(Bare(after.root) == Bare(before.root), "\(text)\nis written as\n\(yaml)")
            #expect(after.variables == before.variables)
            #expect(try written(yaml, as: .yaml) == yaml)
            guard let json = try? written(text, as: .json) else { continue }
            counts.json += 1
            #expect(Bare(try expanded(json, "t.json").root) == Bare(before.root), "\(text)\nis written as\n\(json)")
            #expect(try written(json, "t.json", as: .json) == json)
            #expect(Bare(try expanded(try written(json, "t.json", as: .yaml), "t.yaml").root) == Bare(before.root))
        }
        #expect(counts.json > 50)
    }

    @Test func referencesAndVariablesStay() throws {
        let text = """
            include: [other.yaml]
            traits:
              a.b:
                - Set: { x: 'file:x.txt', z: "${A} $${B}" }
            config:
              c: { d: 'file::x' }
              e: ${A}
              f: !!float ${A}

            """
        let yaml = """
            include:
              - other.yaml
            traits:
              a.b:
                -
                  Set:
                    x: "file:x.txt"
                    z: "${A} $${B}"
            config:
              c:
                d: "file::x"
              e: ${A}
              f: !!float "${A}"

            """
        #expect(try written(text, as: .yaml) == yaml)
        let found = failure { () throws(Failure) in try written(text, as: .json) }
        #expect(found?.code == .unsupported)
        #expect(found?.location.line == 7)
    }

    @Test func traitsOfSeveralDocumentsAreOneList() throws {
        let documents: [(text: [UInt8], file: String)] = [
            (Array("traits: { a: [Set: { x: 1 }], b: [] }".utf8), "a.yaml"),
            (Array(#"{"specs": {"a": [{"type": "Scale", "x": "${A}"}], "c": []}}"#.utf8), "b.json"),
            (Array("config: {}".utf8), "c.yaml"),
        ]
        func traits(_ key: String?) throws(Failure) -> String {
            try SpecText.traits(documents, of: key, as: .json, limits: SpecLimits())
        }
        #expect(try traits("a") == #"{"traits":{"a":[{"Set":{"x":1}},{"type":"Scale","x":"${A}"}]}}"#)
        #expect(try traits("none") == #"{"traits":{"none":[]}}"#)
        #expect(try traits(nil) == #"{"traits":{"a":[{"Set":{"x":1}},{"type":"Scale","x":"${A}"}],"b":[],"c":[]}}"#)
    }

    // MARK: random documents

    private func block(_ random: inout SplitMix, indent: Int, depth: Int) -> String {
        let margin = String(repeating: " ", count: indent)
        let isList = Bool.random(using: &random)
        var text = ""
        for number in 0..<Int.random(in: 1...4, using: &random) {
            text += margin + (isList ? "-" : "k\(number):")
            if depth > 0, Int.random(in: 0..<3, using: &random) == 0 {
                text += "\n" + block(&random, indent: indent + 2, depth: depth - 1)
            } else {
                text += " " + scalar(&random, indent: indent) + "\n"
            }
        }
        return text
    }

    private func scalar(_ random: inout SplitMix, indent: Int) -> String {
        let margin = String(repeating: " ", count: indent + 1)
        let plain = [
            "${A}", "0x${A}", "${A}.5", "${NONE:-7}", "${NONE:-a b}", "~${EMPTY}", "${EMPTY}", "${N}", "a ${B} c",
            "$${B}",
            "$${B} ${A}", "${D}", "${A}#", "saw", "12", "-.5", "null", "true", "2 kHz", "a\n\(margin)${A}",
            "a\n\n\(margin)${B}\n\n\n\(margin)- c",
        ]
        func one(_ texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1, 2: return one(plain)
        case 3:
            return one(["!!int ", "!!float ", "!!str ", "!!null "]) + one(["${A}", "\"${A}\"", "${N}", "'${NONE:-3}'"])
        case 4: return "'" + one(["${A}", "$${A}", "file:x", "file::x", "", "a # b", "it''s ${B}"]) + "'"
        case 5: return "\"" + one(["${A}\\n", "\\u0024{A}", "$$${A}", "\\t", "é${B}", "${NONE:-: #}"]) + "\""
        case 6: return one(["[]", "{}", "[1, '${A}', { a: b }]", "{ a: ['$${A}'], b: \"${B}\" }"])
        default: return "|-\n\(margin) ${A}\n\(margin)  x" + one(["", "\n\n\(margin) y"])
        }
    }
}
