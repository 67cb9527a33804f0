import InvivoBase
import InvivoSpec
import Testing

@Suite struct SpecWriterTests {
    @Test func writesLikeAPerson() throws {
        let text =
            "traits:\n  synth.lead:\n    -\n      Set:\n        gain: 0.5\n        note: \"1.2 kHz\"\n  other: []\n"
        #expect(SpecWriter.yaml(try yaml(text)) == text)
        #expect(try SpecWriter.json(try yaml("a: [1, ~, 'x\ny', 1.0]\nb: {}")) == #"{"a":[1,null,"x y",1.0],"b":{}}"#)
    }

    @Test(arguments: [
        "yes", "no", "null", "~", "1", "0x1", "1e3", ".inf", "", " x", "x ", "a: b", "- a", "#", "x #y", "é",
    ])
    func textsStayTexts(text: String) throws {
        let node = SpecNode(.map([SpecEntry(key: text, value: SpecNode(.text(text)))]))
        #expect(Bare(try yaml(SpecWriter.yaml(node))) == Bare(node))
        #expect(Bare(try json(SpecWriter.json(node))) == Bare(node))
    }

    @Test func everyTreeIsReadBackAsItWas() throws {
        var random = SplitMix(seed: 0x1517)
        for _ in 0..<400 {
            let tree = randomTree(&random, depth: 4)
            let written = SpecWriter.yaml(tree)
            let again = try yaml(written)
            #expect(Bare(again) == Bare(tree), "\(written)")
            guard let text = try? SpecWriter.json(tree) else { continue }
            #expect(Bare(try json(text)) == Bare(tree), "\(text)")
        }
    }

    @Test func jsonRefusesValuesThatItCannotExpress() {
        let found = failure { () throws(Failure) in try SpecWriter.json(try yaml("a: [1, .nan]")) }
        #expect(found?.text == "t.yaml:1:8: a[1]: JSON cannot say the number nan")
    }

    private func randomTree(_ random: inout SplitMix, depth: Int) -> SpecNode {
        switch Int.random(in: 0..<(depth > 0 ? 11 : 8), using: &random) {
        case 0: return SpecNode(.null)
        case 1: return SpecNode(.bool(.random(using: &random)))
        case 2: return SpecNode(.integer(.random(in: .min ... .max, using: &random)))
        case 3: return SpecNode(.unsigned(.random(in: (1 << 63) ... .max, using: &random)))
        case 4: return SpecNode(.number(Double(bitPattern: .random(in: 0 ... .max, using: &random))))
        case 5: return SpecNode(.number(.random(in: -1000...1000, using: &random)))
        case 6, 7: return SpecNode(.text(randomText(&random)))
        case 8:
            return SpecNode(
                .list(
                    (0..<Int.random(in: 0...4, using: &random)).map { _ in
                        randomTree(&random, depth: depth - 1)
                    }))
        default:
            var keys: [String] = []
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                let key = randomText(&random)
                if !keys.contains(key) { keys.append(key) }
            }
            return SpecNode(.map(keys.map { SpecEntry(key: $0, value: randomTree(&random, depth: depth - 1)) }))
        }
    }

    private func randomText(_ random: inout SplitMix) -> String {
        if Int.random(in: 0..<40, using: &random) == 0 { return String(repeating: "long ", count: 300) }
        var text = ""
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            let range: ClosedRange<UInt32> =
                switch Int.random(in: 0..<6, using: &random) {
                case 0: 0...0x20
                case 1: 0x7F...0xA0
                case 2: 0x2020...0x2030
                case 3: 0xFE00...0xFFFF
                case 4: 0x1F300...0x1F5FF
                default: 0x20...0x7E
                }
            if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &random)) {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}

/// A small generator with the same sequence on every machine.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
