import InvivoSpec
import Testing

@Suite struct QuantityTests {
    @Test(arguments: [
        ("1.2 kHz", "Hz", 1200), ("1.2kHz", "Hz", 1200), ("800 Hz", "Hz", 800), ("800Hz", "Hz", 800),
        ("-3 dB", "dB", -3), ("+0.3 µs", "s", 3e-7), ("0.3 \u{3BC}s", "s", 3e-7), ("0.3us", "s", 3e-7),
        ("5 ms", "s", 0.005), ("5 ns", "s", 5e-9), ("5 pF", "F", 5e-12), ("2 MHz", "Hz", 2e6), ("2 GHz", "Hz", 2e9),
        ("2 THz", "Hz", 2e12), ("1e3 kHz", "Hz", 1e6), ("1E-3kHz", "Hz", 1), (".5 \t V", "V", 0.5), ("5. V", "V", 5),
        ("1 eV", "eV", 1), ("1eV", "eV", 1), ("1keV", "eV", 1000), ("5 m", "m", 5), ("5 mm", "m", 0.005),
        ("5 min", "min", 5), ("120 bpm", "bpm", 120), ("20 °C", "°C", 20), ("10 %", "%", 10), ("4.7 kΩ", "Ω", 4700),
        ("0.1 kHz", "Hz", 100), ("0.29 kHz", "Hz", 290),
    ])
    func numbersWithTheirUnitAreScaled(text: String, unit: String, expected: Double) {
        #expect(parseQuantity(text, unit: unit) == expected)
    }

    @Test(arguments: [
        ("800", "Hz"), ("kHz", "Hz"), ("", "Hz"), ("1.2 khz", "Hz"), ("1.2 KHz", "Hz"), ("1.2 kkHz", "Hz"),
        ("1.2 k Hz", "Hz"), (" 1.2 kHz", "Hz"), ("1.2 kHz ", "Hz"), ("1.2.3 Hz", "Hz"), ("1,2 Hz", "Hz"),
        ("0x10 Hz", "Hz"),
        ("inf Hz", "Hz"), ("nan Hz", "Hz"), ("1e999 Hz", "Hz"), ("1e99999999999999999999 Hz", "Hz"), ("5", ""),
        ("5k", ""),
        (".Hz", "Hz"), ("- Hz", "Hz"), ("1 cm", "m"), ("5 Hz Hz", "Hz"),
    ])
    func everythingElseIsNoQuantity(text: String, unit: String) {
        #expect(parseQuantity(text, unit: unit) == nil)
    }
}
