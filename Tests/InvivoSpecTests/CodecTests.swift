import InvivoBase
import InvivoSpec
import Testing

/// Texts of codecs: docs/rules/codecs.md. Tests/C/codecs.c tests them with properties.
@Suite struct CodecTests {
    @Test(arguments: [
        ("1.001 s", "ms", 1001), ("0.3 ms", "s", 0.0003), ("1 h 0.1 s", "s", 3600.1), ("-1 min 0.5 s", "s", -60.5),
        ("1 d", "min", 1440), ("1 d 1 ns", "ns", 86_400_000_000_001), ("1.1 min", "s", 66), ("0.29 s", "ms", 290),
        ("90 min", "h", 1.5), ("1e-3 s", "us", 1000), ("2.5e2 ms", "s", 0.25), ("0 s", "ms", 0), ("7 us", "ms", 0.007),
    ])
    func durationsAreRoundedOnce(text: String, unit: String, expected: Double) {
        #expect(TextReader.quantity(text, unit: unit) == expected)
    }

    @Test func longDurationsAreRead() {
        let long = "123456789012345678901234567890"
        #expect(TextReader.quantity(long + " s", unit: "s") == Double(long))
        #expect(TextReader.quantity("1e80 d", unit: "h").map { abs($0 / 2.4e81 - 1) < 1e-15 } == true)
        #expect(
            TextReader.quantity("0.1234567890123456789012 s 1 ms", unit: "s").map { abs($0 - 0.1244567890123) < 1e-12 }
                == true)
    }

    @Test func decibelsAndPercentagesHaveNoPrefix() {
        #expect(TextReader.decibel("20 dB") == 10)
        #expect(TextReader.decibel("-inf dB") == 0)
        #expect(TextReader.percent("12.3 %") == 0.123)
        for text in ["20 db", "20 kdB", "20", "dB", "inf dB", "nan dB", "99999 dB", "-99999 dB"] {
            #expect(TextReader.decibel(text) == nil, "\(text)")
        }
        for text in ["12.3", "% 5", "5 m%", "5 %%", ""] { #expect(TextReader.percent(text) == nil, "\(text)") }
    }

    @Test func colorsHaveNamesAndDigits() throws {
        #expect(try TextReader.colorParts("#123") == [0x11, 0x22, 0x33, 255])
        #expect(try TextReader.colorParts("#01020304") == [1, 2, 3, 4])
        #expect(try TextReader.colorParts("FUCHSIA") == [255, 0, 255, 255])
        for text in ["", "#", "#1", "#12345", "#12345g", "redd", " red", "rgb(1,2,3)"] {
            #expect(failure { () throws(Failure) in try TextReader.colorParts(text) }?.code == .conversion, "\(text)")
        }
    }

    @Test func bytesAreWrittenAsBase64() throws {
        var random = SplitMix(seed: 3)
        for count in 0..<70 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(try Base64.bytes(of: Base64.text(of: bytes)) == bytes)
        }
    }
}
