/// Numbers as both languages write them, without the locale of the process.
enum NumberText {
    /// Digits of a base, as the value they stand for. Nil when 64 bits do not hold it, or when there is no digit.
    static func magnitude(_ digits: some Sequence<UInt8>, radix: UInt64 = 10) -> UInt64? {
        var value: UInt64 = 0
        var isEmpty = true
        for byte in digits {
            guard let digit = digitValue(byte), digit < radix else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: radix)
            let (sum, carry) = product.addingReportingOverflow(digit)
            if overflow || carry { return nil }
            value = sum
            isEmpty = false
        }
        return isEmpty ? nil : value
    }

    /// The exact integer, or nil when neither Int64 nor UInt64 holds it.
    static func integer(magnitude: UInt64, isNegative: Bool) -> SpecNode.Content? {
        if !isNegative {
            return Int64(exactly: magnitude).map { .integer($0) } ?? .unsigned(magnitude)
        }
        return magnitude <= Int64.min.magnitude ? .integer(Int64(truncatingIfNeeded: 0 &- magnitude)) : nil
    }

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    static func tooLarge(_ text: String) -> String {
        "the integer \(quoted(text)) does not fit in 64 bits; write a fraction or an exponent if it may be rounded"
    }

    static func infinite(_ text: String) -> String { "the number \(quoted(text)) is too large for a double" }

    private static func digitValue(_ byte: UInt8) -> UInt64? {
        switch byte {
        case 0x30...0x39: UInt64(byte - 0x30)
        case 0x41...0x46: UInt64(byte - 0x41 + 10)
        case 0x61...0x66: UInt64(byte - 0x61 + 10)
        default: nil
        }
    }
}

/// The positions of the parts of `[-+]? ( digits [. digits] | . digits ) [e [-+]? digits]`.
struct DecimalShape {
    let isNegative: Bool
    /// The digits before the point.
    let digits: Range<Int>
    let isInteger: Bool
    /// The digits of the exponent, after its `e`; nil without one.
    let exponent: Range<Int>?
    /// The end of the number.
    let end: Int

    /// Nil unless all of the text is one number.
    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.init(beginning: bytes)
        if end != bytes.count { return nil }
    }

    /// The longest number that the text begins with; nil when it begins with none.
    init?(beginning bytes: UnsafeBufferPointer<UInt8>) {
        func skipDigits(_ from: Int) -> Int {
            var at = from
            while at < bytes.count && NumberText.isDigit(bytes[at]) { at += 1 }
            return at
        }
        func isSign(_ at: Int) -> Bool {
            at < bytes.count && (bytes[at] == UInt8(ascii: "-") || bytes[at] == UInt8(ascii: "+"))
        }
        let start = isSign(0) ? 1 : 0
        isNegative = start == 1 && bytes[0] == UInt8(ascii: "-")
        var at = skipDigits(start)
        digits = start..<at
        var isWhole = true
        if at < bytes.count && bytes[at] == UInt8(ascii: ".") {
            let after = skipDigits(at + 1)
            if digits.isEmpty && after == at + 1 { return nil }
            isWhole = false
            at = after
        } else if digits.isEmpty {
            return nil
        }
        var exponent: Range<Int>?
        if at < bytes.count && bytes[at] | 0x20 == UInt8(ascii: "e") {
            let from = isSign(at + 1) ? at + 2 : at + 1
            let after = skipDigits(from)
            if after > from {
                exponent = at + 1..<after
                isWhole = false
                at = after
            }
        }
        self.exponent = exponent
        isInteger = isWhole
        end = at
    }
}
