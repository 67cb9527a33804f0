/// A sum of decimal numbers with units of time, rounded once: "1.001 s" is exactly 1001 ms.
struct ExactDuration {
    private static let mostDigits = 18
    /// In nanoseconds times `10^scale`.
    private var sum: Int128 = 0
    private var scale = 0
    private(set) var isExact = true

    /// Adds a number as written, in a unit of so many seconds.
    mutating func add(_ number: String, seconds: Double) {
        guard isExact, let (digits, exponent) = Self.decimal(number) else { return isExact = false }
        let nanoseconds = Int128((seconds * 1e9).rounded())
        var (term, overflow) = digits.multipliedReportingOverflow(by: nanoseconds)
        if exponent > 0 {
            guard let power = Self.power(exponent), !overflow else { return isExact = false }
            (term, overflow) = term.multipliedReportingOverflow(by: power)
        }
        let wanted = max(scale, -exponent)
        guard !overflow, let grown = Self.power(wanted - scale), let own = Self.power(wanted - max(0, -exponent)) else {
            return isExact = false
        }
        let (former, first) = sum.multipliedReportingOverflow(by: grown)
        let (added, second) = term.multipliedReportingOverflow(by: own)
        let (total, third) = former.addingReportingOverflow(added)
        guard !first, !second, !third else { return isExact = false }
        (sum, scale) = (total, wanted)
    }

    /// The sum in a unit of so many seconds; nil if it cannot be rounded once.
    func value(in seconds: Double) -> Double? {
        guard isExact, let power = Self.power(scale) else { return nil }
        let (unit, overflow) = Int128((seconds * 1e9).rounded()).multipliedReportingOverflow(by: power)
        guard !overflow, sum != 0 else { return nil }
        let (whole, rest) = sum.quotientAndRemainder(dividingBy: unit)
        if rest == 0 { return Double(whole) }
        let common = Self.commonDivisor(sum.magnitude, unit.magnitude)
        let (numerator, denominator) = (sum.magnitude / common, unit.magnitude / common)
        guard numerator < 1 << 53, denominator < 1 << 53 else { return nil }
        let value = Double(UInt64(numerator)) / Double(UInt64(denominator))
        return sum < 0 ? -value : value
    }

    private static func power(_ exponent: Int) -> Int128? {
        guard (0...36).contains(exponent) else { return nil }
        return (0..<exponent).reduce(1) { power, _ in power * 10 }
    }

    private static func commonDivisor(_ one: UInt128, _ two: UInt128) -> UInt128 {
        var (one, two) = (one, two)
        while two != 0 { (one, two) = (two, one % two) }
        return one
    }

    /// The digits of a decimal number, which is well-formed, and the power of ten to multiply them by; nil if there are too many.
    private static func decimal(_ text: String) -> (digits: Int128, exponent: Int)? {
        let parts = text.utf8.split(omittingEmptySubsequences: false) { $0 | 0x20 == UInt8(ascii: "e") }
        var (digits, count, fraction): (Int128, Int, Int) = (0, 0, 0)
        var isFraction = false
        for byte in parts[0] {
            guard byte &- 0x30 < 10 else {
                isFraction = isFraction || byte == UInt8(ascii: ".")
                continue
            }
            if digits != 0 || byte != 0x30 { count += 1 }
            if isFraction { fraction += 1 }
            guard count <= mostDigits else { return nil }
            digits = digits * 10 + Int128(byte - 0x30)
        }
        var exponent = 0
        if parts.count > 1 {
            guard let written = Int(String(decoding: parts[1], as: UTF8.self)), abs(written) < 100 else { return nil }
            exponent = written
        }
        return (parts[0].first == UInt8(ascii: "-") ? -digits : digits, exponent - fraction)
    }
}
