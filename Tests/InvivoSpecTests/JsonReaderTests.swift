import InvivoBase
import InvivoSpec
import Testing

@Suite(.tags(.rawMemory)) struct JsonReaderTests {
    @Test(arguments: [
        ("null", "null"), ("true", "bool true"), ("false", "bool false"), ("0", "int 0"), ("-0", "int 0"),
        ("-12", "int -12"), ("9223372036854775808", "uint 9223372036854775808"),
        ("18446744073709551615", "uint 18446744073709551615"), ("-9223372036854775808", "int -9223372036854775808"),
        ("1.0", "double 1.0"), ("-0.0", "double -0.0"), ("1E2", "double 100.0"), ("1e+2", "double 100.0"),
        ("18446744073709551616.0", "double 1.8446744073709552e+19"), ("5e-324", "double 5e-324"),
        (" [ ] ", "[]"), ("\t{\r\n}", "{}"), ("[1, [true], {\"a\": null}]", "[int 1, [bool true], {a: null}]"),
    ])
    func readsWhatRFC8259Says(text: String, expected: String) throws {
        #expect("\(Bare(try json(text)))" == expected)
    }

    @Test(arguments: [
        (#""a\"\\\/\b\f\n\r\t""#, "a\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e4\u0041""#, "äA"), (#""\ud83c\udfb9""#, "🎹"),
        (#""\uD834\uDD1E""#, "\u{1D11E}"), (#""\u0000""#, "\0"), (#""🎹ä""#, "🎹ä"), (#""\uffff""#, "\u{FFFF}"),
        (#""""#, ""), (#""\udbff\udfff""#, "\u{10FFFF}"),
    ])
    func textsAreDecoded(text: String, expected: String) throws {
        #expect(Array((try json(text).text ?? "-").unicodeScalars) == Array(expected.unicodeScalars))
    }

    @Test(arguments: [
        ("plain", "{\n\"a\": [1,  2] }", "2:11"), ("CRLF", "{\r\n\"a\": [1,  2] }", "2:11"),
        ("CR", "{\r\"a\": [1,  2] }", "2:11"), ("BOM", "\u{FEFF}{\"a\": [1, 2] }", "1:11"),
        ("tabs", "{\n\"a\":\t[1,\t\t2] }", "2:11"), ("emoji", "{\"🎹\": \"🎹\",\n\"a\": [\"🎹\", 2] }", "2:12"),
        ("escapes", "{\"a\": [\"\\u00e4\\n\", 2] }", "1:20"),
    ])
    func placesCountLinesAndScalars(name: String, text: String, expected: String) throws {
        #expect(position(try json(text), "a", "1") == expected, "\(name)")
    }

    @Test(arguments: [
        (
            "{",
            "t.json:1:2: expected a key in double quotes, found the end of the document; "
                + "what begins at 1:1 is not closed"
        ),
        (
            "{\"a\"",
            "t.json:1:5: expected ':' after the key, found the end of the document; what begins at 1:1 is not closed"
        ),
        ("{\"a\":", "t.json:1:6: a: expected a value, found the end of the document"),
        (
            "{\"a\": 1\n",
            "t.json:2:1: expected ',' or '}', found the end of the document; what begins at 1:1 is not closed"
        ),
        ("[1, 2", "t.json:1:6: expected ',' or ']', found the end of the document; what begins at 1:1 is not closed"),
        ("[\"ä", "t.json:1:4: [0]: the string that begins at 1:2 is not closed"),
        ("[\"\\", "t.json:1:3: [0]: unknown escape '\\'; known are \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX"),
        ("[1,]", "t.json:1:4: [1]: expected a value, found ']'; remove the comma before it"),
        ("{\"a\":1,\n}", "t.json:2:1: expected a key in double quotes, found '}'; remove the comma before it"),
        ("[1 2]", "t.json:1:4: expected ',' or ']', found '2'"),
        ("{\"a\" 1}", "t.json:1:6: expected ':' after the key, found '1'"),
        ("{a: 1}", "t.json:1:2: expected a key in double quotes, found 'a'"),
        ("['a']", "t.json:1:2: [0]: expected a value, found a single quote; strings are written in double quotes"),
        ("[1 // x\n]", "t.json:1:4: JSON has no comments; remove it"),
        ("[1] x", "t.json:1:5: expected the end of the document, found 'x'"),
        ("[1]]", "t.json:1:4: expected the end of the document, found ']'"),
        ("[True]", "t.json:1:2: [0]: unknown word 'True'; did you mean 'true'?"),
        ("[NaN]", "t.json:1:2: [0]: unknown word 'NaN'; a string needs double quotes"),
        ("[tru", "t.json:1:2: [0]: unknown word 'tru'; did you mean 'true'?"),
        ("[01]", "t.json:1:2: [0]: a number must not begin with 0"),
        ("[-]", "t.json:1:3: [0]: expected a digit, found ']'"),
        ("[1.]", "t.json:1:4: [0]: expected a digit after the '.', found ']'"),
        ("[1e]", "t.json:1:4: [0]: expected a digit in the exponent, found ']'"),
        ("[.5]", "t.json:1:2: [0]: expected a value, found '.'"),
        ("[+5]", "t.json:1:2: [0]: expected a value, found '+'"),
        ("[0x10]", "t.json:1:3: [0]: expected the end of the number, found 'x'"),
        ("[\"ä\tb\"]", "t.json:1:4: [0]: a control character in a string is written as an escape: \\u0009"),
        (
            "[\"a\n\"]",
            "t.json:1:4: [0]: a control character in a string is written as an escape: \\u000A (is the string closed?)"
        ),
        ("[\"ä\\q\"]", "t.json:1:4: [0]: unknown escape '\\q'; known are \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX"),
        ("[\"\\u12x4\"]", "t.json:1:7: [0]: expected four hexadecimal digits after \\u, found 'x'"),
        ("[\"\\ud83c\"]", "t.json:1:3: [0]: the escape \\uD83C is half of a surrogate pair; the other half is missing"),
        ("[\"\\udfb9\"]", "t.json:1:3: [0]: the escape \\uDFB9 is half of a surrogate pair; the other half is missing"),
        (
            "[\"\\ud83c\\ud83c\"]",
            "t.json:1:3: [0]: the escape \\uD83C is half of a surrogate pair; the other half is missing"
        ),
        ("[\u{0}]", "t.json:1:2: [0]: expected a value, found '\\u{0}'"),
        ("\u{FEFF}\u{FEFF}1", "t.json:1:1: expected a value, found '\\u{FEFF}'"),
        ("{\"a\": 1, \"a\": 2}", "t.json:1:10: the key 'a' is given twice, first in line 1; keep one of them"),
        ("{\"a\": 1, \"\\u0061\": 2}", "t.json:1:10: the key 'a' is given twice, first in line 1; keep one of them"),
    ])
    func refusesWithLocationAndSuggestion(text: String, expected: String) {
        let found = failure { () throws(Failure) in try json(text) }
        #expect(found?.text == expected)
        #expect(found?.code == .syntax)
    }

    @Test func numbersThatNothingHoldsAreRangeErrors() {
        let found = failure { () throws(Failure) in try json("[18446744073709551616, -9223372036854775809, -1e400]") }
        #expect(found?.all.map(\.code) == [.range, .range, .range])
        #expect(found?.all.map(\.location.column) == [2, 24, 46])
    }
}
