import Glibc
import InvivoBase
import InvivoSpec
import Testing

/// No input may trap, exceed its budget, or take long. Each refusal has its exact message.
@Suite struct HostileInputTests {
    private func read(_ bytes: [UInt8], _ format: SpecFormat, _ limits: SpecLimits = SpecLimits()) -> Failure? {
        failure { () throws(Failure) in try SpecReader.read(bytes, file: "t", format: format, limits: limits) }
    }

    @Test(
        arguments: [
            (
                [0x61, 0x3A, 0x20, 0xFF],
                "t:1:4: the text is not UTF-8 (the byte 0xFF cannot stand here); save the file as UTF-8"
            ),
            // BOM, CRLF, tab, ä and an emoji before a byte of Latin-1.
            (
                [0xEF, 0xBB, 0xBF, 0x23, 0x0D, 0x0A, 0x09, 0xC3, 0xA4, 0xF0, 0x9F, 0x8E, 0xB9, 0xE4, 0x0A],
                "t:2:4: the text is not UTF-8 (the byte 0xE4 cannot stand here); save the file as UTF-8"
            ),
            ([0x61, 0xC3], "t:1:2: the text is not UTF-8 (the byte 0xC3 cannot stand here); save the file as UTF-8"),
            // An overlong form and a surrogate.
            ([0xC0, 0xAF], "t:1:1: the text is not UTF-8 (the byte 0xC0 cannot stand here); save the file as UTF-8"),
            (
                [0xED, 0xA0, 0x80],
                "t:1:1: the text is not UTF-8 (the byte 0xED cannot stand here); save the file as UTF-8"
            ),
            ([0xFF, 0xFE, 0x61, 0x00], "t:1:1: the text is UTF-16; save the file as UTF-8"),
            ([0xFE, 0xFF, 0x00, 0x61], "t:1:1: the text is UTF-16; save the file as UTF-8"),
        ] as [([UInt8], String)])
    func textThatIsNotUTF8IsRefused(bytes: [UInt8], expected: String) {
        for format in [SpecFormat.yaml, .json] {
            #expect(read(bytes, format)?.text == expected)
            #expect(read(bytes, format)?.code == .encoding)
        }
    }

    @Test func moreBytesThanAllowedAreRefused() {
        let limits = SpecLimits(bytes: 10)
        #expect(read(Array("a: 1234567".utf8), .yaml, limits)?.text == nil)
        let found = read(Array("a: 12345678".utf8), .yaml, limits)
        let expected = "t: the document has 11 bytes, more than the 10 allowed; max_document_bytes permits more"
        #expect(found?.text == expected)
        #expect(found?.code == .tooLarge)
    }

    @Test func deeperThanAllowedIsRefused() {
        let limits = SpecLimits(depth: 3)
        let message = "lists and maps lie deeper inside each other than the 3 levels allowed"
        #expect(read(Array("[[[1]]]".utf8), .json, limits)?.text == nil)
        #expect(read(Array("[[\n [[]]]]".utf8), .json, limits)?.text == "t:2:3: [0][0][0]: \(message)")
        #expect(read(Array("a:\n b: {ä: 1}".utf8), .yaml, limits)?.text == nil)
        #expect(read(Array("a:\n b:\n  c: {ä: {}}".utf8), .yaml, SpecLimits(depth: 2))?.code == .tooLarge)
        #expect(read(Array("ä: {b: {c: [1]}}".utf8), .yaml, limits)?.text == "t:1:12: 'ä'.b.c: \(message)")
        for opening in ["[", "{\"a\":", "- ", "? ", "[{a: ", "- - ? "] {
            for format in [SpecFormat.yaml, .json] {
                let deep = Array(String(repeating: opening, count: 100_000).utf8)
                #expect(read(deep, format, SpecLimits(depth: .max)) != nil)
            }
        }
    }

    @Test func moreValuesThanAllowedAreRefused() {
        let limits = SpecLimits(nodes: 4)
        #expect(read(Array("[1, 2, 3]".utf8), .json, limits)?.text == nil)
        let expected = "t:1:12: [3]: the document has more than the 4 values allowed; max_document_nodes permits more"
        #expect(read(Array("[1, 2, 3,  4]".utf8), .json, limits)?.text == expected)
        #expect(read(Array("[1, 2, 3,  4]".utf8), .yaml, limits)?.text == expected)
        #expect(read(Array(("[" + String(repeating: "1,", count: 1_000_000)).utf8), .yaml)?.code == .tooLarge)
        #expect(read(Array(("[" + String(repeating: "1,", count: 1_000_000)).utf8), .json)?.code == .tooLarge)
    }

    @Test func longerTextsThanAllowedAreRefused() {
        let limits = SpecLimits(stringLength: 4)
        let message = "the string has 6 bytes, more than the 4 allowed for one"
        #expect(read(Array(#"{"äö": "abcd"}"#.utf8), .json, limits)?.text == nil)
        #expect(read(Array(#"{"a": "äöü"}"#.utf8), .json, limits)?.text == "t:1:7: a: \(message)")
        #expect(read(Array(#"{"äöü": 1}"#.utf8), .json, limits)?.text == "t:1:2: \(message)")
        #expect(read(Array(#"{"a": "\u00e4öü"}"#.utf8), .json, limits)?.text == "t:1:7: a: \(message)")
        #expect(read(Array("ä: äöü".utf8), .yaml, limits)?.text == "t:1:4: 'ä': \(message)")
        #expect(read(Array("äöü: 1".utf8), .yaml, limits)?.text == "t:1:1: \(message)")
    }

    @Test func bombsAreRefused() {
        let bomb = """
            a: &a ["lol","lol","lol"]
            b: &b [*a,*a,*a]
            c: &c [*b,*b,*b]
            """
        let expected = "t:1:4: a: the anchor '&a' is refused: anchors are not allowed; write the value out"
        #expect(read(Array(bomb.utf8), .yaml)?.text == expected)
    }

    /// Processor time of this thread, in seconds, without other work of the machine.
    private func used() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// Inputs that made other parsers of these formats quadratic or worse. 256 KiB each; the limit is generous,
    /// quadratic work would take minutes.
    @Test func noShapeTakesLong() {
        let shapes = [
            "%TAG !a! b\n", "%YAML 1.2\n", "a: ", "? ", "- ", "{", "[", "[]", "{}", "&a ", "*a ", "! ", "!!", "#",
            "# \n",
            "\n", "\r", " ", "\t", "'", "\"", "\"\\", "|\n ", ">\n\n", "...\n", "---\n", "a\n", "a:\n", "- a\n", "{a: ",
            "[a, ", ", ", "\u{E4}", "\u{1F3B9}:\n", "a b ", "\"a\":", "[\"a\",", "{\"a\":", "1", "0x1", ".", "\\",
            "\u{2028}",
            "%T", "E2\u{2000}", "a:\n ", "key: 'x'\n", "? a\n: b\n",
        ]
        for shape in shapes {
            for prefix in ["", "[", "a: ", "\"", "a: |\n  ", "{\"a\": \""] {
                let count = (1 << 18) / shape.utf8.count
                let bytes = Array((prefix + String(repeating: shape, count: count)).utf8)
                for format in [SpecFormat.yaml, .json] {
                    let before = used()
                    _ = read(bytes, format)
                    #expect(used() - before < 10, "\(format) \(prefix) \(shape)")
                }
            }
        }
    }

    /// Documents truncated at every byte, as editors leave them while they write. Each is a tree or an error with a
    /// source location.
    @Test func cutDocumentsAreTreesOrErrorsWithAPlace() {
        for (text, format) in Self.samples {
            let bytes = Array(text.utf8)
            for length in 0..<bytes.count {
                guard let found = read(Array(bytes[..<length]), format) else { continue }
                #expect(
                    found.code == .empty || found.location.line > 0 && found.location.column > 0,
                    "\(text.prefix(length))")
            }
        }
    }

    /// Random changes of valid documents. A trap would end the test process; a document that is read must be writable
    /// and equal when read again. For a longer search: INVIVO_FUZZ_ROUNDS and INVIVO_FUZZ_SEED.
    @Test func changedDocumentsNeverTrap() throws {
        var random = SplitMix(seed: number("INVIVO_FUZZ_SEED") ?? 20260)
        let rounds = Int(number("INVIVO_FUZZ_ROUNDS") ?? 12_000)
        let limits = SpecLimits(bytes: 1 << 16, depth: 16, nodes: 1000, stringLength: 1000)
        for round in 0..<rounds {
            let (text, format) = Self.samples[round % Self.samples.count]
            var bytes = Array(text.utf8)
            for _ in 0..<Int.random(in: 1...6, using: &random) { Self.change(&bytes, &random) }
            do throws(Failure) {
                let document = try SpecReader.read(bytes, file: "t", format: format, limits: limits)
                let again = try SpecReader.read(SpecWriter.yaml(document.root), file: "t", format: .yaml)
                #expect(Bare(again.root) == Bare(document.root), "\(bytes)")
                _ = failure { () throws(Failure) in try TraitDocument(document) }
                _ = failure { () throws(Failure) in try AppManifest(document) }
            } catch {
                let end = bytes.count + 1
                #expect(error.all.allSatisfy { $0.location.line <= end && $0.location.column <= end })
                #expect(!error.text.utf8.contains { $0 < 0x20 && $0 != 0x0A }, "\(error.text)")
            }
        }
    }

    private func number(_ variable: String) -> UInt64? {
        getenv(variable).flatMap { UInt64(String(cString: $0)) }
    }

    private static let samples: [(String, SpecFormat)] = [
        (
            "traits:\n  synth.lead:\n    - Set: { gain: 0.5, cutoff: 1.2 kHz }\n    - { type: Set, wave: 'saw' }\n",
            .yaml
        ),
        ("\u{FEFF}# ä\r\na:\t\"🎹\\n\\u00e4\"\r\nb: |\r\n  x\r\n  y\r\n? c\r\n: !!str 12\r\n", .yaml),
        (
            "modules: { a: b.so }\ncomponents:\n  x: { type: T, scope: singleton, init: [$y, $$z, [1, 0x1f, .inf]] }\n",
            .yaml
        ),
        (#"{"traits": {"synth.lead": [{"Set": {"gain": -0.5e3, "ä🎹": "\ud83c\udfb9\n"}}, {"type": "Set"}]}}"#, .json),
        ("\u{FEFF}[1, 18446744073709551615, true, null,\r\n\t\"\\u0041\", {}, [[]]]", .json),
    ]

    private static func change(_ bytes: inout [UInt8], _ random: inout SplitMix) {
        let telling = Array("{}[]:,-?!&*#|>'\"%@\\\n\r\t .0123456789eExXuU~$<=\u{FEFF}\u{85}\u{2028}ä🎹".utf8)
        let at = Int.random(in: 0...bytes.count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes.insert(telling.randomElement(using: &random) ?? 0, at: at)
        case 1: bytes.insert(.random(in: 0...255, using: &random), at: at)
        case 2 where at < bytes.count: bytes.remove(at: at)
        case 3 where at < bytes.count: bytes[at] = telling.randomElement(using: &random) ?? 0
        case 4 where at < bytes.count:
            let end = min(bytes.count, at + Int.random(in: 1...12, using: &random))
            bytes.insert(contentsOf: Array(bytes[at..<end]), at: Int.random(in: 0...bytes.count, using: &random))
        case 5: bytes.removeSubrange(at..<min(bytes.count, at + 3))
        default: bytes.append(contentsOf: telling.prefix(3))
        }
    }
}
