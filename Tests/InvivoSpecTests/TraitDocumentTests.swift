import InvivoBase
import InvivoSpec
import Testing

@Suite struct TraitDocumentTests {
    private func read(_ text: String, _ format: SpecFormat = .yaml) throws(Failure) -> TraitDocument {
        let bytes = Array(text.utf8)
        return try bytes.span.withUnsafeBytes { bytes throws(Failure) in
            try TraitDocument.read(bytes, file: "tuning.yaml", format: format)
        }
    }

    @Test func shortAndLongFormMeanTheSame() throws {
        let document = try read(
            """
            traits:
              synth.lead:
                - Set: { gain: 0.5, cutoff: 1.2 kHz }
                - { gain: 0.5, type: Set, cutoff: 1.2 kHz }
                - Mute:
              synth.filter: []
            """)
        #expect(document.keys == ["synth.lead", "synth.filter"])
        let entry = try #require(try document["synth.lead"])
        let traits = entry.traits
        #expect(traits.map(\.type) == ["Set", "Set", "Mute"])
        #expect(traits[0].parameters.map(\.key) == ["gain", "cutoff"])
        #expect(traits[1].parameters.map(\.key) == ["gain", "cutoff"])
        #expect(traits[2].parameters.isEmpty)
        #expect(traits[1].path == "traits.synth.lead[1]")
        #expect(entry.targetLocation == Location(file: "tuning.yaml", line: 2, column: 3))
        #expect(traits[0].typeLocation == Location(file: "tuning.yaml", line: 3, column: 7))
        #expect(traits[1].typeLocation == Location(file: "tuning.yaml", line: 4, column: 26))
        #expect(traits[0].parameters[1].keyLocation == Location(file: "tuning.yaml", line: 3, column: 25))
    }

    @Test(arguments: ["[config]\nx = 1\n", "x = 1\n"]) func aFileOfAnotherFormatIsNamedSo(text: String) {
        let bytes = Array(text.utf8)
        let failure = #expect(throws: Failure.self) {
            try bytes.span.withUnsafeBytes { bytes in
                try TraitDocument.read(bytes, file: "tuning.toml", format: .of(fileName: "tuning.toml"))
            }
        }
        #expect(failure?.message.hasSuffix("Write YAML, or JSON in a '.json' file") == true, "\(failure?.text ?? "")")
    }

    @Test(arguments: [("{}", SpecFormat.yaml), ("traits: {}", .yaml), (" {}\n", .json), (#"{"traits": {}}"#, .json)])
    func emptyMapsTakeAllTraitsAway(text: String, format: SpecFormat) throws {
        #expect(try read(text, format).isEmpty)
    }

    @Test(arguments: ["", "  \n\t\r\n", "# only\n\t# ä\u{1} comments", "\u{FEFF}", "\u{FEFF}\r\n"])
    func nothingWrittenIsRefusedAsEmpty(text: String) {
        let found = failure { () throws(Failure) in try read(text) }
        #expect(found?.code == .empty)
        #expect(
            found?.text
                == "tuning.yaml: the document is empty (no text, or only blanks or comments); "
                + "write {} for a document without content"
        )
        guard !text.contains("#") else { return }
        #expect(failure { () throws(Failure) in try read(text, .json) }?.code == .empty)
    }

    @Test(arguments: [
        (
            "[]",
            "tuning.yaml:1:1: expected a map with the keys 'traits', 'config', 'wiring' and 'include', found a list"
        ),
        (
            "---",
            "tuning.yaml:1:4: expected a map with the keys 'traits', 'config', 'wiring' and 'include', found nothing"
        ),
        (
            "just a text",
            "tuning.yaml:1:1: expected a map with the keys 'traits', 'config', 'wiring' and 'include', found the string 'just a text'"
        ),
        ("# ä\r\n\tx: null", "tuning.yaml:2:1: a tab cannot indent or set off a value; use spaces"),
        ("traist: {}", "tuning.yaml:1:1: unknown key 'traist'; did you mean 'traits'?"),
        ("configure: {}", "tuning.yaml:1:1: unknown key 'configure'; did you mean 'config'?"),
        (
            "traits: {}\n\"a\\eb\u{202E}\": 1",
            "tuning.yaml:2:1: unknown key 'a\\u{1B}b\\u{202E}'; expected 'traits', 'config', 'wiring' or 'include'"
        ),
        (
            "traits:\n",
            "tuning.yaml:1:8: traits: expected a map of targets and their lists of traits, found nothing; "
                + "write {} if no trait is to hold"
        ),
        (
            "traits: 5",
            "tuning.yaml:1:9: traits: expected a map of targets and their lists of traits, found the integer 5"
        ),
        ("traits: { '': [] }", "tuning.yaml:1:11: traits: the key of a target is empty"),
        (
            "traits:\n  a.b:\n",
            "tuning.yaml:2:7: traits.a.b: expected a list of traits, found nothing; "
                + "write [] if no trait is to hold for it"
        ),
        (
            "traits:\n  a.b:\n    Set: { gain: 1 }\n",
            "tuning.yaml:3:5: traits.a.b: expected a list of traits, found a map; "
                + "begin each trait with '- ', as in '- Set: ...'"
        ),
        ("traits: { a.b: true }", "tuning.yaml:1:16: traits.a.b: expected a list of traits, found the boolean true"),
        (
            "traits: { a.b: [Set] }",
            "tuning.yaml:1:17: traits.a.b[0]: expected a trait such as 'Set: { gain: 0.5 }', found the string 'Set'; "
                + "write a trait without parameters as 'Set: {}'"
        ),
        (
            "traits: { a.b: [{}] }",
            "tuning.yaml:1:17: traits.a.b[0]: expected a trait such as 'Set: { gain: 0.5 }', found a map"
        ),
        (
            "traits:\n  a.b:\n    - gain: 0.5",
            "tuning.yaml:3:13: traits.a.b[0].gain: expected the parameters as a map, such as 'Set: { gain: 0.5 }', "
                + "found the number 0.5"
        ),
        (
            "traits:\n  a.b:\n    - Set:\n      gain: 0.5",
            "tuning.yaml:4:7: traits.a.b[0]: expected one trait such as 'Set: { gain: 0.5 }', found the keys 'Set', "
                + "'gain'; indent the parameters deeper than the trait's name"
        ),
        (
            "traits:\n  a.b:\n    - Set: { gain: 1 }\n      Get: { gain: 1 }",
            "tuning.yaml:4:7: traits.a.b[0]: expected one trait such as 'Set: { gain: 0.5 }', found the keys 'Set', "
                + "'Get'; begin each trait with '- ', or give its name by 'type:'"
        ),
        (
            "traits: { a.b: [{ type: 3, gain: 1 }] }",
            "tuning.yaml:1:25: traits.a.b[0].type: expected the name of a trait, found the integer 3"
        ),
        (
            "traits: { a.b: [{ '': {} }] }",
            "tuning.yaml:1:19: traits.a.b[0]: the name of the trait is empty"
        ),
    ])
    func refusesWithLocationAndExpectation(text: String, expected: String) {
        let found = failure { () throws(Failure) in try read(text) }
        #expect(found?.text == expected)
        #expect(found?.code == (expected.contains("a tab") ? .syntax : .spec))
    }

    @Test func allErrorsAreReportedAtOnceInTheirOrder() {
        let text = """
            \u{FEFF}# 🎹 ä\t\r
            traist: 1\r
            traits:\r
              "🎹":\t[ 5, {\ttype: [] } ]\r
              b: 7\r
            other: {}\r
            """
        let found = failure { () throws(Failure) in try read(text) }
        #expect(
            found?.text == """
                tuning.yaml:2:1: unknown key 'traist'; did you mean 'traits'?
                tuning.yaml:4:10: traits.'🎹'[0]: expected a trait such as 'Set: { gain: 0.5 }', found the integer 5
                tuning.yaml:4:21: traits.'🎹'[1].type: expected the name of a trait, found a list
                tuning.yaml:5:6: traits.b: expected a list of traits, found the integer 7
                tuning.yaml:6:1: unknown key 'other'; expected 'traits', 'config', 'wiring' or 'include'
                """)
        #expect(found?.others.count == 4)
    }

    @Test func aFloodOfErrorsIsCutShort() {
        let text = (0..<5000).map { "wrong\($0): 1\n" }.joined()
        let found = failure { () throws(Failure) in try read(text) }
        #expect(found?.all.count == 101)
        #expect(found?.all.last?.message == "and 4900 more errors")
    }

    // MARK: versions of a document

    private func version(_ text: String, like former: TraitDocument) throws -> TraitDocument {
        try TraitDocument(SpecReader.read(text, file: "tuning.yaml", format: .yaml), like: former)
    }

    private func location(_ document: TraitDocument, _ target: String) throws -> TraitLocation {
        let trait = try #require(try document[target]?.traits.first)
        return trait.location(of: try #require(trait.parameters.first).value)
    }

    private static let base =
        "traits:\n  a.b: [ Set: { x: 1, y: text } ]\n  c.d: [ Set: { x: .nan } ]\n  e.f: [ Set: { x: 2 } ]\n"

    @Test(arguments: [
        (base, []),
        // Comments, other lines and columns, and another form of the same values.
        (
            "# a\n\ntraits:\n  a.b:\n    - Set:\n        'x': 0x1\n        y: \"text\"\n  c.d: [ Set: { x: .NaN } ]\n  e.f: [ Set: { x: 2 } ]",
            []
        ),
        ("traits:\n  e.f: [ Set: { x: 2 } ]\n  c.d: [ Set: { x: .nan } ]\n  a.b: [ Set: { x: 1, y: text } ]", []),
        (
            "traits:\n  a.b: [ Set: { x: 1, y: text } ]\n  new: []\n  c.d: [ Set: { x: .nan } ]\n  e.f: [ Set: { x: 2 } ]",
            ["new"]
        ),
        ("traits:\n  a.b: [ Set: { x: 1, y: text } ]\n  e.f: [ Set: { x: 2 } ]", ["c.d"]),
        (
            "traits:\n  a.b: [ Set: { x: 1, y: texts } ]\n  c.d: [ Set: { x: .nan } ]\n  e.f: [ Set: { x: 2.0 } ]",
            ["a.b", "e.f"]
        ),
        (
            "traits:\n  a.b: [ Set: { y: text, x: 1 } ]\n  c.d: [ Set: { x: .nan } ]\n  e.f: [ Set: { x: 2 }, Mute: ]",
            ["a.b", "e.f"]
        ),
        ("config: { a: 1 }", ["a.b", "c.d", "e.f"]),
    ]) func targetsChangeByTheirTraitsAlone(text: String, changed: [String]) throws {
        let former = try read(Self.base)
        let next = try version(text, like: former)
        #expect(next.changedTargets(since: former).sorted() == changed)
        #expect(former.changedTargets(since: next).sorted() == changed)
        // Without its former version each target counts as changed.
        #expect(try read(text).changedTargets(since: TraitDocument()).count(where: { _ in true }) == next.keys.count)
    }

    @Test func locationsFollowTheDocumentThatIsInEffect() throws {
        let former = try read(Self.base)
        let (kept, changed) = (try location(former, "c.d"), try location(former, "e.f"))
        #expect(kept.location == Location(file: "tuning.yaml", line: 3, column: 20))
        let next = try version(
            "traits:\n\n  a.b: [ Set: { x: 1, y: text } ]\n  c.d:\n  - Set: { x: .nan }\n  e.f: [ Set: { x: 3 } ]",
            like: former)
        // A document that is read and not in effect changes no location.
        #expect(kept.location.line == 3)
        next.adoptLocations()
        #expect(kept.location == Location(file: "tuning.yaml", line: 5, column: 15))
        #expect(changed.location.line == 4)
        #expect(try location(next, "e.f").location.line == 6)
        former.adoptLocations()
        #expect(kept.location.line == 3)
        #expect(TraitLocation().location == Location())
    }

    @Test func traitsThatMovedAreStillChecked() throws {
        let former = try read(Self.base)
        let found = failure { () throws(Failure) in
            try TraitDocument(
                SpecReader.read("traits:\n  g: 1\n  e.f: [ Set: { x: 2 } ]\n  a.b: 2", file: "t", format: .yaml),
                like: former)
        }
        #expect(found?.all.map(\.location.line) == [2, 4])
    }
}
