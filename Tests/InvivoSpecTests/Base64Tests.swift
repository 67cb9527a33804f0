import InvivoSpec
import Testing

@Suite struct Base64Tests {
    /// The examples of RFC 4648, and all 256 bytes.
    @Test func textsOfTheStandardAreTheirBytes() throws {
        let examples = [
            ("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"), ("Zm9vYmE=", "fooba"),
            ("Zm9vYmFy", "foobar"),
        ]
        for (text, bytes) in examples { #expect(try Base64.bytes(of: text) == Array(bytes.utf8), "\(text)") }
        #expect(try Base64.bytes(of: "+/+/") == [0xfb, 0xff, 0xbf])
        #expect(try Base64.bytes(of: "AP8Q/w==") == [0, 0xff, 0x10, 0xff])
    }

    @Test(arguments: [
        ("Zg", "it ends with 0 '=' instead of 2"), ("Zg=", "it ends with 1 '=' instead of 2"),
        ("Zm9v=", "it ends with 1 '=' instead of 0"), ("Zm9v====", "it ends with 4 '=' instead of 0"),
        ("Zg==Zg==", "'=' stands before its end"), ("Z", "it ends after one character of a group of four"),
        ("=", "it ends with 1 '=' instead of 0"),
        ("Zm9v\n", "character 5 is not one of A to Z, a to z, 0 to 9, '+' and '/'"),
        ("Zm 9", "character 3 is not one of A to Z, a to z, 0 to 9, '+' and '/'"),
        ("-_-_", "character 1 is not one of A to Z, a to z, 0 to 9, '+' and '/'"),
        ("Zmé=", "character 3 is not one of A to Z, a to z, 0 to 9, '+' and '/'"),
        ("Zh==", "its last character says more than a byte"), ("Zm9=", "its last character says more than a byte"),
    ])
    func everythingElseIsRefusedWithAReason(text: String, problem: String) {
        do {
            let bytes = try Base64.bytes(of: text)
            Issue.record("\(bytes)")
        } catch { #expect(error.text == problem) }
    }
}
