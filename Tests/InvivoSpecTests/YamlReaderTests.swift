import InvivoBase
import InvivoSpec
import Testing

@Suite(.tags(.rawMemory)) struct YamlReaderTests {
    @Test(arguments: [
        ("null", "null"), ("~", "null"), ("Null", "null"), ("NULL", "null"), ("nUll", "text"), ("''", "text"),
        ("true", "bool true"), ("True", "bool true"), ("FALSE", "bool false"), ("tRue", "text"),
        ("yes", "text"), ("no", "text"), ("on", "text"), ("Off", "text"), ("y", "text"), ("n", "text"),
        ("0", "int 0"), ("-0", "int 0"), ("+12", "int 12"), ("-7", "int -7"), ("0755", "int 755"), ("08", "int 8"),
        ("0o17", "int 15"), ("0o8", "text"), ("0x1F", "int 31"), ("-0x1F", "text"), ("0xg", "text"), ("0x", "text"),
        ("0b1", "text"), ("1_000", "text"), ("12:30", "text"), ("1:30:00", "text"),
        ("9223372036854775807", "int 9223372036854775807"), ("-9223372036854775808", "int -9223372036854775808"),
        ("9223372036854775808", "uint 9223372036854775808"), ("18446744073709551615", "uint 18446744073709551615"),
        ("0xffffffffffffffff", "uint 18446744073709551615"),
        ("1.5", "double 1.5"), ("1.", "double 1.0"), (".5", "double 0.5"), ("-.5", "double -0.5"),
        ("+1e3", "double 1000.0"),
        ("1e-2", "double 0.01"), ("1E+2", "double 100.0"), ("1e", "text"), (".", "text"), ("-", "null-list"),
        ("+", "text"),
        ("1.2.3", "text"), ("-0.0", "double -0.0"), ("1e-400", "double 0.0"),
        (".inf", "double inf"), ("-.INF", "double -inf"), ("+.Inf", "double inf"), (".nan", "double nan"),
        (".NaN", "double nan"), ("nan", "text"), ("inf", "text"), ("-.nan", "text"), ("1.2 kHz", "text"),
        ("'12'", "text"), ("\"true\"", "text"), ("|\n 12", "text"), (">\n 12", "text"),
        ("!!str 12", "text"), ("!!int '12'", "int 12"), ("!!float 3", "double 3.0"), ("!!null ''", "null"),
        ("!!bool 'true'", "bool true"), ("!!seq []", "[]"), ("!!map {}", "{}"),
    ])
    func plainScalarsFollowTheCoreSchema(text: String, expected: String) throws {
        let content = Bare(try yaml(text))
        switch expected {
        case "text": #expect("\(content)".hasPrefix("text "), "\(content)")
        case "null-list": #expect(content == .list([.leaf("null")]))
        default: #expect("\(content)" == expected)
        }
    }

    @Test(arguments: [
        ("-\ta\n- \t b\n", "[a, b]"), ("\t{}", "{}"), ("\t[\n\t1 ]", "[1]"), ("? a\n: -\tb\n", "{a: [b]}"),
        ("a:\n \tb", "{a: b}"), ("a: 1\n\t\nb: 2", "{a: 1, b: 2}"), (" \t\na: 1", "{a: 1}"),
        ("a:\n\t# x\n b", "{a: b}"),
        ("- -\t-1", "[[-1]]"), ("é:\n -\t[x]\n", "{é: [[x]]}"), ("a: |\n -\tb\n", "{a: \"-\\tb\\n\"}"),
        ("a: \"x\n -\ty\"", "{a: \"x -\\ty\"}"), ("- |+\n   ", "[\"\\n\"]"), ("a: |\n  x\n   ", "{a: \"x\\n \"}"),
        ("a: |\n  x \n  ", "{a: \"x \\n\"}"), ("a: |+\n  x\n    ", "{a: \"x\\n  \"}"),
        ("a: >\n  x\n\n   ", "{a: \"x\\n\\n \"}"),
        ("a: |2\n   x\n    ", "{a: \" x\\n  \"}"), ("a: |\n  x\n   \n", "{a: \"x\\n \\n\"}"),
        ("- |\n  x\n ", "[\"x\\n\"]"),
        ("a: x\n   ", "{a: x}"),
    ])
    func tabsSeparateValues(text: String, same: String) throws {
        #expect(Bare(try yaml(text)) == Bare(try yaml(same)))
    }

    @Test(arguments: [
        "a:\n\tb: 1", "a:\n\tb", "a:\n\t- b", "-\ta: 1", "-\t- a", "- \t- a", "?\t- a", "\ta: 1", "\t- a",
        "a:\n b:\n\tc",
        "- a:\n \tb: 1", "- a:\n \t\tb", "-  - a\n  \t- b", "-\t!!str a: 1",
    ])
    func tabsDoNotIndent(text: String) {
        let found = failure { () throws(Failure) in try yaml(text) }
        #expect(found?.code == .syntax)
        #expect(found?.message.contains("a tab ") == true)
    }

    @Test func manyTabsAreAccepted() throws {
        #expect(try yaml(String(repeating: "-\ta\n", count: 300)).items?.count == 300)
    }

    @Test(arguments: ["{ ?a: 1 }", "[?a]", "é: { b: 1, ?c: 2 }", "[ ?\"a\": 1 ]"])
    func aQuestionMarkIsNotDropped(text: String) {
        let found = failure { () throws(Failure) in try yaml(text) }
        #expect(found?.message.hasPrefix("'?' begins a key here") == true, "\(found?.text ?? "")")
        #expect(throws: Never.self) { try yaml("? a\n: ?b\nc?d: { e?f: g, '?h': i?, ? j : k }\n") }
    }

    @Test func keysAreStringsInEveryNotation() throws {
        let keys = try yaml("1: a\ntrue: b\n~: c\n0x1: d\n!!str x: e\n'': f").entries?.map(\.key)
        #expect(keys == ["1", "true", "~", "0x1", "x", ""])
    }

    @Test func textsKeepTheirBreaksAndEscapes() throws {
        let root = try yaml(
            "a: |\r\n  one\r\n  two\r\nb: >-\n  one\n  two\nc: \"\\u00e4\\U0001F3B9\\n\\x41\"\nd: 'it''s'")
        #expect(root["a"]?.text == "one\ntwo\n")
        #expect(root["b"]?.text == "one two")
        #expect(root["c"]?.text == "ä🎹\nA")
        #expect(root["d"]?.text == "it's")
    }

    /// The same structure, each time preceded by a character that misleads byte or line counters.
    @Test(arguments: [
        ("plain", "a: 1\nb: { c: [x, yy] }\n", "2:13"),
        ("CRLF", "a: 1\r\nb: { c: [x, yy] }\r\n", "2:13"),
        ("CR", "a: 1\rb: { c: [x, yy] }\r", "2:13"),
        ("BOM", "\u{FEFF}b: { c: [x, yy] }\n", "1:13"),
        ("tabs", "a:\t1 \t# \t\nb:\t{\tc:\t[x,\tyy] }\n", "2:13"),
        ("accents", "ä: ö\nb: { c: [ä, yy] }\n", "2:13"),
        ("emoji", "🎹: 🎹\nb: { c: [🎹, yy] }\n", "2:13"),
        ("combining", "b: { c: [e\u{301}, yy] }\n", "1:14"),
        (
            "BOM, CRLF, tab and emoji",
            "\u{FEFF}# 🎹\r\nä:\t|\r\n\t🎹\r\n".replacing("\t🎹", with: " 🎹")
                + "b: { c: [🎹, yy] }\r\n", "4:13"
        ),
        ("folded text before", "a: one\r\n  two\r\n\r\nb: { c: [x, yy] }\r\n", "4:13"),
        ("comment lines", "# ä\r\n\r\n#\tx\r\nb: { c: [x, yy] }", "4:13"),
    ])
    func placesCountLinesAndScalars(name: String, text: String, expected: String) throws {
        #expect(position(try yaml(text), "b", "c", "1") == expected, "\(name)")
    }

    @Test func everyNodeHasItsLocation() throws {
        let root = try yaml("traits:\n  synth.lead:\n    - Set: { gain: 0.5 }\n    -\n  empty:\nlast: \"x\"")
        #expect(position(root) == "1:1")
        #expect(position(root, "traits") == "2:3")
        #expect(position(root, "traits", "synth.lead") == "3:5")
        #expect(position(root, "traits", "synth.lead", "0") == "3:7")
        #expect(position(root, "traits", "synth.lead", "0", "Set") == "3:12")
        #expect(position(root, "traits", "synth.lead", "0", "Set", "gain") == "3:20")
        #expect(position(root, "traits", "synth.lead", "1") == "4:6")
        #expect(position(root, "traits", "empty") == "5:9")
        #expect(position(root, "last") == "6:7")
        let gain = root["traits"]?["synth.lead"]?.items?[0]["Set"]?.entries?[0].keyLocation
        #expect(gain == Location(file: "t.yaml", line: 3, column: 14))
    }

    @Test(arguments: [
        ("a: {b: 1", "t.yaml:1:9: the document ends too early; the map that begins at 1:4 is not closed"),
        ("a: [1, 2\n", "t.yaml:2:1: the document ends too early; the list that begins at 1:4 is not closed"),
        ("a: {b: 1\nc: 2", "t.yaml:2:2: expected ',' or '}'; the map that begins at 1:4 is not closed"),
        ("a: [1, 2}", "t.yaml:1:9: expected ',' or ']'; the list that begins at 1:4 is not closed"),
        ("a: 'x", "t.yaml:1:6: the document ends too early; the string that begins at 1:4 is not closed"),
        ("a: \"x\nb: 2\n", "t.yaml:3:1: the document ends too early; the string that begins at 1:4 is not closed"),
        ("ä: {", "t.yaml:1:5: the document ends too early"),
        (
            "a: \"🎹\\q\"",
            "t.yaml:1:6: unknown escape in double quotes; write \\\\ for a backslash, or use single quotes"
        ),
        (
            "a: \"\\ud83c\\udfb9\"",
            "t.yaml:1:7: the escape is no Unicode character; beyond U+FFFF write \\UXXXXXXXX, not a surrogate pair"
        ),
        ("a:\n\tb: 1", "t.yaml:2:1: a tab cannot indent or set off a value; use spaces"),
        ("a: @x", "t.yaml:1:4: a value cannot begin with '@'; put the string in quotes"),
        (
            "a: b: c",
            "t.yaml:1:5: ':' is not expected here; check the indentation, or put a string that contains ': ' in quotes"
        ),
        ("a: - b", "t.yaml:1:4: '- ' is not expected here; begin the list in a line of its own"),
        ("a: 1\nfoo\nb: 2", "t.yaml:2:1: expected ':' after the key"),
        ("- a\nb: 1", "t.yaml:2:1: expected '- '; check the indentation"),
        ("a: 'b' c", "t.yaml:1:8: expected a key; check the indentation and the quotes before"),
        (": x", "t.yaml:1:1: expected a key; check the indentation and the quotes before"),
        ("? \n: x", "t.yaml:1:2: expected a key, found nothing"),
        (
            "\u{FEFF}ä: 🎹\u{1}",
            "t.yaml:1:5: the control character U+0001 is not allowed; in double quotes it can be an escape"
        ),
        ("a: \u{0}", "t.yaml:1:4: the control character U+0000 is not allowed; in double quotes it can be an escape"),
        (
            "a: \"x\u{2028}y\"",
            "t.yaml:1:6: the line separator U+2028 is not allowed here; write it as \"\\L\" in double quotes"
        ),
        ("a: 1\n%TAG ! x\n", "t.yaml:2:1: the directive %TAG is refused; remove it"),
        ("%FOO\n---\na: 1", "t.yaml:1:5: unknown directive; only %YAML is known"),
        ("%YAML 1.3\n---\na: 1", "t.yaml:1:1: unsupported version of YAML; expected 1.1 or 1.2"),
        ("a: 1\n---\nb: 2", "t.yaml:2:1: a second document begins here; one file holds one document"),
        (
            "a: &x 1",
            "t.yaml:1:4: a: the anchor '&x' is refused: anchors are not allowed; write the value out"
        ),
        ("a: 1\nb: *x", "t.yaml:2:4: b: the alias '*x' is refused: aliases are not allowed; write the value out"),
        ("*x : 1", "t.yaml:1:1: the alias '*x' is refused: aliases are not allowed; write the value out"),
        (
            "a: !!binary x",
            "t.yaml:1:4: a: the tag '!!binary' is refused; "
                + "allowed are !!null, !!bool, !!int, !!float, !!str, !!seq, !!map"
        ),
        (
            "a: [!Foo {}]",
            "t.yaml:1:5: a[0]: the tag '!Foo' is refused; "
                + "allowed are !!null, !!bool, !!int, !!float, !!str, !!seq, !!map"
        ),
        ("a: !!int x", "t.yaml:1:4: a: 'x' is not what the tag !!int says"),
        ("a: !!map []", "t.yaml:1:4: a: a list cannot have the tag !!map"),
        ("!!int 1: x", "t.yaml:1:1: a key is a string and cannot have a tag"),
        ("? [a]\n: x", "t.yaml:1:3: expected a key, found a list; a key is a string"),
        ("{a: 1}: x", "t.yaml:1:1: expected a key, found a map; a key is a string"),
    ])
    func refusesWithLocationAndSuggestion(text: String, expected: String) {
        let found = failure { () throws(Failure) in try yaml(text) }
        #expect(found?.text == expected)
        #expect(found?.code == .syntax)
    }

    @Test func allDuplicateKeysAndNumbersTooLargeAreReportedTogether() {
        let text = "a:\n  b: 1\n  c: 18446744073709551616\n  b: 2\na: 1e999\n"
        let found = failure { () throws(Failure) in try yaml(text) }
        #expect(
            found?.text == """
                t.yaml:3:6: a.c: the integer '18446744073709551616' does not fit in 64 bits; \
                write a fraction or an exponent if it may be rounded
                t.yaml:4:3: a: the key 'b' is given twice, first in line 2; keep one of them
                t.yaml:5:1: the key 'a' is given twice, first in line 1; keep one of them
                t.yaml:5:4: a: the number '1e999' is too large for a double
                """)
        #expect(found?.all.map(\.code) == [.range, .syntax, .syntax, .range])
    }

    @Test func duplicateKeysAreFoundInLargeMaps() {
        let keys = (0..<40).map { "k\($0): 1\n" }.joined()
        #expect(failure { () throws(Failure) in try yaml(keys) }?.text == nil)
        for index in [0, 7, 8, 9, 39] {
            let found = failure { () throws(Failure) in try yaml(keys + "k\(index): 2") }
            #expect(
                found?.text
                    == "t.yaml:41:1: the key 'k\(index)' is given twice, first in line \(index + 1); keep one of them")
        }
    }

    /// Long maps are searched by hashes, short ones by comparing.
    @Test(arguments: [0, 1, 7, 8, 9, 10, 16, 17, 100, 1000]) func aKeyIsFoundAmongAnyNumberOfKeys(count: Int) throws {
        let lines = (0..<count).map { "key\($0): { a: \($0), b: 2 }\n" }
        let root = try yaml(count == 0 ? "{}" : lines.joined())
        #expect(root.entries?.map(\.key) == (0..<count).map { "key\($0)" })
        for key in 0..<count { #expect(Bare(try #require(root["key\(key)"]?["a"])) == .leaf("int \(key)")) }
        #expect(root["key\(count)"] == nil && root["key"] == nil && root["a"] == nil && root[""] == nil)
        for twice in Set([0, count / 2, count - 1]) where count > 0 {
            let found = failure { () throws(Failure) in try yaml(lines.joined() + "key\(twice): 1") }
            #expect(
                found?.message == "the key 'key\(twice)' is given twice, first in line \(twice + 1); keep one of them")
        }
    }

    @Test func aTreeOfPartsOfOthersIsACopy() throws {
        let root = try yaml("a: [1, text, { b: null }]\nc: -0.0")
        let entries = try #require(root.entries)
        let copy = SpecNode(.map(entries + [SpecEntry(key: "d", value: SpecNode(.list([root])))]), at: root.location)
        #expect(Bare(copy) == .map(["a", "c", "d"], entries.map { Bare($0.value) } + [.list([Bare(root)])]))
        #expect(position(copy, "d", "0", "a", "2", "b") == "1:19")
    }
}
